/**
 * What apply made, so that it removes that and nothing else: ids by kind and key, beside the declarative files. It holds
 * names and ids and never a secret, nor anything that is computed from one.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import * as z from 'zod';
import { EXIT, Failure } from './exit-code.ts';
import { isObject } from './json-text.ts';
import { KINDS, type Kind } from './wanted.ts';

const FORMAT = 'graticule-state/1';

const owned = z.strictObject({
  id: z.int().min(1),
  /** What it is known by when somebody has given it another name. */
  identity: z.string(),
  /** The reference that each secret was last sent from, as one word. */
  secrets: z.record(z.string(), z.string()).default({}),
});
export type Owned = z.output<typeof owned>;

const pending = z.strictObject({
  /** No object of the kind had a higher id when the creation was begun. */
  after: z.int().min(0),
  /** Of the configuration that was to be made, secrets as set or not set. */
  digest: z.string(),
  /** The references that its secrets are sent from. */
  secrets: z.record(z.string(), z.string()).default({}),
});
export type Pending = z.output<typeof pending>;

const byKind = <Value extends z.ZodType>(value: Value) =>
  z.partialRecord(z.enum(KINDS), z.record(z.string(), value)).default({});

const stateFile = z.strictObject({
  format: z.literal(FORMAT),
  /** Of the stack that the ids belong to; `''` before the first apply. */
  url: z.string(),
  objects: byKind(owned),
  /** Creations that were begun and of which no answer came. */
  pending: byKind(pending),
  webhook: z
    .strictObject({ secrets: z.record(z.string(), z.string()) })
    .nullable()
    .default(null),
});

export type ApplyState = z.output<typeof stateFile>;

export const EMPTY_STATE: ApplyState = { format: FORMAT, url: '', objects: {}, pending: {}, webhook: null };

/** The state at a path; an empty one when there is no file. */
export function readState(path: string): ApplyState {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return EMPTY_STATE;
    throw new Failure(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`, EXIT.usage);
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new Failure(`${path} is not JSON any more; restore it from where you keep it`, EXIT.usage);
  }
  const parsed = stateFile.safeParse(content);
  if (parsed.success) return parsed.data;
  const format = isObject(content) ? content['format'] : undefined;
  throw new Failure(
    format !== undefined && format !== FORMAT
      ? `${path} has format ${JSON.stringify(format)}; this program knows ${FORMAT}`
      : `${path} is no state file of graticule`,
    EXIT.usage,
  );
}

/**
 * Puts a state in the place of the one before it. Whatever is killed when, one of the two is there whole: the new one is
 * on the disk before it takes the name.
 */
export function writeState(path: string, state: ApplyState): void {
  const temporary = `${path}.new`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    writeSync(file, `${JSON.stringify(state, null, 1)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Keeps a second apply off the same state until it is given back. */
export function lockState(path: string): () => void {
  const lock = `${path}.lock`;
  const self = `${process.pid} ${hostname()}`;
  for (let tries = 0; ; tries += 1) {
    try {
      const file = openSync(lock, 'wx', 0o600);
      writeSync(file, self);
      closeSync(file);
      return () => rmSync(lock, { force: true });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST') throw new Failure(`${lock} cannot be written (${code})`, EXIT.usage);
    }
    const holder = readLock(lock);
    if (holder === undefined) continue;
    const [processId, host] = holder.split(' ');
    const isGone = host === hostname() && !isAlive(Number(processId));
    if (!isGone || tries > 0) {
      throw new Failure(
        `another apply, process ${processId} on ${host}, works with ${path}; if it was killed, remove ${lock}`,
        EXIT.usage,
      );
    }
    // Left by one that was killed.
    rmSync(lock, { force: true });
  }
}

function readLock(lock: string): string | undefined {
  try {
    return readFileSync(lock, 'utf8');
  } catch {
    return undefined;
  }
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The records of one kind, by key. */
export function ownedOf(state: ApplyState, kind: Kind): ReadonlyMap<string, Owned> {
  return new Map(Object.entries(state.objects[kind] ?? {}));
}

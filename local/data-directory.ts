import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { writeDurably } from './durable-file.ts';

/** One directory of data, held by this process alone until it ends. */
export interface DataDirectory {
  readonly path: string;
  readonly tokenPath: string;
  /** The bootstrap token kept here, or undefined. */
  readToken(): string | undefined;
  /** Keeps the bootstrap token, readable by its owner alone. Returns `tokenPath`. */
  keepToken(token: string): string;
  removeToken(): void;
  release(): void;
}

/** Another process holds the directory. */
export class DirectoryInUse extends Error {
  readonly processId: number | undefined;
  constructor(path: string, processId: number | undefined) {
    const holder = processId === undefined ? 'another process' : `process ${processId}`;
    super(
      `the data directory ${path} is in use by ${holder}; stop it, or set GRATICULE_DATA_DIR to another.`,
    );
    this.processId = processId;
  }
}

const SQLITE_BUSY = 5;

/**
 * Takes the directory for this process, or throws DirectoryInUse.
 *
 * The lock is an open transaction on an SQLite file, that is, a lock of the kernel: it ends with the process however
 * that ends, so there is no stale lock to judge and no reused process id to be misled by. The id in the file beside it
 * is only for the sentence that a second start prints.
 */
export function holdDataDirectory(path: string): DataDirectory {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(join(path, 'lock.sqlite'), { timeout: 0 });
  const holder = join(path, 'process-id');
  const tokenPath = join(path, 'token');
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new DirectoryInUse(path, Number(readText(holder)) || undefined);
  }
  writeFileSync(holder, `${process.pid}\n`);
  return {
    path,
    tokenPath,
    readToken: () => readText(tokenPath)?.trim() || undefined,
    keepToken(token) {
      writeDurably(tokenPath, `${token}\n`);
      return tokenPath;
    },
    removeToken: () => rmSync(tokenPath, { force: true }),
    release() {
      rmSync(holder, { force: true });
      lock.close();
    },
  };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

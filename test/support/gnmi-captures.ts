/** The public gNMI captures under `GRATICULE_VECTORS/gnmi`: answers of real routers and the values they hold. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromJson } from '@bufbuild/protobuf';
import { type SubscribeResponseMessage, SubscribeResponseSchema } from '../../protocols/gnmi/schema.ts';

export interface ExpectedRecord {
  readonly timestamp: bigint;
  /** Field names by their last part, `_` for `-`, with the value's text. */
  readonly fields: ReadonlyArray<{
    readonly name: string;
    readonly value: string | bigint | number | boolean;
  }>;
  readonly tags: ReadonlyMap<string, string>;
}

export interface Capture {
  readonly name: string;
  readonly responses: readonly SubscribeResponseMessage[];
  readonly expected: readonly ExpectedRecord[];
}

/** Undefined where no vectors are named; throws where they are named and missing. */
export function readCaptures(): readonly Capture[] | undefined {
  const folder = process.env['GRATICULE_VECTORS'];
  if (folder === undefined || folder === '') return undefined;
  const root = join(folder, 'gnmi');
  const names = readdirSync(root).filter((name) => existsSync(join(root, name, 'responses.json')));
  if (names.length === 0) throw new Error(`GRATICULE_VECTORS names ${folder}, which holds no gNMI captures`);
  return names.map((name) => ({
    name,
    responses: (JSON.parse(readFileSync(join(root, name, 'responses.json'), 'utf8')) as object[]).map(
      (json) => {
        // Kept as bytes here, a message in protobuf JSON; no value depends on it.
        const { extension: _, ...rest } = json as { extension?: unknown };
        return fromJson(SubscribeResponseSchema, rest);
      },
    ),
    expected: readFileSync(join(root, name, 'expected.out'), 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map(parseLine),
  }));
}

/** A field's name without what Telegraf builds it from: path, module, and `_` written for `-`. */
export function bareName(name: string): string {
  return (name.split(/[/:]/).at(-1) as string).replaceAll('-', '_');
}

/** One line of InfluxDB line protocol: `measurement,tag=v field=v,field=v timestamp`. */
function parseLine(line: string): ExpectedRecord {
  const [head, fields, timestamp] = splitOutside(line.trim(), ' ');
  const tags = splitOutside(head as string, ',').slice(1);
  return {
    timestamp: BigInt(timestamp as string),
    tags: new Map(tags.map((tag) => splitOnce(unescaped(tag)))),
    fields: splitOutside(fields as string, ',').map((field) => {
      const [name, text] = splitOnce(field);
      return { name: bareName(unescaped(name)), value: parseFieldValue(text) };
    }),
  };
}

function parseFieldValue(text: string): string | bigint | number | boolean {
  if (text.startsWith('"')) return text.slice(1, -1).replace(/\\(["\\])/g, '$1');
  if (/^-?\d+[iu]$/.test(text)) return BigInt(text.slice(0, -1));
  if (text === 'true' || text === 'false') return text === 'true';
  return Number(text);
}

function splitOnce(text: string): [string, string] {
  const equals = text.indexOf('=');
  return [text.slice(0, equals), text.slice(equals + 1)];
}

function unescaped(text: string): string {
  return text.replace(/\\([ ,=])/g, '$1');
}

/** Splits at a separator that is neither escaped nor between quotes. */
function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let part = '';
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === '\\') {
      part += character + (text[at + 1] ?? '');
      at += 1;
      continue;
    }
    if (character === '"') quoted = !quoted;
    if (character === separator && !quoted) {
      parts.push(part);
      part = '';
    } else part += character;
  }
  return [...parts, part];
}

/** JSON as the API sends it: integers beyond 2^53 are bigint, so that no digit is lost between answer and output. */
import { type ExactJson, ExactNumber, parseExactJson } from '../core/exact-json.ts';

export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [member: string]: Json;
}

/** A text with one of these takes the slow and exact way: long digits, or names that V8 misreads (core/plain-json.ts). */
const NEEDS_EXACTNESS = /\d{16}|\\/;

/** Reads JSON text; undefined when it is none. */
export function parseJsonText(text: string): Json | undefined {
  if (!NEEDS_EXACTNESS.test(text)) {
    try {
      return JSON.parse(text) as Json;
    } catch {
      return undefined;
    }
  }
  const exact = parseExactJson(text);
  return exact === undefined ? undefined : fromExact(exact);
}

function fromExact(value: ExactJson): Json {
  if (value instanceof ExactNumber) {
    const number = Number(value.source);
    const isLargeInteger = /^-?\d+$/.test(value.source) && !Number.isSafeInteger(number);
    return isLargeInteger ? BigInt(value.source) : number;
  }
  if (Array.isArray(value)) return value.map(fromExact);
  if (value instanceof Map) {
    return Object.fromEntries(Array.from(value, ([name, member]) => [name, fromExact(member)]));
  }
  return value;
}

/** Indented by two. Control characters of all kinds are escaped: a terminal must not act on what a peer told. */
export function formatJsonText(value: Json, indent = '  '): string {
  return write(value, '\n', indent);
}

/** On one line. */
export function formatJsonLine(value: Json): string {
  return write(value, '', '');
}

function write(value: Json, newline: string, indent: string): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = newline === '' ? '' : newline + indent;
  const list = (open: string, parts: readonly string[], close: string) =>
    parts.length === 0 ? open + close : `${open}${inner}${parts.join(`,${inner}`)}${newline}${close}`;
  if (Array.isArray(value)) {
    return list(
      '[',
      value.map((item) => write(item, inner, indent)),
      ']',
    );
  }
  const colon = newline === '' ? ':' : ': ';
  const members = Object.entries(value as JsonObject).map(
    ([name, member]) => `${quote(name)}${colon}${write(member, inner, indent)}`,
  );
  return list('{', members, '}');
}

function quote(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether two values are the same JSON, members in any order. */
export function isSameJson(a: Json, b: Json): boolean {
  return canonical(a) === canonical(b);
}

/** One text for one value: members by name. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return typeof value === 'string' ? JSON.stringify(value) : String(value);
  const members = Object.entries(value).toSorted(([x], [y]) => (x < y ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

/** The data of a simulated gNMI target: leaves by absolute path, with values as a router would hold them. */
import { formatPath, type Path, parsePath } from '../../../protocols/gnmi/path.ts';
import type { TypedValueMessage } from '../../../protocols/gnmi/schema.ts';

/** A BigInt is an integer of the YANG; its sign says int or uint. `null` is an empty leaf. */
export type LeafValue =
  | string
  | bigint
  | number
  | boolean
  | null
  | Uint8Array
  | readonly LeafValue[]
  | Decimal;

export interface Decimal {
  readonly digits: bigint;
  readonly precision: number;
}

export class Tree {
  readonly #leaves = new Map<string, { path: Path; value: LeafValue }>();
  readonly #listeners = new Set<(path: Path, value: LeafValue | undefined) => void>();

  /** Sets a leaf by its text path and tells those who watch. */
  set(text: string, value: LeafValue): void {
    const path = pathOf(text);
    this.#leaves.set(formatPath(path), { path, value });
    for (const listener of this.#listeners) listener(path, value);
  }

  /** Removes a leaf or everything below a path; those who watch are told the path once. */
  remove(text: string): void {
    const path = pathOf(text);
    for (const [key, leaf] of this.#leaves) if (covers(path, leaf.path)) this.#leaves.delete(key);
    for (const listener of this.#listeners) listener(path, undefined);
  }

  /** Leaves at and below the path, wildcards and missing keys matching anything, in the order of their setting. */
  below(path: Path): ReadonlyArray<{ path: Path; value: LeafValue }> {
    return [...this.#leaves.values()].filter((leaf) => covers(path, leaf.path));
  }

  watch(listener: (path: Path, value: LeafValue | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

export function pathOf(text: string): Path {
  const { path } = parsePath(text);
  if (path === undefined) throw new Error(`${text} is no path`);
  return path;
}

/** Whether the wanted path (which may have wildcards) is this path or above it. Modules and origins do not count. */
export function covers(wanted: Path, path: Path): boolean {
  if (wanted.elem.length > path.elem.length) return false;
  return wanted.elem.every((elem, depth) => {
    const other = path.elem[depth];
    if (other === undefined || (elem.name !== '*' && bare(elem.name) !== bare(other.name))) return false;
    return elem.keys.every(
      ([name, value]) => value === '*' || other.keys.some(([n, v]) => n === name && v === value),
    );
  });
}

function bare(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

export type TargetEncoding = 'json' | 'json_ietf' | 'proto' | 'bytes' | 'ascii';

/** A leaf's value in an encoding; both float forms and both decimal forms by `deprecatedNumbers`. */
export function encodeLeaf(
  value: LeafValue,
  encoding: TargetEncoding,
  deprecatedNumbers: boolean,
): TypedValueMessage {
  const typed = (init: TypedValueMessage['value']): TypedValueMessage => ({
    $typeName: 'gnmi.TypedValue',
    value: init,
  });
  if (encoding === 'json' || encoding === 'json_ietf') {
    const bytes = new TextEncoder().encode(jsonOf(value, encoding));
    return typed({ case: encoding === 'json' ? 'jsonVal' : 'jsonIetfVal', value: bytes });
  }
  if (encoding === 'bytes')
    return typed({ case: 'bytesVal', value: new TextEncoder().encode(plainText(value)) });
  if (encoding === 'ascii') return typed({ case: 'asciiVal', value: plainText(value) });
  if (value === null) return typed({ case: 'boolVal', value: true });
  if (typeof value === 'string') return typed({ case: 'stringVal', value });
  if (typeof value === 'boolean') return typed({ case: 'boolVal', value });
  if (typeof value === 'bigint') return typed({ case: value < 0n ? 'intVal' : 'uintVal', value });
  if (typeof value === 'number') return typed({ case: deprecatedNumbers ? 'floatVal' : 'doubleVal', value });
  if (value instanceof Uint8Array) return typed({ case: 'bytesVal', value });
  if (isDecimal(value)) {
    return deprecatedNumbers
      ? typed({ case: 'decimalVal', value: { $typeName: 'gnmi.Decimal64', ...value } })
      : typed({ case: 'doubleVal', value: Number(value.digits) / 10 ** value.precision });
  }
  const element = value.map((each) => encodeLeaf(each, encoding, deprecatedNumbers));
  return typed({ case: 'leaflistVal', value: { $typeName: 'gnmi.ScalarArray', element } });
}

/** RFC 7951 writes 64-bit integers and decimal64 as strings and an empty leaf as [null]; plain JSON as it likes. */
export function jsonOf(value: LeafValue, encoding: 'json' | 'json_ietf'): string {
  if (value === null) return '[null]';
  if (typeof value === 'bigint') return encoding === 'json_ietf' ? `"${value}"` : String(value);
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'));
  if (Array.isArray(value)) return `[${value.map((each: LeafValue) => jsonOf(each, encoding)).join(',')}]`;
  if (isDecimal(value)) return encoding === 'json_ietf' ? `"${plainText(value)}"` : plainText(value);
  return JSON.stringify(value);
}

function plainText(value: LeafValue): string {
  if (isDecimal(value)) {
    const digits = String(value.digits).padStart(value.precision + 1, '0');
    return value.precision === 0
      ? digits
      : `${digits.slice(0, -value.precision)}.${digits.slice(-value.precision)}`;
  }
  return Array.isArray(value) ? value.map(plainText).join(' ') : String(value);
}

function isDecimal(value: LeafValue): value is Decimal {
  return typeof value === 'object' && value !== null && 'digits' in value;
}

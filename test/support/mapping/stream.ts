import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CycleRule } from '../../../core/mapping/clock.ts';
import { compileGnmiMapping } from '../../../core/mapping/compile.ts';
import type { FieldType } from '../../../core/mapping/field-type.ts';
import { GnmiRows } from '../../../core/mapping/gnmi-rows.ts';
import { formatPath, type PathElement, parseGnmiPath } from '../../../core/mapping/path.ts';
import { PathIndex } from '../../../core/mapping/path-index.ts';
import { type InternedPaths, PathNumbers } from '../../../core/mapping/path-numbers.ts';
import { VALUE } from '../../../core/mapping/value.ts';
import type { RecordBatch } from '../../../core/record.ts';

/** A device's value as vectors write it: one member, named by what the wire says the value is. */
export type WrittenValue =
  | { readonly string: string }
  | { readonly int: string }
  | { readonly uint: string }
  | { readonly bool: boolean }
  | { readonly bytes: string }
  | { readonly float: number }
  | { readonly double: number | 'NaN' | 'Infinity' }
  | { readonly decimal: readonly [digits: string, precision: number] }
  | { readonly json: string }
  | { readonly oid: string };

export interface FedValue {
  readonly kind: number;
  readonly hi: number;
  readonly lo: number;
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** The arguments that a decoder would hand to the mapping engine. Bytes stand inside a larger buffer, as they do there. */
export function feedValue(value: WrittenValue): FedValue {
  const [[name, content]] = Object.entries(value) as [[keyof typeof VALUE, unknown]];
  const kind = VALUE[name];
  const plain = { kind, hi: 0, lo: 0, bytes: new Uint8Array(0), start: 0, end: 0 };
  const view = new DataView(new ArrayBuffer(8));
  switch (name) {
    case 'int':
    case 'uint':
      return { ...plain, ...halves(BigInt(content as string)) };
    case 'bool':
      return { ...plain, lo: content ? 1 : 0 };
    case 'float':
      view.setFloat32(0, Number(content));
      return { ...plain, lo: view.getInt32(0) };
    case 'double':
      view.setFloat64(0, Number(content));
      return { ...plain, hi: view.getInt32(0), lo: view.getInt32(4) };
    case 'decimal': {
      const [digits, precision] = content as [string, number];
      return { ...plain, ...halves(BigInt(digits)), start: precision };
    }
    default: {
      const content8 = Buffer.from(content as string, name === 'bytes' ? 'hex' : 'utf8');
      const bytes = Buffer.concat([Buffer.from('<<'), content8, Buffer.from('>>')]);
      return { ...plain, bytes, start: 2, end: 2 + content8.length };
    }
  }
}

export function halves(value: bigint): { hi: number; lo: number } {
  const bits = BigInt.asUintN(64, value);
  return { hi: Number(bits >> 32n), lo: Number(bits & 0xffffffffn) };
}

/** Numbers for paths as a decoder gives them: the prefix is everything but the last element. */
export class TestPaths implements InternedPaths {
  private readonly numbers = new Map<string, number>();
  private readonly paths: PathElement[][] = [];

  number(elements: readonly PathElement[]): number {
    const text = formatPath(elements);
    let number = this.numbers.get(text);
    if (number === undefined) {
      number = this.paths.push([...elements]) - 1;
      this.numbers.set(text, number);
    }
    return number;
  }

  prefix(id: number): readonly PathElement[] {
    return this.paths[id] as PathElement[];
  }

  leaf(id: number): readonly PathElement[] {
    return this.paths[id] as PathElement[];
  }
}

export interface StreamOptions {
  readonly fields: ReadonlyArray<{ readonly name: string; readonly type: FieldType }>;
  readonly mapping: Readonly<Record<string, string>>;
  readonly rule: CycleRule;
  readonly keepsRows: boolean;
  readonly maxRows?: number;
}

/** A mapping engine with its records as text, fed either by numbers or by paths. */
export class TestStream {
  readonly cycles: string[][] = [];
  readonly rows: GnmiRows;
  private readonly paths = new TestPaths();
  private readonly byNumber: boolean;

  constructor(options: StreamOptions, byNumber: boolean) {
    this.byNumber = byNumber;
    const mapping = compileGnmiMapping(options.fields, new Map(Object.entries(options.mapping)));
    this.rows = new GnmiRows({
      source: { device: 'leaf1', deviceId: 3, modelName: 'interfaces' },
      numbers: new PathNumbers(new PathIndex(mapping), this.paths),
      rule: options.rule,
      keepsRows: options.keepsRows,
      maxRows: options.maxRows ?? 100_000,
      deliver: (batch) => this.cycles.push(recordTexts(batch)),
    });
  }

  update(path: string, value: WrittenValue): void {
    const { kind, hi, lo, bytes, start, end } = feedValue(value);
    const elements = elementsOf(path);
    if (!this.byNumber || elements.length === 0) {
      this.rows.updatePath(elements, kind, hi, lo, bytes, start, end);
      return;
    }
    const prefix = this.paths.number(elements.slice(0, -1));
    const leaf = this.paths.number(elements.slice(-1));
    this.rows.update(prefix, leaf, kind, hi, lo, bytes, start, end);
  }
}

export function recordTexts({ bytes, ends }: RecordBatch): string[] {
  return ends.map((end, index) =>
    Buffer.from(bytes.subarray(index === 0 ? 0 : ends[index - 1], end)).toString('utf8'),
  );
}

export function elementsOf(path: string): readonly PathElement[] {
  if (path === '/') return [];
  const parsed = parseGnmiPath(path);
  if ('code' in parsed) throw new Error(`${path}: ${parsed.detail}`);
  return parsed.elements;
}

export function readVectors<Vector>(name: string): Vector[] {
  const file = resolve(import.meta.dirname, '../../vectors/mapping', `${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8')) as Vector[];
}

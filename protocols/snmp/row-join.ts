/**
 * Rows of a table whose columns do not come in step: holes, columns of other lengths, answers cut within a row.
 * Each column's values arrive in the order of its index, so a row is whole as soon as every column that has not
 * ended has shown a value at its index or beyond.
 */
import { copyBytes } from './ber.ts';
import { compareArcBytes } from './oid.ts';
import { CellKind, isByteKind, type VarbindTable } from './varbind-table.ts';

/** One row as it is handed out. It is a view: what it shows is gone after the call. */
export class WalkRow {
  /** The index: subidentifiers as BER writes them, [indexStart, indexEnd) of `indexBytes`; none for scalars. */
  indexBytes: Uint8Array = EMPTY;
  indexStart = 0;
  indexEnd = 0;
  /** Column c's value is at [base + c] of these three; see `VarbindTable` for what they mean. */
  kinds: Uint8Array = EMPTY;
  hi: Uint32Array = new Uint32Array(0);
  lo: Uint32Array = new Uint32Array(0);
  base = 0;
  /** What `hi` and `lo` of byte kinds point into. */
  bytes: Uint8Array = EMPTY;
}

const EMPTY = new Uint8Array(0);

/** A row of its own memory, filled cell by cell. */
export class RowBuffer {
  readonly row = new WalkRow();
  private readonly columns: number;
  private used = 0;

  constructor(columns: number) {
    this.columns = columns;
    this.row.kinds = new Uint8Array(columns);
    this.row.hi = new Uint32Array(columns);
    this.row.lo = new Uint32Array(columns);
    this.row.bytes = new Uint8Array(256);
  }

  clear(): void {
    this.row.kinds.fill(CellKind.absent, 0, this.columns);
    this.used = 0;
  }

  setIndex(bytes: Uint8Array, start: number, end: number): void {
    this.row.indexBytes = bytes;
    this.row.indexStart = start;
    this.row.indexEnd = end;
  }

  set(column: number, kind: number, hi: number, lo: number, bytes: Uint8Array): void {
    const { row } = this;
    row.kinds[column] = kind;
    row.hi[column] = hi;
    row.lo[column] = lo;
    if (!isByteKind(kind)) return;
    while (row.bytes.length < this.used + lo) {
      const grown = new Uint8Array(row.bytes.length * 2);
      grown.set(row.bytes);
      row.bytes = grown;
    }
    row.bytes.set(bytes.subarray(hi, hi + lo), this.used);
    row.hi[column] = this.used;
    this.used += lo;
  }
}

interface Cell {
  readonly index: Uint8Array;
  readonly kind: number;
  readonly hi: number;
  readonly lo: number;
  readonly bytes: Uint8Array;
}

export class RowJoin {
  private readonly waiting: Cell[][];
  private readonly ended: boolean[];
  private readonly buffer: RowBuffer;

  constructor(columns: number, buffer: RowBuffer) {
    this.waiting = Array.from({ length: columns }, () => []);
    this.ended = Array.from({ length: columns }, () => false);
    this.buffer = buffer;
  }

  /** Whether more of this column is needed before the next row can go out. */
  wants(column: number): boolean {
    return !this.ended[column] && (this.waiting[column] as Cell[]).length === 0;
  }

  end(column: number): void {
    this.ended[column] = true;
  }

  /** Keeps a column's next value; [indexStart, nameEnd) of the table's bytes is its index. */
  add(column: number, table: VarbindTable, at: number, indexStart: number): void {
    const kind = table.kinds[at] as number;
    const hi = table.hi[at] as number;
    const lo = table.lo[at] as number;
    const held = isByteKind(kind);
    (this.waiting[column] as Cell[]).push({
      index: copyBytes(table.bytes, indexStart, table.nameEnd[at]),
      kind,
      hi: held ? 0 : hi,
      lo,
      bytes: held ? copyBytes(table.bytes, hi, hi + lo) : EMPTY,
    });
  }

  /** The next whole row, undefined when a column has to be heard first or all is out. */
  take(): WalkRow | undefined {
    const { waiting, ended, buffer } = this;
    let least: Uint8Array | undefined;
    for (let column = 0; column < waiting.length; column += 1) {
      const index = (waiting[column] as Cell[])[0]?.index;
      if (index === undefined) {
        if (!ended[column]) return undefined;
      } else if (least === undefined || order(index, least) < 0) least = index;
    }
    if (least === undefined) return undefined;
    buffer.clear();
    buffer.setIndex(least, 0, least.length);
    for (let column = 0; column < waiting.length; column += 1) {
      const [cell] = waiting[column] as Cell[];
      if (cell === undefined || order(cell.index, least) !== 0) continue;
      (waiting[column] as Cell[]).shift();
      buffer.set(column, cell.kind, cell.hi, cell.lo, cell.bytes);
    }
    return buffer.row;
  }
}

function order(left: Uint8Array, right: Uint8Array): number {
  return compareArcBytes(left, 0, left.length, right, 0, right.length);
}

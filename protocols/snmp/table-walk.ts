/**
 * The walk of one table group (RFC 3416 §4.2.3): which names to ask for next, and what an answer brings.
 *
 * As long as all columns come in step, the common case, an answer's varbinds *are* its rows: they are handed out
 * where they lie. The first row that is out of step makes the rest of the table go through a `RowJoin`.
 */
import { copyBytes, Tag } from './ber.ts';
import type { SnmpFault } from './fault.ts';
import { compareArcBytes, formatArcs, formatOid, validArcBytes } from './oid.ts';
import { ERROR_STATUS, ErrorStatus } from './pdu.ts';
import { RowBuffer, RowJoin, WalkRow } from './row-join.ts';
import type { VarbindTable } from './varbind-table.ts';
import type { CompiledGroup, WalkLimits } from './walk-plan.ts';
import { type Ask, emptyAsk } from './walk-request.ts';

export type Progress = 'more' | 'done' | SnmpFault;

export type RowConsumer = (row: WalkRow) => void;

/** What a varbind takes beyond its column's name, until an answer has shown it: headers, index, a 64-bit value. */
const ESTIMATED_CELL_BYTES = 16;

/** What a message takes beside its rows: header, error fields, sysUpTime. */
const ESTIMATED_FRAME_BYTES = 60;

const Step = { inStep: 0, outOfStep: 1, allEnded: 2, notIncreasing: 3, malformed: 4 } as const;

export class TableWalk {
  /** Values that each column gave. */
  readonly valueCounts: number[];
  private readonly group: CompiledGroup;
  private readonly emit: RowConsumer;
  private readonly budgetBytes: number;
  private readonly ask: Ask = emptyAsk();
  /** The column at each place of the request under way. */
  private asked: number[];
  /** Places whose column has not ended, while in step. */
  private live: number[];
  /** The last index handed out, while in step. */
  private cursor = new Uint8Array(64);
  private cursorLength = 0;
  private join: RowJoin | undefined;
  /** Each column's own last index, once out of step. */
  private cursors: Uint8Array[] = [];
  private readonly view = new WalkRow();
  private readonly buffer: RowBuffer;
  /** What one value takes in an answer, on the average of the last one. */
  private cellBytes: number;
  private maxRows: number;
  private maxColumns: number;
  private bulk: boolean;

  constructor(
    group: CompiledGroup,
    limits: WalkLimits,
    overheadBytes: number,
    bulk: boolean,
    emit: RowConsumer,
  ) {
    const columns = group.names.map((_, column) => column);
    this.group = group;
    this.emit = emit;
    this.bulk = bulk;
    this.budgetBytes = Math.max(limits.maxResponseBytes - overheadBytes - ESTIMATED_FRAME_BYTES, 1);
    const rowBytes = group.names.reduce((sum, name) => sum + name.length + ESTIMATED_CELL_BYTES, 0);
    this.cellBytes = rowBytes / columns.length;
    this.maxRows = limits.maxRepetitions;
    this.maxColumns = columns.length;
    this.valueCounts = columns.map(() => 0);
    this.asked = columns;
    this.live = columns;
    this.buffer = new RowBuffer(columns.length);
    if (rowBytes > this.budgetBytes && columns.length > 1) {
      this.maxColumns = Math.max(1, Math.floor(this.budgetBytes / this.cellBytes));
      this.leaveStep();
    }
  }

  /** Whether GetBulk is still used; the next group begins as this one ended. */
  get usesBulk(): boolean {
    return this.bulk;
  }

  next(): Ask {
    const { ask, group } = this;
    if (this.join !== undefined) this.askFor(this.wanted(this.join));
    else if (this.live.length < this.asked.length) {
      this.askFor(this.live.map((place) => this.asked[place] as number));
    }
    ask.operation = this.bulk ? 'get-bulk' : 'get-next';
    ask.count = this.asked.length;
    const rows = Math.floor(this.budgetBytes / (this.cellBytes * this.asked.length));
    ask.repetitions = Math.max(1, Math.min(this.maxRows, rows));
    for (let place = 0; place < this.asked.length; place += 1) {
      const column = this.asked[place] as number;
      ask.names[place] = group.names[column] as Uint8Array;
      const cursor = this.join === undefined ? this.cursor : (this.cursors[column] as Uint8Array);
      ask.indexes[place] = cursor;
      ask.indexLengths[place] = this.join === undefined ? this.cursorLength : cursor.length;
    }
    return ask;
  }

  /** Takes the varbinds of an answer from `first` on. */
  accept(table: VarbindTable, first: number): Progress {
    if (table.count <= first) return this.shrink();
    if (this.join !== undefined) return this.acceptOutOfStep(this.join, table, first);
    const width = this.asked.length;
    const rows = Math.floor((table.count - first) / width);
    if (rows === 0) {
      // Not even one row fits: the columns that came tell how many do.
      this.maxColumns = Math.max(1, table.count - first);
      return this.acceptOutOfStep(this.leaveStep(), table, first);
    }
    let at = first;
    for (let row = 0; row < rows; row += 1, at += width) {
      let step = this.judge(table, at);
      if (step === Step.outOfStep && this.cursorLength === 0 && row === 0) {
        this.dropAbsent(table, at);
        step = this.judge(table, at);
      }
      if (step === Step.notIncreasing) return this.notIncreasing(table, at);
      if (step === Step.malformed) return MALFORMED_NAME;
      if (step === Step.allEnded) return 'done';
      if (step === Step.outOfStep) return this.acceptOutOfStep(this.leaveStep(), table, at);
      this.handOut(table, at);
    }
    if (this.live.length === width) this.measure(table, first, at);
    return 'more';
  }

  /** Takes an error-status; `place` is where the error-index points, −1 when nowhere. */
  refuse(status: number, place: number): Progress {
    if (status === ErrorStatus.tooBig) return this.shrink();
    const column = this.asked[place];
    if (status === ErrorStatus.noSuchName) {
      if (column !== undefined) return this.endColumn(column);
      return this.asked.length === 1 ? this.endColumn(this.asked[0] as number) : this.oneByOne();
    }
    if (this.bulk) {
      this.bulk = false;
      return 'more';
    }
    const culprit = column ?? (this.asked.length === 1 ? this.asked[0] : undefined);
    if (culprit === undefined) return this.oneByOne();
    if (this.valueCounts[culprit] === 0) return this.endColumn(culprit);
    return {
      code: 'protocol-error',
      detail: `the agent answered ${ERROR_STATUS[status] ?? status} in the middle of ${this.nameOf(culprit)}`,
    };
  }

  private handOut(table: VarbindTable, at: number): void {
    const lead = at + (this.live[0] as number);
    const start = (table.nameStart[lead] as number) + this.nameLength(this.live[0] as number);
    const end = table.nameEnd[lead] as number;
    this.keepCursor(table.bytes, start, end);
    for (const place of this.live) this.count(this.asked[place] as number);
    const { view, buffer } = this;
    if (this.live.length === this.valueCounts.length) {
      view.indexBytes = table.bytes;
      view.indexStart = start;
      view.indexEnd = end;
      view.kinds = table.kinds;
      view.hi = table.hi;
      view.lo = table.lo;
      view.base = at;
      view.bytes = table.bytes;
      this.emit(view);
      return;
    }
    buffer.clear();
    buffer.setIndex(table.bytes, start, end);
    for (const place of this.live) {
      const cell = at + place;
      buffer.set(
        this.asked[place] as number,
        table.kinds[cell] as number,
        table.hi[cell] as number,
        table.lo[cell] as number,
        table.bytes,
      );
    }
    this.emit(buffer.row);
  }

  private acceptOutOfStep(join: RowJoin, table: VarbindTable, first: number): Progress {
    const width = this.asked.length;
    for (let at = first; at < table.count; at += 1) {
      const place = (at - first) % width;
      const column = this.asked[place] as number;
      if (this.cursors[column] === ENDED) continue;
      const cursor = this.cursors[column] as Uint8Array;
      if (!this.inside(table, at, place)) {
        if (this.before(table, at, place)) return this.notIncreasing(table, at);
        this.end(join, column);
        continue;
      }
      const start = (table.nameStart[at] as number) + this.nameLength(place);
      const end = table.nameEnd[at] as number;
      if (!validArcBytes(table.bytes, start, end)) return MALFORMED_NAME;
      if (compareArcBytes(table.bytes, start, end, cursor, 0, cursor.length) <= 0)
        return this.notIncreasing(table, at);
      this.cursors[column] = copyBytes(table.bytes, start, end);
      this.count(column);
      join.add(column, table, at, start);
    }
    if (this.asked.every((column) => this.cursors[column] !== ENDED)) this.measure(table, first, table.count);
    return this.drain(join);
  }

  /** Learns what a value takes, from an answer without the shorter cells of columns that are at their end. */
  private measure(table: VarbindTable, first: number, end: number): void {
    this.cellBytes = ((table.varbindEnd[end - 1] as number) - startOf(table, first)) / (end - first);
  }

  private drain(join: RowJoin): Progress {
    for (let row = join.take(); row !== undefined; row = join.take()) this.emit(row);
    return this.cursors.every((cursor) => cursor === ENDED) ? 'done' : 'more';
  }

  /** How the row at `at` stands against the last one and its own columns. */
  private judge(table: VarbindTable, at: number): number {
    const { live } = this;
    const { bytes, nameStart, nameEnd } = table;
    const lead = live[0];
    if (lead === undefined) return Step.allEnded;
    if (!this.inside(table, at + lead, lead)) {
      for (const place of live) {
        if (this.inside(table, at + place, place)) return Step.outOfStep;
        if (this.before(table, at + place, place)) return Step.notIncreasing;
      }
      return Step.allEnded;
    }
    const indexStart = (nameStart[at + lead] as number) + this.nameLength(lead);
    const indexEnd = nameEnd[at + lead] as number;
    const length = indexEnd - indexStart;
    for (let other = 1; other < live.length; other += 1) {
      const place = live[other] as number;
      if (!this.inside(table, at + place, place)) return Step.outOfStep;
      const start = (nameStart[at + place] as number) + this.nameLength(place);
      if ((nameEnd[at + place] as number) - start !== length) return Step.outOfStep;
      for (let offset = 0; offset < length; offset += 1) {
        if (bytes[start + offset] !== bytes[indexStart + offset]) return Step.outOfStep;
      }
    }
    if (!validArcBytes(bytes, indexStart, indexEnd)) return Step.malformed;
    return compareArcBytes(bytes, indexStart, indexEnd, this.cursor, 0, this.cursorLength) > 0
      ? Step.inStep
      : Step.notIncreasing;
  }

  /** Whether the varbind is an instance of the column that stands at this place of the request. */
  private inside(table: VarbindTable, at: number, place: number): boolean {
    const kind = table.kinds[at] as number;
    if (kind === Tag.endOfMibView || kind === Tag.noSuchObject || kind === Tag.noSuchInstance) return false;
    const name = this.group.names[this.asked[place] as number] as Uint8Array;
    const { bytes } = table;
    const start = table.nameStart[at] as number;
    if ((table.nameEnd[at] as number) - start <= name.length) return false;
    // From the end: names of one table differ in their last byte.
    for (let offset = name.length - 1; offset >= 0; offset -= 1) {
      if (bytes[start + offset] !== name[offset]) return false;
    }
    return true;
  }

  /** Whether the varbind names something before its column, or the column itself: an agent that goes backwards. */
  private before(table: VarbindTable, at: number, place: number): boolean {
    if ((table.kinds[at] as number) === Tag.endOfMibView) return false;
    const name = this.group.names[this.asked[place] as number] as Uint8Array;
    return (
      compareArcBytes(
        table.bytes,
        table.nameStart[at] as number,
        table.nameEnd[at] as number,
        name,
        0,
        name.length,
      ) <= 0
    );
  }

  /** In a table's first row a column that is not there at all costs only itself. */
  private dropAbsent(table: VarbindTable, at: number): void {
    this.live = this.live.filter(
      (place) => this.inside(table, at + place, place) || this.before(table, at + place, place),
    );
  }

  private leaveStep(): RowJoin {
    const join = new RowJoin(this.valueCounts.length, this.buffer);
    this.join = join;
    const cursor = this.cursor.slice(0, this.cursorLength);
    const alive = new Set(this.live.map((place) => this.asked[place]));
    this.cursors = this.valueCounts.map(() => cursor);
    for (let column = 0; column < this.cursors.length; column += 1) {
      if (!alive.has(column)) this.end(join, column);
    }
    return join;
  }

  private askFor(columns: number[]): void {
    this.asked = columns;
    this.live = columns.map((_, place) => place);
  }

  private wanted(join: RowJoin): number[] {
    const columns: number[] = [];
    for (let column = 0; column < this.cursors.length && columns.length < this.maxColumns; column += 1) {
      if (join.wants(column)) columns.push(column);
    }
    return columns;
  }

  /** Asks for less after tooBig or an empty answer: fewer rows, then fewer columns. */
  private shrink(): Progress {
    const rows = this.bulk ? this.ask.repetitions : 1;
    if (rows > 1) this.maxRows = Math.floor(rows / 2);
    else if (this.asked.length > 1) {
      this.maxColumns = Math.ceil(this.asked.length / 2);
      if (this.join === undefined) this.leaveStep();
    } else {
      return {
        code: 'too-large',
        detail: `the agent cannot answer with a single value of ${this.nameOf(this.asked[0] ?? 0)}`,
      };
    }
    return 'more';
  }

  private oneByOne(): Progress {
    if (this.join === undefined) this.leaveStep();
    this.maxColumns = 1;
    return 'more';
  }

  private endColumn(column: number): Progress {
    const join = this.join ?? this.leaveStep();
    this.end(join, column);
    return this.drain(join);
  }

  private end(join: RowJoin, column: number): void {
    this.cursors[column] = ENDED;
    join.end(column);
  }

  private count(column: number): void {
    this.valueCounts[column] = (this.valueCounts[column] as number) + 1;
  }

  private keepCursor(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (length > this.cursor.length) this.cursor = new Uint8Array(length * 2);
    for (let offset = 0; offset < length; offset += 1) this.cursor[offset] = bytes[start + offset] as number;
    this.cursorLength = length;
  }

  private nameLength(place: number): number {
    return (this.group.names[this.asked[place] as number] as Uint8Array).length;
  }

  private nameOf(column: number): string {
    return formatOid(this.group.oids[column] ?? []);
  }

  private notIncreasing(table: VarbindTable, at: number): SnmpFault {
    const found = formatArcs(table.bytes, (table.nameStart[at] as number) + 1, table.nameEnd[at]);
    return {
      code: 'snmp-oid-not-increasing',
      detail: `the agent went backwards: 1.3.${found} came again or too late`,
    };
  }
}

const MALFORMED_NAME: SnmpFault = {
  code: 'protocol-error',
  detail: 'the agent sent a name that is no object identifier',
};

/** The cursor of a column that has no more. */
const ENDED = new Uint8Array(0);

/** Where the first varbind of the rows begins: behind the one before it, else at its own header. */
function startOf(table: VarbindTable, first: number): number {
  return first > 0 ? (table.varbindEnd[first - 1] as number) : (table.nameStart[first] as number) - 4;
}

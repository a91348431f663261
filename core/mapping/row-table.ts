import type { RecordWriter } from '../record.ts';
import { coerce } from './coerce.ts';
import type { RowLayout } from './layout.ts';
import { CELL, type Coerced, VALUE } from './value.ts';

/** A group is a set of rows with one kind of key: a gNMI chain of lists, or an SNMP index. */
export interface Group {
  readonly id: number;
  /** Groups whose keys begin this one's, the nearest first, with how many key values each has. */
  readonly ancestors: ReadonlyArray<{ readonly id: number; readonly keyCount: number }>;
}

/** A row's identity. Streams of one mapping share these. */
export interface NewRow {
  readonly group: Group;
  readonly keyValues: readonly string[];
  readonly key: string;
  /** How records name it, as `rowName` writes it. */
  readonly name: Uint8Array;
  /** Of two paths for one row (it has alternatives), the one with the lower rank is shown. */
  readonly rank: number;
  /** Values that the key itself gives to fields which the device does not send. */
  readonly fills: ReadonlyArray<{ readonly field: number; readonly value: string }>;
}

interface Fill {
  readonly field: number;
  readonly cell: number;
  readonly hi: number;
  readonly lo: number;
  readonly text: Uint8Array | undefined;
}

interface Row {
  /** Its rank and name are those of the best path that has arrived. */
  identity: NewRow;
  readonly fills: readonly Fill[];
  /** A record of it has gone out since it was last empty. */
  isSent: boolean;
  /** It had no value left when a cycle closed. */
  isDeleted: boolean;
}

const NO_FILLS: readonly Fill[] = [];
const CELL_WORDS = 4;
const UINT64_TYPES = new Set(['uint64', 'counter64']);

export interface RowTableOptions {
  /** Rows stay from cycle to cycle and go out whole (ON_CHANGE); else a record has what its own cycle brought. */
  readonly keepsRows: boolean;
  readonly maxRows: number;
  /** A row's key from its values; of an ancestor, from the first of them. */
  readonly formatKey: (values: readonly string[]) => string;
}

/**
 * The rows of one device's stream: a flat table of cells, each the newest value of one slot. Feeding it makes no
 * object; records are written when a cycle closes.
 */
export class RowTable {
  /** Updates that no row could take, because the table is full. */
  drops = 0;
  /** Updates taken, by slot. */
  readonly updatesOfSlot: Float64Array;
  /** Counts by `slot:fault`. */
  readonly coercionErrors = new Map<string, number>();
  touchedCount = 0;
  private cycle = 1;
  private cells: Int32Array;
  private texts: Array<Uint8Array | undefined> = [];
  private rows: Row[] = [];
  private rowStamp: Int32Array;
  private rowTime: Float64Array;
  private touched: Int32Array;
  private capacity = 16;
  private groups = new Map<number, Map<string, number>>();
  private readonly layout: RowLayout;
  private readonly options: RowTableOptions;
  private readonly takesUint64: Uint8Array;
  private readonly coerced: Coerced = { cell: 0, hi: 0, lo: 0, text: undefined };

  constructor(layout: RowLayout, options: RowTableOptions) {
    this.layout = layout;
    this.options = options;
    this.updatesOfSlot = new Float64Array(layout.slotCount);
    this.cells = new Int32Array(this.capacity * layout.slotCount * CELL_WORDS);
    this.rowStamp = new Int32Array(this.capacity);
    this.rowTime = new Float64Array(this.capacity);
    this.touched = new Int32Array(this.capacity);
    this.takesUint64 = Uint8Array.from(layout.fieldOfSlot, (field) =>
      UINT64_TYPES.has(layout.fields[field]?.type ?? '') ? 1 : 0,
    );
  }

  get rowCount(): number {
    return this.rows.length;
  }

  /** The row with this group and key, or −1. */
  find(groupId: number, key: string): number {
    return this.groups.get(groupId)?.get(key) ?? -1;
  }

  /** The rank of the path that a row is shown by. */
  rankOf(row: number): number {
    return (this.rows[row] as Row).identity.rank;
  }

  /** The row with this identity, made if it is new; −1 when the table is full. */
  rowFor(wanted: NewRow): number {
    const known = this.find(wanted.group.id, wanted.key);
    if (known >= 0) {
      const row = this.rows[known] as Row;
      if (wanted.rank < row.identity.rank) row.identity = wanted;
      return known;
    }
    if (this.rows.length >= this.options.maxRows) return -1;
    const { fills } = wanted;
    return this.append({
      identity: wanted,
      fills:
        fills.length === 0 ? NO_FILLS : fills.flatMap(({ field, value }) => this.coerceFill(field, value)),
      isSent: false,
      isDeleted: false,
    });
  }

  /** Whether this cycle has brought this slot of this row already. */
  isSet(row: number, slot: number): boolean {
    return this.cells[(row * this.layout.slotCount + slot) * CELL_WORDS] === this.cycle;
  }

  /** Puts a value, as `VALUE` describes it, into a row. The time is its notification's, in ms since the epoch. */
  set(
    row: number,
    slot: number,
    timeMilliseconds: number,
    kind: number,
    hi: number,
    lo: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    const index = row * this.layout.slotCount + slot;
    const at = index * CELL_WORDS;
    const { cells } = this;
    this.touch(row, timeMilliseconds);
    this.updatesOfSlot[slot] = (this.updatesOfSlot[slot] as number) + 1;
    cells[at] = this.cycle;
    if (kind === VALUE.uint && this.takesUint64[slot] === 1) {
      cells[at + 1] = CELL.uint;
      cells[at + 2] = hi;
      cells[at + 3] = lo;
      return;
    }
    // Names and states seldom change; octets for a string are read as text.
    if (cells[at + 1] === CELL.text && (kind === VALUE.string || kind === VALUE.bytes)) {
      const text = this.texts[index] as Uint8Array;
      if (this.typeOf(slot) === 'string' && isQuoted(text, bytes, start, end)) return;
    }
    const { coerced } = this;
    const fault = coerce(this.typeOf(slot), this.layout.truthValue, kind, hi, lo, bytes, start, end, coerced);
    cells[at + 1] = coerced.cell;
    cells[at + 2] = coerced.hi;
    cells[at + 3] = coerced.lo;
    if (coerced.cell === CELL.text) this.texts[index] = coerced.text;
    if (fault !== undefined) {
      const name = `${slot}:${fault}`;
      this.coercionErrors.set(name, (this.coercionErrors.get(name) ?? 0) + 1);
    }
  }

  /** Takes one slot's value out of a row, as a delete of its path asks. */
  clear(row: number, slot: number, timeMilliseconds: number): void {
    const at = (row * this.layout.slotCount + slot) * CELL_WORDS;
    if (this.cells[at + 1] === CELL.absent) return;
    this.cells[at + 1] = CELL.absent;
    this.touch(row, timeMilliseconds);
  }

  /** Takes a whole row away; if it was sent, its record with no data goes out with this cycle. */
  remove(row: number, timeMilliseconds: number): void {
    for (let slot = 0; slot < this.layout.slotCount; slot += 1) this.clear(row, slot, timeMilliseconds);
  }

  /** The number of the cycle that is open; it goes up with each. */
  get cycleNumber(): number {
    return this.cycle;
  }

  /** Takes away what these slots were last given before the cycle of this number. */
  clearOlder(slots: readonly number[], cycleNumber: number, timeMilliseconds: number): void {
    const { slotCount } = this.layout;
    for (let row = 0; row < this.rows.length; row += 1) {
      for (const slot of slots) {
        const stamp = this.cells[(row * slotCount + slot) * CELL_WORDS] as number;
        if (stamp < cycleNumber) this.clear(row, slot, timeMilliseconds);
      }
    }
  }

  /** Every row with its group and key values, for deletes of branches. */
  forEachRow(visit: (row: number, groupId: number, keyValues: readonly string[]) => void): void {
    for (const [id, { identity }] of this.rows.entries()) visit(id, identity.group.id, identity.keyValues);
  }

  /**
   * Writes the records of the cycle and begins the next one. A row whose keys begin another row's goes into that
   * one and, while there is such a row, not out by itself. Returns how many records were written.
   */
  closeCycle(writer: RecordWriter): number {
    writer.begin();
    const covered = this.groups.size > 1 ? this.coverAncestors() : undefined;
    let written = 0;
    for (let index = 0; index < this.touchedCount; index += 1) {
      const row = this.touched[index] as number;
      if (covered?.has(row)) continue;
      if (this.writeRow(row, writer)) written += 1;
    }
    this.discardCycle();
    return written;
  }

  /**
   * Writes what each row was last given, and changes nothing: for people who look between cycles. Left out are rows and
   * values from before the cycle of this number, and rows that were last told of before this time (ms since the epoch).
   */
  writeLatest(writer: RecordWriter, oldestCycle: number, oldestMilliseconds: number): void {
    writer.begin();
    const isShown = (id: number) =>
      (this.rowStamp[id] as number) >= oldestCycle &&
      (this.rowTime[id] as number) >= oldestMilliseconds &&
      this.presentCell(id, 0, this.layout.slotCount, oldestCycle) >= 0;
    const shown = this.rows.map((_, id) => id).filter(isShown);
    const covered = new Set(
      this.groups.size > 1 ? shown.flatMap((id) => this.parentsOf(this.rows[id] as Row)) : [],
    );
    for (const id of shown) {
      if (!covered.has(id)) this.writeValues(id, writer, oldestCycle);
    }
  }

  /** Begins the next cycle without sending this one. */
  discardCycle(): void {
    this.touchedCount = 0;
    this.cycle += 1;
  }

  /**
   * Forgets rows that neither this cycle nor the one before has touched, or where rows are kept those that are
   * deleted. Row numbers change.
   */
  compact(): void {
    const { keepsRows } = this.options;
    const survivors = this.rows.flatMap((row, id) =>
      (this.rowStamp[id] as number) >= this.cycle - 1 || (keepsRows && !row.isDeleted) ? [id] : [],
    );
    this.rebuild(survivors, (group) => group);
  }

  /**
   * Gives rows their new groups after two groups turned out to be one; rows with equal keys become one row.
   * Row numbers change.
   */
  regroup(groupOf: (group: Group) => Group): void {
    const all = this.rows.map((_, id) => id);
    this.rebuild(all, groupOf);
  }

  private rebuild(survivors: readonly number[], groupOf: (group: Group) => Group): void {
    const { rows, cells, texts, rowStamp, rowTime } = this;
    const { slotCount } = this.layout;
    this.rows = [];
    this.groups = new Map();
    this.texts = [];
    this.touchedCount = 0;
    this.allocate(Math.max(16, survivors.length));
    for (const old of survivors) {
      const row = rows[old] as Row;
      const group = groupOf(row.identity.group);
      const identity = group === row.identity.group ? row.identity : { ...row.identity, group };
      const existing = this.find(group.id, identity.key);
      const id = existing < 0 ? this.append({ ...row, identity }) : existing;
      const merged = this.rows[id] as Row;
      if (identity.rank < merged.identity.rank) merged.identity = identity;
      merged.isSent ||= row.isSent;
      merged.isDeleted &&= row.isDeleted;
      for (let slot = 0; slot < slotCount; slot += 1) {
        const from = old * slotCount + slot;
        const to = id * slotCount + slot;
        if (cells[from * CELL_WORDS + 1] === CELL.absent) continue;
        this.cells.set(cells.subarray(from * CELL_WORDS, (from + 1) * CELL_WORDS), to * CELL_WORDS);
        this.texts[to] = texts[from];
      }
      this.rowTime[id] = Math.max(this.rowTime[id] as number, rowTime[old] as number);
      if (rowStamp[old] === this.cycle && this.rowStamp[id] !== this.cycle) {
        this.touched[this.touchedCount++] = id;
      }
      this.rowStamp[id] = Math.max(this.rowStamp[id] as number, rowStamp[old] as number);
    }
  }

  private append(row: Row): number {
    const id = this.rows.length;
    if (id === this.capacity) this.allocate(this.capacity * 2);
    this.rows.push(row);
    const { group, key } = row.identity;
    const known = this.groups.get(group.id);
    if (known === undefined) this.groups.set(group.id, new Map([[key, id]]));
    else known.set(key, id);
    return id;
  }

  private allocate(capacity: number): void {
    const { cells, rowStamp, rowTime, touched } = this;
    const used = this.rows.length;
    const words = this.layout.slotCount * CELL_WORDS;
    this.capacity = capacity;
    this.cells = new Int32Array(capacity * words);
    this.rowStamp = new Int32Array(capacity);
    this.rowTime = new Float64Array(capacity);
    this.touched = new Int32Array(capacity);
    this.cells.set(cells.subarray(0, used * words));
    this.rowStamp.set(rowStamp.subarray(0, used));
    this.rowTime.set(rowTime.subarray(0, used));
    this.touched.set(touched.subarray(0, used));
  }

  private touch(row: number, timeMilliseconds: number): void {
    if (this.rowStamp[row] !== this.cycle) {
      this.rowStamp[row] = this.cycle;
      this.touched[this.touchedCount++] = row;
      if (!this.options.keepsRows) this.rowTime[row] = timeMilliseconds;
    }
    if (timeMilliseconds > (this.rowTime[row] as number)) this.rowTime[row] = timeMilliseconds;
  }

  /**
   * Touches the rows below a touched one where rows are kept (what was copied into them has changed), and returns
   * the rows that others carry along.
   */
  private coverAncestors(): Set<number> {
    const covered = new Set<number>();
    for (const [id, row] of this.rows.entries()) {
      const isTouched = this.rowStamp[id] === this.cycle;
      if ((!isTouched && !this.options.keepsRows) || !this.hasValue(id)) continue;
      for (const parent of this.parentsOf(row)) {
        covered.add(parent);
        if (!isTouched && this.rowStamp[parent] === this.cycle)
          this.touch(id, this.rowTime[parent] as number);
      }
    }
    return covered;
  }

  private parentsOf(row: Row): number[] {
    const { group, keyValues } = row.identity;
    return group.ancestors
      .map(({ id, keyCount }) => this.find(id, this.options.formatKey(keyValues.slice(0, keyCount))))
      .filter((parent) => parent >= 0);
  }

  private writeRow(id: number, writer: RecordWriter): boolean {
    const row = this.rows[id] as Row;
    row.isDeleted = !this.hasValue(id);
    if (row.isDeleted) {
      // A row that nobody was told of needs no farewell.
      if (!row.isSent || !this.options.keepsRows) return false;
      row.isSent = false;
      writer.start(row.identity.name, this.rowTime[id] as number);
      writer.end();
      return true;
    }
    row.isSent = true;
    this.writeValues(id, writer, this.oldestCycle);
    return true;
  }

  /** Writes a row's record with what it was given since a cycle, and with what it carries along. */
  private writeValues(id: number, writer: RecordWriter, oldestCycle: number): void {
    const row = this.rows[id] as Row;
    const { fields, slotStart } = this.layout;
    const parents = this.groups.size === 1 ? undefined : this.parentsOf(row);
    writer.start(row.identity.name, this.timeOf(id, parents, oldestCycle));
    for (let field = 0; field < fields.length; field += 1) {
      const first = slotStart[field] as number;
      const end = slotStart[field + 1] as number;
      let index = this.presentCell(id, first, end, oldestCycle);
      for (let at = 0; index < 0 && parents !== undefined && at < parents.length; at += 1) {
        index = this.presentCell(parents[at] as number, first, end, oldestCycle);
      }
      if (index >= 0) {
        const at = index * CELL_WORDS;
        const { cells } = this;
        writer.value(
          field,
          cells[at + 1] as number,
          cells[at + 2] as number,
          cells[at + 3] as number,
          this.texts[index],
        );
      } else if (row.fills.length > 0) {
        const fill = row.fills.find((candidate) => candidate.field === field);
        if (fill !== undefined) writer.value(field, fill.cell, fill.hi, fill.lo, fill.text);
      }
    }
    writer.end();
  }

  /** The newest of a row's own notifications and of those that it carries along. */
  private timeOf(id: number, parents: readonly number[] | undefined, oldestCycle: number): number {
    let time = this.rowTime[id] as number;
    for (const parent of parents ?? []) {
      if ((this.rowStamp[parent] as number) >= oldestCycle)
        time = Math.max(time, this.rowTime[parent] as number);
    }
    return time;
  }

  /** What a record of this cycle shows is no older than this one; kept rows show whatever they have. */
  private get oldestCycle(): number {
    return this.options.keepsRows ? 0 : this.cycle;
  }

  /** The index of the first of these slots that has a value from this cycle on, or −1. */
  private presentCell(row: number, firstSlot: number, endSlot: number, oldestCycle: number): number {
    const base = row * this.layout.slotCount;
    for (let slot = firstSlot; slot < endSlot; slot += 1) {
      const at = (base + slot) * CELL_WORDS;
      const isCurrent = (this.cells[at] as number) >= oldestCycle;
      if (isCurrent && this.cells[at + 1] !== CELL.absent) return base + slot;
    }
    return -1;
  }

  private hasValue(row: number): boolean {
    return this.presentCell(row, 0, this.layout.slotCount, this.oldestCycle) >= 0;
  }

  private typeOf(slot: number) {
    const field = this.layout.fields[this.layout.fieldOfSlot[slot] as number];
    return (field as (typeof this.layout.fields)[number]).type;
  }

  private coerceFill(field: number, value: string): Fill[] {
    const { type } = this.layout.fields[field] as (typeof this.layout.fields)[number];
    const bytes = Buffer.from(value);
    const { coerced } = this;
    const fault = coerce(type, this.layout.truthValue, VALUE.string, 0, 0, bytes, 0, bytes.length, coerced);
    if (fault !== undefined) return [];
    return [{ field, cell: coerced.cell, hi: coerced.hi, lo: coerced.lo, text: coerced.text }];
  }
}

/** Whether JSON text is these bytes between quotes; text with an escape in it is not compared. */
function isQuoted(json: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (json.length !== end - start + 2) return false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (json[at - start + 1] !== byte || byte === 0x5c) return false;
  }
  return true;
}

import { parseExactJson } from '../exact-json.ts';
import { type RecordBatch, type RecordSource, RecordWriter } from '../record.ts';
import { CycleClock, type CycleRule } from './clock.ts';
import type { GnmiMapping } from './compile.ts';
import { nanosecondsToMilliseconds } from './digits.ts';
import { forEachLeaf, formatExactJson } from './json-leaves.ts';
import { formatKey, type PathElement } from './path.ts';
import { beginsWith, type Chain, type PathIndex, type PathMatch } from './path-index.ts';
import { newRow, type PathNumbers, SLOT } from './path-numbers.ts';
import { RowTable } from './row-table.ts';
import { SparseNumbers } from './sparse-numbers.ts';
import { VALUE } from './value.ts';

export interface GnmiRowsOptions {
  readonly source: RecordSource;
  readonly numbers: PathNumbers;
  readonly rule: CycleRule;
  /** Rows go out whole from what earlier cycles brought; for ON_CHANGE, and where the device leaves out the unchanged. */
  readonly keepsRows: boolean;
  readonly maxRows: number;
  /** Takes the records of each cycle that has any; they are valid during the call. */
  readonly deliver: (records: RecordBatch) => void;
}

/** What a stream has done, for its status. */
export interface RowsStatus {
  readonly updates: number;
  readonly rows: number;
  readonly records: number;
  readonly cycles: number;
  readonly drops: number;
  readonly clockSkew: number;
  readonly cycleIncomplete: number;
}

/** A device's clock may be off by this much before its time is not believed. */
const MAX_SKEW_MILLISECONDS = 300_000;
/** Rows that cycles no longer touch are forgotten from time to time, when there are this many more than needed. */
const SPARE_ROWS = 1_024;
/** Rows that a device samples are shown this many intervals long: it need not send them all at once. */
const SHOWN_INTERVALS = 3;

/**
 * The gNMI end of the mapping engine: notifications of one stream in, records out.
 *
 * `update` is the hot path: two table look-ups lead from the decoder's prefix and leaf numbers to a row and a slot,
 * and the value goes into a cell. Whatever has no entry yet, and the shapes that need more (keys in the leaf, JSON
 * subtrees, one path for several fields), take the slow way by the path's elements.
 */
export class GnmiRows {
  private readonly options: GnmiRowsOptions;
  private readonly numbers: PathNumbers;
  private readonly index: PathIndex;
  private readonly mapping: GnmiMapping;
  private readonly table: RowTable;
  private readonly writer: RecordWriter;
  private readonly clock: CycleClock;
  private readonly isLoose: Uint8Array;
  /** Lists that rows were found by, as the elements of one of them. */
  private readonly chains = new Map<Chain, readonly PathElement[]>();
  /** Row by prefix number. */
  private readonly rowNumbers = new SparseNumbers();
  private indexVersion: number;
  private wholeCycle = 0;
  private time = 0;
  private now = 0;
  /** Values that a newer one of the same cycle took the place of, from a device that sends more than it was asked for. */
  private superseded = 0;
  private readonly counts = { updates: 0, records: 0, cycles: 0, clockSkew: 0, cycleIncomplete: 0 };

  constructor(options: GnmiRowsOptions) {
    this.options = options;
    this.numbers = options.numbers;
    this.index = options.numbers.index;
    this.mapping = this.index.mapping;
    this.table = new RowTable(this.mapping.layout, {
      keepsRows: options.keepsRows,
      maxRows: options.maxRows,
      formatKey,
    });
    this.writer = new RecordWriter(options.source, this.mapping.layout);
    this.clock = new CycleClock(options.rule);
    this.indexVersion = this.index.version;
    // One slot of a path with * for a name takes several leaves of one row: their second is no second cycle.
    this.isLoose = Uint8Array.from(this.mapping.slots, ({ path }) =>
      path.elements.some(({ name }) => name === '*') ? 1 : 0,
    );
  }

  /**
   * A notification begins. Its timestamp is in nanoseconds since the epoch, as two halves; `wallClock` is the
   * collector's in ms since the epoch, `now` its monotonic clock in ms.
   */
  notification(timestampHi: number, timestampLo: number, wallClock: number, now: number): void {
    this.now = now;
    const sent = nanosecondsToMilliseconds(timestampHi, timestampLo);
    const isBelieved = Math.abs(sent - wallClock) <= MAX_SKEW_MILLISECONDS;
    if (!isBelieved) this.counts.clockSkew += 1;
    this.time = isBelieved ? sent : wallClock;
    const deadline = this.clock.deadline();
    if (deadline !== undefined && now >= deadline) this.close();
  }

  /** One update of the notification; `VALUE` says what kind, hi, lo and the bytes are. */
  update(
    prefixId: number,
    leafId: number,
    kind: number,
    hi: number,
    lo: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    this.counts.updates += 1;
    let slot = this.numbers.slotOf(prefixId, leafId);
    if (slot === SLOT.unknown) slot = this.numbers.learn(prefixId, leafId);
    if (slot === SLOT.none) return;
    if (slot >= 0) {
      let row = this.rowNumbers.get(prefixId);
      if (row < 0) row = this.rowOfPrefix(prefixId);
      if (row >= 0 && !this.isRepeat(row, slot)) {
        this.clock.updated(this.now);
        this.table.set(row, slot, this.time, kind, hi, lo, bytes, start, end);
        return;
      }
    }
    const elements = this.numbers.elements(prefixId, leafId);
    this.apply(elements, this.index.match(elements), kind, hi, lo, bytes, start, end);
  }

  /** One update by its whole path, for paths that no decoder has numbers for. */
  updatePath(
    elements: readonly PathElement[],
    kind: number,
    hi: number,
    lo: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    this.counts.updates += 1;
    this.apply(elements, this.index.match(elements), kind, hi, lo, bytes, start, end);
  }

  /** A delete: every value at and below the path goes, keys left out and `*` being any. Only kept rows feel it. */
  delete(elements: readonly PathElement[]): void {
    if (!this.options.keepsRows) return;
    this.table.forEachRow((row, groupId, keyValues) => {
      for (const path of this.pathsOf(groupId, keyValues)) this.deleteFromRow(row, path, elements);
    });
    if (this.table.touchedCount > 0) this.clock.updated(this.now);
  }

  /** sync_response: what there is to know at first has been sent. */
  sync(): void {
    if (this.clock.synced()) this.close();
  }

  /**
   * A target begins to tell its state from the beginning, after a lost connection. Gives the mark for `retold`. Where
   * rows are kept, nothing goes out before the next `sync`.
   */
  restart(): number {
    this.clock.restarted();
    return this.table.cycleNumber;
  }

  /** The target has told everything since the mark: what these slots kept and it did not tell again is gone. */
  retold(slots: readonly number[], mark: number): void {
    if (this.options.keepsRows) this.table.clearOlder(slots, mark, this.time);
  }

  /** Forgets what has come in this cycle and was not asked for. */
  discard(): void {
    this.table.discardCycle();
    this.clock.closed();
  }

  /** The number of the cycle that is open. */
  get cycleNumber(): number {
    return this.table.cycleNumber;
  }

  /** SAMPLE: whether quiet ends a cycle, or somebody has yet to speak in it. */
  set isMoreAwaited(isAwaited: boolean) {
    this.clock.isMoreAwaited = isAwaited;
  }

  /** Closes the cycle if its time has come. */
  tick(now: number): void {
    this.now = now;
    const deadline = this.clock.deadline();
    if (deadline !== undefined && now >= deadline) this.close();
  }

  /** When `tick` is next needed, on the clock of `now`; undefined: not before another update. */
  deadline(): number | undefined {
    return this.clock.deadline();
  }

  /** Closes the cycle now: a poll or ONCE is complete, or the stream ends in order. */
  close(): void {
    this.followIndex();
    this.clock.closed();
    this.wholeCycle = this.table.cycleNumber;
    const touched = this.table.touchedCount;
    if (touched === 0) return;
    const records = this.table.closeCycle(this.writer);
    if (records > 0) {
      this.counts.cycles += 1;
      this.counts.records += records;
      this.options.deliver(this.writer.take());
    }
    this.forgetSpareRows(touched);
  }

  /**
   * The rows as they were last told, valid until the next call of any method. Where rows are not kept: of a poll those of
   * the last whole one, of a sampled stream those of the last few intervals.
   */
  latest(): RecordBatch {
    const { rule, keepsRows } = this.options;
    const isPolled = rule.kind === 'asked' && !keepsRows;
    const isSampled = rule.kind === 'sample' && !keepsRows;
    const oldest = isSampled ? this.time - SHOWN_INTERVALS * rule.intervalMilliseconds : 0;
    this.table.writeLatest(this.writer, isPolled ? this.wholeCycle : 0, oldest);
    return this.writer.take();
  }

  /** Forgets the cycle: what it would have said is not whole. */
  abandon(): void {
    if (this.table.touchedCount > 0) this.counts.cycleIncomplete += 1;
    this.table.discardCycle();
    this.clock.closed();
  }

  /** The decoder gives all paths new numbers since this generation: what is known by the old ones is forgotten, rows stay. */
  forgetPathNumbers(generation: number): void {
    this.numbers.forget(generation);
    this.rowNumbers.clear();
  }

  get updates(): number {
    return this.counts.updates;
  }

  status(): RowsStatus {
    return { ...this.counts, rows: this.table.rowCount, drops: this.table.drops + this.superseded };
  }

  /** Paths of the mapping from which nothing has come yet. */
  unmatchedPaths(): string[] {
    return this.mapping.slots.flatMap(({ text }, slot) => (this.updatesOf(slot) === 0 ? [text] : []));
  }

  /** Updates that each slot of the mapping has taken. */
  updatesOf(slot: number): number {
    return this.table.updatesOfSlot[slot] as number;
  }

  /** Values that did not fit, by slot and fault. */
  coercionErrors(): ReadonlyMap<string, number> {
    return this.table.coercionErrors;
  }

  private isRepeat(row: number, slot: number): boolean {
    if (!this.clock.closesOnRepeat || !this.table.isSet(row, slot) || this.isLoose[slot] !== 0) return false;
    if (!this.clock.isTooEarly(this.now)) return true;
    this.superseded += 1;
    return false;
  }

  private apply(
    elements: readonly PathElement[],
    match: PathMatch,
    kind: number,
    hi: number,
    lo: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    if (match.slots.length > 0) {
      this.followIndex();
      let row = this.rowOf(elements, match.chain);
      if (row >= 0 && match.slots.some((slot) => this.isRepeat(row, slot))) {
        this.close();
        row = this.rowOf(elements, match.chain);
      }
      if (row < 0) {
        this.table.drops += 1;
        return;
      }
      this.clock.updated(this.now);
      for (const slot of match.slots) {
        this.table.set(row, slot, this.time, kind, hi, lo, bytes, start, end);
      }
    }
    if (!match.isContainer || kind !== VALUE.json) return;
    const value = parseExactJson(Buffer.from(bytes.subarray(start, end)).toString('utf8'));
    if (value === undefined) return;
    forEachLeaf(this.index, elements, value, (below, leafMatch, leafValue) => {
      const json = Buffer.from(formatExactJson(leafValue));
      this.apply(below, { ...leafMatch, isContainer: false }, VALUE.json, 0, 0, json, 0, json.length);
    });
  }

  /** The row that a prefix names, made if it is new; −1 when that is not known or there is no room. */
  private rowOfPrefix(prefixId: number): number {
    const named = this.numbers.rowOf(prefixId);
    if (named === undefined) return -1;
    this.followIndex();
    const [chain, template] = this.numbers.chainOf(prefixId);
    if (!this.chains.has(chain)) this.chains.set(chain, template);
    const row = this.table.rowFor(named);
    if (row >= 0) this.rowNumbers.set(prefixId, row);
    return row;
  }

  /** The row that a path's keys name, made if it is new; −1 when there is no room. */
  private rowOf(elements: readonly PathElement[], chain: Chain): number {
    const known = this.findRow(elements, chain);
    if (known >= 0 && this.table.rankOf(known) <= chain.rank) return known;
    const keyed = elements.slice(0, chain.length);
    if (!this.chains.has(chain)) this.chains.set(chain, keyed);
    return this.table.rowFor(newRow(this.index, keyed, chain));
  }

  private findRow(elements: readonly PathElement[], chain: Chain): number {
    const keyValues: string[] = [];
    for (let at = 0; at < chain.length; at += 1) {
      for (const { value } of (elements[at] as PathElement).keys) keyValues.push(value);
    }
    return this.table.find(this.index.groupOf(chain).id, formatKey(keyValues));
  }

  /** Paths that lead to rows of a group, with a row's key values in their lists. */
  private pathsOf(groupId: number, keyValues: readonly string[]): PathElement[][] {
    const { index } = this;
    return [...this.chains]
      .filter(([chain]) => index.groupOf(chain).id === groupId)
      .map(([, template]) => {
        let next = 0;
        return template.map(({ name, keys }) => ({
          name,
          keys: keys.map((key) => ({ name: key.name, value: keyValues[next++] as string })),
        }));
      });
  }

  private deleteFromRow(row: number, path: readonly PathElement[], deleted: readonly PathElement[]): void {
    const shared = Math.min(path.length, deleted.length);
    if (!beginsWith(deleted, path.slice(0, shared))) return;
    if (deleted.length <= path.length) {
      this.table.remove(row, this.time);
      return;
    }
    for (const [slot, wanted] of this.mapping.slots.entries()) {
      if (beginsWith(wanted.path.elements, deleted)) this.table.clear(row, slot, this.time);
    }
  }

  /** Lets rows meet whose groups the index has found to be one. */
  private followIndex(): void {
    const { index } = this;
    if (this.indexVersion === index.version) return;
    this.indexVersion = index.version;
    this.table.regroup((group) => index.currentGroup(group));
    this.rowNumbers.clear();
  }

  private forgetSpareRows(neededRows: number): void {
    const isWorthIt = this.options.keepsRows
      ? this.counts.cycles % SPARE_ROWS === 0 && this.table.rowCount > SPARE_ROWS
      : this.table.rowCount > neededRows * 2 + SPARE_ROWS;
    if (!isWorthIt) return;
    this.table.compact();
    this.rowNumbers.clear();
  }
}

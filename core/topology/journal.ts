/**
 * What happened to the graph, item by item of each peer's log: for `/changes`, which needs what was touched since a
 * version, and for `/events`, which tells it to people. Bounded: the oldest items are forgotten first.
 */
import type { GraphChange, GraphListener } from './graph.ts';
import { partitionPoint } from './partition-point.ts';
import { Timeline } from './timeline.ts';

/** So many changes are remembered at most, over all peers, unless somebody says otherwise. */
const MOST_CHANGES = 200_000;

/** One item of a peer's log and what it did. */
export interface JournalRecord {
  readonly peerId: number;
  readonly sequence: number;
  readonly changes: readonly GraphChange[];
  /** The session began or ended: the flags of every object of the peer may be others now. */
  readonly session: boolean;
}

export class Journal implements GraphListener {
  /** What the records say, in the order of time. */
  readonly timeline = new Timeline();
  readonly #records = new Map<number, JournalRecord[]>();
  /** The journal knows everything after this sequence number. */
  readonly #bases = new Map<number, number>();
  readonly #most: number;
  #changes: GraphChange[] = [];
  #session = false;
  #total = 0;

  constructor(most = MOST_CHANGES) {
    this.#most = most;
  }

  changed(change: GraphChange): void {
    this.#changes.push(change);
  }

  sessionChanged(): void {
    this.#session = true;
  }

  /** A peer's state was loaded as it stood after `sequence`; what the journal knew of the peer is forgotten. */
  restart(peerId: number, sequence: number): void {
    const forgotten = countChanges(this.#records.get(peerId) ?? []);
    this.#total -= forgotten;
    if (forgotten > 0) this.timeline.forget(peerId, Number.POSITIVE_INFINITY);
    this.#records.set(peerId, []);
    this.#bases.set(peerId, sequence);
    this.#changes = [];
    this.#session = false;
  }

  forget(peerId: number): void {
    this.restart(peerId, 0);
    this.#records.delete(peerId);
    this.#bases.delete(peerId);
  }

  /** All that the graph told since the last call came from this item of the log. */
  record(peerId: number, sequence: number): void {
    const records = this.#records.get(peerId);
    if (records !== undefined && (this.#changes.length > 0 || this.#session)) {
      const record = { peerId, sequence, changes: this.#changes, session: this.#session };
      records.push(record);
      this.timeline.add(record);
      this.#total += this.#changes.length;
      if (this.#total > this.#most) this.#shrink();
    }
    this.#changes = [];
    this.#session = false;
  }

  /** From where on the journal knows a peer; undefined: it does not know the peer. */
  baseOf(peerId: number): number | undefined {
    return this.#bases.get(peerId);
  }

  /** A peer's records after `sequence`, in order. */
  after(peerId: number, sequence: number): JournalRecord[] {
    const records = this.#records.get(peerId) ?? [];
    return records.slice(firstAfter(records, sequence));
  }

  /** One item of a peer's log; undefined when it is not remembered, or did nothing. */
  find(peerId: number, sequence: number): JournalRecord | undefined {
    const records = this.#records.get(peerId) ?? [];
    const record = records[firstAfter(records, sequence) - 1];
    return record?.sequence === sequence ? record : undefined;
  }

  /** Forgets the older half of the peer with the most changes. */
  #shrink(): void {
    let largest: JournalRecord[] = [];
    let most = -1;
    for (const records of this.#records.values()) {
      const size = countChanges(records);
      if (size > most) [largest, most] = [records, size];
    }
    const dropped = largest.splice(0, Math.ceil(largest.length / 2));
    const last = dropped.at(-1);
    if (last === undefined) return;
    this.#total -= countChanges(dropped);
    this.#bases.set(last.peerId, last.sequence);
    this.timeline.forget(last.peerId, last.sequence);
  }
}

function countChanges(records: readonly JournalRecord[]): number {
  return records.reduce((sum, { changes }) => sum + changes.length, 0);
}

/** The place of the first record after a sequence number; a log's records are in the order of these. */
function firstAfter(records: readonly JournalRecord[], sequence: number): number {
  return partitionPoint(records, (record) => record.sequence <= sequence);
}

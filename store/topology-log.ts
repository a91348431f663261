/**
 * Writes one peer's topology log in one epoch: entries are coalesced for a moment, compressed, stored, and made
 * visible by moving the head. It keeps the Adj-RIB-In that readers will come to, for snapshots and for taking over.
 */
import { randomInt } from 'node:crypto';
import { AdjRibIn } from '../core/topology/adj-rib-in.ts';
import type { AppliedLog } from '../core/topology/applied-log.ts';
import { CompactAdjRibIn } from '../core/topology/compact-adj-rib-in.ts';
import type { LogEntry, PurgeReason } from '../core/topology/log.ts';
import { Retention, staleMilliseconds } from '../core/topology/retention.ts';
import { encodeSnapshot } from '../core/topology/snapshot.ts';
import {
  FencedWriter,
  getTopologyHead,
  moveTopologyHead,
  SEGMENT_OCTETS,
  type Segment,
  type SnapshotPointer,
  type TopologyHead,
  takeTopologyHead,
} from './topology-head.ts';
import { HISTORY_MILLISECONDS, removeReplaced, withoutOldHistory, withSnapshot } from './topology-history.ts';
import { type PendingBatch, PendingEntries } from './topology-pending.ts';
import {
  compressBatch,
  LOG_ITEM_OCTETS,
  putLogItem,
  putSnapshot,
  readAdjRibIn,
  SNAPSHOT_PART_OCTETS,
} from './topology-record.ts';
import { SnapshotDemand } from './topology-snapshot-demand.ts';

/** A first entry waits this long for company; below 200 ms, so that a change is readable within half a second. */
const COALESCE_MILLISECONDS = 50;
/** What compression makes smaller, roughly: link-state attributes repeat themselves. */
const COMPRESSION = 4;
/** A batch is closed at this size before compression. */
const BATCH_OCTETS = COMPRESSION * LOG_ITEM_OCTETS;
/** Beside `SEGMENT_OCTETS`. */
const SEGMENT_ITEMS = 512;
/** Log items written at once. */
const PARALLEL_WRITES = 8;
const FIRST_RETRY_MILLISECONDS = 100;
const LAST_RETRY_MILLISECONDS = 5_000;
/** A session without End-of-RIB is worth a snapshot after this long without entries. */
const QUIET_BEFORE_SNAPSHOT_MILLISECONDS = 5_000;
/** From so many copies on the compact form is the smaller one. */
const FEW_COPIES = 300;

export interface TopologyLogOptions {
  readonly peerId: number;
  /** Of the ownership; a higher one fences this writer. */
  readonly epoch: number;
  readonly worker: string;
  /** When this process of it started, as in its own record. */
  readonly workerStartedAt: string;
  /** The engine's `stale-time`; 0 is its default. */
  readonly staleTimeSeconds: number;
  /** Wall clock, milliseconds. */
  readonly now: number;
  /** When the writer before this one was last alive, if that is known and it died. */
  readonly lastSeenAlive?: number;
  /** Told once, when another owner has taken over: stop the session. */
  readonly onFenced: (error: FencedWriter) => void;
  /** Told of each failed attempt to write; it is repeated. */
  readonly onRetry?: (error: unknown) => void;
}

export class TopologyLogWriter {
  /** What the log says, entries not yet visible included: in the form that suits how much it is. */
  #rib: AppliedLog;
  readonly #options: TopologyLogOptions;
  readonly #retention = new Retention();
  readonly #pending = new PendingEntries(BATCH_OCTETS);
  #staleTimeSeconds: number;
  #head: TopologyHead;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #draining: Promise<void> | undefined;
  #fenced: FencedWriter | undefined;
  #closed = false;
  readonly #demand: SnapshotDemand;
  /** What was replaced before this, by the clock of `tick`, is kept no longer. */
  #keptSince = 0;

  private constructor(options: TopologyLogOptions, head: TopologyHead, rib: AppliedLog) {
    this.#options = options;
    this.#staleTimeSeconds = options.staleTimeSeconds;
    this.#head = head;
    this.#rib = rib;
    this.#demand = new SnapshotDemand(head.sequence - (head.snapshots.at(-1)?.sequence ?? 0));
  }

  /**
   * Takes the log over in a new epoch, with all that the epochs before it left. If the last session was never ended,
   * it is ended now: its objects become stale. Throws `FencedWriter` when a later epoch has begun.
   */
  static async open(options: TopologyLogOptions): Promise<TopologyLogWriter> {
    const { peerId, epoch, worker, workerStartedAt, now } = options;
    const before = await getTopologyHead(peerId);
    if (before !== undefined && before.epoch > epoch) throw new FencedWriter(peerId, epoch);
    const sequence = before?.sequence ?? 0;
    const head: TopologyHead = {
      peerId,
      epoch,
      worker,
      workerStartedAt,
      sequence,
      at: before?.at ?? now,
      staleMilliseconds: staleMilliseconds(options.staleTimeSeconds, 0),
      segments: [
        ...(before?.segments ?? []).filter(({ first }) => first <= sequence),
        { epoch, first: sequence + 1, octets: 0 },
      ],
      snapshots: before?.snapshots ?? [],
    };
    const rib = await readAdjRibIn(before ?? head, mayBeLarge(before) ? compactRib() : new AdjRibIn(peerId));
    await takeTopologyHead(head, before);
    const writer = new TopologyLogWriter(options, head, rib);
    if (rib.established) {
      const lostAt = Math.max(rib.lastAt, options.lastSeenAlive ?? now);
      writer.#append(writer.#retention.lost(lostAt, options.staleTimeSeconds, 0));
    } else {
      writer.#retention.resume('down', rib.purgeAt, now);
    }
    return writer;
  }

  /** Items visible so far. */
  get sequence(): number {
    return this.#head.sequence;
  }

  /** When the oldest entry that is not yet visible was appended; undefined when all are. */
  get pendingSince(): number | undefined {
    return this.#pending.since;
  }

  set staleTimeSeconds(seconds: number) {
    this.#staleTimeSeconds = seconds;
  }

  established(now: number): void {
    this.#append(this.#retention.established(now, this.#staleTimeSeconds));
  }

  /**
   * The peer announced an object; null: without a BGP-LS Attribute, or with one that had to be discarded. What
   * changes nothing is not written. The arrays are copied.
   */
  announce(safi: 71 | 72, nlri: Uint8Array, attribute: Uint8Array | null, now: number): void {
    this.#retention.updated(now);
    const said = this.#rib.compare(safi, nlri, attribute);
    if (said === 'stale') this.#append({ kind: 'confirm', at: now, safi, nlri });
    else if (said === 'other') {
      const own = attribute === null ? null : attribute.slice();
      this.#append({ kind: 'put', at: now, safi, nlri: nlri.slice(), attribute: own });
    }
  }

  withdraw(safi: 71 | 72, nlri: Uint8Array, now: number): void {
    this.#retention.updated(now);
    if (this.#rib.has(safi, nlri)) this.#append({ kind: 'remove', at: now, safi, nlri });
  }

  endOfRib(now: number): void {
    this.#append(this.#retention.endOfRib(now));
    this.#demand.want();
  }

  /** `restartTimeSeconds`: of the peer's graceful-restart capability; 0 without one. */
  lost(now: number, restartTimeSeconds: number): void {
    if (this.#rib.established)
      this.#append(this.#retention.lost(now, this.#staleTimeSeconds, restartTimeSeconds));
  }

  /** Drops everything at once: the peer was disabled, or sent too much. */
  purge(reason: Extract<PurgeReason, 'disabled' | 'max-nlri'>, now: number): void {
    if (this.#rib.size === 0) return;
    this.#append(this.#retention.purged(now, reason));
    // Whoever begins to read need not load all of it to learn that it is gone.
    this.#demand.want();
  }

  /** To be called about once a second: writes what time alone makes due. */
  tick(now: number): void {
    if (this.#closed) return;
    const due = this.#retention.due(now);
    if (due !== undefined) this.#append(due);
    const quiet = now - this.#pending.lastAt >= QUIET_BEFORE_SNAPSHOT_MILLISECONDS;
    if (this.#head.snapshots.length === 0 && this.#head.sequence > 0 && quiet) this.#demand.want();
    this.#keptSince = now - HISTORY_MILLISECONDS;
    if (this.#demand.isDue || this.#isPruningDue()) this.#schedule(0);
  }

  /** Resolves when everything appended so far is visible; rejects with `FencedWriter` when it never will be. */
  async flush(): Promise<void> {
    while (this.#fenced === undefined && (this.#pending.since !== undefined || this.#draining)) {
      await this.#drain();
    }
    if (this.#fenced !== undefined) throw this.#fenced;
  }

  /** Makes everything visible, then stops. The epoch stays until somebody takes the next. */
  async close(): Promise<void> {
    this.#closed = true;
    try {
      await this.flush();
    } finally {
      clearTimeout(this.#timer);
    }
  }

  /** Stops without another write: the owner is fenced. */
  abandon(): void {
    this.#fenced ??= new FencedWriter(this.#options.peerId, this.#options.epoch);
    clearTimeout(this.#timer);
  }

  /**
   * The peer was deleted: drops everything, then stops. The log is left for an hour, so that readers can tell of it
   * (`removeLogsOfDeletedPeers`).
   */
  async end(now: number): Promise<void> {
    if (this.#head.sequence > 0 || this.pendingSince !== undefined) {
      this.#append(this.#retention.purged(now, 'deleted'));
      this.#demand.want();
    }
    await this.close();
  }

  /** One snapshot in place of all that was ever written, history included. */
  async compact(): Promise<void> {
    await this.flush();
    await this.#writeSnapshot(0);
  }

  #append(entry: LogEntry): void {
    if (this.#fenced !== undefined || this.#closed) return;
    this.#rib.apply(entry);
    if (this.#rib.size > FEW_COPIES && this.#rib instanceof AdjRibIn)
      this.#rib = this.#rib.copyTo(compactRib());
    this.#schedule(this.#pending.append(entry) ? 0 : COALESCE_MILLISECONDS);
  }

  #schedule(delayMilliseconds: number): void {
    if (this.#draining !== undefined || (this.#timer !== undefined && delayMilliseconds > 0)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#drain(), delayMilliseconds);
  }

  /** One drain at a time; what is appended meanwhile is drained after it. */
  #drain(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#draining ??= this.#writeAll().finally(() => {
      this.#draining = undefined;
      if (this.#fenced === undefined && this.#pending.isOpen) this.#schedule(COALESCE_MILLISECONDS);
    });
    return this.#draining;
  }

  async #writeAll(): Promise<void> {
    this.#pending.close();
    let retryMilliseconds = FIRST_RETRY_MILLISECONDS;
    while (
      this.#fenced === undefined &&
      (this.#pending.batches.length > 0 || this.#demand.isDue || this.#isPruningDue())
    ) {
      try {
        if (this.#pending.batches.length > 0) await this.#writeBatches();
        else if (this.#demand.isDue) await this.#writeSnapshot(HISTORY_MILLISECONDS);
        else await this.#prune();
        retryMilliseconds = FIRST_RETRY_MILLISECONDS;
      } catch (error) {
        if (error instanceof FencedWriter) {
          this.#fenced = error;
          this.#options.onFenced(error);
          return;
        }
        this.#options.onRetry?.(error);
        await new Promise((resolve) => setTimeout(resolve, retryMilliseconds));
        retryMilliseconds = Math.min(retryMilliseconds * 2, LAST_RETRY_MILLISECONDS);
      }
    }
  }

  async #writeBatches(): Promise<void> {
    const { peerId } = this.#options;
    const taken = this.#pending.batches.slice(0, PARALLEL_WRITES);
    const items = (await Promise.all(taken.map(({ octets }) => compressBatch(octets)))).flat();
    const segments = [...this.#head.segments];
    let { sequence } = this.#head;
    let octets = 0;
    await Promise.all(
      items.map((data) => {
        sequence += 1;
        octets += data.length;
        const last = segments.at(-1) as Segment;
        const isFull = last.octets + data.length > SEGMENT_OCTETS || sequence - last.first >= SEGMENT_ITEMS;
        const segment = isFull
          ? { epoch: this.#options.epoch, first: sequence, octets: data.length }
          : { ...last, octets: last.octets + data.length };
        segments.splice(isFull ? segments.length : -1, 1, segment);
        return putLogItem(peerId, segment, sequence, data);
      }),
    );
    const at = Math.max(this.#head.at, (taken.at(-1) as PendingBatch).at);
    await this.#moveHead({ ...this.#head, sequence, segments, at });
    this.#pending.drop(taken.length);
    this.#demand.logged(items.length, octets);
  }

  async #moveHead(next: TopologyHead): Promise<void> {
    if (this.#fenced !== undefined) throw this.#fenced;
    await moveTopologyHead(next, this.#head);
    this.#head = next;
  }

  #isPruningDue(): boolean {
    return withoutOldHistory(this.#head, this.#keptSince) !== this.#head;
  }

  async #prune(): Promise<void> {
    const before = this.#head;
    await this.#moveHead(withoutOldHistory(before, this.#keptSince));
    await removeReplaced(before, this.#head);
  }

  /**
   * Entries appended while the parts are written may or may not be in them. That is harmless: they have higher
   * sequence numbers, readers apply them again, and applying an entry twice is applying it once.
   */
  async #writeSnapshot(historyMilliseconds: number): Promise<void> {
    // The session's state is in the first part only, and must be that of the log at this very point.
    do {
      this.#pending.close();
      while (this.#pending.batches.length > 0) await this.#writeBatches();
    } while (this.#pending.isOpen);
    const { sequence } = this.#head;
    this.#demand.begin();
    const newest = this.#head.snapshots.at(-1);
    const made = newest?.sequence === sequence ? undefined : await this.#putSnapshot(sequence);
    const snapshot = made?.pointer ?? (newest as SnapshotPointer);
    const before = this.#head;
    const next = withSnapshot(before, this.#options.epoch, snapshot);
    await this.#moveHead(withoutOldHistory(next, snapshot.at - historyMilliseconds));
    this.#demand.made(made?.octets, this.#head.sequence - sequence);
    await removeReplaced(before, this.#head);
  }

  /** `octets`: about what it takes as stored. */
  async #putSnapshot(sequence: number): Promise<{ pointer: SnapshotPointer; octets: number }> {
    const { peerId, epoch } = this.#options;
    let octets = 0;
    const counted = function* (parts: Iterable<Uint8Array>) {
      for (const part of parts) {
        octets += part.length;
        yield part;
      }
    };
    const encoded = counted(encodeSnapshot(this.#rib, SNAPSHOT_PART_OCTETS));
    const parts = await putSnapshot(peerId, epoch, sequence, encoded);
    // What the parts may hold ahead of the log has to be visible before they are.
    this.#pending.close();
    while (this.#pending.batches.length > 0) await this.#writeBatches();
    const pointer = { epoch, sequence, parts, at: Math.max(this.#pending.lastAt, this.#head.at) };
    return { pointer, octets: octets / COMPRESSION };
  }
}

/** A peer may choose NLRIs that collide, but not for a seed that it does not know. */
function compactRib(): CompactAdjRibIn {
  return new CompactAdjRibIn(randomInt(2 ** 32));
}

/** Whether the state at a head could be more than few copies: a part of a snapshot, or an item, holds about a thousand. */
function mayBeLarge(head: TopologyHead | undefined): boolean {
  if (head === undefined) return false;
  const snapshot = head.snapshots.at(-1);
  return (snapshot?.parts ?? 0) > 1 || head.sequence - (snapshot?.sequence ?? 0) > 1;
}

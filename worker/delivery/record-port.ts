import { randomUUID } from 'node:crypto';
import type { DeliveryHead, PackedRequest } from '../../core/delivery-message.ts';
import { type Counts, DeliveryTally, type LastFailure } from '../../core/delivery-tally.ts';
import { type CollectedRecords, PACKING_MILLISECONDS, Packer, type Parcel } from './packer.ts';

/** What the port needs of the world; `store/` has both calls. */
export interface RecordPortOptions {
  /** Puts requests into the queue as one message; rejects when the queue does not take it. */
  send(head: Pick<DeliveryHead, 'id' | 'packedAt'>, requests: readonly PackedRequest[]): Promise<void>;
  /** Adds to the counters; the same `token` again adds nothing. */
  count(counts: Counts, lastFailure: LastFailure | undefined, token: string): Promise<void>;
  /** Told when so much waits for the queue that sources which can wait should, and when they need not any more. */
  fullChanged?(isFull: boolean): void;
  readonly now?: () => number;
}

/** Messages on their way to the queue at once. */
const SENDS_AT_ONCE = 4;

/** Held at most while the queue does not take anything; collection goes on, and what exceeds this is not queued. */
const HELD_LIMIT_BYTES = 67_108_864;

/** From this on sources are asked to wait, until it has come down to the second figure. */
const FULL_BYTES = 16_777_216;
const ROOM_AGAIN_BYTES = 4_194_304;

/** Waits between the tries to hand one message to the queue; the SDK tries thrice each time. */
const RETRY_MILLISECONDS = [200, 1_000, 4_000];

/** Counters are written when they change, and then at most this often. */
const COUNT_EVERY_MILLISECONDS = 10_000;
const FIRST_COUNT_MILLISECONDS = 1_000;

/**
 * Where the worker's collectors put their records. It takes whatever comes: what the receiver does is the sender's
 * business. While the queue takes less than is collected, devices that can wait are made to; what does not fit all the
 * same is counted and dropped.
 */
export class RecordPort {
  private readonly options: RecordPortOptions;
  private readonly packer = new Packer();
  private output = { enabled: false, batchMode: false };
  private readonly waiting: Parcel[] = [];
  private waitingBytes = 0;
  private isFull = false;
  private readonly sending = new Set<Promise<void>>();
  private packTimer: NodeJS.Timeout | undefined;
  private countTimer: NodeJS.Timeout | undefined;
  private countedAt = Number.NEGATIVE_INFINITY;
  private tally = new DeliveryTally();
  /** Counts whose writing was tried and not confirmed: their token stays theirs, since they may have been added. */
  private unconfirmed: { readonly tally: DeliveryTally; readonly token: string } | undefined;
  private isClosing = false;

  constructor(options: RecordPortOptions) {
    this.options = options;
  }

  /** The webhook's configuration has changed. What was collected before keeps the form that it was packed in. */
  configure(output: { readonly enabled: boolean; readonly batchMode: boolean }): void {
    this.output = { enabled: output.enabled, batchMode: output.batchMode };
  }

  /** Takes the records of one cycle of one device; copies what it keeps. */
  collect(deviceId: number, cycle: CollectedRecords): void {
    if (!this.output.enabled || cycle.ends.length === 0) return;
    this.tally.add('records.collected', cycle.ends.length);
    this.countSoon();
    for (const parcel of this.packer.add(deviceId, cycle, this.output.batchMode, this.now()))
      this.dispatch(parcel);
    this.packTimer ??= setTimeout(() => this.packDue(), PACKING_MILLISECONDS);
  }

  /** Sends what is held and writes the counters; for a worker that is about to end. */
  async close(): Promise<void> {
    this.isClosing = true;
    clearTimeout(this.packTimer);
    clearTimeout(this.countTimer);
    for (const parcel of this.packer.takeAll()) this.dispatch(parcel);
    while (this.sending.size > 0) await Promise.all(this.sending);
    if (await this.writeCounts()) await this.writeCounts();
  }

  private packDue(): void {
    this.packTimer = undefined;
    for (const parcel of this.packer.takeAll()) this.dispatch(parcel);
  }

  private dispatch(parcel: Parcel): void {
    if (this.waitingBytes + parcel.bytes > HELD_LIMIT_BYTES) {
      this.notQueued(parcel, 'more was waiting for the queue than the worker holds');
      return;
    }
    this.waiting.push(parcel);
    this.waitingBytes += parcel.bytes;
    this.tellFull();
    this.sendNext();
  }

  private tellFull(): void {
    const isFull = this.waitingBytes > (this.isFull ? ROOM_AGAIN_BYTES : FULL_BYTES);
    if (isFull === this.isFull) return;
    this.isFull = isFull;
    this.options.fullChanged?.(isFull);
  }

  private sendNext(): void {
    if (this.sending.size >= SENDS_AT_ONCE) return;
    const parcel = this.waiting.shift();
    if (parcel === undefined) return;
    const sent = this.send(parcel).finally(() => {
      this.waitingBytes -= parcel.bytes;
      this.tellFull();
      this.sending.delete(sent);
      this.sendNext();
    });
    this.sending.add(sent);
  }

  /** Every try carries the same id: one that was taken though its answer was lost is then still one delivery. */
  private async send(parcel: Parcel): Promise<void> {
    const head = { id: randomUUID(), packedAt: parcel.packedAt };
    for (let tries = 0; ; tries += 1) {
      try {
        await this.options.send(head, parcel.requests);
        this.tally.add('records.accepted', parcel.records);
        this.tally.add('requests.accepted', parcel.requests.length);
        this.countSoon();
        return;
      } catch (error) {
        const wait = RETRY_MILLISECONDS[tries];
        if (wait === undefined || this.isClosing) {
          this.notQueued(parcel, error instanceof Error ? error.name : 'the queue did not answer');
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  }

  private notQueued(parcel: Parcel, detail: string): void {
    const at = new Date(this.now()).toISOString();
    this.tally.failed('not-queued', parcel.records, parcel.requests.length, at, null, detail);
    this.tally.add('requests.not-queued', parcel.requests.length);
    this.countSoon();
  }

  private countSoon(): void {
    if (this.countTimer !== undefined || this.isClosing) return;
    const wait = Math.max(FIRST_COUNT_MILLISECONDS, this.countedAt + COUNT_EVERY_MILLISECONDS - this.now());
    this.countTimer = setTimeout(() => {
      void this.writeCounts().finally(() => {
        this.countTimer = undefined;
        if (this.unconfirmed !== undefined || hasCounts(this.tally)) this.countSoon();
      });
    }, wait);
  }

  /** False where the counts could not be written, and are kept with their token for the next time. */
  private async writeCounts(): Promise<boolean> {
    if (this.unconfirmed === undefined) {
      if (!hasCounts(this.tally)) return true;
      this.unconfirmed = { tally: this.tally, token: randomUUID() };
      this.tally = new DeliveryTally();
    }
    this.countedAt = this.now();
    const { tally, token } = this.unconfirmed;
    for (let tries = 0; tries < 3; tries += 1) {
      try {
        await this.options.count(tally.counts, tally.lastFailure, token);
        this.unconfirmed = undefined;
        return true;
      } catch {
        // The same token again: whether the first try was made does not matter.
      }
    }
    return false;
  }

  private now(): number {
    return (this.options.now ?? Date.now)();
  }
}

function hasCounts({ counts }: DeliveryTally): boolean {
  return Object.keys(counts).length > 0;
}

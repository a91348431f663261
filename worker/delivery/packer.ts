import type { PackedRequest } from '../../core/delivery-message.ts';

/** The records of one cycle, back to back, as the record writer gives them; `bytes` may be used again afterwards. */
export interface CollectedRecords {
  readonly bytes: Uint8Array;
  /** Record i is `bytes[ends[i − 1] or 0, ends[i])`. */
  readonly ends: readonly number[];
}

/** Requests that go into the queue as one message. */
export interface Parcel {
  readonly requests: readonly PackedRequest[];
  readonly records: number;
  readonly bytes: number;
  /** When the oldest of its records was collected, ms since the epoch. */
  readonly packedAt: number;
}

/** Large enough that a message's price is shared by thousands of records, small enough to compress within its limit. */
const PARCEL_BYTES = 1_572_864;
const PARCEL_REQUESTS = 4_096;

/**
 * How long a record waits for others to share a message with. With a hundred devices each minute, 250 ms would make
 * six messages where this makes four, and each costs some microdollars whatever it holds (docs/cost.md).
 */
export const PACKING_MILLISECONDS = 750;

const OPENING = 0x5b;
const COMMA = 0x2c;
const CLOSING = 0x5d;

/**
 * Makes requests out of records, and parcels out of requests. What the mapping wrote is what the receiver gets: in
 * individual mode each record is a body of its own, in batch mode a cycle's records become one array, however many.
 */
export class Packer {
  private requests: PackedRequest[] = [];
  private records = 0;
  private bytes = 0;
  private packedAt = 0;

  /** Takes the records of one cycle of one device; returns the parcels that are full with them. */
  add(deviceId: number, cycle: CollectedRecords, batchMode: boolean, nowMilliseconds: number): Parcel[] {
    const { ends } = cycle;
    const full: Parcel[] = [];
    if (ends.length === 0) return full;
    if (batchMode) {
      this.push({ body: arrayOf(cycle), records: ends.length, deviceId }, nowMilliseconds, full);
      return full;
    }
    // One copy for all: the bodies are views into it. Not `slice`: that of a Buffer is no copy.
    const kept = new Uint8Array(cycle.bytes.subarray(0, ends.at(-1)));
    let start = 0;
    for (const end of ends) {
      this.push({ body: kept.subarray(start, end), records: 1, deviceId }, nowMilliseconds, full);
      start = end;
    }
    return full;
  }

  takeAll(): Parcel[] {
    if (this.requests.length === 0) return [];
    const { requests, records, bytes, packedAt } = this;
    this.requests = [];
    this.records = 0;
    this.bytes = 0;
    return [{ requests, records, bytes, packedAt }];
  }

  private push(request: PackedRequest, nowMilliseconds: number, full: Parcel[]): void {
    if (this.bytes + request.body.length > PARCEL_BYTES) full.push(...this.takeAll());
    if (this.requests.length === 0) this.packedAt = nowMilliseconds;
    this.requests.push(request);
    this.records += request.records;
    this.bytes += request.body.length;
    if (this.requests.length === PARCEL_REQUESTS) full.push(...this.takeAll());
  }
}

/** A JSON array of the records, in one buffer. */
function arrayOf(cycle: CollectedRecords): Uint8Array {
  const { bytes, ends } = cycle;
  const array = new Uint8Array((ends.at(-1) ?? 0) + ends.length + 1);
  let start = 0;
  let at = 0;
  for (const end of ends) {
    array[at] = at === 0 ? OPENING : COMMA;
    array.set(bytes.subarray(start, end), at + 1);
    at += 1 + end - start;
    start = end;
  }
  array[at] = CLOSING;
  return array;
}

import { type Attempt, type FailureReason, isRedirect, statusFailure } from './delivery-outcome.ts';

/**
 * Counts of one step of a delivery, flat, as the counters add them up: `records.delivered`, `records.failed.dns`,
 * `requests.sent`, `latency.12`. Only what is not zero is there.
 */
export type Counts = Record<string, number>;

export interface LastFailure {
  /** ISO 8601. */
  readonly at: string;
  readonly reason: FailureReason;
  readonly responseCode: number | null;
  readonly detail: string;
}

/** What happened to some requests of one message, ready to be added to the counters in one write. */
export class DeliveryTally {
  readonly counts: Counts = {};
  lastSuccess: string | undefined;
  lastFailure: LastFailure | undefined;

  /** An attempt that was made. Returns the reason when it failed. */
  attempted(attempt: Attempt, records: number, bytes: number, at: string): FailureReason | undefined {
    if (attempt.status !== null || attempt.wasSent) {
      this.add('requests.sent', 1);
      this.add('bytes.sent', bytes);
    }
    if (attempt.status === null) {
      this.failed(attempt.reason, records, 1, at, null, attempt.detail);
      return attempt.reason;
    }
    this.add(LATENCY_NAMES[latencyBucket(attempt.milliseconds)] as string, 1);
    const reason = statusFailure(attempt.status);
    if (reason !== undefined) {
      this.failed(reason, records, 1, at, attempt.status, `the receiver answered ${attempt.status}`);
      return reason;
    }
    this.add('records.delivered', records);
    this.add('requests.delivered', 1);
    if (isRedirect(attempt.status)) this.add('requests.redirects', 1);
    this.lastSuccess = at;
    return undefined;
  }

  /** Requests that failed, with or without an attempt of ours that we know of. */
  failed(
    reason: FailureReason,
    records: number,
    requests: number,
    at: string,
    responseCode: number | null,
    detail: string,
  ): void {
    this.add(`records.failed.${reason}`, records);
    this.add('requests.failed', requests);
    this.lastFailure = { at, reason, responseCode, detail };
  }

  add(name: string, amount: number): void {
    if (amount !== 0) this.counts[name] = (this.counts[name] ?? 0) + amount;
  }
}

/** Records that failed, for whatever reason. */
export function failedRecords(counts: Counts): number {
  return Object.entries(counts).reduce(
    (sum, [name, amount]) => (name.startsWith('records.failed.') ? sum + amount : sum),
    0,
  );
}

/** Four buckets a doubling from an eighth of a millisecond: 19 % wide, up to the longest timeout. */
const BUCKETS_PER_DOUBLING = 4;
const FIRST_BOUND_MILLISECONDS = 0.125;
export const LATENCY_BUCKETS = 80;

const LATENCY_NAMES = Array.from({ length: LATENCY_BUCKETS }, (_, bucket) => `latency.${bucket}`);

/** The bucket of a latency: the first whose bound is not below it. */
export function latencyBucket(milliseconds: number): number {
  const exact = Math.ceil(BUCKETS_PER_DOUBLING * Math.log2(milliseconds / FIRST_BOUND_MILLISECONDS));
  return Math.min(LATENCY_BUCKETS - 1, Math.max(0, Number.isNaN(exact) ? 0 : exact));
}

/** The upper bound of a bucket, in milliseconds. */
export function latencyBound(bucket: number): number {
  return FIRST_BOUND_MILLISECONDS * 2 ** (bucket / BUCKETS_PER_DOUBLING);
}

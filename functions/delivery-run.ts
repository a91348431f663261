import type { DeliveryMessage, PackedRequest } from '../core/delivery-message.ts';
import type { Attempt, FailureReason } from '../core/delivery-outcome.ts';
import { DeliveryTally } from '../core/delivery-tally.ts';
import { type WebhookOutput, wireMethod } from '../core/webhook.ts';
import {
  advanceDelivery,
  type DeliveryProgress,
  type Place,
  progressFromItem,
} from '../store/delivery-progress.ts';
import { openDelivery, removePayload } from '../store/delivery-queue.ts';
import { ConditionFailed } from '../store/table.ts';
import type { WebhookPool } from './webhook-pool.ts';

/** One invocation of the sender, as each of its messages sees it. */
export interface DeliveryRun {
  /** Unique to the invocation. */
  readonly holder: string;
  /** When the invocation is over at the latest, ms since the epoch. */
  readonly deadline: number;
  now(): number;
  /** Milliseconds that the invocation still has. */
  remaining(): number;
  /** The configuration as it is now. */
  output(): Promise<WebhookOutput>;
  pool(output: WebhookOutput, method: string): WebhookPool;
  report(failure: FailedRequest): void;
  counted(tally: DeliveryTally): void;
}

/** A request that was not delivered, as the log tells of it: nothing of its headers or body. */
export interface FailedRequest {
  readonly messageId: string;
  /** Its place in the message. */
  readonly request: number;
  readonly deviceId: number;
  readonly records: number;
  readonly reason: FailureReason;
  readonly responseCode: number | null;
  readonly detail: string;
}

/** What the queue is to do with the message. */
export type Verdict =
  | { readonly kind: 'done' }
  /** To be received again, by this or another invocation. */
  | { readonly kind: 'again'; readonly afterSeconds: number };

/** Records older than this are dropped without an attempt: a receiver that comes back gets news, not history. */
const MAX_AGE_MILLISECONDS = 300_000;

/** Kept back from the invocation's time for the last write. */
const SETTLE_MILLISECONDS = 2_000;

/** A wave that has lasted this long begins nothing more: its rest is claimed anew, under the configuration of then. */
const WAVE_LIMIT_MILLISECONDS = 2_000;

const SMALLEST_WAVE = 16;
const LARGEST_WAVE = 4_096;

/** Requests of the next wave; what a wave took says whether the next may be larger. Kept over invocations. */
let waveSize = 128;

/**
 * Sends what is left of one message, in waves. Before a wave its requests are claimed, after it they are settled, and
 * each settling claims the next: one transaction a wave, in which outcomes and progress are one. So whoever receives the
 * message next knows what was done; what was claimed by an invocation that died is `interrupted`, never sent again.
 */
export async function deliver(message: DeliveryMessage, run: DeliveryRun): Promise<Verdict> {
  const requests = await openDelivery(message);
  const placeOf = placesOf(requests);
  const end = placeOf(requests.length);
  let stored: DeliveryProgress | undefined;
  let settled: Place = placeOf(0);
  let step = newStep();
  step.tally.add('records.taken', end.records);
  step.tally.add('requests.taken', end.requests);

  for (;;) {
    const output = await run.output();
    const hopeless = settled.requests < end.requests ? wholeFailure(message, output, run.now()) : undefined;
    if (hopeless !== undefined) {
      failRange(step, message, requests, settled, end, hopeless, run.now());
      settled = end;
    }
    const hasTime = () => run.remaining() > output.timeoutMilliseconds + SETTLE_MILLISECONDS;
    const claimed = hasTime() ? placeOf(Math.min(end.requests, settled.requests + waveSize)) : settled;
    const next: DeliveryProgress = { holder: run.holder, settled, claimed, until: run.deadline };
    try {
      await advanceDelivery(message, stored, next, step.tally);
    } catch (error) {
      if (!(error instanceof ConditionFailed) || error.item === undefined) throw error;
      const found = progressFromItem(error.item);
      if (found.settled.requests === end.requests) return { kind: 'done' };
      // After our own first step, only one who thought us dead can have moved it; what we sent is counted there.
      if (stored !== undefined || found.holder === run.holder) return againAfter(found, run);
      const isBeingSent = found.claimed.requests > found.settled.requests;
      if (isBeingSent && run.now() < found.until) return againAfter(found, run);
      stored = found;
      settled = found.claimed;
      step = newStep();
      const died = { reason: 'interrupted', detail: 'the sender ended while this was under way' } as const;
      failRange(step, message, requests, found.settled, found.claimed, died, run.now());
      continue;
    }
    stored = next;
    run.counted(step.tally);
    for (const failure of step.failures) run.report(failure);
    step = newStep();
    if (settled.requests === end.requests) {
      await removePayload(message);
      return { kind: 'done' };
    }
    if (claimed.requests === settled.requests) return { kind: 'again', afterSeconds: 1 };

    const method = wireMethod(output.method) as string;
    const started = run.now();
    const pool = run.pool(output, method);
    const sent = await sendWave(
      run,
      pool,
      step,
      message,
      requests,
      settled,
      claimed,
      withinWave(run, hasTime),
    );
    adaptWave(run.now() - started);
    settled = placeOf(settled.requests + sent);
  }
}

interface Step {
  readonly tally: DeliveryTally;
  readonly failures: FailedRequest[];
}

function newStep(): Step {
  return { tally: new DeliveryTally(), failures: [] };
}

/** Why nothing of this message can be sent, if so. */
function wholeFailure(
  message: DeliveryMessage,
  output: WebhookOutput,
  now: number,
): { reason: FailureReason; detail: string } | undefined {
  if (!output.enabled) return { reason: 'disabled', detail: 'the output was disabled' };
  if (now - message.packedAt > MAX_AGE_MILLISECONDS) {
    return { reason: 'expired', detail: `older than ${MAX_AGE_MILLISECONDS / 1000} s` };
  }
  if (wireMethod(output.method) === undefined) {
    return { reason: 'invalid-method', detail: 'the configured method is no HTTP token' };
  }
  return undefined;
}

function failRange(
  step: Step,
  message: DeliveryMessage,
  requests: readonly PackedRequest[],
  from: Place,
  to: Place,
  failure: { readonly reason: FailureReason; readonly detail: string },
  now: number,
): void {
  const { reason, detail } = failure;
  const at = new Date(now).toISOString();
  const count = to.requests - from.requests;
  if (count > 0) step.tally.failed(reason, to.records - from.records, count, at, null, detail);
  for (let index = from.requests; index < to.requests; index += 1) {
    const { deviceId, records } = requests[index] as PackedRequest;
    step.failures.push({
      messageId: message.id,
      request: index,
      deviceId,
      records,
      reason,
      responseCode: null,
      detail,
    });
  }
}

/** Sends the requests of a wave and counts what becomes of them. Resolves with how many were sent: so many of the first. */
function sendWave(
  run: DeliveryRun,
  pool: WebhookPool,
  step: Step,
  message: DeliveryMessage,
  requests: readonly PackedRequest[],
  from: Place,
  to: Place,
  mayStart: () => boolean,
): Promise<number> {
  let open = to.requests - from.requests;
  let sent = 0;
  const clock = isoClock(run);
  return new Promise((resolve) => {
    pool.sendAll({
      requests: open,
      body: (offset) => (requests[from.requests + offset] as PackedRequest).body,
      mayStart,
      ended(offset, attempt) {
        if (attempt !== undefined) {
          sent += 1;
          settle(step, message, requests, from.requests + offset, attempt, clock());
        }
        open -= 1;
        if (open === 0) resolve(sent);
      },
    });
  });
}

/** Counts one attempt. */
function settle(
  step: Step,
  message: DeliveryMessage,
  requests: readonly PackedRequest[],
  index: number,
  attempt: Attempt,
  at: string,
): void {
  const { deviceId, records, body } = requests[index] as PackedRequest;
  const reason = step.tally.attempted(attempt, records, body.length, at);
  if (reason === undefined) return;
  step.failures.push({
    messageId: message.id,
    request: index,
    deviceId,
    records,
    reason,
    responseCode: attempt.status,
    detail: attempt.status === null ? attempt.detail : `the receiver answered ${attempt.status}`,
  });
}

/** Whether a wave may begin another request: counted from the first, since before that it waited for other waves. */
function withinWave(run: DeliveryRun, hasTime: () => boolean): () => boolean {
  let startedAt: number | undefined;
  return () => {
    const now = run.now();
    startedAt ??= now;
    return now - startedAt < WAVE_LIMIT_MILLISECONDS && hasTime();
  };
}

/** The time in ISO 8601, written anew only when it is another millisecond. */
function isoClock(run: DeliveryRun): () => string {
  let milliseconds = Number.NaN;
  let text = '';
  return () => {
    const now = run.now();
    if (now !== milliseconds) {
      milliseconds = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}

/** A wave lasts about a second: short, so that a death interrupts little; long, so that its transaction is cheap. */
function adaptWave(tookMilliseconds: number): void {
  if (tookMilliseconds < 400) waveSize = Math.min(LARGEST_WAVE, waveSize * 2);
  else if (tookMilliseconds > 1_600) waveSize = Math.max(SMALLEST_WAVE, waveSize >> 1);
}

function placesOf(requests: readonly PackedRequest[]): (count: number) => Place {
  const recordsBefore = new Float64Array(requests.length + 1);
  for (const [index, { records }] of requests.entries()) {
    recordsBefore[index + 1] = (recordsBefore[index] as number) + records;
  }
  return (count) => ({ requests: count, records: recordsBefore[count] as number });
}

function againAfter(found: DeliveryProgress, run: DeliveryRun): Verdict {
  return { kind: 'again', afterSeconds: Math.max(1, Math.ceil((found.until - run.now()) / 1000)) };
}

import { randomUUID } from 'node:crypto';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { parseDeliveryMessage } from '../core/delivery-message.ts';
import { type DeliveryTally, failedRecords } from '../core/delivery-tally.ts';
import { errorFields } from '../core/log-line.ts';
import type { WebhookOutput } from '../core/webhook.ts';
import { showDeliveryAgain } from '../store/delivery-queue.ts';
import { watchKeyring } from '../store/keyring-fault.ts';
import { getWebhook } from '../store/webhook-store.ts';
import { DeliveryLog } from './delivery-log.ts';
import { deliveryHeaders } from './delivery-request.ts';
import { type DeliveryRun, deliver } from './delivery-run.ts';
import { log } from './log.ts';
import { writeMetrics } from './metrics.ts';
import { dialOptionsFrom } from './webhook-dial.ts';
import { WebhookPool } from './webhook-pool.ts';

watchKeyring(() => writeMetrics({ KeyringFaults: 1 }));

/** Connections of one sender; with four senders at once a receiver sees at most 256. */
const CONNECTIONS = 64;

/** More messages at once would only wait for the same connections, with more of them interrupted by a death. */
const MESSAGES_AT_ONCE = 3;

/** A change counts for the next wave, at the price of ten small reads a second. */
const OUTPUT_LIFE_MILLISECONDS = 100;

let cachedOutput: { readonly output: Promise<WebhookOutput>; readonly readAt: number } | undefined;
let currentPool: { readonly revision: number; readonly pool: WebhookPool } | undefined;

/**
 * Sends what the queue holds, each request once. A message that is not finished when the invocation's time is over, or
 * whose earlier invocation may still be running, is handed back and continues later where it stood.
 */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  const deadline = Date.now() + context.getRemainingTimeInMillis();
  const failures = new DeliveryLog();
  const sums = { RecordsDelivered: 0, RecordsFailed: 0, RequestsSent: 0 };
  const run: DeliveryRun = {
    holder: randomUUID(),
    deadline,
    now: () => Date.now(),
    remaining: () => context.getRemainingTimeInMillis(),
    output: currentOutput,
    pool: poolFor,
    report: (failure) => failures.add(failure, new Date().toISOString()),
    counted: (step) => addUp(sums, step),
  };
  const failed: string[] = [];
  // Taken out of the event: what is done with need not be held until all are.
  const waiting = event.Records.splice(0);
  const lanes = Array.from({ length: MESSAGES_AT_ONCE }, async () => {
    for (let record = waiting.shift(); record !== undefined; record = waiting.shift()) {
      if (!(await isDone(record, run))) failed.push(record.messageId);
    }
  });
  await Promise.all(lanes);
  failures.flush();
  writeMetrics(sums);
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
}

async function isDone(record: SQSRecord, run: DeliveryRun): Promise<boolean> {
  try {
    const verdict = await deliver(parseDeliveryMessage(record.body), run);
    if (verdict.kind === 'done') return true;
    // Only sooner: without this it comes back after its visibility timeout.
    await showDeliveryAgain(record.receiptHandle, verdict.afterSeconds).catch(() => {});
  } catch (error) {
    // The message comes back after its visibility timeout, and after some such returns goes to the dead letters.
    log('error', 'a delivery met an error', { ...errorFields(error), 'message-id': record.messageId });
  }
  return false;
}

function currentOutput(): Promise<WebhookOutput> {
  const now = performance.now();
  if (cachedOutput === undefined || now - cachedOutput.readAt > OUTPUT_LIFE_MILLISECONDS) {
    cachedOutput = { output: getWebhook().then(retireOtherPools), readAt: now };
    cachedOutput.output.catch(() => {
      cachedOutput = undefined;
    });
  }
  return cachedOutput.output;
}

/** Whoever reads that the configuration is another ends the waves of the one before, which their messages claim anew. */
function retireOtherPools(output: WebhookOutput): WebhookOutput {
  if (currentPool !== undefined && currentPool.revision < output.revision) currentPool.pool.retire();
  return output;
}

/** Connections live as long as the configuration they were made for; one that is replaced ends what is under way. */
function poolFor(output: WebhookOutput, method: string): WebhookPool {
  if (currentPool?.revision !== output.revision) {
    currentPool?.pool.retire();
    const template = {
      url: new URL(output.url),
      method,
      headers: deliveryHeaders(output),
      timeoutMilliseconds: output.timeoutMilliseconds,
    };
    const pool = new WebhookPool(template, { ...dialOptionsFrom(process.env), connections: CONNECTIONS });
    currentPool = { revision: output.revision, pool };
  }
  return currentPool.pool;
}

/** The same numbers as GET /api/v1/outputs/metrics, summed over everything: CloudWatch asks for money per dimension. */
function addUp(
  sums: Record<'RecordsDelivered' | 'RecordsFailed' | 'RequestsSent', number>,
  tally: DeliveryTally,
) {
  sums.RecordsDelivered += tally.counts['records.delivered'] ?? 0;
  sums.RecordsFailed += failedRecords(tally.counts);
  sums.RequestsSent += tally.counts['requests.sent'] ?? 0;
}

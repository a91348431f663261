import { randomUUID } from 'node:crypto';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { parseDeliveryMessage } from '../core/delivery-message.ts';
import { DeliveryTally } from '../core/delivery-tally.ts';
import { errorFields } from '../core/log-line.ts';
import { advanceDelivery, getDeliveryProgress } from '../store/delivery-progress.ts';
import { log } from './log.ts';
import { writeMetrics } from './metrics.ts';

/**
 * Counts what the sender could not finish as `interrupted`: part of it may have been sent by an invocation that died, the
 * rest never will be. The message's own head says how much it is, so that even one nobody can open is accounted for.
 * One whose head cannot be read stays where it is, for a person to look at.
 */
export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  const failed: string[] = [];
  for (const record of event.Records) {
    try {
      await countRest(record.body);
    } catch (error) {
      log('error', 'a dead letter could not be counted', {
        ...errorFields(error),
        'message-id': record.messageId,
      });
      failed.push(record.messageId);
    }
  }
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
}

async function countRest(body: string): Promise<void> {
  const head = parseDeliveryMessage(body);
  const end = { requests: head.requests, records: head.records };
  const progress = await getDeliveryProgress(head.id);
  const settled = progress?.settled ?? { requests: 0, records: 0 };
  if (settled.requests === end.requests) return;
  const now = new Date();
  const tally = new DeliveryTally();
  if (progress === undefined) {
    tally.add('records.taken', end.records);
    tally.add('requests.taken', end.requests);
  }
  const detail = 'the sender did not finish this message';
  const records = end.records - settled.records;
  tally.failed('interrupted', records, end.requests - settled.requests, now.toISOString(), null, detail);
  const next = { holder: randomUUID(), settled: end, claimed: end, until: now.getTime() };
  await advanceDelivery(head, progress, next, tally);
  writeMetrics({ RecordsFailed: records });
  log('warn', 'records not delivered', { 'message-id': head.id, records, reason: 'interrupted', detail });
}

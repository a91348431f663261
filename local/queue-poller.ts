import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { LIMITS } from '../contract/limits.ts';
import type { QueueConsumer } from '../contract/queues.ts';
import { type Handler, invoke } from './lambda.ts';
import { runAs } from './principal.ts';

/** What Lambda does for a function with an SQS event source. */
export interface QueuePollerOptions {
  readonly sqs: SQSClient;
  readonly queueUrl: string;
  readonly consumer: QueueConsumer;
  readonly handler: Handler<SQSEvent>;
  /** A batch that ended without an answer: its messages come back after their visibility timeout. */
  readonly onFailure: (error: unknown) => void;
  /** In place of the consumer's own. */
  readonly timeoutSeconds?: number | undefined;
}

export interface QueuePoller {
  /** Receives no more and waits for the invocations under way, which learn that they have no more time. */
  stop(): Promise<void>;
}

/**
 * The emulator does not notice that a poller has died, and gives its messages away until the poll is over; they come
 * back after their visibility timeout. So polls are short here, where asking again costs nothing.
 */
const LONG_POLL_SECONDS = 1;
const RETRY_MILLISECONDS = 500;

/** Room for the event around the messages, in which each body is a JSON string once more. */
const PAYLOAD_ROOM_BYTES = LIMITS.lambdaPayloadBytes - 65_536;

/**
 * Receives messages, invokes the function with them and deletes those that it did not report as failed
 * (ReportBatchItemFailures). An invocation that throws, times out or answers nonsense deletes nothing, as in AWS.
 */
export function startQueuePoller(options: QueuePollerOptions): QueuePoller {
  const stopping = new AbortController();
  const lanes = Array.from({ length: options.consumer.maximumConcurrency }, async () => {
    while (!stopping.signal.aborted) {
      try {
        const batches = batchesOf(await receive(options, stopping.signal));
        for (const batch of batches) await deliverBatch(batch, options, stopping.signal);
      } catch (error) {
        if (stopping.signal.aborted) return;
        options.onFailure(error);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
      }
    }
  });
  return {
    async stop() {
      stopping.abort();
      await Promise.all(lanes);
    },
  };
}

interface Received {
  readonly id: string;
  readonly receiptHandle: string;
  /** What the function is given of it, as JSON. */
  readonly record: string;
}

/** Messages of one invocation. */
interface Batch {
  readonly messages: { readonly id: string; readonly receiptHandle: string }[];
  /** The JSON of each message's record, for the event; taken out once that is made, since texts are up to a megabyte. */
  readonly records: string[];
}

async function receive(options: QueuePollerOptions, signal: AbortSignal): Promise<Received[]> {
  const { Messages } = await runAs(options.consumer.function, () =>
    options.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: options.queueUrl,
        MaxNumberOfMessages: options.consumer.batchSize,
        WaitTimeSeconds: LONG_POLL_SECONDS,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      }),
      { abortSignal: signal },
    ),
  );
  return (Messages ?? []).map((message) => ({
    id: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    record: JSON.stringify(recordOf(message, options.queueUrl)),
  }));
}

/** Lambda never gives a function more than its payload limit, however many messages a batch may have. */
function batchesOf(received: readonly Received[]): Batch[] {
  const batches: Batch[] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const { id, receiptHandle, record } of received) {
    const size = Buffer.byteLength(record);
    if (bytes + size > PAYLOAD_ROOM_BYTES) {
      batches.push({ messages: [], records: [] });
      bytes = 0;
    }
    bytes += size;
    batches.at(-1)?.messages.push({ id, receiptHandle });
    batches.at(-1)?.records.push(record);
  }
  return batches;
}

async function deliverBatch(batch: Batch, options: QueuePollerOptions, ending: AbortSignal): Promise<void> {
  const { consumer, queueUrl, sqs } = options;
  const { messages, records } = batch;
  const timeoutMilliseconds = (options.timeoutSeconds ?? consumer.timeoutSeconds) * 1_000;
  const requestId = messages[0]?.id ?? '';
  const invocation = await invoke(
    consumer.function,
    options.handler,
    `{"Records":[${records.splice(0).join(',')}]}`,
    requestId,
    timeoutMilliseconds,
    ending,
  );
  if (invocation.outcome !== 'answered') {
    options.onFailure(invocation.outcome === 'failed' ? invocation.error : new Error(invocation.outcome));
    return;
  }
  const failed = failedIds(invocation.result);
  const done = messages.filter(({ id }) => !failed.has(id));
  if (failed.size > 0 && [...failed].some((id) => !messages.some((message) => message.id === id))) {
    options.onFailure(new Error('the function named a message that it was not given'));
    return;
  }
  if (done.length === 0) return;
  await runAs(consumer.function, () =>
    sqs.send(
      new DeleteMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: done.map(({ receiptHandle }, index) => ({
          Id: String(index),
          ReceiptHandle: receiptHandle,
        })),
      }),
    ),
  );
}

function failedIds(result: unknown): Set<string> {
  const { batchItemFailures } = (result ?? {}) as Partial<SQSBatchResponse>;
  return new Set((batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
}

function recordOf(message: Message, queueUrl: string): SQSRecord {
  const name = queueUrl.slice(queueUrl.lastIndexOf('/') + 1);
  const attributes = message.Attributes ?? {};
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: {
      ApproximateReceiveCount: attributes['ApproximateReceiveCount'] ?? '1',
      SentTimestamp: attributes['SentTimestamp'] ?? '0',
      SenderId: attributes['SenderId'] ?? '',
      ApproximateFirstReceiveTimestamp: attributes['ApproximateFirstReceiveTimestamp'] ?? '0',
    },
    messageAttributes: {},
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:local:000000000000:${name}`,
    awsRegion: 'local',
  };
}

import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { ENV } from '../contract/env.ts';
import { RUNTIME_KEYS } from '../contract/tables.ts';
import type { LiveTestJob } from '../core/live-test.ts';
import { sqs } from './clients.ts';
import { compressZstd, decompressZstd } from './compression.ts';
import { getItem, putItem, SCHEMA_VERSION } from './table.ts';

/** Results are read at once or never. */
const RESULT_LIFE_SECONDS = 300;
/** SQS waits this long for a message; 20 s is its longest. */
const WAIT_SECONDS = 10;

/** A job that a worker received; `done` takes it out of the queue. */
export interface ReceivedJob {
  readonly job: LiveTestJob;
  done(): Promise<void>;
}

export async function sendJob(job: LiveTestJob): Promise<void> {
  const body = JSON.stringify({ v: SCHEMA_VERSION, ...job });
  await sqs().send(new SendMessageCommand({ QueueUrl: queueUrl(), MessageBody: body }));
}

/** Waits shortly for jobs and takes up to `limit` of them; rejects when `signal` ends the wait. What cannot be read is passed over. */
export async function receiveJobs(limit: number, signal: AbortSignal): Promise<ReceivedJob[]> {
  const { Messages = [] } = await sqs().send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl(),
      MaxNumberOfMessages: Math.min(10, limit),
      WaitTimeSeconds: WAIT_SECONDS,
    }),
    { abortSignal: signal },
  );
  return Messages.flatMap(({ Body, ReceiptHandle }) => {
    const job = JSON.parse(Body ?? 'null') as (LiveTestJob & { v: number }) | null;
    if (job === null || job.v > SCHEMA_VERSION || ReceiptHandle === undefined) return [];
    const done = async () => {
      await sqs().send(new DeleteMessageCommand({ QueueUrl: queueUrl(), ReceiptHandle }));
    };
    return [{ job, done }];
  });
}

/** Leaves what a test found, as the answer's JSON text. */
export async function putJobResult(id: string, text: string, now: Date): Promise<void> {
  await putItem('runtime', {
    ...RUNTIME_KEYS.jobResult(id),
    v: SCHEMA_VERSION,
    result: await compressZstd(text),
    expires: Math.floor(now.getTime() / 1000) + RESULT_LIFE_SECONDS,
  });
}

/** The answer's JSON text, once a worker has left it. */
export async function getJobResult(id: string): Promise<string | undefined> {
  const item = await getItem('runtime', RUNTIME_KEYS.jobResult(id));
  return item === undefined ? undefined : (await decompressZstd(item['result'] as Uint8Array)).toString();
}

function queueUrl(): string {
  const url = process.env[ENV.jobsQueue];
  if (url === undefined) throw new Error(`${ENV.jobsQueue} is not set`);
  return url;
}

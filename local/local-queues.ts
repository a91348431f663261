import { BucketAlreadyOwnedByYou, CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { CreateQueueCommand, SetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { BUCKETS } from '../contract/buckets.ts';
import { QUEUES, type Queue } from '../contract/queues.ts';

/** The URL by which the emulator at this endpoint knows a queue. */
export function localQueueUrl(endpoint: string, queue: Queue): string {
  return `${endpoint}/000000000000/${queue.name}`;
}

export interface LocalQueueOptions {
  /** In place of each queue's own: a test that kills receivers cannot wait as long as AWS would. */
  readonly visibilitySeconds?: number | undefined;
}

/** Makes the queues and buckets that do not exist yet, as the infrastructure does in AWS. */
export async function createMissingQueues(
  endpoint: string,
  accessKeyId: string,
  options: LocalQueueOptions = {},
): Promise<void> {
  const settings = {
    endpoint,
    region: 'local',
    credentials: { accessKeyId, secretAccessKey: accessKeyId },
  };
  const sqs = new SQSClient(settings);
  const s3 = new S3Client({ ...settings, forcePathStyle: true });
  try {
    // A queue's dead letters need the other queue to be there.
    const ordered = Object.values(QUEUES).sort(
      (a, b) => Number(a.redrive !== undefined) - Number(b.redrive !== undefined),
    );
    for (const queue of ordered) {
      const url = localQueueUrl(endpoint, queue);
      await sqs.send(new CreateQueueCommand({ QueueName: queue.name })).catch(ignoreExisting);
      await sqs.send(
        new SetQueueAttributesCommand({ QueueUrl: url, Attributes: attributesOf(queue, options) }),
      );
    }
    for (const bucket of Object.values(BUCKETS)) {
      await s3.send(new CreateBucketCommand({ Bucket: bucket.name })).catch(ignoreExisting);
    }
  } finally {
    sqs.destroy();
    s3.destroy();
  }
}

function attributesOf(queue: Queue, options: LocalQueueOptions): Record<string, string> {
  return {
    VisibilityTimeout: String(options.visibilitySeconds ?? queue.visibilitySeconds),
    MessageRetentionPeriod: String(queue.retentionSeconds),
    ...(queue.redrive === undefined
      ? {}
      : {
          RedrivePolicy: JSON.stringify({
            deadLetterTargetArn: `arn:aws:sqs:local:000000000000:${QUEUES[queue.redrive.to].name}`,
            maxReceiveCount: queue.redrive.maxReceiveCount,
          }),
        }),
  };
}

function ignoreExisting(error: unknown): void {
  const { name } = error as Error;
  if (error instanceof BucketAlreadyOwnedByYou || name === 'QueueNameExists') return;
  throw error;
}

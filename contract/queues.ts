import { ENV } from './env.ts';

/** The Lambda functions that a queue invokes, named as their files in `functions/`. */
export type QueueFunction = 'deliver-webhook' | 'count-undelivered';

export interface Queue {
  readonly name: string;
  /** The variable that holds the queue's URL. */
  readonly environment: string;
  /** How long a message that was received and not deleted stays hidden. */
  readonly visibilitySeconds: number;
  readonly retentionSeconds: number;
  /** Where a message goes once it was received so often without being deleted. */
  readonly redrive?: { readonly to: QueueName; readonly maxReceiveCount: number };
  /** The function that Lambda invokes with what it receives. */
  readonly consumer?: QueueConsumer;
}

export interface QueueConsumer {
  readonly function: QueueFunction;
  /** At most this many messages in one invocation. */
  readonly batchSize: number;
  /** At most this many invocations at once (AWS: MaximumConcurrency, 2 or more). */
  readonly maximumConcurrency: number;
  /** Below the queue's visibility, so that no message comes back while its first invocation may still run. */
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
}

export type QueueName = 'deliveries' | 'undelivered' | 'jobs';

export const QUEUES: Readonly<Record<QueueName, Queue>> = {
  /** Packed requests on their way from the worker to the webhook's sender. */
  deliveries: {
    name: 'graticule-deliveries',
    environment: ENV.deliveriesQueue,
    visibilitySeconds: 100,
    retentionSeconds: 86_400,
    // A message that the sender hands back for want of time counts as a receive too; max-age ends it long before.
    redrive: { to: 'undelivered', maxReceiveCount: 20 },
    consumer: {
      function: 'deliver-webhook',
      batchSize: 10,
      maximumConcurrency: 4,
      timeoutSeconds: 90,
      memoryMegabytes: 1_024,
    },
  },
  /** The dead letters of `deliveries`: counted, never sent. */
  undelivered: {
    name: 'graticule-undelivered',
    environment: ENV.undeliveredQueue,
    visibilitySeconds: 60,
    retentionSeconds: 1_209_600,
    consumer: {
      function: 'count-undelivered',
      batchSize: 10,
      maximumConcurrency: 2,
      timeoutSeconds: 30,
      memoryMegabytes: 512,
    },
  },
  /** Live tests, which whichever worker is free takes. */
  jobs: {
    name: 'graticule-jobs',
    environment: ENV.jobsQueue,
    visibilitySeconds: 30,
    retentionSeconds: 60,
  },
};

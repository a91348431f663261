import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { QUEUES, type QueueName } from '../contract/queues.ts';
import { grant, type Runtime } from './grant.ts';
import type { Settings } from './settings.ts';

/** The queues with their dead letters, as `contract/queues.ts` has them. */
export class Queues extends Construct {
  readonly queues: Readonly<Record<QueueName, Queue>>;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const make = (name: QueueName, constructId: string, deadLetters?: Queue): Queue => {
      const queue = QUEUES[name];
      return new Queue(this, constructId, {
        visibilityTimeout: Duration.seconds(queue.visibilitySeconds),
        retentionPeriod: Duration.seconds(queue.retentionSeconds),
        // Twenty seconds: whoever polls an empty queue does not pay for every second of it.
        receiveMessageWaitTime: Duration.seconds(20),
        encryption: QueueEncryption.SQS_MANAGED,
        enforceSSL: true,
        ...(deadLetters === undefined || queue.redrive === undefined
          ? {}
          : { deadLetterQueue: { queue: deadLetters, maxReceiveCount: queue.redrive.maxReceiveCount } }),
        removalPolicy: settings.stage === 'production' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      });
    };
    const undelivered = make('undelivered', 'Undelivered');
    this.queues = {
      undelivered,
      deliveries: make('deliveries', 'Deliveries', undelivered),
      jobs: make('jobs', 'Jobs'),
    };
  }

  grantTo(runtime: Runtime): void {
    for (const [name, queue] of Object.entries(this.queues) as [QueueName, Queue][]) {
      grant(runtime, {
        resource: `queue:${name}`,
        environment: { [QUEUES[name].environment]: queue.queueUrl },
        arnFor: () => queue.queueArn,
      });
    }
  }
}

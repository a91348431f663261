import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { ENV } from '../contract/env.ts';
import { QUEUES, type QueueFunction, type QueueName } from '../contract/queues.ts';
import type { Queues } from './queues.ts';
import { RuntimeFunction } from './runtime-function.ts';

/** The functions that queues invoke: the webhook's sender, and the one that counts what it could not finish. */
export class Delivery extends Construct {
  readonly functions: Readonly<Record<QueueFunction, RuntimeFunction>>;

  constructor(
    scope: Construct,
    id: string,
    options: { readonly bundles: string; readonly queues: Queues; readonly webhookAllow: readonly string[] },
  ) {
    super(scope, id);
    const make = (queueName: QueueName, constructId: string): RuntimeFunction => {
      const { consumer } = QUEUES[queueName];
      if (consumer === undefined) throw new Error(`no function consumes the queue ${queueName}`);
      const made = new RuntimeFunction(this, constructId, {
        principal: consumer.function,
        bundles: options.bundles,
        memoryMegabytes: consumer.memoryMegabytes,
        timeoutSeconds: consumer.timeoutSeconds,
      });
      const mapping = new EventSourceMapping(made, 'Messages', {
        target: made.lambda,
        eventSourceArn: options.queues.queues[queueName].queueArn,
        batchSize: consumer.batchSize,
        maxConcurrency: consumer.maximumConcurrency,
        reportBatchItemFailures: true,
      });
      // Lambda looks at once whether the role may read the queue.
      mapping.node.addDependency(made.role);
      return made;
    };
    this.functions = {
      'deliver-webhook': make('deliveries', 'DeliverWebhook'),
      'count-undelivered': make('undelivered', 'CountUndelivered'),
    };
    this.functions['deliver-webhook'].setEnvironment(ENV.webhookAllow, options.webhookAllow.join(','));
  }
}

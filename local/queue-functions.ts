/**
 * The process of the functions that queues invoke. Lambda gives each invocation a machine of its own; here a process of
 * their own keeps a busy sender from slowing the API down.
 */
import type { SQSEvent } from 'aws-lambda';
import { QUEUES, type QueueFunction } from '../contract/queues.ts';
import { sqs } from '../store/clients.ts';
import { guardCalls } from './aws.ts';
import { keepCallCounts } from './call-counts.ts';
import type { Handler } from './lambda.ts';
import { currentPrincipal } from './principal.ts';
import { type QueuePoller, startQueuePoller } from './queue-poller.ts';

/** Starts polling every queue that has a consumer. `timeoutSeconds` in place of each function's own. */
export async function startQueueFunctions(
  log: (line: string) => void,
  timeoutSeconds?: number,
): Promise<QueuePoller> {
  const pollers: QueuePoller[] = [];
  for (const queue of Object.values(QUEUES)) {
    if (queue.consumer === undefined) continue;
    const name: QueueFunction = queue.consumer.function;
    const { handler } = (await import(`../functions/${name}.ts`)) as { readonly handler: Handler<SQSEvent> };
    pollers.push(
      startQueuePoller({
        sqs: sqs(),
        queueUrl: process.env[queue.environment] ?? '',
        consumer: queue.consumer,
        handler,
        timeoutSeconds,
        onFailure: (error) => log(`the function ${name} failed: ${error}`),
      }),
    );
  }
  return {
    async stop() {
      await Promise.all(pollers.map((poller) => poller.stop()));
    },
  };
}

if (import.meta.main) {
  keepCallCounts(guardCalls(currentPrincipal));
  const timeout = process.env['GRATICULE_QUEUE_TIMEOUT_SECONDS'];
  const functions = await startQueueFunctions(
    (line) => console.error(line),
    timeout === undefined ? undefined : Number(timeout),
  );
  process.once('SIGTERM', () => {
    void functions.stop().then(() => process.exit(0));
  });
}

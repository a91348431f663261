import type { Context } from 'aws-lambda';
import { LIMITS } from '../contract/limits.ts';
import type { QueueFunction } from '../contract/queues.ts';
import type { ApiFunction } from '../contract/routes.ts';
import type { GatewayEvent } from './gateway-event.ts';
import { runAs } from './principal.ts';

/** What `functions/*.ts` export as `handler`, as AWS Lambda calls it. */
export type Handler<Event = GatewayEvent> = (event: Event, context: Context) => Promise<unknown>;

/** What became of one invocation, as whoever asked for it learns it. */
export type Invocation =
  | { readonly outcome: 'answered'; readonly result: unknown }
  /** The event, as JSON, is longer than Lambda takes. */
  | { readonly outcome: 'too-large' }
  /** The handler threw, or gave more than Lambda takes, or what is no JSON. */
  | { readonly outcome: 'failed'; readonly error: unknown }
  | { readonly outcome: 'timed-out' };

/**
 * Invokes a handler in this process as Lambda would: the event comes and the result goes as JSON, both within Lambda's
 * payload limit, the time is bounded, and the AWS calls it makes are made in the function's own name. Once `ending`, the
 * handler reads that no time remains.
 */
export async function invoke<Event>(
  name: ApiFunction | QueueFunction,
  handler: Handler<Event>,
  event: string,
  requestId: string,
  timeoutMilliseconds: number = LIMITS.gatewayTimeoutMilliseconds,
  ending?: AbortSignal,
): Promise<Invocation> {
  if (Buffer.byteLength(event) > LIMITS.lambdaPayloadBytes) return { outcome: 'too-large' };
  // Read here and not where the handler is called: a text of megabytes is not held for as long as that takes.
  const read = JSON.parse(event) as Event;
  const deadline = Date.now() + timeoutMilliseconds;
  const context = contextOf(name, requestId, () =>
    ending?.aborted === true ? 0 : Math.max(0, deadline - Date.now()),
  );
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Invocation>((resolve) => {
    timer = setTimeout(() => resolve({ outcome: 'timed-out' }), timeoutMilliseconds);
  });
  const answer = (async (): Promise<Invocation> => {
    try {
      const result = await runAs(name, () => handler(read, context));
      const text = JSON.stringify(result) ?? 'null';
      const bytes = Buffer.byteLength(text);
      if (bytes > LIMITS.lambdaPayloadBytes) {
        return {
          outcome: 'failed',
          error: new Error(`Response payload size exceeded maximum allowed payload size: ${bytes} bytes`),
        };
      }
      return { outcome: 'answered', result: JSON.parse(text) };
    } catch (error) {
      return { outcome: 'failed', error };
    }
  })();
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function contextOf(name: ApiFunction | QueueFunction, requestId: string, remaining: () => number): Context {
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: `graticule-${name}`,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:graticule-${name}`,
    memoryLimitInMB: '512',
    awsRequestId: requestId,
    logGroupName: `/aws/lambda/graticule-${name}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: remaining,
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
}

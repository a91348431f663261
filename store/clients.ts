import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';

/** One call on its way to AWS: the command's name and input as the SDK's middleware sees them. */
export interface AwsCall {
  /** The SDK's client, e.g. `DynamoDBClient`. */
  readonly client: string;
  /** The SDK's command, e.g. `PutItemCommand`. */
  readonly command: string;
  readonly input: Record<string, unknown>;
}

/**
 * Sees every call to AWS before and after it is made. The local run and the tests use it for the quota guard;
 * in AWS there is none. `proceed` makes the call and resolves to its output.
 */
export type CallInterceptor = (call: AwsCall, proceed: () => Promise<unknown>) => Promise<unknown>;

const interceptors: CallInterceptor[] = [];
const clients: {
  dynamodb?: DynamoDBClient;
  secretsManager?: SecretsManagerClient;
  sqs?: SQSClient;
  s3?: S3Client;
} = {};

/** Adds an interceptor to every client of this process, those already made included. */
export function interceptCalls(interceptor: CallInterceptor): void {
  interceptors.push(interceptor);
}

/**
 * The process's one DynamoDB client. Its middleware is put together once for each command: with the logger's left out,
 * a call costs 0.23 ms of processor time in place of 0.27 ms, and 0.33 ms in place of 0.58 ms in a young process.
 * Endpoint, region and credentials come from the standard AWS environment.
 */
export function dynamodb(): DynamoDBClient {
  clients.dynamodb ??= intercepted(new DynamoDBClient({ maxAttempts: 3, cacheMiddleware: true }));
  return clients.dynamodb;
}

/** The process's one Secrets Manager client. */
export function secretsManager(): SecretsManagerClient {
  clients.secretsManager ??= intercepted(new SecretsManagerClient({ maxAttempts: 3 }));
  return clients.secretsManager;
}

/** The process's one SQS client. */
export function sqs(): SQSClient {
  clients.sqs ??= intercepted(new SQSClient({ maxAttempts: 3 }));
  return clients.sqs;
}

/** The process's one S3 client. */
export function s3(): S3Client {
  clients.s3 ??= intercepted(new S3Client({ maxAttempts: 3 }));
  return clients.s3;
}

type Handler = (invocation: { input: object }) => Promise<{ output: object }>;
interface Interceptable {
  middlewareStack: {
    remove(name: string): boolean;
    add(
      middleware: (next: Handler, context: { clientName?: string; commandName?: string }) => Handler,
      options: { step: 'initialize'; name: string },
    ): void;
  };
}

function intercepted<Client>(client: Client): Client {
  const { middlewareStack } = client as Interceptable;
  // It goes through every input and output for a logger that we do not have.
  middlewareStack.remove('loggerMiddleware');
  middlewareStack.add(
    (next, context) => async (invocation) => {
      let answer: { output: object } | undefined;
      const call: AwsCall = {
        client: context.clientName ?? '',
        command: context.commandName ?? '',
        input: invocation.input as Record<string, unknown>,
      };
      const proceed = interceptors.reduceRight<() => Promise<unknown>>(
        (inner, interceptor) => () => interceptor(call, inner),
        async () => {
          answer = await next(invocation);
          return answer.output;
        },
      );
      await proceed();
      if (answer === undefined) throw new Error('an interceptor neither made the call nor refused it');
      return answer;
    },
    { step: 'initialize', name: 'graticule-interceptors' },
  );
  return client;
}

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

/** Adds an interceptor to every client of this process, those already made included. */
export function interceptCalls(interceptor: CallInterceptor): void {
  interceptors.push(interceptor);
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

/** The client itself, whose calls the interceptors see from now on. */
export function intercepted<Client>(client: Client): Client {
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

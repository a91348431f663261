import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BUCKETS } from '../contract/buckets.ts';
import { ENV } from '../contract/env.ts';
import type { Principal, Resource } from '../contract/grants.ts';
import { QUEUES } from '../contract/queues.ts';
import { TABLES } from '../contract/tables.ts';
import { interceptCalls } from '../store/call-interception.ts';
import { startDynamodbEmulator } from './dynamodb-emulator.ts';
import { createMissingQueues, localQueueUrl } from './local-queues.ts';
import { createMissingTables } from './local-tables.ts';
import { startQueueEmulator } from './queue-emulator.ts';
import { createQuotaGuard, type QuotaGuard, type QuotaGuardOptions } from './quota-guard.ts';
import { startSecretsEmulator } from './secrets-emulator.ts';

/** The AWS of one laptop: emulators on loopback, their data in one directory. */
export interface LocalAws {
  /** What the SDK and our own code read: endpoints, region, credentials, names. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resolves once queues and buckets are there too; tables and keys are there at once. */
  readonly queuesReady: Promise<void>;
  /** Settles if an emulator of ours ends, with a sentence. */
  readonly emulatorEnded: Promise<string>;
  stop(): Promise<void>;
}

export interface LocalAwsOptions {
  /** Made if it is not there. */
  readonly dataDirectory: string;
  /** A DynamoDB of the user's own choice, in place of the one that comes with us. */
  readonly dynamodbEndpoint?: string | undefined;
  /** Else free ones. */
  readonly ports?: { readonly dynamodb: number; readonly secrets: number; readonly queues: number };
  /** In place of each queue's own visibility timeout. */
  readonly visibilitySeconds?: number | undefined;
}

const KEYRING_SECRET = 'graticule-keyring';

/** Only the set-up function of AWS keeps a token there; here it runs in tests alone. */
const TOKEN_SECRET = 'graticule-token';

/** Variables that would lead the SDK away from the emulators. */
const MISLEADING = ['AWS_PROFILE', 'AWS_DEFAULT_PROFILE', 'AWS_SESSION_TOKEN', 'AWS_ENDPOINT_URL'];

/**
 * Starts the emulators, with their tables, on the data that an earlier run left in the directory. That of SQS and S3
 * takes longest, and a worker can start without it: whoever needs it waits for `queuesReady`.
 */
export async function startLocalAws(options: LocalAwsOptions): Promise<LocalAws> {
  mkdirSync(options.dataDirectory, { recursive: true, mode: 0o700 });
  const started: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    await Promise.all(started.map((emulator) => emulator.stop()));
  };
  try {
    const [secrets, queues, dynamodb] = await Promise.all([
      startSecretsEmulator(join(options.dataDirectory, 'secrets.json'), options.ports?.secrets).then(
        (emulator) => keep(emulator),
      ),
      startQueueEmulator(join(options.dataDirectory, 'queues'), options.ports?.queues).then((emulator) =>
        keep(emulator),
      ),
      options.dynamodbEndpoint === undefined
        ? startDynamodbEmulator(join(options.dataDirectory, 'dynamodb.sqlite'), options.ports?.dynamodb).then(
            (emulator) => keep(emulator),
          )
        : { endpoint: options.dynamodbEndpoint, ended: new Promise<number>(() => {}) },
    ]);
    const queuesReady = queues.ready.then(() =>
      createMissingQueues(queues.endpoint, secrets.accessKeyId, {
        visibilitySeconds: options.visibilitySeconds,
      }),
    );
    // Whoever waits for it hears of a failure; a start that failed for another reason does not wait.
    queuesReady.catch(() => {});
    await createMissingTables(dynamodb.endpoint, secrets.accessKeyId);
    return {
      environment: {
        AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint,
        AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
        AWS_ENDPOINT_URL_SQS: queues.endpoint,
        AWS_ENDPOINT_URL_S3: queues.endpoint,
        AWS_REGION: 'local',
        AWS_ACCESS_KEY_ID: secrets.accessKeyId,
        AWS_SECRET_ACCESS_KEY: secrets.accessKeyId,
        [ENV.configTable]: TABLES.config.name,
        [ENV.runtimeTable]: TABLES.runtime.name,
        [ENV.keyringSecret]: KEYRING_SECRET,
        [ENV.allowLoopback]: '1',
        ...Object.fromEntries(
          Object.values(QUEUES).map((queue) => [queue.environment, localQueueUrl(queues.endpoint, queue)]),
        ),
        ...Object.fromEntries(Object.values(BUCKETS).map((bucket) => [bucket.environment, bucket.name])),
      },
      queuesReady,
      emulatorEnded: Promise.race([
        dynamodb.ended.then((code) => `the DynamoDB emulator ended with ${code}`),
        queues.ended.then((code) => `the SQS and S3 emulator ended with ${code}`),
      ]),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }

  function keep<Emulator extends { stop(): Promise<void> }>(emulator: Emulator): Emulator {
    started.push(emulator);
    return emulator;
  }
}

/** Makes this process, and the children that inherit its environment, speak to the emulators and to nothing else. */
export function useLocalAws(aws: Pick<LocalAws, 'environment'>): void {
  for (const name of MISLEADING) delete process.env[name];
  Object.assign(process.env, aws.environment);
}

/** Puts the quota guard before every AWS call of this process. `grants`: other rows than the contract's, for its tests. */
export function guardCalls(
  principal: () => Principal | undefined,
  grants?: QuotaGuardOptions['grants'],
): QuotaGuard {
  const resources: Readonly<Record<string, Resource>> = {
    [TABLES.config.name]: 'config',
    [TABLES.runtime.name]: 'runtime',
    [KEYRING_SECRET]: 'keyring',
    [TOKEN_SECRET]: 'token',
    ...Object.fromEntries(
      Object.entries(QUEUES).map(([name, queue]) => [queue.name, `queue:${name}` as Resource]),
    ),
    ...Object.fromEntries(
      Object.entries(BUCKETS).map(([name, bucket]) => [bucket.name, `bucket:${name}` as Resource]),
    ),
  };
  const guard = createQuotaGuard({
    principal,
    ...(grants === undefined ? {} : { grants }),
    resource: (nameOrId) => resources[lastSegment(nameOrId)],
    // For benches, in every process of the run: what one partition takes in a second is then a limit too.
    ...(process.env['GRATICULE_THROTTLE'] === '1' ? { throttle: { now: Date.now } } : {}),
  });
  interceptCalls(guard.intercept);
  return guard;
}

/** A queue is called by its URL, which ends in its name; everything else by its name alone. */
function lastSegment(nameOrUrl: string): string {
  return nameOrUrl.slice(nameOrUrl.lastIndexOf('/') + 1);
}

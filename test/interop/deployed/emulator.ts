/** MiniStack, an emulator of AWS that evaluates policies and runs Lambda functions with the Node on its PATH. */
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { freePort } from '../../../local/dynamodb-emulator.ts';
import { startLeashed } from '../../../local/leash.ts';
import { pythonEnvironment } from '../../support/install.ts';
import { until } from '../../support/until.ts';

/** Version by version it differs in what it takes from a template; these are what this case was written against. */
const REQUIREMENTS = ['ministack==1.5.33', 'botocore==1.43.106'];

const ROOT = resolve(import.meta.dirname, '../../..');

/** Calls any operation of any service and prints the answer; botocore knows them all, our SDK packages only four. */
const CALL = `
import json, sys, botocore.session
service, operation, parameters = sys.argv[1:]
client = botocore.session.get_session().create_client(service)
print(json.dumps(getattr(client, operation)(**json.loads(parameters)), default=str))
`;

export interface Emulator {
  readonly port: number;
  /** What the SDK, the CDK and our own code read, to speak to it with the rights of an administrator. */
  readonly environment: Readonly<Record<string, string>>;
  /** e.g. `call('sts', 'assume_role', {…})`, by botocore's names; the answer. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of many services, looked into member by member.
  call(service: string, operation: string, parameters: Readonly<Record<string, unknown>>): any;
  stop(): Promise<void>;
}

/** Starts it on loopback, with policies evaluated and Node 24 first on its PATH. */
export async function startEmulator(directory: string): Promise<Emulator> {
  const bin = pythonEnvironment(REQUIREMENTS);
  const port = await freePort();
  const path = `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`;
  const emulator = startLeashed([join(bin, 'ministack')], {
    environment: {
      PATH: path,
      HOME: directory,
      TMPDIR: directory,
      AUTH: 'true',
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
    },
    graceSeconds: 3,
    output: 'pipe',
    workingDirectory: directory,
  });
  let printed = '';
  for (const stream of [emulator.stdout, emulator.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-20_000);
    });
  }
  const environment = {
    PATH: path,
    HOME: directory,
    TMPDIR: directory,
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'eu-central-1',
    AWS_DEFAULT_REGION: 'eu-central-1',
    AWS_EC2_METADATA_DISABLED: 'true',
    CDK_DISABLE_CLI_TELEMETRY: 'true',
  };
  await until(
    'MiniStack starts',
    () => printed,
    (text) => text.includes('Running on http://127.0.0.1'),
    60_000,
  );
  return {
    port,
    environment,
    call: (service, operation, parameters) =>
      JSON.parse(
        execFileSync(join(bin, 'python'), ['-c', CALL, service, operation, JSON.stringify(parameters)], {
          env: environment,
          encoding: 'utf8',
        }),
      ),
    async stop() {
      await emulator.stop();
    },
  };
}

/** Our stack, synthesised and deployed by the CDK's own command line, as a user does it. */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Emulator } from './emulator.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** The rooms that a synthesis reads. */
const ROOMS = ['contract', 'protocols', 'core', 'store', 'functions', 'worker', 'infra', 'docs'];

export interface Deployment {
  /** The host that the emulator knows the API by; requests go to its port on 127.0.0.1. */
  readonly host: string;
  readonly token: string;
  readonly workerCidrs: string;
}

/** Runs `cdk`; what it printed, and its exit code. */
export function cdk(
  emulator: Emulator,
  words: readonly string[],
  workingDirectory: string = ROOT,
): { status: number | null; printed: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, 'node_modules/aws-cdk/bin/cdk'), ...words, '--no-notices'],
    { cwd: workingDirectory, env: emulator.environment, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  return { status, printed: stdout + stderr };
}

function succeed({ status, printed }: { status: number | null; printed: string }): void {
  if (status !== 0) throw new Error(`cdk ended with ${status}:\n${printed.slice(-6_000)}`);
}

/**
 * Synthesises to `assembly`. The image is one that nobody has: the emulator runs no containers, whatever it says. Its
 * bootstrap roles are refused their bucket, so the caller's own rights deploy.
 */
export function synthesizeTo(
  emulator: Emulator,
  assembly: string,
  { tree = ROOT, name = 'Graticule' }: { readonly tree?: string; readonly name?: string } = {},
): void {
  const image = 'registry.example/graticule-worker:1';
  const settings = [`name=${name}`, 'stage=development', 'rights=caller', `image=${image}`];
  const context = settings.flatMap((setting) => ['-c', setting]);
  succeed(cdk(emulator, ['synth', '--quiet', '--output', assembly, ...context], tree));
}

/** Makes a copy of our source in which one grant is gone. */
export function withoutGrant(directory: string, principal: string, resource: string, action: string): string {
  const tree = join(directory, `without-${principal}`);
  for (const room of ROOMS) cpSync(join(ROOT, room), join(tree, room), { recursive: true });
  for (const file of ['cdk.json', 'package.json', 'package-lock.json', 'Dockerfile']) {
    cpSync(join(ROOT, file), join(tree, file));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  // Taken away at the end of the file, so that the row may be written in any way.
  const file = join(tree, 'contract/grants.ts');
  const source = readFileSync(file, 'utf8');
  const removal = `\n{
  const rows = GRANTS as Record<string, Record<string, readonly string[]>>;
  const row = rows['${principal}'];
  const actions = row?.['${resource}'] ?? [];
  if (row === undefined || !actions.includes('${action}')) throw new Error('no such grant');
  row['${resource}'] = actions.filter((action) => action !== '${action}');
}\n`;
  writeFileSync(file, source + removal);
  return tree;
}

/** Bootstraps the account, which is done once. */
export function bootstrap(emulator: Emulator, directory: string): void {
  succeed(cdk(emulator, ['bootstrap', 'aws://000000000000/eu-central-1'], directory));
}

/** Deploys an assembly and reads what a user would read afterwards. */
export async function deploy(
  emulator: Emulator,
  assembly: string,
  directory: string,
  name = 'Graticule',
): Promise<Deployment> {
  const outputsFile = join(directory, 'outputs.json');
  succeed(
    cdk(
      emulator,
      ['deploy', '--app', assembly, '--require-approval', 'never', '--outputs-file', outputsFile],
      directory,
    ),
  );
  const outputs = JSON.parse(readFileSync(outputsFile, 'utf8'))[name];
  const client = new SecretsManagerClient({
    endpoint: `http://127.0.0.1:${emulator.port}`,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: outputs.TokenSecretArn }));
  client.destroy();
  return {
    host: `${new URL(outputs.ApiUrl).hostname.split('.')[0]}.execute-api.localhost:${emulator.port}`,
    token: SecretString ?? '',
    workerCidrs: outputs.WorkerCidrs,
  };
}

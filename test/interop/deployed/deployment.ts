/** Our stack, synthesised and deployed by the CDK's own command line, as a user does it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AWS_COMMAND_LINE, pythonEnvironment } from '../../support/install.ts';
import type { Emulator } from './emulator.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** It tells a user how to read the first token; that very command is typed here. */
const DEPLOY_PAGE = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8');

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
export function deploy(
  emulator: Emulator,
  assembly: string,
  directory: string,
  name = 'Graticule',
): Deployment {
  const outputsFile = join(directory, 'outputs.json');
  succeed(
    cdk(
      emulator,
      ['deploy', '--app', assembly, '--require-approval', 'never', '--outputs-file', outputsFile],
      directory,
    ),
  );
  const outputs = JSON.parse(readFileSync(outputsFile, 'utf8'))[name];
  const [command] = /^aws secretsmanager get-secret-value .*$/m.exec(DEPLOY_PAGE) ?? [''];
  const aws = pythonEnvironment([AWS_COMMAND_LINE]);
  const token = execFileSync('bash', ['-c', command.replace('TOKEN_SECRET_ARN', outputs.TokenSecretArn)], {
    env: { ...emulator.environment, PATH: `${aws}:${process.env['PATH']}` },
    encoding: 'utf8',
  }).trim();
  return {
    host: `${new URL(outputs.ApiUrl).hostname.split('.')[0]}.execute-api.localhost:${emulator.port}`,
    token,
    workerCidrs: outputs.WorkerCidrs,
  };
}

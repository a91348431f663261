/** A step of `npm run check`: `cdk synth` as a user runs it, with real bundles, cdk-nag, and nothing kept from before. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { statementsOf } from './synthesis.ts';

/** Statements on resource `*`: all that there may be. */
const ON_EVERYTHING = ['WorkerTaskExecutionRole ecr:GetAuthorizationToken'];

/** What a user is promised; a machine that does much else at the same time gets three times that. */
const TARGET_SECONDS = 30;
const LIMIT_SECONDS = 3 * TARGET_SECONDS;

const root = resolve(import.meta.dirname, '../..');
const output = mkdtempSync(join(tmpdir(), 'graticule-synth-'));
try {
  const began = performance.now();
  const { status } = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/aws-cdk/bin/cdk'),
      'synth',
      '--quiet',
      '--strict',
      '--no-notices',
      '--output',
      output,
    ],
    {
      cwd: root,
      stdio: 'inherit',
      // As on a machine without an account: no profile, no keys, nobody to ask for either. How this one reaches its
      // package registry stays: the image brings a binary of another platform along.
      env: {
        ...Object.fromEntries(
          Object.entries(process.env).filter(([name]) =>
            /^(npm_config_|NODE_EXTRA_CA_CERTS$|SSL_CERT_|https?_proxy$)/i.test(name),
          ),
        ),
        PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`,
        HOME: process.env['HOME'],
        TMPDIR: tmpdir(),
        AWS_EC2_METADATA_DISABLED: 'true',
        CDK_DISABLE_CLI_TELEMETRY: 'true',
      },
    },
  );
  const seconds = (performance.now() - began) / 1_000;
  console.log(`cdk synth, bundles and cdk-nag: ${seconds.toFixed(1)} s (target ${TARGET_SECONDS} s)`);
  if (status !== 0) process.exit(1);
  if (seconds > LIMIT_SECONDS) {
    console.error(`the synthesis took longer than ${LIMIT_SECONDS} s`);
    process.exitCode = 1;
  }
  const template = JSON.parse(readFileSync(join(output, 'Graticule.template.json'), 'utf8'));
  const onEverything = statementsOf(template)
    .filter(({ resources }) => resources.includes('"*"'))
    .flatMap(({ role, actions }) => actions.map((action) => `${role} ${action}`));
  if (onEverything.join() !== ON_EVERYTHING.join()) {
    console.error(`on resource *: ${onEverything.join(', ')}; allowed: ${ON_EVERYTHING.join(', ')}`);
    process.exitCode = 1;
  }
} finally {
  rmSync(output, { recursive: true, force: true });
}

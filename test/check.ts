/** `npm run check`: types, lint, architecture and the synthesis of the AWS stack, each with its time; the first failure decides the exit code. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const bin = resolve(import.meta.dirname, '../node_modules');

const steps: ReadonlyArray<{ name: string; script: string; arguments: string[] }> = [
  { name: 'types', script: 'typescript/bin/tsc', arguments: ['--noEmit'] },
  { name: 'lint', script: '@biomejs/biome/bin/biome', arguments: ['check', '--error-on-warnings', '.'] },
  {
    name: 'architecture',
    script: 'vitest/vitest.mjs',
    arguments: ['run', '--reporter=dot', 'test/architecture.test.ts'],
  },
  { name: 'synth', script: '../test/infra/synth.ts', arguments: [] },
];

let failed = 0;
for (const step of steps) {
  const started = performance.now();
  const { status } = spawnSync(process.execPath, [resolve(bin, step.script), ...step.arguments], {
    stdio: 'inherit',
    cwd: resolve(import.meta.dirname, '..'),
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`check ${step.name}: ${status === 0 ? 'ok' : 'FAILED'} (${seconds} s)`);
  if (status !== 0) failed += 1;
}
process.exitCode = failed === 0 ? 0 : 1;

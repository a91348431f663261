import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { TestCase } from '../../harness.ts';

interface Must {
  readonly rfc: string;
  readonly clause: string;
  readonly must: string;
  readonly file: string;
  /** The test's whole name: its describe and its it, with a space between. */
  readonly test: string;
}

interface VitestReport {
  readonly testResults: ReadonlyArray<{
    readonly name: string;
    readonly assertionResults: ReadonlyArray<{ readonly fullName: string; readonly status: string }>;
  }>;
}

const root = resolve(import.meta.dirname, '../../..');

export const testCase: TestCase = {
  title:
    "each of the receiver's MUSTs in test/vectors/rfc-must.json has a test, and that test ran and passed",
  inCi: true,
  async run({ check, log, scratchDirectory }) {
    const musts: Must[] = JSON.parse(readFileSync(join(root, 'test/vectors/rfc-must.json'), 'utf8'));
    const files = [...new Set(musts.map(({ file }) => file))];
    const output = join(scratchDirectory, 'report.json');
    spawnSync(
      process.execPath,
      [
        join(root, 'node_modules/vitest/vitest.mjs'),
        'run',
        '--reporter=json',
        `--outputFile=${output}`,
        ...files,
      ],
      { cwd: root, stdio: 'ignore' },
    );
    const report: VitestReport = JSON.parse(readFileSync(output, 'utf8'));
    const passed = new Set(
      report.testResults.flatMap(({ name, assertionResults }) =>
        assertionResults
          .filter(({ status }) => status === 'passed')
          .map(({ fullName }) => `${relative(root, name)} ${fullName}`),
      ),
    );
    for (const rfc of new Set(musts.map((each) => each.rfc))) {
      const own = musts.filter((each) => each.rfc === rfc);
      await check(`${rfc}: ${own.length} clauses`, () => {
        const missing = own.filter(({ file, test }) => !passed.has(`${file} ${test}`));
        assert.deepEqual(
          missing.map(({ clause, test }) => `${clause}: ${test}`),
          [],
          'tests that did not run or did not pass',
        );
      });
    }
    log(`${musts.length} clauses, ${passed.size} tests passed`);
  },
};

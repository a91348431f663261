import assert from 'node:assert/strict';
import type { TestCase } from '../../harness.ts';
import { mutatedCases } from '../../support/link-state-mutations.ts';

export const testCase: TestCase = {
  title:
    'mutated attributes and NLRIs of link state never throw, loop or take more memory than they are long',
  inCi: true,
  async run({ check, log, seed, scale }) {
    const cases = Math.round(1_000_000 * scale);
    const before = process.memoryUsage().heapUsed;
    const result = mutatedCases(seed, cases);
    const { failures, mostStepsPerOctet, discardedNlris, discardedAttributes } = result;
    log(
      `${cases} cases, at most ${mostStepsPerOctet.toFixed(2)} reader steps an octet, ` +
        `${discardedNlris} NLRIs and ${discardedAttributes} attributes discarded`,
    );
    await check('no case threw, and the scan agrees with the decoder about each', () => {
      assert.deepEqual(failures, []);
    });
    await check('no case took more than 8 reader steps an octet', () => {
      assert.ok(mostStepsPerOctet <= 8, `${mostStepsPerOctet} steps an octet`);
    });
    await check('nothing of the cases is kept', () => {
      const grown = process.memoryUsage().heapUsed - before;
      log(`heap ${(grown / 1e6).toFixed(1)} MB above the start, not yet collected`);
      assert.ok(grown < 200e6, `${grown} octets more on the heap`);
    });
  },
};

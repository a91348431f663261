import type { TestCase } from '../../harness.ts';
import { Reflector } from '../../support/network/reflector.ts';
import { runTruth, TRUTH_CHANGES } from '../../support/network/truth-run.ts';

/** Two reflectors of our own, which pass on every octet. */
export const testCase: TestCase = {
  title: 'the topology equals the simulated network through delays, lost sessions and killed workers',
  inCi: true,
  async run(context) {
    const reflectors = [await Reflector.listen('127.0.0.21', 0), await Reflector.listen('127.0.0.22', 0)];
    await runTruth(context, TRUTH_CHANGES * context.scale, reflectors);
  },
};

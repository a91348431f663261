import type { TestCase } from '../../harness.ts';
import { GobgpReflector, LEFT_OUT, NOT_TOLD } from '../../support/network/gobgp-reflector.ts';
import { runTruth, TRUTH_CHANGES } from '../../support/network/truth-run.ts';

/** The other half of the truth test: what a reflector that is not ours makes of the octets, so that ours is no judge of itself. */
export const testCase: TestCase = {
  title: 'the topology equals the simulated network when two gobgpd reflect it',
  inCi: true,
  async run(context) {
    const directory = context.scratchDirectory;
    const reflectors = [
      await GobgpReflector.start({
        directory,
        feed: '127.0.0.23',
        address: '127.0.0.24',
        routerId: '10.0.0.24',
      }),
      await GobgpReflector.start({
        directory,
        feed: '127.0.0.25',
        address: '127.0.0.26',
        routerId: '10.0.0.26',
      }),
    ];
    context.log(`left out, since GoBGP drops these members: ${LEFT_OUT.join(', ')}`);
    context.log(`left out, since GoBGP takes two NLRIs for one: ${NOT_TOLD}`);
    await runTruth(context, TRUTH_CHANGES * context.scale, reflectors);
  },
};

import type { TestCase } from '../../harness.ts';
import { exabgp } from '../../support/bgp-daemon.ts';
import { runSpeakerCases } from '../../support/speaker-cases.ts';

export const testCase: TestCase = {
  title: 'a session with ExaBGP: made, kept, changed, broken and made again',
  inCi: true,
  run: (context) => runSpeakerCases(context, exabgp, 22),
};

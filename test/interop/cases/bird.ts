import type { TestCase } from '../../harness.ts';
import { bird } from '../../support/bgp-daemon.ts';
import { runSpeakerCases } from '../../support/speaker-cases.ts';

export const testCase: TestCase = {
  title: 'a session with BIRD: made, kept, changed, broken and made again',
  inCi: true,
  run: (context) => runSpeakerCases(context, bird, 24),
};

import type { TestCase } from '../../harness.ts';
import { frr } from '../../support/bgp-daemon.ts';
import { runSpeakerCases } from '../../support/speaker-cases.ts';

export const testCase: TestCase = {
  title: 'a session with FRR: made, kept, changed, broken and made again',
  inCi: true,
  run: (context) => runSpeakerCases(context, frr, 23),
};

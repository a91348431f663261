import type { TestCase } from '../../harness.ts';
import { gobgpd } from '../../support/bgp-daemon.ts';
import { runSpeakerCases } from '../../support/speaker-cases.ts';

export const testCase: TestCase = {
  title: 'a session with GoBGP: made, kept, changed, broken and made again',
  inCi: true,
  run: (context) => runSpeakerCases(context, gobgpd, 21),
};

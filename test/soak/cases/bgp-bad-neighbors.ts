import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { CEASE_SUBCODE } from '../../../protocols/bgp/error.ts';
import type { PeerSettings } from '../../../protocols/bgp/peer-settings.ts';
import { PeerDriver } from '../../../worker/bgp/peer-driver.ts';
import type { TestCase } from '../../harness.ts';
import { peerSettings } from '../../support/bgp-peer.ts';
import { startFarEnd } from '../../support/far-end-process.ts';
import { quietPorts, until } from '../../support/peer-fleet.ts';

const GOOD = 100;
const BAD = 50;

export const testCase: TestCase = {
  title: '50 peers with wrong TCP-MD5 keys and 50 at dead addresses beside 100 good ones at hold time 3 s',
  inCi: true,
  async run({ check, log, scale }) {
    const seconds = Math.max(50, 300 * scale);
    // A source with a key is answered with silence when its own key is another, and so is one that has none: that
    // is how an address looks where nothing answers.
    const wrongKey = Array.from({ length: BAD }, (_, index) => `127.78.1.${index + 1}`);
    const dead = Array.from({ length: BAD }, (_, index) => `127.78.2.${index + 1}`);
    const farEnd = await startFarEnd({
      holdTimeSeconds: 3,
      keys: [...wrongKey, ...dead].map((source) => ({ source, password: 'right' })),
      loader: null,
    });
    let peerId = 0;
    const driver = (changes: Partial<PeerSettings>) => {
      peerId += 1;
      const peerAddress = `127.79.${peerId >> 8}.${peerId & 255}`;
      return new PeerDriver(
        peerSettings({ peerId, peerAddress, peerPort: farEnd.port, holdTimeSeconds: 3, ...changes }),
        quietPorts(),
      );
    };
    const good = Array.from({ length: GOOD }, () => driver({}));
    const bad = [
      ...wrongKey.map((localAddress) => driver({ localAddress, password: 'wrong' })),
      // Every other dead address refuses instead: nothing listens on that port.
      ...dead.map((localAddress, index) => driver(index % 2 === 0 ? { localAddress } : { peerPort: 1 })),
    ];
    try {
      for (const each of [...bad, ...good]) each.start();
      await check('the good ones are established', () =>
        until(60_000, () => good.every((each) => each.status().state === 'established')),
      );
      await setTimeout(seconds * 1000);
      await check(`no good session is lost in ${seconds} s, counted at the far end`, () => {
        const { established, lost, intruders } = farEnd.counts();
        const attempts = bad.reduce((sum, each) => sum + each.status().attempts, 0);
        log(`far end: ${established} established, ${lost} lost; ${attempts} attempts of the bad ones`);
        assert.equal(lost, 0);
        assert.equal(established, GOOD);
        assert.equal(intruders, 0);
        assert(attempts > BAD, 'the bad ones were at it all the while');
      });
      await check('each bad one says what to look at', () => {
        const [wrong, refused] = [bad[0], bad[BAD + 1]];
        assert.match(wrong?.status().lastError ?? '', /auth-password is the same on both sides/);
        assert.match(refused?.status().lastError ?? '', /refused \(ECONNREFUSED\)/);
      });
    } finally {
      await Promise.all(
        [...good, ...bad].map((each) => each.stop({ subcode: CEASE_SUBCODE.peerDeconfigured })),
      );
      await farEnd.stop();
    }
  },
};

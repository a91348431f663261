import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CEASE_SUBCODE } from '../../../protocols/bgp/error.ts';
import { AFI, SAFI } from '../../../protocols/bgp/family.ts';
import { encodeMessage, MESSAGE_TYPE } from '../../../protocols/bgp/header.ts';
import { encodeKeepalive } from '../../../protocols/bgp/keepalive.ts';
import { encodeNotification } from '../../../protocols/bgp/notification.ts';
import { encodeOpen } from '../../../protocols/bgp/open.ts';
import { encodeRouteRefresh } from '../../../protocols/bgp/route-refresh.ts';
import { Session } from '../../../protocols/bgp/session.ts';
import { encodeEndOfRib } from '../../../protocols/bgp/update.ts';
import type { TestCase } from '../../harness.ts';
import { peerOpen, peerSettings } from '../../support/bgp-peer.ts';
import { Random } from '../../support/random.ts';
import { SessionModel } from '../../support/session-model.ts';

const ENDPOINTS = { localAddress: '127.0.0.1', localPort: 1, peerAddress: '127.0.0.2', peerPort: 179 };
const FAMILY = { afi: AFI.linkState, safi: SAFI.linkState };

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** An UPDATE with every attribute that has a rule, and one node NLRI. */
function richUpdate(): Uint8Array {
  const nlri = [0, 1, 0, 21, 2, 0, 0, 0, 0, 0, 0, 0, 7, 1, 0, 0, 8, 2, 0, 0, 4, 0, 0, 0xfd, 0xe8];
  const attributes = [
    [0x40, 1, 1, 0],
    [0x40, 2, 6, 2, 1, 0, 0, 0xfd, 0xe9],
    [0x40, 3, 4, 10, 0, 0, 1],
    [0x80, 4, 4, 0, 0, 0, 1],
    [0x40, 5, 4, 0, 0, 0, 100],
    [0x40, 6, 0],
    [0xc0, 7, 8, 0, 0, 0xfd, 0xe9, 10, 0, 0, 1],
    [0xc0, 8, 4, 0xfd, 0xe8, 0, 1],
    [0x80, 9, 4, 10, 9, 9, 9],
    [0x80, 10, 4, 10, 8, 8, 8],
    [0x80, 14, 9 + nlri.length, 0x40, 4, 71, 4, 10, 0, 0, 1, 0, ...nlri],
    [0x80, 15, 3 + nlri.length, 0x40, 4, 71, ...nlri],
    [0xc0, 16, 8, 0, 2, 0xfd, 0xe8, 0, 0, 0, 1],
    [0x80, 29, 6, 4, 2, 0, 2, 0x72, 0x39],
    [0xc0, 32, 12, 0, 0, 0xfd, 0xe8, 0, 0, 0, 1, 0, 0, 0, 2],
  ].flat();
  return encodeMessage(
    MESSAGE_TYPE.update,
    Uint8Array.from([0, 0, attributes.length >> 8, attributes.length & 0xff, ...attributes]),
  );
}

/** One to four of: an octet changed, a bit flipped, octets cut out or doubled, the Length field set to anything. */
function mutate(random: Random, message: Uint8Array): Uint8Array {
  let octets = message;
  for (let change = random.below(4); change >= 0; change -= 1) {
    const copy = octets.slice();
    const at = random.below(copy.length);
    switch (random.below(6)) {
      case 0:
        copy[at] = random.below(256);
        break;
      case 1:
        copy[at] = (copy[at] as number) ^ (1 << random.below(8));
        break;
      case 2:
        copy.copyWithin(at, Math.min(copy.length, at + 1 + random.below(4)));
        break;
      case 3:
        copy.set(copy.subarray(0, Math.min(8, copy.length - at)), at);
        break;
      case 4:
        copy[16] = random.below(17);
        copy[17] = random.below(256);
        break;
      case 5:
        return withTrueLength(copy.slice(0, Math.max(19, at)));
    }
    octets = copy;
  }
  // Half of them keep an honest Length, so that what is wrong is inside and not just in the framing.
  return random.chance(0.5) ? withTrueLength(octets) : octets;
}

function withTrueLength(octets: Uint8Array): Uint8Array {
  octets[16] = octets.length >> 8;
  octets[17] = octets.length & 0xff;
  return octets;
}

export const testCase: TestCase = {
  title: 'a million mutated messages through the session: no crash, no hang, memory flat',
  inCi: true,
  async run({ check, log, scale, seed }) {
    const messages = Math.round(1_000_000 * scale);
    const random = new Random(seed);
    const settings = peerSettings();
    const open = peerOpen(settings);
    const sources = [
      encodeOpen(open),
      encodeKeepalive(),
      encodeEndOfRib(FAMILY),
      richUpdate(),
      richUpdate(),
      richUpdate(),
      encodeRouteRefresh({ ...FAMILY, subtype: 1 }),
      encodeNotification({ code: 6, subcode: 2, data: Uint8Array.of(3, 0x61, 0x62, 0x63) }, 4096),
    ];
    const model = new SessionModel();
    const session = new Session(settings, () => random.bits() / 2 ** 32, { tcpMd5: true, ttlSecurity: true });
    let milliseconds = 0;
    let sessions = 0;
    let slowest = 0;
    const now = () => ({ wall: milliseconds, monotonic: milliseconds });
    const observe = (effects: Parameters<SessionModel['observe']>[0]) => model.observe(effects, session);
    const heap = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };

    /** Brings the session to Established, or now and then leaves it short of it. */
    const ready = (): number => {
      for (;;) {
        const up = [...model.wires].find(([, wire]) => wire.isUp);
        if (up !== undefined) return up[0];
        const pending = [...model.wires.keys()][0];
        if (pending === undefined) {
          milliseconds = Math.max(milliseconds, session.nextDeadline());
          observe(session.expire(now()));
          continue;
        }
        sessions += 1;
        model.connected(pending);
        observe(session.connected(pending, ENDPOINTS, now()));
        const depth = random.below(12);
        if (depth > 0) observe(session.receive(pending, encodeOpen(open), now()));
        if (depth > 1) observe(session.receive(pending, encodeKeepalive(), now()));
      }
    };

    await check(`${messages} mutated messages raise nothing, and every rule of the model holds`, () => {
      observe(session.start(now()));
      const before = heap();
      const started = performance.now();
      for (let count = 0; count < messages; count += 1) {
        const connection = ready();
        const octets = mutate(random, random.pick(sources));
        const cut = random.chance(0.2) ? random.below(octets.length) : 0;
        const begun = performance.now();
        if (cut > 0) observe(session.receive(connection, octets.subarray(0, cut), now()));
        if (model.wires.has(connection)) observe(session.receive(connection, octets.subarray(cut), now()));
        slowest = Math.max(slowest, performance.now() - begun);
        assert(session.heldOctets <= 65_535 * 2, 'what is held of unfinished messages is bounded');
        milliseconds += 1;
      }
      const seconds = (performance.now() - started) / 1000;
      const grown = (heap() - before) / 2 ** 20;
      log(
        `${Math.round(messages / seconds)} messages/s, ${sessions} sessions, slowest ${slowest.toFixed(1)} ms`,
      );
      log(`heap grew by ${grown.toFixed(1)} MiB`);
      assert(sessions > messages / 1000, 'the session is opened again and again');
      assert(grown < 16, 'memory stays flat');
    });
    await check('the session still stops as asked', () => {
      observe(session.stop({ subcode: CEASE_SUBCODE.peerDeconfigured }, now()));
      assert.equal(session.state, 'Idle');
      assert.equal(model.wires.size, 0);
    });
  },
};

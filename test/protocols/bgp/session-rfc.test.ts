import { describe, expect, it } from 'vitest';
import { CAPABILITY, type Capability } from '../../../protocols/bgp/capability.ts';
import { AFI, SAFI } from '../../../protocols/bgp/family.ts';
import { encodeMessage, MESSAGE_TYPE } from '../../../protocols/bgp/header.ts';
import { encodeKeepalive } from '../../../protocols/bgp/keepalive.ts';
import { encodeNotification } from '../../../protocols/bgp/notification.ts';
import { encodeOpen } from '../../../protocols/bgp/open.ts';
import { decodeRouteRefresh, encodeRouteRefresh } from '../../../protocols/bgp/route-refresh.ts';
import { encodeEndOfRib } from '../../../protocols/bgp/update.ts';
import { peerOpen } from '../../support/bgp-peer.ts';
import { ENDPOINTS, Stage } from '../../support/session-stage.ts';

const FAMILY = { afi: AFI.linkState, safi: SAFI.linkState };
const NO_DATA = new Uint8Array(0);
const { open: OPEN, update: UPDATE, notification: NOTIFICATION, keepalive: KEEPALIVE } = MESSAGE_TYPE;

describe('a message that the state does not expect (RFC 6608 §4)', () => {
  const refresh = encodeRouteRefresh({ ...FAMILY, subtype: 0 });

  it('is 5/1 in OpenSent, with its type as data', () => {
    for (const octets of [encodeKeepalive(), encodeEndOfRib(FAMILY), refresh]) {
      const stage = new Stage();
      stage.receive(stage.open(), octets);
      expect(stage.lastNotification()).toMatchObject({ code: 5, subcode: 1, data: octets.slice(18, 19) });
    }
  });

  it('is 5/2 in OpenConfirm, with its type as data', () => {
    for (const make of [
      (stage: Stage) => encodeOpen(peerOpen(stage.settings)),
      () => encodeEndOfRib(FAMILY),
      () => refresh,
    ]) {
      const stage = new Stage();
      const connection = stage.open();
      const octets = make(stage);
      stage.receive(connection, encodeOpen(peerOpen(stage.settings)), octets);
      expect(stage.lastNotification()).toMatchObject({ code: 5, subcode: 2, data: octets.slice(18, 19) });
    }
  });

  it('is 5/3 in Established for an OPEN', () => {
    const stage = new Stage();
    const connection = stage.establish();
    stage.receive(connection, encodeOpen(peerOpen(stage.settings)));
    expect(stage.lastNotification()).toMatchObject({ code: 5, subcode: 3, data: Uint8Array.of(1) });
  });
});

describe('hold and keepalive timers (RFC 4271 §4.2, §4.4, §10)', () => {
  it('do not run when the peer asks for a hold time of 0', () => {
    const stage = new Stage();
    const connection = stage.establish({ holdTimeSeconds: 0 });
    stage.advance(100_000);
    expect(stage.session.status()).toMatchObject({ state: 'established', holdTimeSeconds: 0 });
    expect(stage.sentOn(connection).filter((type) => type === KEEPALIVE).length).toBe(1);
  });

  it('are restarted by KEEPALIVE and by UPDATE, and by nothing else', () => {
    const stage = new Stage({ holdTimeSeconds: 9 });
    const connection = stage.establish();
    for (const octets of [encodeKeepalive(), encodeEndOfRib(FAMILY), encodeKeepalive()]) {
      stage.advance(8);
      stage.receive(connection, octets);
    }
    expect(stage.session.state).toBe('Established');
    stage.advance(8);
    stage.receive(connection, encodeRouteRefresh({ ...FAMILY, subtype: 9 }));
    stage.advance(2);
    expect(stage.lastNotification()).toMatchObject({ code: 4, subcode: 0 });
  });

  it('wait four minutes for the OPEN of a peer that only connects', () => {
    const stage = new Stage();
    stage.open();
    stage.advance(239);
    expect(stage.session.state).toBe('OpenSent');
    stage.advance(2);
    expect(stage.lastNotification()).toMatchObject({ code: 4, subcode: 0 });
    expect(stage.session.status().lastError).toMatch(/accepted the TCP connection and sent no OPEN/);
  });

  it('are jittered to 0.75 to 1.0 of their time where the RFC says so', () => {
    const stage = new Stage({ holdTimeSeconds: 90 });
    stage.establish();
    const [machine] = stage.session.machines;
    expect(machine?.timers.deadlines.KeepaliveTimer).toBe(30_000 * 0.875);
    expect(machine?.timers.deadlines.HoldTimer).toBe(90_000);
  });
});

describe('a NOTIFICATION that is received', () => {
  it('is never answered with another, in no state (RFC 4271 §6.4)', () => {
    const notification = encodeNotification({ code: 6, subcode: 2, data: NO_DATA }, 4096);
    for (const depth of [0, 1, 2]) {
      const stage = new Stage();
      const connection = stage.open();
      if (depth > 0) stage.receive(connection, encodeOpen(peerOpen(stage.settings)));
      if (depth > 1) stage.receive(connection, encodeKeepalive());
      stage.receive(connection, notification);
      expect(stage.sentOn(connection)).not.toContain(NOTIFICATION);
      expect(stage.kinds()).toContain('close');
      expect(stage.session.status().lastError).toBe(
        'NOTIFICATION received: Cease / Administrative Shutdown (6/2)',
      );
    }
  });

  it('tells in last-error what a Hard Reset is for (RFC 8538 §3.1), and that its routes are to go', () => {
    const stage = new Stage();
    const connection = stage.establish();
    const data = Uint8Array.of(6, 4, 3, 0x6f, 0x6f, 0x66);
    stage.receive(connection, encodeNotification({ code: 6, subcode: 9, data }, 4096));
    expect(stage.session.status().lastError).toBe(
      'NOTIFICATION received: Cease / Hard Reset (6/9) for Cease / Administrative Reset (6/4): the peer says "oof"',
    );
    expect(stage.effects.find((effect) => effect.kind === 'lost')).toMatchObject({
      info: { hardReset: true },
    });
  });
});

describe('collisions (RFC 4271 §6.8)', () => {
  it('leave an Established connection alone and close the new one with 6/7', () => {
    const stage = new Stage();
    const first = stage.establish({ capabilities: withoutRestartingFamilies(stage) });
    const second = stage.session.nextConnection();
    stage.take(stage.session.accept(second, ENDPOINTS, stage.now()));
    expect(stage.sentOn(second)).toEqual([OPEN]);
    stage.receive(second, encodeOpen(peerOpen(stage.settings)));
    expect(stage.lastNotification()).toMatchObject({ code: 6, subcode: 7 });
    expect(stage.sentOn(first)).not.toContain(NOTIFICATION);
    expect(stage.session.status()).toMatchObject({ state: 'established', lastError: '' });
  });

  it('with equal identifiers are settled by the higher AS (RFC 6286 §2.3)', () => {
    for (const [peerAs, staying] of [
      [64_999, 'ours'],
      [65_001, 'theirs'],
    ] as const) {
      const stage = new Stage({ peerAs });
      const open = encodeOpen({ ...peerOpen(stage.settings), bgpIdentifier: 0x0a00_0001 });
      const ours = stage.open();
      const theirs = stage.session.nextConnection();
      stage.take(stage.session.accept(theirs, ENDPOINTS, stage.now()));
      stage.receive(ours, open);
      stage.receive(theirs, open);
      const dropped = staying === 'ours' ? theirs : ours;
      expect(stage.sentOn(dropped)).toContain(NOTIFICATION);
      expect(stage.session.machines.map(({ connection }) => connection)).toEqual([
        staying === 'ours' ? ours : theirs,
      ]);
    }
  });

  it('refuse a connection while the session is Idle (§8.2.2)', () => {
    const stage = new Stage();
    const connection = stage.session.nextConnection();
    stage.take(stage.session.accept(connection, ENDPOINTS, stage.now()));
    expect(stage.effects).toEqual([{ kind: 'close', connection }]);
  });

  it('go on with the other connection when the first is lost', () => {
    const stage = new Stage();
    const first = stage.open();
    const second = stage.session.nextConnection();
    stage.take(stage.session.accept(second, ENDPOINTS, stage.now()));
    stage.take(stage.session.disconnected(first, { errno: 'ECONNRESET' }, stage.now()));
    stage.receive(second, encodeOpen(peerOpen(stage.settings)), encodeKeepalive());
    expect(stage.session.state).toBe('Established');
  });
});

describe('graceful restart (RFC 4724)', () => {
  it('is announced without families, and End-of-RIB is sent at once for each agreed family', () => {
    const stage = new Stage();
    const connection = stage.establish();
    expect(stage.session.status().capabilitiesSent).toContain('graceful-restart:0');
    expect(stage.sentOn(connection)).toEqual([OPEN, KEEPALIVE, UPDATE, UPDATE]);
  });

  it('takes the new connection of a peer that restarts for the end of the old one (§5)', () => {
    const stage = new Stage();
    const value = Uint8Array.of(0x80, 120, 0x40, 4, 71, 0x80);
    const capabilities = [...withoutRestartingFamilies(stage), { code: CAPABILITY.gracefulRestart, value }];
    const first = stage.establish({ capabilities });
    const second = stage.session.nextConnection();
    stage.take(stage.session.accept(second, ENDPOINTS, stage.now()));
    expect(stage.sentOn(first)).not.toContain(NOTIFICATION);
    expect(stage.effects).toContainEqual({ kind: 'close', connection: first });
    expect(stage.effects.find((effect) => effect.kind === 'lost')).toMatchObject({
      info: { cause: 'replaced', peerGracefulRestart: { restartTimeSeconds: 120 } },
    });
    stage.receive(second, encodeOpen(peerOpen(stage.settings, { capabilities })), encodeKeepalive());
    expect(stage.session.state).toBe('Established');
  });

  it('has end-of-rib tell the time only when all agreed families have sent it', () => {
    const stage = new Stage();
    const connection = stage.establish();
    stage.receive(connection, encodeEndOfRib(FAMILY));
    expect(stage.session.status().endOfRibAt).toBeNull();
    stage.receive(connection, encodeEndOfRib({ afi: AFI.linkState, safi: SAFI.linkStateVpn }));
    expect(stage.session.status().endOfRibAt).not.toBeNull();
  });
});

describe('route refresh', () => {
  it('asks for each agreed family (RFC 2918 §4)', () => {
    const stage = new Stage();
    stage.establish();
    const { effects, outcome } = stage.session.refresh();
    expect(outcome).toBe('sent');
    const asked = effects.flatMap((effect) =>
      effect.kind === 'send' ? [decodeRouteRefresh(effect.octets)] : [],
    );
    expect(asked).toEqual([
      { ...FAMILY, subtype: 0 },
      { afi: AFI.linkState, safi: SAFI.linkStateVpn, subtype: 0 },
    ]);
  });

  it('is not sent before Established, nor to a peer that cannot', () => {
    const stage = new Stage();
    expect(stage.session.refresh().outcome).toBe('not-established');
    stage.establish({ capabilities: peerOpen(stage.settings).capabilities.slice(0, 3) });
    expect(stage.session.refresh().outcome).toBe('capability-not-negotiated');
  });

  it('that the peer asks for is answered with a beginning and an end, and nothing between (RFC 7313 §4)', () => {
    const stage = new Stage();
    const connection = stage.establish();
    const before = stage.effects.length;
    stage.receive(connection, encodeRouteRefresh({ ...FAMILY, subtype: 0 }));
    const answered = stage.effects
      .slice(before)
      .flatMap((effect) => (effect.kind === 'send' ? [decodeRouteRefresh(effect.octets)] : []));
    expect(answered).toEqual([
      { ...FAMILY, subtype: 1 },
      { ...FAMILY, subtype: 2 },
    ]);
  });

  it('marks of a wrong length are 7/1 with the message as data, and an unknown subtype is ignored (RFC 7313 §5)', () => {
    const stage = new Stage();
    const connection = stage.establish();
    stage.receive(connection, encodeRouteRefresh({ ...FAMILY, subtype: 77 }));
    expect(stage.session.state).toBe('Established');
    const long = encodeMessage(MESSAGE_TYPE.routeRefresh, Uint8Array.of(0x40, 4, 1, 71, 0));
    stage.receive(connection, long);
    expect(stage.lastNotification()).toMatchObject({ code: 7, subcode: 1, data: long });
  });
});

describe('extended messages (RFC 8654)', () => {
  const long = encodeMessage(MESSAGE_TYPE.update, longUpdate(6000));

  it('are taken once the OPENs are exchanged', () => {
    const stage = new Stage();
    const connection = stage.establish();
    stage.receive(connection, long);
    expect(stage.session.state).toBe('Established');
  });

  it('are 1/2 where we did not announce them', () => {
    const stage = new Stage();
    const refusal = encodeNotification({ code: 2, subcode: 7, data: NO_DATA }, 4096);
    stage.receive(stage.open(), refusal);
    stage.advance(2);
    const connection = stage.answer();
    stage.receive(connection, long);
    expect(stage.lastNotification()).toMatchObject({ code: 1, subcode: 2 });
  });
});

describe('the send hold timer (RFC 9687)', () => {
  it('ends a session whose peer keeps talking and has stopped reading', () => {
    const stage = new Stage();
    const connection = stage.establish();
    for (let second = 0; second < 480; second += 30) {
      stage.receive(connection, encodeKeepalive());
      stage.advance(30);
    }
    expect(stage.session.status().lastError).toMatch(/Send Hold Timer Expired \(8\/0\)/);
    expect(stage.session.state).not.toBe('Established');
  });

  it('runs anew each time that what we sent has left', () => {
    const stage = new Stage();
    const connection = stage.establish();
    for (let second = 0; second < 3600; second += 30) {
      stage.receive(connection, encodeKeepalive());
      stage.session.flushed(connection, stage.now());
      stage.advance(30);
    }
    expect(stage.session.state).toBe('Established');
  });
});

function withoutRestartingFamilies(stage: Stage): Capability[] {
  return peerOpen(stage.settings).capabilities.filter(({ code }) => code !== CAPABILITY.gracefulRestart);
}

/** An UPDATE body of about so many octets: withdrawn link-state routes. */
function longUpdate(octets: number): Uint8Array {
  const routes = new Array<number[]>(Math.floor(octets / 8)).fill([0, 9, 0, 4, 1, 2, 3, 4]).flat();
  const value = [0x40, 4, 71, ...routes];
  const attribute = [0x90, 15, value.length >> 8, value.length & 0xff, ...value];
  return Uint8Array.from([0, 0, attribute.length >> 8, attribute.length & 0xff, ...attribute]);
}

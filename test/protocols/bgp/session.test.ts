import { describe, expect, it } from 'vitest';
import { CAPABILITY } from '../../../protocols/bgp/capability.ts';
import { CEASE_SUBCODE } from '../../../protocols/bgp/error.ts';
import { encodeKeepalive } from '../../../protocols/bgp/keepalive.ts';
import { encodeNotification, type Notification } from '../../../protocols/bgp/notification.ts';
import { encodeOpen } from '../../../protocols/bgp/open.ts';
import { Session } from '../../../protocols/bgp/session.ts';
import { peerOpen, peerSettings } from '../../support/bgp-peer.ts';
import { ENDPOINTS, Stage } from '../../support/session-stage.ts';

/** The seconds until the next attempt, jitter taken out, after each of nine OPENs that the peer answers so. */
function waitsAfterRefusals(stage: Stage, notification: Notification): number[] {
  return Array.from({ length: 9 }, () => {
    const connection = stage.lastConnection();
    stage.take(stage.session.connected(connection, ENDPOINTS, stage.now()));
    stage.take(stage.session.receive(connection, encodeNotification(notification, 4096), stage.now()));
    const begun = stage.milliseconds;
    stage.advance((stage.session.nextDeadline() - stage.milliseconds) / 1000);
    return (stage.milliseconds - begun) / 1000 / 0.875;
  });
}

describe('a session that dials', () => {
  it('goes through the states of RFC 4271 §8.2.2 and tells what was agreed on', () => {
    const stage = new Stage();
    const states: string[] = [];
    const note = () => states.push(stage.session.status().state);
    note();
    stage.take(stage.session.start(stage.now()));
    note();
    const connection = stage.lastConnection();
    stage.take(stage.session.connected(connection, ENDPOINTS, stage.now()));
    note();
    stage.take(stage.session.receive(connection, encodeOpen(peerOpen(stage.settings)), stage.now()));
    note();
    stage.take(stage.session.receive(connection, encodeKeepalive(), stage.now()));
    note();
    expect(states).toEqual(['idle', 'connect', 'opensent', 'openconfirm', 'established']);
    const established = stage.effects.find((effect) => effect.kind === 'established');
    expect(established).toMatchObject({
      info: { negotiated: { holdTimeSeconds: 90, routeRefresh: true, extendedMessage: true } },
    });
    expect(stage.session.status().capabilitiesReceived).toContain('multiprotocol:16388/71');
  });

  it('sends KEEPALIVE within a third of the hold time and gives up a silent peer with 4/0', () => {
    const stage = new Stage({ holdTimeSeconds: 9 });
    stage.establish();
    const before = stage.effects.length;
    stage.advance(8.9);
    const keepalives = stage.effects.slice(before).filter((effect) => effect.kind === 'send');
    expect(keepalives.length).toBeGreaterThanOrEqual(3);
    expect(stage.session.status().state).toBe('established');
    stage.advance(0.2);
    expect(stage.lastNotification()).toMatchObject({ code: 4, subcode: 0 });
    expect(stage.session.status()).toMatchObject({ state: 'idle', reason: 'waiting-retry' });
    expect(stage.session.status().lastError).toBe(
      'NOTIFICATION sent: Hold Timer Expired (4/0): nothing came from the peer for the hold time of 9 s',
    );
  });

  it('waits connect-retry after a refused connection, then dials again', () => {
    const stage = new Stage({ connectRetrySeconds: 120 });
    stage.take(stage.session.start(stage.now()));
    const first = stage.lastConnection();
    stage.take(stage.session.disconnected(first, { errno: 'ECONNREFUSED' }, stage.now()));
    expect(stage.session.status()).toMatchObject({ state: 'active', reason: 'waiting-retry' });
    stage.advance(89);
    expect(stage.lastConnection()).toBe(first);
    stage.advance(31);
    expect(stage.lastConnection()).toBeGreaterThan(first);
  });

  it('answers another AS with 2/2 and says which setting to look at', () => {
    const stage = new Stage();
    stage.take(stage.session.start(stage.now()));
    const connection = stage.lastConnection();
    stage.take(stage.session.connected(connection, ENDPOINTS, stage.now()));
    const stranger = peerOpen(peerSettings({ peerAs: 65_001 }));
    stage.take(stage.session.receive(connection, encodeOpen(stranger), stage.now()));
    expect(stage.lastNotification()).toMatchObject({ code: 2, subcode: 2 });
    expect(stage.session.status().lastError).toBe(
      "NOTIFICATION sent: OPEN Message Error / Bad Peer AS (2/2): we expect AS 65000 and the peer's OPEN says AS 65001; correct user-peer-as here, or the AS configured on the peer",
    );
  });

  it('goes on naming the wrong AS while the peer just closes the connections after it', () => {
    const stage = new Stage();
    stage.take(stage.session.start(stage.now()));
    stage.take(stage.session.connected(stage.lastConnection(), ENDPOINTS, stage.now()));
    const stranger = peerOpen(peerSettings({ peerAs: 65_001 }));
    stage.take(stage.session.receive(stage.lastConnection(), encodeOpen(stranger), stage.now()));
    const refused = stage.lastConnection();
    stage.advance(2);
    expect(stage.lastConnection()).toBeGreaterThan(refused);
    stage.take(stage.session.connected(stage.lastConnection(), ENDPOINTS, stage.now()));
    stage.take(stage.session.disconnected(stage.lastConnection(), { errno: 'ECONNRESET' }, stage.now()));
    expect(stage.session.status().lastError).toMatch(
      /before its OPEN: .*; before that, NOTIFICATION sent: OPEN Message Error \/ Bad Peer AS \(2\/2\): we expect AS 65000/,
    );
    stage.take(stage.session.update({ ...stage.settings, peerAs: 65_001 }, stage.now()).effects);
    stage.advance(2);
    stage.take(stage.session.disconnected(stage.lastConnection(), { errno: 'ECONNREFUSED' }, stage.now()));
    expect(stage.session.status().lastError).not.toMatch(/before that/);
  });

  it('answers a peer without link-state with 2/7, the capability as data, and what to configure', () => {
    const stage = new Stage();
    stage.take(stage.session.start(stage.now()));
    const connection = stage.lastConnection();
    stage.take(stage.session.connected(connection, ENDPOINTS, stage.now()));
    const open = peerOpen(stage.settings);
    const capabilities = open.capabilities.filter(({ code }) => code !== CAPABILITY.multiprotocol);
    stage.take(stage.session.receive(connection, encodeOpen({ ...open, capabilities }), stage.now()));
    const notification = stage.lastNotification();
    expect(notification).toMatchObject({ code: 2, subcode: 7 });
    expect([...(notification?.data ?? [])]).toEqual([1, 4, 0x40, 0x04, 0, 71]);
    expect(stage.session.status().lastError).toMatch(
      /does not offer the link-state \(16388\/71\) address family; activate it/,
    );
  });

  it('tries once with fewer capabilities after a received 2/7', () => {
    const stage = new Stage();
    stage.take(stage.session.start(stage.now()));
    const connection = stage.lastConnection();
    stage.take(stage.session.connected(connection, ENDPOINTS, stage.now()));
    const refusal = encodeNotification({ code: 2, subcode: 7, data: Uint8Array.of(70, 0) }, 4096);
    stage.take(stage.session.receive(connection, refusal, stage.now()));
    stage.advance(1);
    stage.take(stage.session.connected(stage.lastConnection(), ENDPOINTS, stage.now()));
    expect(stage.session.status().capabilitiesSent).toEqual([
      'multiprotocol:16388/71',
      'multiprotocol:16388/72',
      'four-octet-as',
    ]);
  });

  it.each([
    [6, 3, 'Cease / Peer De-configured (6/3): the peer may have no neighbor for our address and AS 65000'],
    [6, 5, 'Cease / Connection Rejected (6/5): the peer may have no neighbor for our address and AS 65000'],
    [4, 0, 'Hold Timer Expired (4/0): the peer heard nothing from us for the hold time'],
  ])('says what a received %i/%i may come from', (code, subcode, words) => {
    const stage = new Stage();
    stage.take(stage.session.start(stage.now()));
    const connection = stage.lastConnection();
    stage.take(stage.session.connected(connection, ENDPOINTS, stage.now()));
    const notification = encodeNotification({ code, subcode, data: new Uint8Array(0) }, 4096);
    stage.take(stage.session.receive(connection, notification, stage.now()));
    expect(stage.session.status().lastError).toContain(`NOTIFICATION received: ${words}`);
  });

  it('backs off as after any other refusal while the peer refuses the fewer capabilities too', () => {
    const stage = new Stage();
    stage.take(stage.session.start(stage.now()));
    expect(waitsAfterRefusals(stage, { code: 2, subcode: 7, data: Uint8Array.of(65, 0) })).toEqual([
      1, 2, 4, 8, 16, 32, 64, 120, 120,
    ]);
    expect(stage.session.status().lastError).toBe(
      'NOTIFICATION received: OPEN Message Error / Unsupported Capability (2/7): the peer refuses or misses four-octet-as',
    );
  });

  it('backs off from 1 s, doubling, after failures behind OPEN, and starts anew after 60 s of peace', () => {
    const stage = new Stage({ holdTimeSeconds: 90 });
    stage.take(stage.session.start(stage.now()));
    expect(waitsAfterRefusals(stage, { code: 6, subcode: 5, data: new Uint8Array(0) })).toEqual([
      1, 2, 4, 8, 16, 32, 64, 120, 120,
    ]);
    const connection = stage.answer();
    stage.advance(61);
    stage.take(stage.session.disconnected(connection, { errno: '' }, stage.now()));
    expect(stage.session.nextDeadline() - stage.milliseconds).toBe(875);
  });
});

describe('a change of settings', () => {
  it('flaps nothing for what the session is not made of, and restarts it with 6/6 for what it is', () => {
    const stage = new Stage();
    stage.establish();
    const changed = { ...stage.settings, connectRetrySeconds: 5, keepaliveTimeSeconds: 7 };
    expect(stage.session.update(stage.settings, stage.now()).outcome).toBe('unchanged');
    expect(stage.session.update(changed, stage.now()).outcome).toBe('applied');
    expect(stage.session.status()).toMatchObject({ state: 'established', keepaliveTimeSeconds: 7 });
    const { effects, outcome } = stage.session.update({ ...changed, holdTimeSeconds: 30 }, stage.now());
    stage.take(effects);
    expect(outcome).toBe('restarted');
    expect(stage.lastNotification()).toMatchObject({ code: 6, subcode: 6 });
    stage.advance(1);
    expect(stage.session.status().state).toBe('connect');
  });
});

describe('a session that asks for protection', () => {
  it('is never dialled where the platform cannot give it', () => {
    for (const [changes, reason] of [
      [{ password: 'secret' }, 'md5-unsupported'],
      [{ ttlSecurityHops: 1 }, 'ttl-unsupported'],
    ] as const) {
      const session = new Session(peerSettings(changes), () => 0, { tcpMd5: false, ttlSecurity: false });
      const now = { wall: 0, monotonic: 0 };
      const effects = [...session.start(now), ...session.reset(now)];
      expect(effects.map((effect) => effect.kind)).not.toContain('connect');
      expect(session.nextDeadline()).toBe(Infinity);
      expect(session.status()).toMatchObject({ state: 'idle', reason, attempts: 0 });
    }
  });
});

describe('an operator', () => {
  it('resets a session with 6/4 and it is dialled again', () => {
    const stage = new Stage();
    stage.establish();
    stage.take(stage.session.reset(stage.now()));
    expect(stage.lastNotification()).toMatchObject({
      code: 6,
      subcode: CEASE_SUBCODE.administrativeReset,
    });
    stage.advance(1);
    expect(stage.session.status().state).toBe('connect');
  });

  it('keeps a session down that went over max-nlri until somebody changes something', () => {
    const stage = new Stage();
    stage.establish();
    const error = { code: 6, subcode: 1, data: new Uint8Array(0), text: 'more than 10 NLRIs; see max-nlri' };
    stage.take(stage.session.fail(error, stage.now(), 'max-nlri'));
    expect(stage.lastNotification()).toMatchObject({ code: 6, subcode: 1 });
    stage.advance(3600);
    expect(stage.session.status()).toMatchObject({ state: 'idle', reason: 'max-nlri' });
    stage.take(stage.session.reset(stage.now()));
    stage.advance(1);
    expect(stage.session.status().state).toBe('connect');
  });
});

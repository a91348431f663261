import { afterEach, describe, expect, it } from 'vitest';
import { CEASE_SUBCODE } from '../../../protocols/bgp/error.ts';
import { MESSAGE_TYPE } from '../../../protocols/bgp/header.ts';
import { encodeKeepalive } from '../../../protocols/bgp/keepalive.ts';
import { decodeNotification } from '../../../protocols/bgp/notification.ts';
import { encodeOpen } from '../../../protocols/bgp/open.ts';
import type { PeerSettings } from '../../../protocols/bgp/peer-settings.ts';
import { abilities } from '../../../worker/bgp/abilities.ts';
import { Listener } from '../../../worker/bgp/listener.ts';
import { PeerDriver } from '../../../worker/bgp/peer-driver.ts';
import { dialProtected } from '../../../worker/bgp/protected-dial.ts';
import { socketOptions } from '../../../worker/bgp/socket-options.ts';
import { collectingPorts, FarEnd, farEndServer, peerOpen, peerSettings } from '../../support/bgp-peer.ts';

const cleanUps: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function listeningDriver(changes: Partial<PeerSettings> = {}, address = '127.0.0.1') {
  const settings = peerSettings({ passive: true, peerAddress: '127.0.0.2', ...changes });
  const collected = collectingPorts();
  const driver = new PeerDriver(settings, collected.ports);
  const listener = await Listener.open({ address, port: 0 }, (peerAddress) =>
    peerAddress === settings.peerAddress ? driver : undefined,
  );
  if (settings.password !== '') listener.setPassword(settings.peerAddress, settings.password);
  driver.start();
  cleanUps.push(async () => {
    await driver.stop({ subcode: CEASE_SUBCODE.peerDeconfigured });
    await listener.close();
  });
  return { settings, driver, listener, ...collected };
}

function dialed(farEnd: FarEnd): FarEnd {
  cleanUps.push(() => farEnd.socket.destroy());
  return farEnd;
}

/** Dials with a key or least TTL set; `silence` when nothing answers within a third of a second. */
function dialWith(port: number, changes: { password?: string; ttlSecurityHops?: number; address?: string }) {
  const options = socketOptions();
  if (options === undefined) throw new Error('no socket options');
  return new Promise<FarEnd | string>((resolve) => {
    const target = {
      address: '127.0.0.1',
      port,
      localAddress: changes.address === undefined ? '127.0.0.2' : '',
      password: '',
      ttlSecurityHops: 0,
      ...changes,
    };
    const giveUp = dialProtected(options, target, (result) => {
      clearTimeout(timer);
      resolve('errno' in result ? result.errno : dialed(new FarEnd(result.socket)));
    });
    const timer = setTimeout(() => {
      giveUp();
      resolve('silence');
    }, 300);
  });
}

describe('a listener', () => {
  it('establishes a passive peer that dials in, over IPv4 and IPv6', async () => {
    for (const [address, peerAddress] of [
      ['127.0.0.1', '127.0.0.2'],
      ['::1', '::1'],
    ] as const) {
      const { settings, driver, listener, told, until } = await listeningDriver({ peerAddress }, address);
      expect(driver.status()).toMatchObject({ state: 'active', reason: 'passive-waiting', attempts: 0 });
      const farEnd = dialed(FarEnd.dial(listener.address.port, address, peerAddress));
      await farEnd.establish(peerOpen(settings));
      await until(() => told.includes('established'));
      expect(driver.status()).toMatchObject({ state: 'established', peerAddress, attempts: 1 });
    }
  });

  it('closes a stranger without a word', async () => {
    const { driver, listener } = await listeningDriver();
    const stranger = dialed(FarEnd.dial(listener.address.port, '127.0.0.1', '127.0.0.9'));
    await stranger.untilClosed();
    expect(stranger.received).toEqual([]);
    expect(driver.status().state).toBe('active');
  });

  it.runIf(abilities().tcpMd5)('changes keys while it runs and touches no session that is up', async () => {
    const { settings, driver, listener, told, until } = await listeningDriver({ password: 'first' });
    const { port } = listener.address;
    expect(await dialWith(port, { password: 'wrong' })).toBe('silence');
    expect(await dialWith(port, {})).toBe('silence');
    const farEnd = await dialWith(port, { password: 'first' });
    if (typeof farEnd === 'string') throw new Error(farEnd);
    await farEnd.establish(peerOpen(settings));
    await until(() => told.includes('established'));

    expect(listener.setPassword('127.0.0.2', 'second')).toBe(true);
    expect(await dialWith(port, { password: 'first' })).toBe('silence');
    const second = await dialWith(port, { password: 'second' });
    expect(second).toBeInstanceOf(FarEnd);
    expect(driver.status().state).toBe('established');
    expect(listener.setPassword('127.0.0.2', '')).toBe(true);
    expect(await dialWith(port, {})).toBeInstanceOf(FarEnd);
  });

  it.runIf(abilities().ttlSecurity)('hears a peer with TTL security only when its TTL is 255', async () => {
    const { settings, listener, told, until } = await listeningDriver({ ttlSecurityHops: 1 });
    const far = dialed(FarEnd.dial(listener.address.port, '127.0.0.1', '127.0.0.2'));
    // What arrives before we have taken the connection is heard; from our OPEN on, nothing is.
    await far.next(MESSAGE_TYPE.open);
    far.send(encodeOpen(peerOpen(settings)));
    const near = await dialWith(listener.address.port, { ttlSecurityHops: 1 });
    if (typeof near === 'string') throw new Error(near);
    await near.next(MESSAGE_TYPE.open);
    near.send(encodeOpen(peerOpen(settings)));
    near.send(encodeKeepalive());
    await until(() => told.includes('established'));
    expect(far.received.filter(({ type }) => type === MESSAGE_TYPE.keepalive)).toEqual([]);
  });
});

describe('a driver with TCP-MD5', () => {
  it.runIf(abilities().tcpMd5)(
    'dials a peer that has the same key, with the errno of one that refuses',
    async () => {
      const far = await listeningDriver({ peerAddress: '127.0.0.3', password: 'shared' });
      const { ports, until } = collectingPorts();
      const driver = new PeerDriver(
        peerSettings({
          peerPort: far.listener.address.port,
          localAddress: '127.0.0.3',
          localIdentifier: '10.0.0.9',
          password: 'shared',
        }),
        ports,
      );
      cleanUps.push(() => driver.stop({ subcode: CEASE_SUBCODE.peerDeconfigured }));
      driver.start();
      await until(() => driver.status().state === 'established');
      expect(driver.status()).toMatchObject({ localAddress: '127.0.0.3', peerIdentifier: '10.0.0.1' });
    },
  );
});

describe('two connections at once', () => {
  for (const [ours, staying] of [
    ['10.0.0.1', 'the peer made'],
    ['10.0.0.3', 'we made'],
  ] as const) {
    it(`settle on the one that ${staying} when our identifier is ${ours} and the peer's 10.0.0.2`, async () => {
      let dialledByUs: FarEnd | undefined;
      let arrived = () => {};
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const server = await farEndServer((farEnd) => {
        dialledByUs = dialed(farEnd);
        arrived();
      }, '127.0.0.2');
      cleanUps.push(() => new Promise((resolve) => server.server.close(resolve)));
      const { settings, driver, listener, told, until } = await listeningDriver({
        passive: false,
        peerPort: server.port,
        localIdentifier: ours,
      });
      await arrival;
      const dialledByPeer = dialed(FarEnd.dial(listener.address.port, '127.0.0.1', '127.0.0.2'));
      const open = encodeOpen(peerOpen(settings));
      if (dialledByUs === undefined) throw new Error('we dialled nobody');
      await dialledByUs.next(MESSAGE_TYPE.open);
      await dialledByPeer.next(MESSAGE_TYPE.open);
      dialledByUs.send(open);
      dialledByPeer.send(open);
      const [kept, dropped] =
        staying === 'we made' ? [dialledByUs, dialledByPeer] : [dialledByPeer, dialledByUs];
      const notification = decodeNotification((await dropped.next(MESSAGE_TYPE.notification)).octets);
      expect(notification).toMatchObject({ code: 6, subcode: 7 });
      await dropped.untilClosed();
      kept.send(encodeKeepalive());
      await until(() => told.includes('established'));
      expect(driver.status()).toMatchObject({ state: 'established', lastError: '' });
    });
  }
});

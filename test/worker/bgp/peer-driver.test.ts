import { afterEach, describe, expect, it } from 'vitest';
import { CEASE_SUBCODE } from '../../../protocols/bgp/error.ts';
import { AFI, SAFI } from '../../../protocols/bgp/family.ts';
import { MESSAGE_TYPE } from '../../../protocols/bgp/header.ts';
import { decodeNotification, decodeShutdownText } from '../../../protocols/bgp/notification.ts';
import { encodeEndOfRib } from '../../../protocols/bgp/update.ts';
import { PeerDriver } from '../../../worker/bgp/peer-driver.ts';
import {
  collectingPorts,
  type FarEnd,
  farEndServer,
  peerOpen,
  peerSettings,
} from '../../support/bgp-peer.ts';

const cleanUps: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function startAgainstServer(changes: Parameters<typeof peerSettings>[0] = {}) {
  const farEnds: FarEnd[] = [];
  let arrived: (farEnd: FarEnd) => void = () => {};
  const { server, port } = await farEndServer((farEnd) => {
    farEnds.push(farEnd);
    arrived(farEnd);
  });
  const settings = peerSettings({ peerPort: port, ...changes });
  const { ports, told, until } = collectingPorts();
  const driver = new PeerDriver(settings, ports);
  const connection = new Promise<FarEnd>((resolve) => {
    arrived = resolve;
  });
  driver.start();
  cleanUps.push(async () => {
    await driver.stop({ subcode: CEASE_SUBCODE.peerDeconfigured });
    for (const farEnd of farEnds) farEnd.socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { driver, settings, told, until, farEnd: await connection };
}

describe('a peer that is dialled', () => {
  it('becomes established, tells End-of-RIB, and ends with a Cease that carries the text', async () => {
    const { driver, settings, told, until, farEnd } = await startAgainstServer();
    await farEnd.establish(peerOpen(settings));
    await until(() => told.includes('established'));
    expect(driver.status()).toMatchObject({
      state: 'established',
      peerIdentifier: '10.0.0.2',
      attempts: 1,
      lastError: '',
    });
    expect(driver.status().localPort).toBeGreaterThan(0);
    farEnd.send(encodeEndOfRib({ afi: AFI.linkState, safi: SAFI.linkState }));
    await until(() => told.includes('end-of-rib 16388/71'));

    await driver.stop({ subcode: CEASE_SUBCODE.administrativeShutdown, text: 'see you at 06:00' });
    const notification = decodeNotification((await farEnd.next(MESSAGE_TYPE.notification)).octets);
    expect(notification).toMatchObject({ code: 6, subcode: 2 });
    expect(decodeShutdownText(notification)).toBe('see you at 06:00');
    expect(told).toContain('lost notification-sent');
    expect(driver.status()).toMatchObject({ state: 'idle', reason: 'disabled', lastError: '' });
  });

  it('is dialled again after it closed the connection', async () => {
    const { driver, settings, told, until, farEnd } = await startAgainstServer();
    await farEnd.establish(peerOpen(settings));
    await until(() => told.includes('established'));
    farEnd.socket.end();
    await until(() => told.includes('lost connection-lost'));
    expect(driver.status().state).toBe('idle');
    expect(driver.status().lastError).toMatch(/closed the TCP connection without a NOTIFICATION/);
    expect(driver.status().nextRetryAt).not.toBeNull();
    await until(() => driver.status().state === 'opensent');
  });

  it('shows a refused connection as active, with the reason in words', async () => {
    const { ports, until } = collectingPorts();
    const { server, port } = await farEndServer(() => {});
    await new Promise((resolve) => server.close(resolve));
    const driver = new PeerDriver(peerSettings({ peerPort: port, connectRetrySeconds: 120 }), ports);
    cleanUps.push(() => driver.stop({ subcode: CEASE_SUBCODE.peerDeconfigured }));
    driver.start();
    await until(() => driver.status().state === 'active');
    expect(driver.status()).toMatchObject({ reason: 'waiting-retry', attempts: 1 });
    expect(driver.status().lastError).toBe(
      `TCP connection to 127.0.0.1 port ${port} failed: refused (ECONNREFUSED): nothing listens there, or the peer does not know our address`,
    );
  });
});

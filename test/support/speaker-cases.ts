/** What an operator expects of a speaker, run by our driver against somebody else's daemon, one process a case. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { CEASE_SUBCODE } from '../../protocols/bgp/error.ts';
import { AFI, LINK_STATE_FAMILIES, SAFI } from '../../protocols/bgp/family.ts';
import type { PeerSettings } from '../../protocols/bgp/peer-settings.ts';
import type { LostInfo } from '../../protocols/bgp/session-effect.ts';
import type { SessionStatus } from '../../protocols/bgp/session-status.ts';
import { Listener } from '../../worker/bgp/listener.ts';
import { PeerDriver } from '../../worker/bgp/peer-driver.ts';
import type { CaseContext } from '../harness.ts';
import { Daemon, type DaemonKind, type DaemonSettings } from './bgp-daemon.ts';
import { peerSettings } from './bgp-peer.ts';
import { writeInteropSection } from './interop-document.ts';

const OUR_PORT = 1791;
const THEIR_PORT = 1790;
const PARALLEL = 6;
/** Whatever a case waits for comes within this, or the case has failed. */
const PATIENCE_MILLISECONDS = 25_000;

/** The test-only family switch: daemons without link state run the same driver with IPv4 unicast, routes discarded. */
const IPV4_UNICAST_ONLY = [{ afi: AFI.ipv4, safi: SAFI.unicast, required: true }];

interface Both {
  readonly daemon: Daemon;
  readonly driver: PeerDriver;
  readonly settings: PeerSettings;
  readonly listener: Listener | undefined;
  readonly lost: LostInfo[];
  readonly told: string[];
  until(what: string, condition: (status: SessionStatus) => boolean): Promise<void>;
  /** Holds that the condition stays true for so long. */
  throughout(
    milliseconds: number,
    what: string,
    condition: (status: SessionStatus) => boolean,
  ): Promise<void>;
}

interface SpeakerCase {
  readonly name: string;
  readonly title: string;
  readonly daemon?: Partial<DaemonSettings['neighbor']>;
  readonly daemonAs?: number;
  /** Neither is started by itself. */
  readonly startsNothing?: boolean;
  readonly ours?: Partial<PeerSettings>;
  readonly listens?: boolean;
  readonly ipv6?: boolean;
  run(both: Both): Promise<void>;
}

const isEstablished = (status: SessionStatus) => status.state === 'established';
const isDown = (status: SessionStatus) => status.state !== 'established';

const CASES: readonly SpeakerCase[] = [
  {
    name: 'active',
    title: 'we dial and the session is established',
    async run({ until, driver }) {
      await until('established', isEstablished);
      assert.equal(driver.status().holdTimeSeconds, 90);
      assert.notEqual(driver.status().peerIdentifier, '');
    },
  },
  {
    name: 'passive',
    title: 'it dials and the session is established',
    daemon: { passive: false },
    ours: { passive: true },
    listens: true,
    async run({ until }) {
      await until('established', isEstablished);
    },
  },
  {
    name: 'collision',
    title: 'both dial at once and one connection stays',
    daemon: { passive: false },
    listens: true,
    async run({ until, throughout }) {
      await until('established', isEstablished);
      await throughout(2500, 'established', isEstablished);
    },
  },
  {
    name: 'md5-right',
    title: 'TCP-MD5, the same key on both sides, we dial',
    daemon: { password: 'right-key' },
    ours: { password: 'right-key' },
    async run({ until }) {
      await until('established', isEstablished);
    },
  },
  {
    name: 'md5-right-passive',
    title: 'TCP-MD5, the same key on both sides, it dials',
    daemon: { password: 'right-key', passive: false },
    ours: { password: 'right-key', passive: true },
    listens: true,
    async run({ until }) {
      await until('established', isEstablished);
    },
  },
  {
    name: 'md5-wrong',
    title: 'TCP-MD5, different keys: never established, and last-error says where to look',
    daemon: { password: 'their-key' },
    ours: { password: 'our-key', connectRetrySeconds: 2 },
    async run({ until, throughout, driver }) {
      await throughout(
        4000,
        'not established',
        (status) => status.state === 'connect' || status.state === 'active',
      );
      await until('an error', (status) => status.lastError !== '');
      assert.match(driver.status().lastError, /auth-password is the same on both sides/);
    },
  },
  {
    name: 'md5-changed',
    title: 'TCP-MD5, a key changed while the session runs: down with the wrong one, up with the right one',
    daemon: { password: 'right-key' },
    ours: { password: 'right-key' },
    async run({ until, throughout, driver, settings }) {
      await until('established', isEstablished);
      assert.equal(driver.update({ ...settings, password: 'wrong' }), 'restarted');
      await throughout(2500, 'not established', isDown);
      driver.update(settings);
      await until('established again', isEstablished);
    },
  },
  {
    name: 'hold-3',
    title: 'hold time 3 s: negotiated, and kept alive',
    ours: { holdTimeSeconds: 3 },
    async run({ until, throughout, driver }) {
      await until('established', isEstablished);
      assert.equal(driver.status().holdTimeSeconds, 3);
      await throughout(5000, 'established', isEstablished);
    },
  },
  {
    name: 'hold-zero',
    title: "the peer's hold time 0: no KEEPALIVEs, no hold timer",
    daemon: { holdTimeSeconds: 0 },
    async run({ until, throughout, driver }) {
      await until('established', isEstablished);
      assert.equal(driver.status().holdTimeSeconds, 0);
      await throughout(2000, 'established', isEstablished);
    },
  },
  {
    name: 'hold-minimum',
    title: 'the lesser of the two hold times is used',
    daemon: { holdTimeSeconds: 30 },
    async run({ until, driver }) {
      await until('established', isEstablished);
      assert.equal(driver.status().holdTimeSeconds, 30);
      assert.equal(driver.status().keepaliveTimeSeconds, 10);
    },
  },
  {
    name: 'four-octet-as',
    title: 'an AS of four octets, 4200000001 (64086.59905), over eBGP',
    daemonAs: 4_200_000_001,
    ours: { peerAs: 4_200_000_001 },
    async run({ until }) {
      await until('established', isEstablished);
    },
  },
  {
    name: 'ipv6',
    title: 'over IPv6',
    ipv6: true,
    async run({ until, driver }) {
      await until('established', isEstablished);
      assert.equal(driver.status().localAddress, '::1');
    },
  },
  {
    name: 'shutdown-sent',
    title: 'we shut down with a text: 6/2, and it stays down',
    async run({ until, daemon, driver }) {
      await until('established', isEstablished);
      await driver.stop({ subcode: CEASE_SUBCODE.administrativeShutdown, text: 'back at 06:00' });
      assert.deepEqual(driver.status().lastNotificationSent?.text, 'back at 06:00');
      await daemon.stop();
    },
  },
  {
    name: 'shutdown-received',
    title: 'it shuts down with a text: 6/2, and the text is in last-error',
    async run({ until, daemon, driver }) {
      await until('established', isEstablished);
      daemon.shutdown('maintenance');
      await until('a NOTIFICATION', (status) => status.lastNotificationReceived !== null);
      const { lastNotificationReceived, lastError } = driver.status();
      assert.equal(lastNotificationReceived?.code, 6);
      // Where graceful restart covers NOTIFICATIONs, 6/2 comes inside a Hard Reset (RFC 8538 §3.1).
      assert([2, 9].includes(lastNotificationReceived?.subcode ?? 0));
      assert.match(lastNotificationReceived?.text ?? '', /maintenance/);
      assert.match(lastError, /Administrative Shutdown \(6\/2\): the peer says ".*maintenance/);
    },
  },
  {
    name: 'route-refresh',
    title: 'a route refresh is sent and the session goes on',
    async run({ until, throughout, driver }) {
      await until('established', isEstablished);
      assert.equal(driver.refresh(), 'sent');
      await throughout(1500, 'established', isEstablished);
    },
  },
  {
    name: 'graceful-restart',
    title: 'it announces graceful restart, sends End-of-RIB, is killed and comes back',
    daemon: { gracefulRestart: true },
    async run({ until, daemon, driver, lost, told }) {
      await until('End-of-RIB', () => told.some((each) => each.startsWith('end-of-rib')));
      assert.match(driver.status().capabilitiesReceived.join(' '), /graceful-restart:/);
      await daemon.stop();
      await until('lost', isDown);
      assert.notEqual(lost.at(-1)?.peerGracefulRestart, undefined);
      daemon.start();
      await until('established again', isEstablished);
    },
  },
  {
    name: 'killed',
    title: 'it is killed: seen at once, and back when it is',
    async run({ until, daemon, lost }) {
      await until('established', isEstablished);
      await daemon.stop();
      await until('lost', isDown);
      assert.equal(lost.at(-1)?.cause, 'connection-lost');
      daemon.start();
      await until('established again', isEstablished);
    },
  },
  {
    name: 'frozen',
    title: 'it is frozen (SIGSTOP): the hold timer ends the session with 4/0, and it comes back',
    ours: { holdTimeSeconds: 3 },
    async run({ until, daemon, driver }) {
      await until('established', isEstablished);
      daemon.signal('SIGSTOP');
      await until('lost', isDown);
      assert.equal(driver.status().lastNotificationSent?.code, 4);
      assert.match(driver.status().lastError, /Hold Timer Expired/);
      daemon.signal('SIGCONT');
      await until('established again', isEstablished);
    },
  },
  {
    name: 'unreachable',
    title: 'nothing listens: active, with the reason, until it does',
    startsNothing: true,
    async run({ until, daemon, driver }) {
      driver.start();
      await until('refused', (status) => status.state === 'active' && status.lastError !== '');
      assert.match(driver.status().lastError, /refused \(ECONNREFUSED\)/);
      daemon.start();
      await until('established', isEstablished);
    },
  },
  {
    name: 'flapping',
    title: 'it goes and comes three times, and each time the session follows',
    async run({ until, daemon }) {
      for (let round = 0; round < 3; round += 1) {
        await until('established', isEstablished);
        await daemon.stop();
        await until('lost', isDown);
        daemon.start();
      }
      await until('established', isEstablished);
    },
  },
  {
    name: 'wrong-as',
    title: 'another AS than configured: 2/2, and last-error says what each side thinks',
    ours: { peerAs: 65_099 },
    async run({ until, driver }) {
      await until('a Bad Peer AS', ({ lastError }) => lastError.includes('Bad Peer AS (2/2)'));
      assert.match(driver.status().lastError, /AS 65099|does not expect AS|set local-as here/);
    },
  },
  {
    name: 'wrong-family',
    title: 'link state not activated on it: 2/7, and last-error says what to activate',
    daemon: { family: 'ipv4' },
    ours: { families: LINK_STATE_FAMILIES },
    async run({ until, driver }) {
      await until('2/7', ({ lastError }) => lastError.includes('Unsupported Capability (2/7)'));
      assert.match(driver.status().lastError, /link-state/);
    },
  },
];

/** Runs every case against daemons of this kind, some at a time, and writes its part of docs/interop.md. */
export async function runSpeakerCases(
  context: CaseContext,
  kind: DaemonKind,
  network: number,
): Promise<void> {
  const version = kind.install();
  context.log(`${kind.name}: ${version}`);
  const rows: Array<{ title: string; outcome: string }> = CASES.map(({ title }) => ({ title, outcome: '' }));
  const waiting = CASES.map((_, index) => index);
  const worker = async () => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      const each = CASES[index] as SpeakerCase;
      const row = rows[index] as { title: string; outcome: string };
      const reason = kind.cannot[each.name];
      if (reason !== undefined) {
        row.outcome = `not run: ${reason}`;
        context.log(`${each.name}: ${row.outcome}`);
        continue;
      }
      row.outcome = 'failed';
      const started = performance.now();
      await context.check(`${kind.name} ${each.name}: ${each.title}`, async () => {
        await runCase(
          each,
          kind,
          join(context.scratchDirectory, each.name),
          `127.${network}.${index + 1}`,
          index,
        );
        row.outcome = 'passed';
      });
      context.log(`${each.name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  writeInteropSection(kind.name, version, rows);
}

async function runCase(
  each: SpeakerCase,
  kind: DaemonKind,
  folder: string,
  subnet: string,
  index: number,
): Promise<void> {
  const [ours, theirs] = each.ipv6 ? ['::1', '::1'] : [`${subnet}.1`, `${subnet}.2`];
  // Where both have one address, the ports tell cases of kinds that run beside each other apart.
  const theirPort = each.ipv6 ? THEIR_PORT + 10 + Number(subnet.split('.')[1]) : THEIR_PORT;
  const daemon = new Daemon(
    kind,
    {
      address: theirs,
      port: theirPort,
      as: each.daemonAs ?? 65_000,
      routerId: `10.0.${index + 1}.2`,
      neighbor: {
        address: ours,
        port: OUR_PORT,
        as: 65_000,
        passive: true,
        family: kind.linkState ? 'link-state' : 'ipv4',
        ...each.daemon,
      },
    },
    folder,
  );
  const settings = peerSettings({
    peerAddress: theirs,
    peerPort: theirPort,
    localAddress: ours,
    localIdentifier: `10.0.${index + 1}.1`,
    families: kind.linkState ? LINK_STATE_FAMILIES : IPV4_UNICAST_ONLY,
    ...each.ours,
  });
  const lost: LostInfo[] = [];
  const told: string[] = [];
  const waiters = new Set<() => void>();
  const wake = () => {
    for (const waiter of waiters) waiter();
  };
  const driver: PeerDriver = new PeerDriver(settings, {
    now: Date.now,
    monotonic: () => performance.now(),
    random: Math.random,
    mayAct: () => true,
    onStatus: wake,
    onUpdate: () => {},
    onMalformedUpdate: (_octets, problems) => told.push(`malformed ${problems[0]?.text}`),
    onEndOfRib: ({ afi, safi }) => {
      told.push(`end-of-rib ${afi}/${safi}`);
      wake();
    },
    onEstablished: () => told.push('established'),
    onSessionLost: (info) => {
      lost.push(info);
      told.push('lost');
    },
    onRouteRefreshBegin: () => told.push('refresh-begin'),
    onRouteRefreshEnd: () => told.push('refresh-end'),
  });
  const wait = (milliseconds: number, condition: () => boolean) =>
    new Promise<boolean>((resolve) => {
      const check = () => {
        if (condition()) done(true);
      };
      const timer = setTimeout(() => done(false), milliseconds);
      const done = (met: boolean) => {
        clearTimeout(timer);
        waiters.delete(check);
        resolve(met);
      };
      waiters.add(check);
      check();
    });
  const describe = () => {
    const { state, lastError, reason } = driver.status();
    return `state ${state}, reason ${JSON.stringify(reason)}, last-error ${JSON.stringify(lastError)}`;
  };
  const listener = each.listens
    ? await Listener.open({ address: ours, port: OUR_PORT }, (address) =>
        address === theirs ? driver : undefined,
      )
    : undefined;
  if (settings.password !== '') listener?.setPassword(theirs, settings.password);
  try {
    if (!each.startsNothing) {
      daemon.start();
      driver.start();
    }
    await each.run({
      daemon,
      driver,
      settings,
      listener,
      lost,
      told,
      async until(what, condition) {
        const met = await wait(PATIENCE_MILLISECONDS, () => condition(driver.status()));
        assert(met, `waited for: ${what}; ${describe()}`);
      },
      async throughout(milliseconds, what, condition) {
        const broken = await wait(milliseconds, () => !condition(driver.status()));
        assert(!broken, `was to be ${what} throughout; ${describe()}`);
      },
    });
  } finally {
    await driver.stop({ subcode: CEASE_SUBCODE.peerDeconfigured });
    await listener?.close();
    await daemon.stop();
  }
}

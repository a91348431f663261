/** The worker: owns peers, holds their sessions, writes what it sees. Ends by SIGTERM, with a Cease to each peer. */
import { randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { ENV } from '../contract/env.ts';
import { PRODUCT_VERSION } from '../contract/version.ts';
import { failedRecords } from '../core/delivery-tally.ts';
import type { Device } from '../core/device.ts';
import type { EngineSettings } from '../core/engine-settings.ts';
import { errorFields } from '../core/log-line.ts';
import type { OwnerRecord } from '../core/ownership.ts';
import type { Peer } from '../core/peer.ts';
import type { PeerStatus } from '../core/peer-status.ts';
import { SessionFlaps } from '../core/session-flaps.ts';
import { addCollected } from '../store/delivery-counters.ts';
import { sendDelivery } from '../store/delivery-queue.ts';
import { decryptSecret } from '../store/keyring.ts';
import { watchKeyring } from '../store/keyring-fault.ts';
import { removeLogsOfDeletedPeers } from '../store/topology-history.ts';
import { TopologyLogWriter } from '../store/topology-log.ts';
import { getWebhookSwitch } from '../store/webhook-store.ts';
import { abilities } from './bgp/abilities.ts';
import { Listeners, parseListenAddresses } from './bgp/listeners.ts';
import { warmUp } from './bgp/warm-up.ts';
import { DeviceSupervisor } from './collection/device-supervisor.ts';
import { JobLoop } from './collection/jobs.ts';
import { answerSnapshot } from './collection/snapshot.ts';
import { DeletedPeerLogs } from './deleted-peer-logs.ts';
import { RecordPort } from './delivery/record-port.ts';
import { reportEngine } from './engine-report.ts';
import { GnmiCollection } from './gnmi/gnmi-collection.ts';
import { answerHealth } from './health-socket.ts';
import { Heartbeat } from './heartbeat.ts';
import { LinkStatePeer } from './link-state-peer.ts';
import { log } from './log.ts';
import { WorkerMetrics } from './metrics.ts';
import { NlriBudget } from './nlri-budget.ts';
import { SharedVersions } from './shared-versions.ts';
import { SnmpCollection } from './snmp/collection.ts';
import { StatusBoard } from './status-board.ts';
import { Supervisor } from './supervisor.ts';

const monotonic = () => performance.now();
const now = () => new Date();

/** A live test that runs when the worker is told to end gets this long; its caller then tries again. */
const JOB_GRACE_MILLISECONDS = 2_500;

// A fault that nobody foresaw ends the process, so that another worker takes over, rather than leave it half alive.
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error) => {
    log('error', 'the worker ends', errorFields(error));
    process.exit(1);
  });
}

const budget = new NlriBudget();
const listeners = new Listeners();
await listeners.open(parseListenAddresses(process.env[ENV.bgpListen] ?? ''));
const { tcpMd5, ttlSecurity } = abilities();
const heartbeat = await Heartbeat.start(
  {
    id: process.env[ENV.workerId] ?? `w-${randomBytes(4).toString('hex')}`,
    startedAt: now().toISOString(),
    version: PRODUCT_VERSION,
    draining: false,
    sourceAddresses: sourceAddresses(),
    abilities: { 'tcp-md5': tcpMd5, 'ttl-security': ttlSecurity, 'bgp-listen': listeners.areOpen },
  },
  {
    monotonic,
    now,
    onWorkersChanged: () => {
      supervisor.ownersMayHaveMoved();
      devices.ownersMayHaveMoved();
    },
    onLapsed: () => devices.lapsed(),
    onReplaced: () => {
      log('error', 'another process runs under this id; this one ends');
      process.exit(1);
    },
  },
);

// Not waited for: it gives way to all else, and is done long before a peer has been dialled.
void warmUp();

const flaps = new SessionFlaps();
const metrics = new WorkerMetrics({
  now: Date.now,
  write: (line) => process.stdout.write(`${line}\n`),
  ownGauges: () => ({
    TopologyLagSeconds: Math.max(0, Date.now() - (supervisor.pendingSince() ?? Date.now())) / 1_000,
  }),
  engineGauges: async () =>
    heartbeat.mayAct() ? reportEngine(heartbeat.workerId, heartbeat.living(), Date.now()) : {},
});
watchKeyring(() => metrics.count('KeyringFaults'));

/** Where collectors put what they have collected. */
const records = new RecordPort({
  send: sendDelivery,
  count: async (counts, lastFailure, token) => {
    await addCollected(counts, lastFailure, token);
    metrics.count('RecordsFailed', failedRecords(counts));
  },
  fullChanged: (isFull) => (isFull ? gnmi.pause() : gnmi.resume()),
});
const versions = new SharedVersions(monotonic);
const supervisor: Supervisor = new Supervisor(heartbeat, {
  readVersions: () => versions.current(),
  monotonic,
  now,
  startPeer,
  openLog,
  peerLeft: (peerId) => flaps.forget(peerId),
  outputChanged: async () => records.configure(await getWebhookSwitch()),
  snapshotAsked: (command) => void answerSnapshot(command, (modelId) => devices.latestRows(modelId), now),
});
const board = new StatusBoard({
  worker: heartbeat.workerId,
  statuses: () => supervisor.statuses(),
  mayAct: () => heartbeat.mayAct(),
});
const allowLoopback = process.env[ENV.allowLoopback] === '1';
const gnmi = new GnmiCollection({
  readSecret: readDeviceSecret,
  allowLoopback,
  random: Math.random,
  wallClock: Date.now,
  monotonic,
});
const snmp = new SnmpCollection({ decrypt: decryptSecret, allowLoopback });
// Protocols join here and in the job loop: without a driver streams idle and tests say `unimplemented`.
const devices: DeviceSupervisor = new DeviceSupervisor(heartbeat, {
  monotonic,
  open: {
    gnmi: gnmi.open,
    snmp: snmp.open,
  },
  collect: (deviceId, cycle) => records.collect(deviceId, cycle),
  readVersions: () => versions.current(),
});
const jobs = new JobLoop({
  testers: {
    gnmi: gnmi.test,
    snmp: snmp.test,
  },
  now,
  mayAct: () => heartbeat.mayAct(),
});
const deletedPeerLogs = new DeletedPeerLogs({
  workerId: heartbeat.workerId,
  living: () => heartbeat.living(),
  mayAct: () => heartbeat.mayAct(),
  now: Date.now,
  remove: removeLogsOfDeletedPeers,
  log,
});
supervisor.start(board);
devices.start();
jobs.start();
deletedPeerLogs.start();
metrics.start((error) => log('warn', 'metrics not reported', errorFields(error)));
const healthSocket = process.env[ENV.healthSocket] ?? '';
if (healthSocket !== '') await answerHealth(healthSocket, () => heartbeat.mayAct());
log('info', 'worker started', { worker: heartbeat.workerId });

let isStopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (isStopping) return;
    isStopping = true;
    void stop(signal);
  });
}

async function stop(signal: string): Promise<void> {
  log('info', 'worker stops', { signal });
  try {
    await heartbeat.drain();
    await Promise.all([supervisor.stop(), devices.stop(), jobs.stop(JOB_GRACE_MILLISECONDS)]);
    await records.close();
    await listeners.close();
    deletedPeerLogs.stop();
    metrics.stop();
    await heartbeat.stop();
  } catch (error) {
    log('error', 'the worker did not stop cleanly', errorFields(error));
    process.exit(1);
  }
  process.exit(0);
}

function startPeer(peerId: number, owned: { worker: string; epoch: number }, before: PeerStatus | undefined) {
  const ownership: OwnerRecord = { id: peerId, ...owned };
  return new LinkStatePeer(ownership, before, {
    now: Date.now,
    monotonic,
    random: Math.random,
    mayAct: () => heartbeat.mayAct(),
    onStatus: () => board.touch(peerId),
    onSessionLost: () => {
      if (flaps.lost(peerId, monotonic())) metrics.count('SessionFlaps');
    },
    openLog,
    readPassword,
    listeners,
    budget,
    allowLoopback,
  });
}

function openLog({ id, epoch, worker }: OwnerRecord, engine: EngineSettings): Promise<TopologyLogWriter> {
  return TopologyLogWriter.open({
    peerId: id,
    epoch,
    worker,
    workerStartedAt: heartbeat.startedAt,
    staleTimeSeconds: engine['stale-time'],
    now: Date.now(),
    onFenced: () => supervisor.ownersMayHaveMoved(),
    onRetry: (error) =>
      log('warn', 'topology log not written, will retry', { 'peer-id': id, ...errorFields(error) }),
  });
}

async function readPassword(peer: Peer): Promise<string> {
  if (peer.encryptedPassword === undefined) return '';
  return decryptSecret(peer.encryptedPassword, { owner: `peer/${peer.id}`, field: 'auth-password' });
}

async function readDeviceSecret(device: Device, place: string): Promise<string> {
  const stored = device.encryptedSecrets[place];
  return stored === undefined ? '' : decryptSecret(stored, { owner: `device/${device.id}`, field: place });
}

/** The addresses that routers see; loopback only when there is nothing else. */
function sourceAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const outside = all.filter((address) => !address.internal && !address.address.startsWith('fe80:'));
  return (outside.length > 0 ? outside : all).map((address) => address.address);
}

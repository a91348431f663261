import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OwnerRecord } from '../../core/ownership.ts';
import { listEvents, parseEventQuery } from '../../core/topology/events.ts';
import { getPeerOwner, takePeer } from '../../store/owner-store.ts';
import { getTopologyHead } from '../../store/topology-head.ts';
import { TopologyLogWriter } from '../../store/topology-log.ts';
import { TopologyReader } from '../../store/topology-reader.ts';
import { Heartbeat } from '../../worker/heartbeat.ts';
import { endOrphanedPeer } from '../../worker/orphaned-peer.ts';
import { StatusBoard } from '../../worker/status-board.ts';
import { Supervisor } from '../../worker/supervisor.ts';
import { nodeNamed, nodeNlri } from '../support/isis-node.ts';
import { type Emulators, runAs, startEmulators } from '../support/stack.ts';
import { deletePeer, makePeer, startFakeWorker } from '../support/topology-worker.ts';
import { until } from '../support/until.ts';

const start = Date.now() - 60_000;
const deletedAt = start + 30_000;

let emulators: Emulators;

const openLog = (owner: OwnerRecord) =>
  TopologyLogWriter.open({
    peerId: owner.id,
    epoch: owner.epoch,
    worker: owner.worker,
    workerStartedAt: new Date(deletedAt).toISOString(),
    staleTimeSeconds: 0,
    now: deletedAt,
    onFenced: () => undefined,
  });
const end = (owner: OwnerRecord, worker: string, open = openLog) =>
  runAs('worker', () => endOrphanedPeer(owner, worker, open, deletedAt));
const ownerOf = async (peerId: number) => (await runAs('worker', () => getPeerOwner(peerId))) as OwnerRecord;
/** What happened to the node as one peer tells it, oldest first. */
const actionsOf = async (peerId: number) => {
  const reader = new TopologyReader();
  await runAs('topology', () => reader.refreshWithHistory(deletedAt, 'all'));
  const query = parseEventQuery(new URLSearchParams({ peer: String(peerId) }));
  return listEvents(reader.graph, reader.journal, query, deletedAt)
    .events.map(({ action }) => action)
    .toReversed();
};

/** A peer that told of the node to a worker that then died, and that was deleted after. */
async function orphan(peerId: number): Promise<OwnerRecord> {
  await makePeer(emulators, peerId);
  const dead = await startFakeWorker('w-dead', start);
  const log = await dead.own(peerId, { now: start });
  await runAs('worker', async () => {
    log.established(start);
    log.announce(71, nodeNlri(1), nodeNamed('r1'), start);
    await log.flush();
  });
  await deletePeer(emulators, peerId);
  return ownerOf(peerId);
}

beforeAll(async () => {
  emulators = await startEmulators({ as: 'worker' });
});
afterAll(() => emulators?.stop());

describe('a peer that was deleted while no worker ran it', () => {
  it('has its end in the events once, though two workers come to write it', async () => {
    const owner = await orphan(1);
    expect(await actionsOf(1)).toEqual(['added']);
    await Promise.all([end(owner, 'w-1'), end(owner, 'w-2')]);
    expect(await actionsOf(1)).toEqual(['added', 'stale', 'purged']);
    expect(await ownerOf(1)).toBeUndefined();
    await end(owner, 'w-3');
    expect(await actionsOf(1)).toEqual(['added', 'stale', 'purged']);
  });

  it('has it once also when the worker that was to write it stalls, and another one takes its place', async () => {
    const owner = await orphan(2);
    await end(owner, 'w-1', async (first) => {
      const stalled = await openLog(first);
      await end(first, 'w-2');
      return stalled;
    });
    expect(await actionsOf(2)).toEqual(['added', 'stale', 'purged']);
    expect(await ownerOf(2)).toBeUndefined();
  });

  it('has it once also when the worker dies between the log and the ownership', async () => {
    const owner = await orphan(3);
    const first = (await runAs('worker', () => takePeer(3, 'w-1', owner))) as OwnerRecord;
    await runAs('worker', async () => (await openLog(first)).end(deletedAt));
    await end(first, 'w-1');
    expect(await actionsOf(3)).toEqual(['added', 'stale', 'purged']);
    expect(await ownerOf(3)).toBeUndefined();
  });

  it('is forgotten though its log cannot be read, and gets none where it had none', async () => {
    const owner = await orphan(4);
    await end(owner, 'w-1', () => Promise.reject(new Error('no such snapshot')));
    expect(await ownerOf(4)).toBeUndefined();
    await makePeer(emulators, 5);
    const taken = (await runAs('worker', () => takePeer(5, 'w-dead', undefined))) as OwnerRecord;
    await deletePeer(emulators, 5);
    await end(taken, 'w-1');
    expect(await ownerOf(5)).toBeUndefined();
    expect(await runAs('worker', () => getTopologyHead(5))).toBeUndefined();
  });

  it('is left alone when it is not deleted after all', async () => {
    await makePeer(emulators, 6);
    const owner = (await runAs('worker', () => takePeer(6, 'w-new', undefined))) as OwnerRecord;
    await end(owner, 'w-1');
    expect(await ownerOf(6)).toEqual(owner);
  });

  it('is ended by the next worker, also by one that starts again under the id of the one that died', async () => {
    await orphan(7);
    const unused = () => {
      throw new Error('nothing of this is asked for here');
    };
    const heartbeat = await Heartbeat.start(
      {
        id: 'w-dead',
        startedAt: new Date(deletedAt).toISOString(),
        version: 'test',
        draining: false,
        sourceAddresses: [],
        abilities: { 'tcp-md5': false, 'ttl-security': false, 'bgp-listen': false },
      },
      {
        monotonic: () => performance.now(),
        now: () => new Date(),
        onWorkersChanged: () => undefined,
        onLapsed: () => undefined,
        onReplaced: unused,
      },
    );
    const supervisor = new Supervisor(heartbeat, {
      monotonic: () => performance.now(),
      now: () => new Date(deletedAt),
      startPeer: unused,
      openLog,
      readVersions: async () => new Map(),
      peerLeft: unused,
      outputChanged: async () => undefined,
      snapshotAsked: unused,
    });
    // Its owner is no worker that lives: it would be taken, too.
    await deletePeer(emulators, 6);
    const board = new StatusBoard({ worker: 'w-dead', statuses: () => [], mayAct: () => true });
    supervisor.start(board);
    try {
      await until(
        'the ownership to be forgotten',
        () => ownerOf(7),
        (owner) => owner === undefined,
      );
    } finally {
      await supervisor.stop();
      await heartbeat.stop();
    }
    expect(await actionsOf(7)).toEqual(['added', 'stale', 'purged']);
  });
});

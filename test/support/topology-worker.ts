/** What a worker does for the topology, without BGP: it beats, owns a peer and writes the peer's log. */
import { takePeer } from '../../store/owner-store.ts';
import { TopologyLogWriter } from '../../store/topology-log.ts';
import { registerWorker, renewWorker } from '../../store/worker-store.ts';
import { type Emulators, runAs } from './stack.ts';

export interface FakeWorker {
  readonly id: string;
  /** Takes the peer in the next epoch, whoever owned it. */
  own(
    peerId: number,
    options?: { now?: number; onFenced?: (error: Error) => void },
  ): Promise<TopologyLogWriter>;
  /** Heart beats at this wall clock, in milliseconds. */
  beat(at: number): Promise<void>;
}

export async function startFakeWorker(id: string, now = Date.now()): Promise<FakeWorker> {
  let record = await runAs('worker', () =>
    registerWorker({
      id,
      beat: 1,
      beatAt: now,
      startedAt: new Date(now).toISOString(),
      version: 'test',
      draining: false,
      sourceAddresses: [],
      abilities: { 'tcp-md5': false, 'ttl-security': false, 'bgp-listen': false },
    }),
  );
  const owners = new Map<number, Awaited<ReturnType<typeof takePeer>>>();
  return {
    id,
    own: (peerId, options = {}) =>
      runAs('worker', async () => {
        const { listPeerOwners } = await import('../../store/owner-store.ts');
        const owner = await takePeer(peerId, id, (await listPeerOwners()).get(peerId));
        if (owner === undefined) throw new Error('somebody took the peer at the same time');
        owners.set(peerId, owner);
        return TopologyLogWriter.open({
          peerId,
          epoch: owner.epoch,
          worker: id,
          workerStartedAt: record.startedAt,
          staleTimeSeconds: 120,
          now: options.now ?? Date.now(),
          onFenced: options.onFenced ?? ((error) => console.error(error)),
        });
      }),
    beat: (at) =>
      runAs('worker', async () => {
        record = { ...record, beat: record.beat + 1, beatAt: at };
        await renewWorker(record);
      }),
  };
}

/** An enabled peer; `id` is the one that it is to get, which is the next. */
export async function makePeer(emulators: Emulators, id: number): Promise<void> {
  const body = {
    name: `rr${id}`,
    'peer-address': `192.0.2.${id}`,
    'user-peer-as': '65000',
    enabled: true,
  };
  const { status, text } = await emulators.send({
    method: 'POST',
    path: '/api/bgp/peers',
    headers: { authorization: `Bearer ${emulators.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (status !== 201 || JSON.parse(text).id !== id) throw new Error(`peer ${id}: ${status} ${text}`);
}

export async function deletePeer(emulators: Emulators, id: number): Promise<void> {
  const { status, text } = await emulators.send({
    method: 'DELETE',
    path: `/api/bgp/peers/${id}`,
    headers: { authorization: `Bearer ${emulators.token}` },
  });
  if (status !== 204) throw new Error(`peer ${id}: ${status} ${text}`);
}

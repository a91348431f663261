/**
 * Something for each principal to do, step by step, so that every call that it makes to AWS is made at least once. What a
 * step needs is prepared before; only the step itself is watched.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Principal } from '../../contract/grants.ts';
import { RUNTIME_KEYS } from '../../contract/tables.ts';
import { unseenSession } from '../../core/peer-status.ts';
import { handler as rotateKeyring } from '../../functions/rotate-keyring.ts';
import { encodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import {
  type PeerCommand,
  type SnapshotCommand,
  sendCommand,
  takeCommands,
} from '../../store/command-store.ts';
import { addCollected } from '../../store/delivery-counters.ts';
import { sendDelivery } from '../../store/delivery-queue.ts';
import { putJobResult, receiveJobs, sendJob } from '../../store/job-queue.ts';
import { decryptSecret } from '../../store/keyring.ts';
import { putLargeBody } from '../../store/large-body-store.ts';
import { getPeerOwner, releasePeer, takePeer } from '../../store/owner-store.ts';
import { putPeerStatuses, statusChunk } from '../../store/peer-status-store.ts';
import { listPeers } from '../../store/peer-store.ts';
import { newToken, setUp } from '../../store/setup.ts';
import { putSnapshotPart, takeSnapshotPart } from '../../store/snapshot-store.ts';
import { deleteItem } from '../../store/table.ts';
import { TopologyLogWriter } from '../../store/topology-log.ts';
import { listWorkers, registerWorker, removeWorker, renewWorker } from '../../store/worker-store.ts';
import type { ApiAnswer, ApiClient } from './api-client.ts';
import { makeRecords } from './receiver/records.ts';
import { runAs } from './stack.ts';

export interface GrantStep {
  readonly principal: Principal;
  readonly name: string;
  /** With every grant; what it returns goes to `act`. */
  prepare?(): Promise<number>;
  act(prepared: number): Promise<unknown>;
}

const WORKER = 'w-grants';
let last = 0;
const next = () => {
  last += 1;
  return last;
};

/** Keeps a worker's heart beating and gives it every live test to answer, so that the API finds one. */
export async function beatOnce(): Promise<void> {
  await runAs('worker', async () => {
    const known = (await listWorkers()).find(({ id }) => id === WORKER);
    const record = {
      id: WORKER,
      beat: (known?.beat ?? 0) + 1,
      beatAt: Date.now(),
      startedAt: new Date(0).toISOString(),
      version: 'test',
      draining: false,
      sourceAddresses: [],
      abilities: { 'tcp-md5': false, 'ttl-security': false, 'bgp-listen': false },
    };
    if (known === undefined) await registerWorker(record);
    else await renewWorker({ ...record, epoch: known.epoch });
  });
}

export function grantSteps(api: ApiClient): GrantStep[] {
  const call = (method: string, path: string, body?: unknown) =>
    api.send({ method, path, ...(body === undefined ? {} : { body }) });
  const made = async (answer: Promise<ApiAnswer>): Promise<number> => (await answer).json.id;

  const peer = () => ({
    name: `p${next()}`,
    'peer-address': `127.65.${next() >> 8}.${last & 255}`,
    'user-peer-as': '65000',
    enabled: true,
    'auth-password': 'secret',
  });
  const makePeer = () => made(call('POST', '/api/bgp/peers', peer()));
  const device = () => ({
    name: `d${next()}`,
    address: '127.66.0.1',
    netos: 'srlinux',
    snmp: { community: 'secret' },
  });
  const makeDevice = () => made(call('POST', '/api/v1/devices', device()));
  const makeModel = () => made(call('POST', '/api/v1/models', { name: `m${next()}` }));
  const subscription = (modelName: string) => ({
    name: `s${next()}`,
    'model-name': modelName,
    'model-version': 'latest',
    mode: 'poll',
    'interval-ms': 60_000,
  });
  const makeSubscription = async () =>
    made(call('POST', '/api/v1/subscriptions', subscription('interfaces')));
  const webhook = () => ({
    enabled: true,
    config: { url: `http://127.0.0.1:9/${next()}`, 'auth-header': 'Bearer secret' },
  });

  const runningPeer = async () => {
    const id = await makePeer();
    await runAs('worker', async () => {
      const owner = await takePeer(id, WORKER, await getPeerOwner(id));
      const status = {
        id,
        state: 'established',
        'messages-sent': 0,
        'messages-received': 0,
        'last-state-change': null,
        'last-error': '',
        session: { ...unseenSession(''), worker: WORKER, epoch: owner?.epoch ?? 0 },
      } as const;
      await putPeerStatuses(WORKER, statusChunk(id), [status]);
    });
    await beatOnce();
    return id;
  };

  const step = (
    principal: Principal,
    name: string,
    act: (prepared: number) => Promise<unknown>,
    prepare?: () => Promise<number>,
  ): GrantStep => ({ principal, name, act, ...(prepare === undefined ? {} : { prepare }) });

  const openLog = async (peerId: number) => {
    const owner = await takePeer(peerId, WORKER, await getPeerOwner(peerId));
    return TopologyLogWriter.open({
      peerId,
      epoch: owner?.epoch ?? 0,
      worker: WORKER,
      workerStartedAt: '',
      staleTimeSeconds: 120,
      now: Date.now(),
      onFenced: () => {},
      onRetry: (error) => {
        throw error;
      },
    });
  };
  const nlri = encodeNlri({
    type: 'node',
    safi: 71,
    protocol: 'isis-level-2',
    identifier: 7n,
    localNode: { 'autonomous-system': 65000, 'igp-router-id': '0000.0000.0001' },
    descriptor: {},
  });
  const putLargeAnswer = () =>
    putLargeBody({ octets: new Uint8Array(9), contentType: 'text/plain', contentEncoding: undefined });
  const delivery = (bytes: number) => {
    // What compresses badly, so that it does not fit a message.
    const noise = Buffer.alloc(bytes);
    for (let index = 0; index < bytes; index += 1) noise[index] = (Math.random() * 256) | 0;
    const body = bytes === 0 ? makeRecords(1, 1).bytes : noise;
    return sendDelivery({ id: randomUUID(), packedAt: Date.now() }, [{ body, records: 1, deviceId: 1 }]);
  };
  const job = (modelId: number) =>
    sendJob({
      id: randomUUID(),
      modelId,
      deviceId: 1,
      mappingId: 1,
      requestedAt: new Date().toISOString(),
    });
  const worker = (
    name: string,
    act: (prepared: number) => Promise<unknown>,
    prepare?: () => Promise<number>,
  ) => step('worker', name, (prepared) => runAs('worker', () => act(prepared)), prepare);

  return [
    step('peers', 'POST', () => call('POST', '/api/bgp/peers', peer())),
    step('peers', 'GET list', () => call('GET', '/api/bgp/peers')),
    step('peers', 'GET', (id) => call('GET', `/api/bgp/peers/${id}`), runningPeer),
    step('peers', 'PUT', (id) => call('PUT', `/api/bgp/peers/${id}`, peer()), makePeer),
    step('peers', 'DELETE', (id) => call('DELETE', `/api/bgp/peers/${id}`), makePeer),
    step('peers', 'reset', (id) => call('POST', `/api/bgp/peers/${id}/reset`), runningPeer),

    step('topology', 'summary', () => call('GET', '/api/topology'), runningPeer),
    step(
      'topology',
      'read a log',
      () => call('GET', '/api/topology/nodes'),
      async () => {
        const id = await makePeer();
        await runAs('worker', async () => {
          const log = await openLog(id);
          log.established(Date.now());
          log.announce(71, nlri, null, Date.now());
          await log.close();
        });
        return id;
      },
    ),
    step('topology', 'large answer', () => runAs('topology', putLargeAnswer)),

    step('models', 'POST', () => call('POST', '/api/v1/models', { name: `m${next()}` })),
    step('models', 'GET list', () => call('GET', '/api/v1/models')),
    step('models', 'activate', (id) => call('PUT', `/api/v1/models/${id}`, { active: true }), makeModel),
    step('models', 'DELETE', (id) => call('DELETE', `/api/v1/models/${id}`), makeModel),
    step(
      'models',
      'test',
      async (id) => {
        const { mappings } = (await call('GET', `/api/v1/models/${id}`)).json ?? { mappings: [{ id: 1 }] };
        const [{ id: mappingId }] = mappings;
        const answer = call('POST', `/api/v1/models/${id}/test`, { 'device-id': 1, 'mapping-id': mappingId });
        const jobs = runAs('worker', () => receiveJobs(1, AbortSignal.timeout(1_500))).catch(() => []);
        for (const received of await jobs) {
          await runAs('worker', async () => {
            await putJobResult(received.job.id, '{}', new Date());
            await received.done();
          });
        }
        return answer;
      },
      async () => {
        await beatOnce();
        const document = JSON.parse(readFileSync('core/model-library/interfaces.json', 'utf8'));
        return made(call('POST', '/api/v1/models/import', { ...document, name: `m${next()}` }));
      },
    ),

    step('models', 'ask for a snapshot', () =>
      runAs('models', () =>
        sendCommand<SnapshotCommand>(WORKER, { command: 'snapshot', modelId: 1 }, new Date()),
      ),
    ),
    step(
      'models',
      'take a large part of a snapshot',
      (id) => runAs('models', () => takeSnapshotPart(`part-${id}`)),
      async () => {
        const id = next();
        const part = randomBytes(900_000).toString('base64');
        await runAs('worker', () => putSnapshotPart(`part-${id}`, part, new Date()));
        return id;
      },
    ),
    step('models', 'large answer', () => runAs('models', putLargeAnswer)),

    step('devices', 'POST', () => call('POST', '/api/v1/devices', device())),
    step('devices', 'GET list', () => call('GET', '/api/v1/devices')),
    step('devices', 'GET', (id) => call('GET', `/api/v1/devices/${id}`), makeDevice),
    step('devices', 'PUT', (id) => call('PUT', `/api/v1/devices/${id}`, device()), makeDevice),
    step('devices', 'DELETE', (id) => call('DELETE', `/api/v1/devices/${id}`), makeDevice),

    step('subscriptions', 'POST', () => call('POST', '/api/v1/subscriptions', subscription('interfaces'))),
    step('subscriptions', 'GET list', () => call('GET', '/api/v1/subscriptions')),
    step('subscriptions', 'GET', (id) => call('GET', `/api/v1/subscriptions/${id}`), makeSubscription),
    step(
      'subscriptions',
      'PUT',
      (id) => call('PUT', `/api/v1/subscriptions/${id}`, subscription('interfaces')),
      makeSubscription,
    ),
    step('subscriptions', 'DELETE', (id) => call('DELETE', `/api/v1/subscriptions/${id}`), makeSubscription),

    step('engine', 'GET', () => call('GET', '/api/engine')),
    step('engine', 'PUT', () =>
      call('PUT', '/api/engine', {
        'local-as': '',
        'router-id': '',
        'stale-time': 100 + next(),
        'max-nlri': 0,
      }),
    ),
    step('engine', 'metrics', () => call('GET', '/api/metrics')),
    step('engine', 'health', () => call('GET', '/api/health')),

    step('tokens', 'POST', () => call('POST', '/api/v1/tokens', { name: 't', scope: 'read' })),
    step('tokens', 'GET list', () => call('GET', '/api/v1/tokens')),
    step(
      'tokens',
      'DELETE',
      (id) => call('DELETE', `/api/v1/tokens/${id}`),
      () => made(call('POST', '/api/v1/tokens', { name: 't', scope: 'read' })),
    ),

    step('outputs', 'PUT', () => call('PUT', '/api/v1/outputs/webhook', webhook())),
    step('outputs', 'GET', () => call('GET', '/api/v1/outputs/webhook')),
    step(
      'outputs',
      'metrics',
      () => call('GET', '/api/v1/outputs/metrics'),
      // As if nobody had ever asked.
      () => runAs('worker', () => deleteItem('runtime', RUNTIME_KEYS.countingSince()).then(() => 0)),
    ),

    worker('beat', async () => {
      const [self] = (await listWorkers()).filter(({ id }) => id === 'w-two');
      const record = {
        id: 'w-two',
        beat: 1,
        beatAt: Date.now(),
        startedAt: '',
        version: '',
        draining: false,
        sourceAddresses: [],
        abilities: { 'tcp-md5': false, 'ttl-security': false, 'bgp-listen': false },
      };
      await removeWorker(self ?? (await registerWorker(record)));
    }),
    worker(
      'own, release',
      async (id) => {
        const taken = await takePeer(id, WORKER, await getPeerOwner(id));
        if (taken !== undefined) await releasePeer(taken);
      },
      makePeer,
    ),
    worker('read configuration', () => listPeers()),
    worker(
      'open a password',
      async (id) => {
        const found = (await listPeers()).find((each) => each.id === id);
        const place = { owner: `peer/${id}`, field: 'auth-password' };
        return decryptSecret(found?.encryptedPassword ?? '', place);
      },
      makePeer,
    ),
    worker(
      'write and remove a topology log',
      async (id) => {
        const log = await openLog(id);
        log.established(Date.now());
        log.announce(71, nlri, null, Date.now());
        log.endOfRib(Date.now());
        await log.flush();
        await log.compact();
        await log.end(Date.now());
      },
      makePeer,
    ),
    worker(
      'take commands',
      () => takeCommands(WORKER, new Date()),
      async () => {
        await runAs('peers', () =>
          sendCommand<PeerCommand>(WORKER, { command: 'reset', peerId: 1 }, new Date()),
        );
        return 0;
      },
    ),
    worker('count what is collected', () =>
      addCollected({ 'records.collected': 1 }, undefined, randomUUID()),
    ),
    worker('queue records', () => delivery(0)),
    worker('queue many records', () => delivery(1_100_000)),
    worker(
      'take a job',
      async (modelId) => {
        for (const received of await receiveJobs(1, AbortSignal.timeout(1_500))) {
          await putJobResult(received.job.id, '{}', new Date());
          await received.done();
        }
        return modelId;
      },
      async () => {
        await runAs('models', () => job(1));
        return 1;
      },
    ),
    worker('read a model for a job', async () => {
      const { getModel } = await import('../../store/model-store.ts');
      return getModel(1);
    }),

    step(
      'rotate-keyring',
      'rotate',
      () =>
        runAs('rotate-keyring', async () => {
          // The first may only finish what was begun.
          await rotateKeyring({});
          return rotateKeyring({});
        }),
      makePeer,
    ),
    step('setup', 'set up', () =>
      runAs('setup', () =>
        setUp({ apiToken: newToken(), apiTokenIsGiven: true, localAs: '', routerId: '' }, new Date()),
      ),
    ),
    step('setup', 'set up again', () =>
      runAs('setup', () =>
        setUp({ apiToken: newToken(), apiTokenIsGiven: false, localAs: '', routerId: '' }, new Date()),
      ),
    ),
  ];
}

import { gunzipSync } from 'node:zlib';
import { PRODUCT_VERSION } from '../contract/version.ts';
import { validateBody } from '../core/body.ts';
import { deliveryMetricFamilies, viewDeliveryMetrics } from '../core/delivery-metrics.ts';
import { ENGINE_READ_ONLY, engineConfiguration } from '../core/engine-request.ts';
import type { EngineSettings } from '../core/engine-settings.ts';
import { formatMetricFamilies, OPEN_METRICS_TYPE } from '../core/open-metrics.ts';
import { isBeating, type OwnerRecord, type WorkerAbilities, type WorkerRecord } from '../core/ownership.ts';
import { peerMetricFamilies } from '../core/peer-metrics.ts';
import { newestStatus, observePeer } from '../core/peer-status.ts';
import { Problem } from '../core/problem.ts';
import { readDeliveryCounters } from '../store/delivery-counters.ts';
import { getEngineSettings, replaceEngineSettings } from '../store/engine-store.ts';
import { listDeviceOwners, listPeerOwners } from '../store/owner-store.ts';
import { listPeerStatuses } from '../store/peer-status-store.ts';
import { listPeers } from '../store/peer-store.ts';
import { listWorkers } from '../store/worker-store.ts';
import { type ApiRequest, type ApiResponse, apiHandler } from './http.ts';
import { OPENAPI_GZIP_BASE64 } from './openapi-document.ts';
import { entityTag, refuseUnknownParameters, requireMatch } from './preconditions.ts';

export const handler = apiHandler('engine', {
  'GET /api/engine': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, []);
      return answerWith(await existingSettings(), request);
    },
  },

  'PUT /api/engine': {
    body: 'json',
    run: async (request) => {
      const asked = validateBody(engineConfiguration, ENGINE_READ_ONLY, request.body);
      const previous = await existingSettings();
      requireMatch(request, previous.revision);
      const next: EngineSettings = {
        revision: previous.revision + 1,
        'local-as': asked['local-as'],
        'router-id': asked['router-id'] || previous['router-id'],
        'stale-time': asked['stale-time'] || 120,
        'max-nlri': asked['max-nlri'] || 5_000_000,
      };
      if (isSame(previous, next)) return answerWith(previous, request);
      await replaceEngineSettings(previous.revision, next);
      return answerWith(next, request);
    },
  },

  'GET /api/metrics': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, []);
      const [counters, workers, owners, statuses, peers] = await Promise.all([
        readDeliveryCounters(request.now.toISOString()),
        listWorkers(),
        listPeerOwners(),
        listPeerStatuses(),
        listPeers(),
      ]);
      const live = liveWorkers(workers, request.now);
      const byPeer = Map.groupBy(statuses, (status) => status.id);
      const views = peers.map((peer) => ({
        ...observePeer(peer, newestStatus(byPeer.get(peer.id) ?? []), {
          owner: owners.get(peer.id),
          liveWorkers: new Set(live.map((worker) => worker.id)),
        }),
        name: peer.configuration.name,
      }));
      const text = formatMetricFamilies([
        {
          name: 'graticule_workers',
          type: 'gauge',
          help: 'Workers whose heart beats.',
          samples: [{ labels: {}, value: live.length }],
        },
        ...peerMetricFamilies(views),
        ...deliveryMetricFamilies(viewDeliveryMetrics(counters, request.now.getTime())),
      ]);
      return { status: 200, headers: { 'content-type': OPEN_METRICS_TYPE }, body: `${text}# EOF\n` };
    },
  },

  'GET /api/health': {
    body: 'none',
    run: async (request) => {
      const live = liveWorkers(await listWorkers(), request.now);
      const body = {
        status: live.length > 0 ? 'ok' : 'starting',
        workers: live.length,
        abilities: sharedAbilities(live),
      };
      return { status: live.length > 0 ? 200 : 503, body };
    },
  },

  'GET /api/openapi.json': {
    body: 'none',
    run: async () => {
      openApiText ??= gunzipSync(Buffer.from(OPENAPI_GZIP_BASE64, 'base64')).toString('utf8');
      return { status: 200, headers: { 'content-type': 'application/json' }, body: openApiText };
    },
  },
});

/** Unpacked when it is first asked for: nearly no instance ever is. */
let openApiText: string | undefined;

function liveWorkers(workers: readonly WorkerRecord[], now: Date): WorkerRecord[] {
  return workers.filter((worker) => isBeating(worker, now.getTime()));
}

/** What every live worker can do: a peer may land on any of them. Null when there is none. */
function sharedAbilities(workers: readonly WorkerRecord[]): WorkerAbilities | null {
  if (workers.length === 0) return null;
  const all = (ability: keyof WorkerAbilities) => workers.every((worker) => worker.abilities[ability]);
  return { 'tcp-md5': all('tcp-md5'), 'ttl-security': all('ttl-security'), 'bgp-listen': all('bgp-listen') };
}

async function answerWith(settings: EngineSettings, request: ApiRequest): Promise<ApiResponse> {
  const [workers, peerOwners, deviceOwners] = await Promise.all([
    listWorkers(),
    listPeerOwners(),
    listDeviceOwners(),
  ]);
  const { revision, ...configuration } = settings;
  return {
    status: 200,
    headers: { etag: entityTag(revision) },
    body: {
      ...configuration,
      version: PRODUCT_VERSION,
      workers: liveWorkers(workers, request.now).map((worker) =>
        viewWorker(worker, { peerOwners, deviceOwners }, request.now),
      ),
    },
  };
}

function viewWorker(
  worker: WorkerRecord,
  owners: Readonly<Record<'peerOwners' | 'deviceOwners', ReadonlyMap<number, OwnerRecord>>>,
  now: Date,
): Record<string, unknown> {
  const owned = (of: ReadonlyMap<number, OwnerRecord>) =>
    [...of.values()].filter((owner) => owner.worker === worker.id).map(({ id }) => id);
  return {
    id: worker.id,
    version: worker.version,
    'started-at': worker.startedAt,
    'beat-age-ms': Math.max(0, now.getTime() - worker.beatAt),
    draining: worker.draining,
    'source-addresses': worker.sourceAddresses,
    abilities: worker.abilities,
    peers: owned(owners.peerOwners),
    devices: owned(owners.deviceOwners),
  };
}

async function existingSettings(): Promise<EngineSettings> {
  const settings = await getEngineSettings();
  if (settings === undefined)
    throw new Problem('no-worker', 'the stack is not set up yet', { retryAfterSeconds: 1 });
  return settings;
}

function isSame(a: EngineSettings, b: EngineSettings): boolean {
  return (['local-as', 'router-id', 'stale-time', 'max-nlri'] as const).every(
    (member) => a[member] === b[member],
  );
}

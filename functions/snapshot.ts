import { planDevice } from '../core/collection-plan.ts';
import type { Device } from '../core/device.ts';
import type { Model } from '../core/model.ts';
import { Problem } from '../core/problem.ts';
import {
  CSV_TYPE,
  type DeviceRows,
  formatSnapshotCsv,
  formatSnapshotJson,
  MISSING_REASONS,
  type MissingDevice,
  parseSnapshotPart,
  SNAPSHOT_FORMATS,
} from '../core/snapshot.ts';
import { resolveModel, type Subscription, selectsDevice } from '../core/subscription.ts';
import { type SnapshotCommand, sendCommand } from '../store/command-store.ts';
import { listDevices } from '../store/device-store.ts';
import { listModels } from '../store/model-store.ts';
import { listDeviceOwners } from '../store/owner-store.ts';
import { takeSnapshotPart } from '../store/snapshot-store.ts';
import { listSubscriptions } from '../store/subscription-store.ts';
import type { ApiRequest, ApiResponse } from './http.ts';
import { findLiveWorkers } from './live-workers.ts';
import { refuseUnknownParameters } from './preconditions.ts';

/** Workers look for commands once a second; one that has not answered by then has something else to do. */
const WAIT_MILLISECONDS = 12_000;
const POLL_MILLISECONDS = 100;

/** Answers with the newest rows of a model, asked of the workers that own its devices. */
export async function takeSnapshot(
  request: ApiRequest,
  existingModel: () => Promise<Model>,
): Promise<ApiResponse> {
  refuseUnknownParameters(request, ['format']);
  const format = request.query.get('format') ?? 'json';
  if (!SNAPSHOT_FORMATS.some((known) => known === format)) {
    throw new Problem('invalid-query', `format is ${SNAPSHOT_FORMATS.join(' or ')}`);
  }
  const model = await existingModel();
  const { wanted, missing } = await devicesOf(model);
  const { rows, silent } = await ask(request, model, wanted);
  const head = {
    modelId: model.id,
    modelName: model.name,
    version: model.version,
    takenAt: new Date().toISOString(),
    fields: model.fields.map(({ name }) => name),
  };
  if (format === 'csv') {
    return { status: 200, headers: { 'content-type': CSV_TYPE }, body: formatSnapshotCsv(head, rows) };
  }
  const all = [...missing, ...silent].toSorted((a, b) => a.deviceId - b.deviceId);
  const headers = { 'content-type': 'application/json' };
  return { status: 200, headers, body: formatSnapshotJson(head, rows, all) };
}

/** Devices that are collected for this model, and those that should be and are not. */
async function devicesOf(model: Model): Promise<{ wanted: Device[]; missing: MissingDevice[] }> {
  const [models, devices, subscriptions] = await Promise.all([
    listModels(),
    listDevices(),
    listSubscriptions(),
  ]);
  const concerned = subscriptions.filter((subscription) => collects(subscription, model, models));
  const wanted: Device[] = [];
  const missing: MissingDevice[] = [];
  for (const device of devices) {
    const own = concerned.filter(({ configuration }) => selectsDevice(configuration, device));
    if (own.length === 0) continue;
    const { streams, idle } = planDevice(device, own, models);
    if (streams.length > 0) wanted.push(device);
    else missing.push({ deviceId: device.id, reason: idle[0]?.reason ?? MISSING_REASONS.noRows });
  }
  return { wanted, missing };
}

function collects(subscription: Subscription, model: Model, models: readonly Model[]): boolean {
  return resolveModel(subscription, models).model?.id === model.id;
}

/** Asks the owners of the devices and waits for their parts. */
async function ask(
  { now }: ApiRequest,
  model: Model,
  wanted: readonly Device[],
): Promise<{ rows: DeviceRows[]; silent: MissingDevice[] }> {
  if (wanted.length === 0) return { rows: [], silent: [] };
  const [owners, liveWorkers] = await Promise.all([listDeviceOwners(), findLiveWorkers(now)]);
  const ownerOf = new Map(wanted.map(({ id }) => [id, owners.get(id)?.worker ?? '']));
  const workers = new Set([...ownerOf.values()].filter((worker) => liveWorkers.has(worker)));
  const parts = await Promise.all([...workers].map((worker) => askWorker(worker, model.id, now)));
  const told = new Map(parts.flatMap((part) => part ?? []).map((device) => [device.deviceId, device]));
  const rows: DeviceRows[] = [];
  const silent: MissingDevice[] = [];
  for (const { id } of wanted) {
    const found = told.get(id);
    const owner = ownerOf.get(id) ?? '';
    if (found !== undefined && found.rows.length > 0) rows.push(found);
    else if (found !== undefined) silent.push({ deviceId: id, reason: found.reason });
    else if (owner === '') silent.push({ deviceId: id, reason: MISSING_REASONS.noOwner });
    else {
      const isLive = liveWorkers.has(owner);
      silent.push({ deviceId: id, reason: isLive ? MISSING_REASONS.noAnswer : MISSING_REASONS.noWorker });
    }
  }
  return { rows, silent };
}

async function askWorker(worker: string, modelId: number, now: Date): Promise<DeviceRows[] | undefined> {
  const { id } = await sendCommand<SnapshotCommand>(worker, { command: 'snapshot', modelId }, now);
  const deadline = performance.now() + WAIT_MILLISECONDS;
  while (performance.now() < deadline) {
    const part = await takeSnapshotPart(id);
    if (part !== undefined) return parseSnapshotPart(part);
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
  }
  return undefined;
}

import { RUNTIME_KEYS } from '../contract/tables.ts';
import type { DeviceStatus } from '../core/stream-status.ts';
import { compressZstd, decompressZstd } from './compression.ts';
import { deleteItem, type Item, putItem, queryItems, SCHEMA_VERSION } from './table.ts';

/** Statuses are kept in items of up to this many devices, by their ids. */
const DEVICES_PER_ITEM = 100;

/** Which item holds the status of this device. */
export function deviceStatusChunk(deviceId: number): number {
  return Math.floor((deviceId - 1) / DEVICES_PER_ITEM);
}

/** Writes what `worker` sees of its devices in one chunk; none: the item goes. */
export async function putDeviceStatuses(
  worker: string,
  chunk: number,
  statuses: readonly DeviceStatus[],
): Promise<void> {
  const key = RUNTIME_KEYS.streamStatus(worker, chunk);
  if (statuses.length === 0) {
    await deleteItem('runtime', key);
    return;
  }
  const text = await compressZstd(JSON.stringify(statuses));
  await putItem('runtime', { ...key, v: SCHEMA_VERSION, worker, chunk, statuses: text });
}

/** What the workers last said of every device: of two words about one, that of the later owner. */
export async function listDeviceStatuses(): Promise<Map<number, DeviceStatus>> {
  const newest = new Map<number, DeviceStatus>();
  for (const status of await read(await queryItems('runtime', RUNTIME_KEYS.streamStatuses))) {
    const other = newest.get(status.deviceId);
    if (other === undefined || other.epoch <= status.epoch) newest.set(status.deviceId, status);
  }
  return newest;
}

async function read(items: readonly Item[]): Promise<DeviceStatus[]> {
  const chunks = await Promise.all(
    items.map(
      async (item) =>
        JSON.parse((await decompressZstd(item['statuses'] as Uint8Array)).toString()) as DeviceStatus[],
    ),
  );
  return chunks.flat();
}

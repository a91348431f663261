import { RUNTIME_KEYS } from '../contract/tables.ts';
import type { OwnerRecord } from '../core/ownership.ts';
import {
  ABSENT,
  ConditionFailed,
  deleteItem,
  getItem,
  type Item,
  putItem,
  queryItems,
  SCHEMA_VERSION,
} from './table.ts';

export async function listPeerOwners(): Promise<Map<number, OwnerRecord>> {
  const items = await queryItems('runtime', RUNTIME_KEYS.peerOwners);
  return new Map(items.map((item) => [item['id'] as number, fromItem(item)]));
}

export async function getPeerOwner(id: number): Promise<OwnerRecord | undefined> {
  const item = await getItem('runtime', RUNTIME_KEYS.peerOwner(id));
  return item === undefined ? undefined : fromItem(item);
}

/**
 * Makes `worker` the owner of a peer, in the next epoch, if the owner is still the one that was read.
 * Returns the new record, or undefined when another worker was faster.
 */
export async function takePeer(
  id: number,
  worker: string,
  previous: OwnerRecord | undefined,
): Promise<OwnerRecord | undefined> {
  const next: OwnerRecord = { id, worker, epoch: (previous?.epoch ?? 0) + 1 };
  const written = await write(next, previous);
  return written ? next : undefined;
}

/** Gives a peer up, so that any worker may take it at once. Nothing happens when it is another's by now. */
export async function releasePeer(owner: OwnerRecord): Promise<void> {
  await write({ ...owner, worker: '' }, owner);
}

/** Forgets the ownership of a peer that was removed. */
export async function forgetPeer(owner: OwnerRecord): Promise<void> {
  try {
    await deleteItem('runtime', RUNTIME_KEYS.peerOwner(owner.id), unchanged(owner));
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

export async function listDeviceOwners(): Promise<Map<number, OwnerRecord>> {
  const items = await queryItems('runtime', RUNTIME_KEYS.deviceOwners);
  return new Map(items.map((item) => [item['id'] as number, fromItem(item)]));
}

/** As `takePeer`, for a device. */
export async function takeDevice(
  id: number,
  worker: string,
  previous: OwnerRecord | undefined,
): Promise<OwnerRecord | undefined> {
  const next: OwnerRecord = { id, worker, epoch: (previous?.epoch ?? 0) + 1 };
  const written = await write(next, previous, RUNTIME_KEYS.deviceOwner(id));
  return written ? next : undefined;
}

/** As `releasePeer`, for a device. */
export async function releaseDevice(owner: OwnerRecord): Promise<void> {
  await write({ ...owner, worker: '' }, owner, RUNTIME_KEYS.deviceOwner(owner.id));
}

/** As `forgetPeer`, for a device. */
export async function forgetDevice(owner: OwnerRecord): Promise<void> {
  try {
    await deleteItem('runtime', RUNTIME_KEYS.deviceOwner(owner.id), unchanged(owner));
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

async function write(
  next: OwnerRecord,
  previous: OwnerRecord | undefined,
  key = RUNTIME_KEYS.peerOwner(next.id),
): Promise<boolean> {
  try {
    await putItem(
      'runtime',
      { ...key, v: SCHEMA_VERSION, ...next },
      previous === undefined ? ABSENT : unchanged(previous),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}

function unchanged(owner: OwnerRecord) {
  return {
    expression: '#worker = :worker AND #epoch = :epoch',
    values: { ':worker': owner.worker, ':epoch': owner.epoch },
  };
}

function fromItem(item: Item): OwnerRecord {
  return { id: item['id'], worker: item['worker'], epoch: item['epoch'] };
}

import { RUNTIME_KEYS } from '../contract/tables.ts';
import type { PeerStatus } from '../core/peer-status.ts';
import { compressZstd, decompressZstd } from './compression.ts';
import { deleteItem, getItem, type Item, putItem, queryItems, SCHEMA_VERSION } from './table.ts';

/** Statuses are kept in items of up to this many peers, by their ids, so that a thousand peers cost ten writes. */
const PEERS_PER_ITEM = 100;

/** Which item holds the status of this peer. */
export function statusChunk(peerId: number): number {
  return Math.floor((peerId - 1) / PEERS_PER_ITEM);
}

/** Writes what `worker` sees of its peers in one chunk; no peers: the item goes. */
export async function putPeerStatuses(
  worker: string,
  chunk: number,
  statuses: readonly PeerStatus[],
): Promise<void> {
  const key = RUNTIME_KEYS.peerStatus(worker, chunk);
  if (statuses.length === 0) {
    await deleteItem('runtime', key);
    return;
  }
  const text = JSON.stringify(statuses);
  await putItem('runtime', { ...key, v: SCHEMA_VERSION, worker, chunk, statuses: await compressZstd(text) });
}

/** What `worker` last said of one peer. */
export async function getPeerStatus(worker: string, peerId: number): Promise<PeerStatus | undefined> {
  const item = await getItem('runtime', RUNTIME_KEYS.peerStatus(worker, statusChunk(peerId)));
  return item === undefined ? undefined : (await read([item])).find((status) => status.id === peerId);
}

/** What every worker last said of every peer; who of them owns it is the caller's question. */
export async function listPeerStatuses(): Promise<PeerStatus[]> {
  return read(await queryItems('runtime', RUNTIME_KEYS.peerStatuses));
}

/** What one worker last said of its peers: of all, or of those in one chunk. */
export async function listStatusesOf(worker: string): Promise<PeerStatus[]> {
  return read(await queryItems('runtime', RUNTIME_KEYS.peerStatuses, { prefix: `${worker}#` }));
}

async function read(items: readonly Item[]): Promise<PeerStatus[]> {
  const chunks = await Promise.all(
    items.map(
      async (item) =>
        JSON.parse((await decompressZstd(item['statuses'] as Uint8Array)).toString()) as PeerStatus[],
    ),
  );
  return chunks.flat();
}

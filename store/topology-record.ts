/** The items that topology logs and snapshots are kept in: compressed octets under a sequence or part number. */
import { constants } from 'node:zlib';
import { paddedId, RUNTIME_KEYS } from '../contract/tables.ts';
import type { AppliedLog } from '../core/topology/applied-log.ts';
import { decodeBatch, decodeBatchToKeep, encodeBatch, type LogEntry } from '../core/topology/log.ts';
import { decodeSnapshot } from '../core/topology/snapshot.ts';
import { compressZstd, decompressZstd } from './compression.ts';
import { deleteItem, putItem, queryItems, SCHEMA_VERSION } from './table.ts';
import { type Segment, type SnapshotPointer, segmentsAfter, type TopologyHead } from './topology-head.ts';

/** Compressed octets of one log item. Larger batches are split. */
export const LOG_ITEM_OCTETS = 64 * 1024;
/** Octets of one snapshot part before compression: an item stays below 300 KB whatever the octets are. */
export const SNAPSHOT_PART_OCTETS = 128 * 1024;
/** Parts of a snapshot in one partition. */
const PARTS_IN_A_GROUP = 8;

/** Level 1: the log is read far more often than it is large. */
function compress(octets: Uint8Array): Promise<Uint8Array> {
  return compressZstd(octets, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

/** One or more compressed batches of at most `LOG_ITEM_OCTETS`, in order. */
export async function compressBatch(batch: Uint8Array): Promise<Uint8Array[]> {
  const compressed = await compress(batch);
  if (compressed.length <= LOG_ITEM_OCTETS) return [compressed];
  const entries = decodeBatch(batch);
  // One entry is at most an NLRI and an attribute of 64 KiB each: above the limit, but far below an item's.
  if (entries.length === 1) return [compressed];
  const middle = entries.length >> 1;
  const halves = [entries.slice(0, middle), entries.slice(middle)];
  return (await Promise.all(halves.map((half) => compressBatch(encodeBatch(half))))).flat();
}

export async function putLogItem(
  peerId: number,
  segment: Segment,
  sequence: number,
  data: Uint8Array,
): Promise<void> {
  await putItem('runtime', {
    pk: RUNTIME_KEYS.topologyLog(peerId, segment.epoch, segment.first),
    sk: paddedId(sequence),
    v: SCHEMA_VERSION,
    data,
  });
}

/** The entries of one log item, with memory of their own. */
export interface LogRecord {
  readonly sequence: number;
  readonly entries: readonly LogEntry[];
}

/** What the log says after `sequence`, up to the head, in order. Throws when a visible item is missing. */
export async function readLog(head: TopologyHead, sequence: number): Promise<LogRecord[]> {
  const stretches = await Promise.all(
    segmentsAfter(head, sequence).map(async ({ segment, last }) => {
      const items = await queryItems(
        'runtime',
        RUNTIME_KEYS.topologyLog(head.peerId, segment.epoch, segment.first),
        { after: paddedId(sequence) },
      );
      // Behind the last visible item may stand what a writer that was fenced, or died, left there.
      const visible = items.filter((item) => Number(item.sk) <= last);
      return Promise.all(
        visible.map(async (item) => ({
          sequence: Number(item.sk),
          entries: decodeBatchToKeep(await decompressZstd(item['data'] as Uint8Array)),
        })),
      );
    }),
  );
  const records = stretches.flat();
  if (records.length !== head.sequence - sequence) {
    throw new MissingLogItems(head.peerId, sequence, head.sequence, records.length);
  }
  return records;
}

/** The head moved on, and what lay behind it was removed, between two reads: read the head again. */
export class MissingLogItems extends Error {
  constructor(peerId: number, after: number, last: number, found: number) {
    super(`topology log of peer ${peerId}: ${found} items after ${after}, not all up to ${last}`);
    this.name = 'MissingLogItems';
  }
}

/** Writes the parts of a snapshot; returns how many there are. */
export async function putSnapshot(
  peerId: number,
  epoch: number,
  sequence: number,
  parts: Iterable<Uint8Array>,
): Promise<number> {
  let part = 0;
  let group: Promise<void>[] = [];
  for (const octets of parts) {
    const pk = RUNTIME_KEYS.topologySnapshot(peerId, epoch, sequence, Math.floor(part / PARTS_IN_A_GROUP));
    const sk = paddedId(part);
    group.push(compress(octets).then((data) => putItem('runtime', { pk, sk, v: SCHEMA_VERSION, data })));
    part += 1;
    if (group.length === PARTS_IN_A_GROUP) {
      await Promise.all(group);
      group = [];
    }
  }
  await Promise.all(group);
  return part;
}

function groupsOf(parts: number): number {
  return Math.ceil(parts / PARTS_IN_A_GROUP);
}

/** Puts a snapshot into an empty `rib`. */
export async function readSnapshot<Rib extends AppliedLog>(
  peerId: number,
  { epoch, sequence, parts: count }: SnapshotPointer,
  rib: Rib,
): Promise<Rib> {
  const parts = await Promise.all(
    Array.from({ length: groupsOf(count) }, async (_, group) => {
      const items = await queryItems(
        'runtime',
        RUNTIME_KEYS.topologySnapshot(peerId, epoch, sequence, group),
      );
      return Promise.all(items.map((item) => decompressZstd(item['data'] as Uint8Array)));
    }),
  );
  const all = parts.flat();
  if (all.length !== count) throw new MissingLogItems(peerId, 0, sequence, all.length);
  return decodeSnapshot(all, rib);
}

/** Puts the state at the head into an empty `rib`: its newest snapshot and what came after. */
export async function readAdjRibIn<Rib extends AppliedLog>(head: TopologyHead, rib: Rib): Promise<Rib> {
  const snapshot = head.snapshots.at(-1);
  if (snapshot !== undefined) await readSnapshot(head.peerId, snapshot, rib);
  for (const { entries } of await readLog(head, snapshot?.sequence ?? 0)) {
    for (const entry of entries) rib.apply(entry);
  }
  return rib;
}

export async function removeSegment(peerId: number, { epoch, first }: Segment): Promise<void> {
  await removePartition(RUNTIME_KEYS.topologyLog(peerId, epoch, first));
}

export async function removeSnapshot(
  peerId: number,
  { epoch, sequence, parts }: SnapshotPointer,
): Promise<void> {
  for (let group = 0; group < groupsOf(parts); group += 1) {
    await removePartition(RUNTIME_KEYS.topologySnapshot(peerId, epoch, sequence, group));
  }
}

async function removePartition(partition: string): Promise<void> {
  const items = await queryItems('runtime', partition);
  for (let start = 0; start < items.length; start += 25) {
    await Promise.all(items.slice(start, start + 25).map(({ pk, sk }) => deleteItem('runtime', { pk, sk })));
  }
}

import { BUCKETS } from '../contract/buckets.ts';
import { ENV } from '../contract/env.ts';
import { RUNTIME_KEYS } from '../contract/tables.ts';
import { compressZstd, decompressZstd } from './compression.ts';
import type { ObjectPlace } from './object-store.ts';
import { getItem, putItem, SCHEMA_VERSION } from './table.ts';

/** A part is read at once or never. */
const PART_LIFE_SECONDS = 300;
/** A larger part goes to S3: beyond this an item costs more than an object, and soon does not hold it. */
const INLINE_BYTES = 262_144;
/** No part opens to more. */
const OPENED_LIMIT_BYTES = 536_870_912;

/** Leaves what a worker has of a snapshot, as `formatSnapshotPart` wrote it. */
export async function putSnapshotPart(id: string, text: string, now: Date): Promise<void> {
  const part = await compressZstd(text);
  const isInline = part.length <= INLINE_BYTES;
  if (!isInline) {
    const { putObject } = await import('./object-store.ts');
    await putObject(placeOf(id), part);
  }
  await putItem('runtime', {
    ...RUNTIME_KEYS.snapshotPart(id),
    v: SCHEMA_VERSION,
    ...(isInline ? { part } : {}),
    expires: Math.floor(now.getTime() / 1000) + PART_LIFE_SECONDS,
  });
}

/** The text of a part, once its worker has left it; what lay in S3 is gone then. */
export async function takeSnapshotPart(id: string): Promise<string | undefined> {
  const item = await getItem('runtime', RUNTIME_KEYS.snapshotPart(id));
  if (item === undefined) return undefined;
  const part: Uint8Array = item['part'] ?? (await takeObject(id));
  return (await decompressZstd(part, { maxOutputLength: OPENED_LIMIT_BYTES })).toString();
}

async function takeObject(id: string): Promise<Uint8Array> {
  const { readObject, removeObject } = await import('./object-store.ts');
  const octets = await readObject(placeOf(id));
  await removeObject(placeOf(id));
  return octets;
}

function placeOf(id: string): ObjectPlace {
  return { bucket: process.env[ENV.payloadsBucket] ?? BUCKETS.payloads.name, key: `snapshots/${id}` };
}

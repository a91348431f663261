/** Answers that are too large for API Gateway wait in S3 for the caller who asked for them. */
import { randomUUID } from 'node:crypto';
import { BUCKETS } from '../contract/buckets.ts';
import type { ObjectHeaders } from './object-store.ts';

/** Long enough to follow a redirect on a slow line; the body itself may take longer to arrive. */
const LINK_LIFE_SECONDS = 300;

export interface LargeBody extends ObjectHeaders {
  readonly octets: Uint8Array;
}

/** A body may be given again as the same octets: it is stored once, for less than the day after which the bucket drops it. */
const STORED_FOR_MILLISECONDS = 60 * 60 * 1000;
const stored = new WeakMap<Uint8Array, { readonly key: string; readonly at: number }>();

/** Stores a body and returns an address that gives it to whoever has the address, for some minutes. */
export async function putLargeBody(body: LargeBody): Promise<string> {
  // Most processes never have such an answer.
  const { linkToObject, putObject } = await import('./object-store.ts');
  const bucket = process.env[BUCKETS.topology.environment] ?? BUCKETS.topology.name;
  const before = stored.get(body.octets);
  const isKept = before !== undefined && Date.now() - before.at < STORED_FOR_MILLISECONDS;
  const key = isKept ? before.key : randomUUID();
  if (!isKept) {
    await putObject({ bucket, key }, body.octets, body);
    stored.set(body.octets, { key, at: Date.now() });
  }
  return linkToObject({ bucket, key }, LINK_LIFE_SECONDS);
}

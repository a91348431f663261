import { RUNTIME_KEYS } from '../contract/tables.ts';
import type { DeliveryHead } from '../core/delivery-message.ts';
import type { DeliveryCounters } from '../core/delivery-metrics.ts';
import type { Counts, DeliveryTally, LastFailure } from '../core/delivery-tally.ts';
import {
  ABSENT,
  ConditionFailed,
  getItem,
  putItem,
  queryItems,
  retryingConflicts,
  SCHEMA_VERSION,
  transact,
  type Write,
} from './table.ts';

const SHARDS = 16;

/** The write that adds a tally to the counter of this message. */
export function tallyWrite(head: DeliveryHead, tally: DeliveryTally): Write {
  return {
    update: RUNTIME_KEYS.deliveryCounter(shardOf(head.id)),
    table: 'runtime',
    add: tally.counts,
    set: {
      takenPackedAt: head.packedAt,
      ...(tally.lastSuccess === undefined ? {} : { lastSuccess: tally.lastSuccess }),
      ...(tally.lastFailure === undefined ? {} : { lastFailure: tally.lastFailure }),
    },
  };
}

/** Adds what a worker collected. With the same `token`, however often it is tried, it is added once. */
export async function addCollected(
  counts: Counts,
  lastFailure: LastFailure | undefined,
  token: string,
): Promise<void> {
  const write: Write = {
    update: RUNTIME_KEYS.collectedCounter(),
    table: 'runtime',
    add: counts,
    ...(lastFailure === undefined ? {} : { set: { lastFailure } }),
  };
  await retryingConflicts(() => transact([write], token));
}

/** The sum of all counters; `since` is what `countingSince` gave, or whatever time will do. */
export async function readDeliveryCounters(since: string): Promise<DeliveryCounters> {
  const counts: Counts = {};
  let lastSuccess: string | null = null;
  let lastFailure: LastFailure | null = null;
  let takenPackedAt = 0;
  for (const item of await queryItems('runtime', RUNTIME_KEYS.deliveryCounters)) {
    for (const [name, value] of Object.entries(item)) {
      // Counts are named `group.name`; everything else has no dot.
      if (name.includes('.')) counts[name] = (counts[name] ?? 0) + (value as number);
    }
    const success: string | undefined = item['lastSuccess'];
    const failure: LastFailure | undefined = item['lastFailure'];
    if (success !== undefined && (lastSuccess === null || success > lastSuccess)) lastSuccess = success;
    if (failure !== undefined && (lastFailure === null || failure.at > lastFailure.at)) lastFailure = failure;
    takenPackedAt = Math.max(takenPackedAt, item['takenPackedAt'] ?? 0);
  }
  return { since, counts, lastSuccess, lastFailure, takenPackedAt };
}

/** When counting began, ISO 8601; for the first to ask, now. */
export async function countingSince(now: Date): Promise<string> {
  const key = RUNTIME_KEYS.countingSince();
  const found = await getItem('runtime', key);
  if (found !== undefined) return found['since'];
  try {
    await putItem('runtime', { ...key, v: SCHEMA_VERSION, since: now.toISOString() }, ABSENT);
    return now.toISOString();
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    return error.item?.['since'] ?? now.toISOString();
  }
}

/** Ids are random, so their last bits are too. */
function shardOf(id: string): number {
  return Number.parseInt(id.slice(-4), 16) % SHARDS || 0;
}

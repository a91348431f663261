/** Counts the cycles that a receiver got, by what the records themselves say. */
import { nextDueAt } from '../../../core/collection-plan.ts';
import type { ReceivedRequest } from '../receiver/receiver.ts';

export interface ReceivedRecord {
  readonly device: string;
  readonly 'device-id': number;
  readonly 'model-name': string;
  readonly key: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The records of requests that hold one each. */
export function recordsOf(requests: readonly ReceivedRequest[]): ReceivedRecord[] {
  return requests.map(({ body }) => JSON.parse(body.toString()) as ReceivedRecord);
}

/** One row of one device and model, in the order of the device's times. */
export function rowsByTime(records: readonly ReceivedRecord[]): Map<string, ReceivedRecord[]> {
  const rows = Map.groupBy(
    records,
    (record) => `${record['device-id']} ${record['model-name']} ${record.key}`,
  );
  for (const row of rows.values()) row.sort((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp));
  return rows;
}

export interface PollCount {
  readonly cycles: number;
  /** Due times without a record, by their place in time. */
  readonly missed: readonly number[];
  /** Due times with more than one. */
  readonly doubled: readonly number[];
}

/**
 * A polled row against its due times: each record's own time says which one it answers. A timer that fires a little early
 * changes nothing, nor does a worker or a target that is late by less than three quarters of an interval. The first and
 * the last due time are at the edge and not counted.
 */
export function countPolls(
  row: readonly ReceivedRecord[],
  subscriptionId: number,
  intervalMilliseconds: number,
): PollCount {
  const deviceId = row[0]?.['device-id'] ?? 0;
  const phase = nextDueAt(`${subscriptionId}/${deviceId}`, intervalMilliseconds, 0);
  const counts = new Map<number, number>();
  for (const { timestamp } of row) {
    const due = Math.floor((Date.parse(timestamp) - phase) / intervalMilliseconds + 1 / 4);
    counts.set(due, (counts.get(due) ?? 0) + 1);
  }
  const first = Math.min(...counts.keys());
  const last = Math.max(...counts.keys());
  const missed: number[] = [];
  for (let due = first + 1; due < last; due += 1) if (!counts.has(due)) missed.push(due);
  return {
    cycles: counts.size,
    missed,
    doubled: [...counts].flatMap(([due, count]) => (count > 1 ? [due] : [])),
  };
}

/** Milliseconds between the times of one record and the next. */
export function gapsOf(row: readonly ReceivedRecord[]): number[] {
  return row
    .slice(1)
    .map(({ timestamp }, index) => Date.parse(timestamp) - Date.parse(row[index]?.timestamp ?? ''));
}

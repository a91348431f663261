import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Counts, LastFailure } from '../../../core/delivery-tally.ts';
import type { CollectedRecords } from '../../../worker/delivery/packer.ts';
import { RecordPort } from '../../../worker/delivery/record-port.ts';

/** The records of one cycle, each of these octets. */
function cycle(...records: string[]): CollectedRecords {
  const ends: number[] = [];
  let end = 0;
  for (const record of records) {
    end += record.length;
    ends.push(end);
  }
  return { bytes: Buffer.from(records.join('')), ends };
}

interface Counted {
  readonly counts: Counts;
  readonly lastFailure: LastFailure | undefined;
  readonly token: string;
}

/** A port whose queue and counters do as they are told. */
function port(queueRefuses = false) {
  const sent: number[] = [];
  const counted: Counted[] = [];
  const state = { queueRefuses, countersAnswer: true };
  const records = new RecordPort({
    send: async (_head, requests) => {
      if (state.queueRefuses) throw new Error('the queue is gone');
      sent.push(requests.length);
    },
    count: async (counts, lastFailure, token) => {
      // Taken, but the answer is lost on its way.
      counted.push({ counts: { ...counts }, lastFailure, token });
      if (!state.countersAnswer) throw new Error('no answer');
    },
  });
  records.configure({ enabled: true, batchMode: false });
  /** What a store that knows its tokens has added up. */
  const total = (name: string) =>
    [...new Map(counted.map((each) => [each.token, each.counts])).values()].reduce(
      (sum, counts) => sum + (counts[name] ?? 0),
      0,
    );
  return { records, sent, counted, state, total };
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('where the collectors put their records', () => {
  it('counts what it takes once, also when the counters take it and their answer is lost', async () => {
    const { records, counted, state, total } = port();
    state.countersAnswer = false;
    records.collect(1, cycle('{"a":1}', '{"a":2}'));
    await vi.advanceTimersByTimeAsync(30_000);
    records.collect(1, cycle('{"a":3}'));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(new Set(counted.map(({ token }) => token)).size).toBe(1);
    state.countersAnswer = true;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(total('records.collected')).toBe(3);
    expect(total('records.accepted')).toBe(3);
    expect(new Set(counted.map(({ token }) => token)).size).toBe(2);
  });

  it('counts as not-queued what the queue refuses for good, and says why', async () => {
    const { records, counted, total } = port(true);
    records.collect(1, cycle('{"a":1}', '{"a":2}'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(total('records.collected')).toBe(2);
    expect(total('records.accepted')).toBe(0);
    expect(total('records.failed.not-queued')).toBe(2);
    expect(counted.at(-1)?.lastFailure).toMatchObject({ reason: 'not-queued' });
  });

  it('takes the next cycles at once while the queue does not answer', async () => {
    const { records, sent, state } = port(true);
    for (let device = 1; device <= 1_000; device += 1) records.collect(device, cycle('{"a":1}'));
    expect(sent).toEqual([]);
    state.queueRefuses = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sent.reduce((sum, requests) => sum + requests, 0)).toBe(1_000);
  });

  it('hands on what it holds when it is closed', async () => {
    const { records, sent, total } = port();
    records.collect(1, cycle('{"a":1}'));
    await records.close();
    expect(sent).toEqual([1]);
    expect(total('records.accepted')).toBe(1);
  });

  it('builds nothing while the output is disabled', async () => {
    const { records, sent, counted } = port();
    records.configure({ enabled: false, batchMode: false });
    records.collect(1, cycle('{"a":1}'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect([sent, counted]).toEqual([[], []]);
  });
});

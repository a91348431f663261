import { describe, expect, it } from 'vitest';
import type { TopologyHead } from '../../store/topology-head.ts';
import { farthestStarts, logCost, logStarts, startFor } from '../../store/topology-reach.ts';

/** A log of stretches of ten items and 1,000 octets, each of which a snapshot at its end replaces. */
function log(
  peerId: number,
  options: { first?: number; last: number; snapshots: [number, number][] },
): TopologyHead {
  const { first = 1, last, snapshots } = options;
  return {
    peerId,
    epoch: 1,
    worker: 'w-1',
    sequence: last,
    at: 0,
    staleMilliseconds: 0,
    segments: Array.from({ length: Math.ceil((last - first + 1) / 10) }, (_, index) => ({
      epoch: 1,
      first: first + index * 10,
      octets: 1_000,
    })),
    snapshots: snapshots.map(([sequence, at]) => ({ epoch: 1, sequence, parts: 1, at })),
  };
}

/** Ten items as stored, with what each costs besides. */
const STRETCH = 1_000 + 10 * 256;
const reachOf = (heads: TopologyHead[], octets: number) =>
  [...farthestStarts(heads, octets)].map(([peerId, { sequence }]) => [peerId, sequence]);

describe('how far back a log is read', () => {
  const whole = log(1, {
    last: 40,
    snapshots: [
      [10, 100],
      [20, 200],
      [30, 300],
    ],
  });
  const shortened = log(2, {
    first: 11,
    last: 40,
    snapshots: [
      [10, 100],
      [30, 300],
    ],
  });

  it('it can begin with each snapshot, and with nothing as long as its first stretch is there', () => {
    expect(logStarts(whole).map(({ sequence }) => sequence)).toEqual([30, 20, 10, 0]);
    expect(logStarts(shortened).map(({ sequence }) => sequence)).toEqual([30, 10]);
    expect(logStarts(log(3, { last: 5, snapshots: [] }))).toEqual([
      { sequence: 0, at: 0, snapshot: undefined },
    ]);
  });

  it('it costs what is stored after that', () => {
    expect([0, 10, 29, 30, 40].map((sequence) => logCost(whole, sequence))).toEqual([
      4 * STRETCH,
      3 * STRETCH,
      2_000 + 11 * 256,
      STRETCH,
      // Of the last stretch nobody knows the end.
      1_000,
    ]);
  });

  it('a sequence number is reached from the start before it, if what follows it is not too much', () => {
    expect(startFor(whole, 25, 2 * STRETCH)?.sequence).toBe(20);
    expect(startFor(whole, 20, 2 * STRETCH)?.sequence).toBe(20);
    expect(startFor(whole, 19, 2 * STRETCH)).toBeUndefined();
    expect(startFor(shortened, 9, 100 * STRETCH)).toBeUndefined();
  });

  it('all go back equally far in time, as far as they fit together, and each has its newest snapshot', () => {
    expect(reachOf([whole], 100 * STRETCH)).toEqual([[1, 0]]);
    expect(reachOf([whole], 2 * STRETCH)).toEqual([[1, 20]]);
    expect(reachOf([whole], 0)).toEqual([[1, 30]]);
    const other = log(4, { last: 20, snapshots: [[10, 150]] });
    // Newest starts of 300 and 150 take two stretches; the log whose history is shorter is the first to be read back.
    expect(reachOf([whole, other], 2 * STRETCH)).toEqual([
      [1, 30],
      [4, 10],
    ]);
    expect(reachOf([whole, other], 3 * STRETCH)).toEqual([
      [1, 20],
      [4, 10],
    ]);
    expect(reachOf([whole, other], 4 * STRETCH)).toEqual([
      [1, 10],
      [4, 10],
    ]);
    expect(reachOf([whole, other], 5 * STRETCH)).toEqual([
      [1, 10],
      [4, 0],
    ]);
    expect(reachOf([whole, other], 6 * STRETCH)).toEqual([
      [1, 0],
      [4, 0],
    ]);
    // A log that is kept for less time keeps the others from nothing.
    expect(reachOf([whole, shortened], 100 * STRETCH)).toEqual([
      [1, 0],
      [2, 10],
    ]);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DeletedPeerLogs } from '../../worker/deleted-peer-logs.ts';

const INTERVAL_MILLISECONDS = 10 * 60 * 1000;
const START = Date.parse('2026-11-21T03:00:00.000Z');

/** Worker `w-2` with its timer, in a world that does as it is told. */
function sweeper() {
  const world = { living: ['w-2'], mayAct: true, isStoreDown: false };
  const sweptAt: number[] = [];
  const lines: string[] = [];
  const logs = new DeletedPeerLogs({
    workerId: 'w-2',
    living: () => world.living,
    mayAct: () => world.mayAct,
    now: Date.now,
    remove: async (now) => {
      sweptAt.push((now - START) / INTERVAL_MILLISECONDS);
      if (world.isStoreDown) throw new Error('the store is gone');
      return [7];
    },
    log: (level, message) => lines.push(`${level} ${message}`),
  });
  logs.start();
  return { world, sweptAt, lines, logs };
}

beforeEach(() => {
  vi.useFakeTimers({ now: START });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('the logs of deleted peers', () => {
  it('are looked for every ten minutes, until the worker stops', async () => {
    const { sweptAt, lines, logs } = sweeper();
    await vi.advanceTimersByTimeAsync(INTERVAL_MILLISECONDS - 1);
    expect(sweptAt).toEqual([]);
    await vi.advanceTimersByTimeAsync(1 + 2 * INTERVAL_MILLISECONDS);
    expect(sweptAt).toEqual([1, 2, 3]);
    expect(lines).toEqual(Array(3).fill('info log of a deleted peer removed'));
    logs.stop();
    await vi.advanceTimersByTimeAsync(INTERVAL_MILLISECONDS);
    expect(sweptAt).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are left to the first worker that lives, whatever the order in which they are listed', async () => {
    const { world, sweptAt } = sweeper();
    world.living = ['w-3', 'w-2', 'w-1'];
    await vi.advanceTimersByTimeAsync(INTERVAL_MILLISECONDS);
    world.living = ['w-3', 'w-2'];
    await vi.advanceTimersByTimeAsync(INTERVAL_MILLISECONDS);
    expect(sweptAt).toEqual([2]);
  });

  it('are not touched by a worker that may not act, nor given up for a store that fails', async () => {
    const { world, sweptAt, lines } = sweeper();
    world.mayAct = false;
    await vi.advanceTimersByTimeAsync(INTERVAL_MILLISECONDS);
    expect(sweptAt).toEqual([]);
    world.mayAct = true;
    world.isStoreDown = true;
    await vi.advanceTimersByTimeAsync(INTERVAL_MILLISECONDS);
    world.isStoreDown = false;
    await vi.advanceTimersByTimeAsync(INTERVAL_MILLISECONDS);
    expect(sweptAt).toEqual([2, 3]);
    expect(lines).toEqual(['warn logs of deleted peers not removed', 'info log of a deleted peer removed']);
  });
});

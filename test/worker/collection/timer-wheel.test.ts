import { describe, expect, it } from 'vitest';
import { type Sleeper, TimerWheel } from '../../../worker/collection/timer-wheel.ts';
import { Random, testSeed } from '../../support/random.ts';

const sleeper = (): Sleeper => ({ wakeAt: 0, previous: undefined, next: undefined, slot: -1 });

describe('the timer wheel', () => {
  it('wakes each sleeper once, never early, at most a slot late', () => {
    const random = new Random(testSeed('timer wheel'));
    const wheel = new TimerWheel(5_000, 10, 64);
    const times = new Map<Sleeper, number>();
    const woken: number[] = [];
    let now = 5_000;
    for (let round = 0; round < 4_000; round += 1) {
      if (random.chance(0.5)) {
        const one = sleeper();
        times.set(one, now + random.below(3_000));
        wheel.set(one, times.get(one) as number);
      }
      const [some] = times.keys();
      if (some !== undefined && random.chance(0.1)) {
        wheel.cancel(some);
        times.delete(some);
      }
      now += random.below(25);
      wheel.advance(now, (one) => {
        expect(times.get(one)).toBeLessThanOrEqual(now);
        woken.push(now - (times.get(one) as number));
        times.delete(one);
      });
      expect(Math.min(...times.values())).toBeGreaterThan(now - 10);
      expect(wheel.size).toBe(times.size);
    }
    expect(woken.length).toBeGreaterThan(1_000);
  });

  it('catches up after a long sleep, looking at each slot once', () => {
    const wheel = new TimerWheel(0, 10, 64);
    const one = sleeper();
    wheel.set(one, 50);
    let count = 0;
    wheel.advance(10_000_000, () => {
      count += 1;
    });
    expect([count, wheel.size]).toEqual([1, 0]);
  });

  it('lets a sleeper be set again while it is woken', () => {
    const wheel = new TimerWheel(0, 10, 64);
    const one = sleeper();
    wheel.set(one, 20);
    const at: number[] = [];
    for (let now = 0; now <= 100; now += 10) {
      wheel.advance(now, (woken) => {
        at.push(now);
        wheel.set(woken, now + 30);
      });
    }
    expect(at).toEqual([20, 50, 80]);
  });
});

import { describe, expect, it } from 'vitest';
import { nextDueAt } from '../../../core/collection-plan.ts';
import { PollSchedule } from '../../../worker/collection/poll-schedule.ts';

/** A schedule on a clock that only the test moves. */
function scheduleAt(start: number) {
  const clock = { now: start };
  const schedule = new PollSchedule(() => clock.now);
  const advanceTo = (time: number, step = 20) => {
    while (clock.now < time) {
      clock.now = Math.min(time, clock.now + step);
      schedule.advance();
    }
  };
  return { schedule, clock, advanceTo };
}

describe('the poll schedule', () => {
  it('keeps each stream at its own phase of the interval, however late it is woken', () => {
    const { schedule, advanceTo } = scheduleAt(1_000_000);
    const due: number[] = [];
    const cancel = schedule.every('5/3', 10_000, (at) => due.push(at));
    advanceTo(1_100_000, 333);
    cancel();
    const first = nextDueAt('5/3', 10_000, 1_000_000);
    expect(due).toEqual(Array.from({ length: due.length }, (_, cycle) => first + cycle * 10_000));
    expect(due.length).toBe(10);
  });

  it('polls a stream of a long interval soon, and then at its phase, never twice within half an interval', () => {
    const { schedule, advanceTo } = scheduleAt(50_000_000);
    const due: number[] = [];
    const cancel = schedule.every('7/1', 300_000, (at) => due.push(at));
    advanceTo(51_500_000, 100);
    cancel();
    const [first = 0, second = 0, ...rest] = due;
    expect(first).toBeLessThanOrEqual(50_010_000);
    expect(second - first).toBeGreaterThanOrEqual(150_000);
    expect([second, ...rest].every((at) => nextDueAt('7/1', 300_000, at - 1) === at)).toBe(true);
  });

  it('leaves out what fell into a standstill, and goes on in phase', () => {
    const { schedule, clock, advanceTo } = scheduleAt(1_000_000);
    const due: number[] = [];
    const cancel = schedule.every('1/1', 1_000, (at) => due.push(at));
    advanceTo(1_002_000);
    clock.now = 1_009_500;
    schedule.advance();
    advanceTo(1_011_000);
    cancel();
    const phase = (due[0] as number) % 1_000;
    expect(due.every((at) => at % 1_000 === phase)).toBe(true);
    expect(new Set(due).size).toBe(due.length);
    expect(due.length).toBeLessThanOrEqual(6);
  });

  it('calls nobody after a cancel, and spreads a thousand streams over the interval', () => {
    const { schedule, advanceTo } = scheduleAt(1_000_000);
    const perSecond = new Array<number>(10).fill(0);
    const cancels = Array.from({ length: 1_000 }, (_, id) =>
      schedule.every(`1/${id}`, 10_000, (at) => {
        const second = Math.floor((at - 1_000_000) / 1_000) % 10;
        perSecond[second] = (perSecond[second] ?? 0) + 1;
      }),
    );
    advanceTo(1_010_000, 100);
    for (const cancel of cancels) cancel();
    advanceTo(1_030_000, 100);
    expect(perSecond.reduce((sum, count) => sum + count, 0)).toBe(1_000);
    expect(Math.max(...perSecond)).toBeLessThan(150);
  });
});

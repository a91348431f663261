/**
 * When polls are due: each at its own phase of its interval, always. One timer serves them all.
 * Times are milliseconds of a clock that never goes back and stands at the epoch's time, so that a phase outlives the
 * process and a stepped clock neither doubles nor skips a cycle.
 */
import { performance } from 'node:perf_hooks';
import { nextDueAt } from '../../core/collection-plan.ts';
import { type Sleeper, TimerWheel } from './timer-wheel.ts';

const TICK_MILLISECONDS = 20;

/** A stream that is polled seldom is first polled within this time, so that a new one soon shows what it brings. */
const FIRST_WITHIN_MILLISECONDS = 10_000;

interface Appointment extends Sleeper {
  readonly name: string;
  readonly intervalMilliseconds: number;
  readonly poll: (dueAt: number) => void;
}

export class PollSchedule {
  /** Milliseconds of the schedule's own clock. */
  readonly now: () => number;
  private readonly wheel: TimerWheel;
  private ticking: NodeJS.Timeout | undefined;

  constructor(now: () => number = () => performance.timeOrigin + performance.now()) {
    this.now = now;
    this.wheel = new TimerWheel(now(), TICK_MILLISECONDS);
  }

  /** Calls `poll` at every due time of this name until the function that it returns is called. */
  every(name: string, intervalMilliseconds: number, poll: (dueAt: number) => void): () => void {
    const appointment: Appointment = {
      name,
      intervalMilliseconds,
      poll,
      wakeAt: 0,
      previous: undefined,
      next: undefined,
      slot: -1,
    };
    const first = Math.min(intervalMilliseconds, FIRST_WITHIN_MILLISECONDS);
    this.wheel.set(appointment, nextDueAt(name, first, this.now()));
    this.keepTicking();
    return () => this.wheel.cancel(appointment);
  }

  /** Wakes what is due; the timer's own call, and a test's. */
  advance(): void {
    this.wheel.advance(this.now(), (sleeper) => this.wake(sleeper as Appointment));
  }

  private wake(appointment: Appointment): void {
    const { name, intervalMilliseconds, wakeAt: dueAt, poll } = appointment;
    // Half an interval on: a first poll out of phase is never followed at once by one in phase.
    const after = Math.max(this.now(), dueAt + intervalMilliseconds / 2);
    this.wheel.set(appointment, nextDueAt(name, intervalMilliseconds, after));
    poll(dueAt);
  }

  private keepTicking(): void {
    if (this.ticking !== undefined) return;
    this.ticking = setTimeout(() => {
      this.ticking = undefined;
      this.advance();
      if (this.wheel.size > 0) this.keepTicking();
    }, TICK_MILLISECONDS);
  }
}

/** The four timers of one TCP connection: RFC 4271 §8.1.3 and §10, and RFC 9687's SendHoldTimer. Time comes from outside. */
import { EVENT, type EventNumber } from './fsm.ts';
import type { PeerSettings } from './peer-settings.ts';

/** RFC 4271 §8.2.2: "a HoldTimer value of 4 minutes is suggested" while the peer's OPEN is awaited. */
const LARGE_HOLD_TIME_SECONDS = 240;
/** RFC 9687 §6: the greater of 8 minutes and twice the hold time. */
const LEAST_SEND_HOLD_TIME_SECONDS = 480;
/** RFC 4271 §10: each timer that is jittered runs for 0.75 to 1.0 of its time. */
const LEAST_JITTER = 0.75;
/** RFC 4271 §4.4: "KEEPALIVE messages MUST NOT be sent more frequently than one per second", jitter included. */
const LEAST_KEEPALIVE_INTERVAL_MILLISECONDS = 1_000;

const TIMERS = ['ConnectRetryTimer', 'HoldTimer', 'KeepaliveTimer', 'SendHoldTimer'] as const;
export type Timer = (typeof TIMERS)[number];

/** The event that each timer raises when it expires. */
export const EXPIRY: Record<Timer, EventNumber> = {
  ConnectRetryTimer: EVENT.ConnectRetryTimerExpires,
  HoldTimer: EVENT.HoldTimerExpires,
  KeepaliveTimer: EVENT.KeepaliveTimerExpires,
  SendHoldTimer: EVENT.SendHoldTimerExpires,
};

/** When each timer expires, in monotonic milliseconds; Infinity while it does not run. */
export class ConnectionTimers {
  readonly #random: () => number;
  readonly deadlines: Record<Timer, number> = {
    ConnectRetryTimer: Infinity,
    HoldTimer: Infinity,
    KeepaliveTimer: Infinity,
    SendHoldTimer: Infinity,
  };

  /** @param random in [0, 1), for the jitter. */
  constructor(random: () => number) {
    this.#random = random;
  }

  next(): number {
    const { ConnectRetryTimer, HoldTimer, KeepaliveTimer, SendHoldTimer } = this.deadlines;
    return Math.min(ConnectRetryTimer, HoldTimer, KeepaliveTimer, SendHoldTimer);
  }

  /** Stops the most overdue timer and names it; undefined when none is due. */
  takeDue(monotonic: number): Timer | undefined {
    const due = TIMERS.filter((timer) => this.deadlines[timer] <= monotonic).sort(
      (one, other) => this.deadlines[one] - this.deadlines[other],
    )[0];
    if (due !== undefined) this.stop(due);
    return due;
  }

  isRunning(timer: Timer): boolean {
    return this.deadlines[timer] !== Infinity;
  }

  stop(timer: Timer): void {
    this.deadlines[timer] = Infinity;
  }

  /**
   * Each timer's time, RFC 4271 §10; hold and send hold timers are not jittered, and a hold time of 0 starts neither.
   * @param holdTimeSeconds as agreed on; 0 before that
   */
  start(timer: Timer, settings: PeerSettings, holdTimeSeconds: number, monotonic: number): void {
    switch (timer) {
      case 'ConnectRetryTimer':
        // A passive peer is never dialled, so there is nothing for this timer to start.
        if (settings.passive) return;
        this.deadlines[timer] = monotonic + this.#jittered(settings.connectRetrySeconds);
        return;
      case 'HoldTimer':
        this.deadlines[timer] = holdTimeSeconds === 0 ? Infinity : monotonic + holdTimeSeconds * 1000;
        return;
      case 'KeepaliveTimer': {
        const seconds = keepaliveTimeSeconds(settings, holdTimeSeconds);
        const interval = Math.max(this.#jittered(seconds), LEAST_KEEPALIVE_INTERVAL_MILLISECONDS);
        this.deadlines[timer] = seconds === 0 ? Infinity : monotonic + interval;
        return;
      }
      case 'SendHoldTimer':
        this.deadlines[timer] =
          holdTimeSeconds === 0
            ? Infinity
            : monotonic + Math.max(LEAST_SEND_HOLD_TIME_SECONDS, 2 * holdTimeSeconds) * 1000;
        return;
    }
  }

  /** The HoldTimer while the peer's OPEN is awaited. */
  startLargeHoldTimer(monotonic: number): void {
    this.deadlines.HoldTimer = monotonic + LARGE_HOLD_TIME_SECONDS * 1000;
  }

  #jittered(seconds: number): number {
    return seconds * 1000 * (LEAST_JITTER + (1 - LEAST_JITTER) * this.#random());
  }
}

/** RFC 4271 §4.4 and §10: no more than a third of the hold time; 0 is no KEEPALIVEs at all. */
export function keepaliveTimeSeconds(settings: PeerSettings, holdTimeSeconds: number): number {
  const third = holdTimeSeconds / 3;
  return settings.keepaliveTimeSeconds === 0 ? third : Math.min(settings.keepaliveTimeSeconds, third);
}

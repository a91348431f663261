/** Of a session that failed after OPEN: from here, doubling … */
const FIRST_SECONDS = 1;
/** … to connect-retry or this, whichever is more … */
const LEAST_LONGEST_SECONDS = 120;
/** … and from the first again after so long in Established. */
const STABLE_AFTER_SECONDS = 60;
/** As RFC 4271 §10 jitters its timers. */
const LEAST_JITTER = 0.75;

/** How long a session stays in Idle before it starts by itself again, so that a broken peer is not hammered. */
export class BackOff {
  #seconds = FIRST_SECONDS;

  reset(): void {
    this.#seconds = FIRST_SECONDS;
  }

  /** The session was Established for so long. */
  wasEstablished(seconds: number): void {
    if (seconds >= STABLE_AFTER_SECONDS) this.reset();
  }

  /** The wait at hand, jittered; `chance` is in [0, 1). */
  waitMilliseconds(chance: number): number {
    return this.#seconds * 1000 * (LEAST_JITTER + (1 - LEAST_JITTER) * chance);
  }

  failed(connectRetrySeconds: number): void {
    this.#seconds = Math.min(2 * this.#seconds, Math.max(connectRetrySeconds, LEAST_LONGEST_SECONDS));
  }
}

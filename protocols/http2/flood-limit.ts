/** Frames that bring nothing, as a peer may send some of: so many at once, and so many a second on the long run. */
const AT_ONCE = 1_000;
const PER_SECOND = 100;

export class FloodLimit {
  #left = AT_ONCE;
  #at = Number.NaN;

  /**
   * Counts one; false when it is one too many.
   * @param now milliseconds of a clock that never goes back.
   */
  count(now: number): boolean {
    const passed = Number.isNaN(this.#at) ? 0 : Math.max(0, now - this.#at);
    this.#at = now;
    this.#left = Math.min(AT_ONCE, this.#left + (passed * PER_SECOND) / 1_000) - 1;
    return this.#left >= 0;
  }
}

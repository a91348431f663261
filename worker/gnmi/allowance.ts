/** How much one source may bring: so many bytes a second on the long run, and some seconds' worth of them at once. */
export class Allowance {
  readonly #bytesPerMillisecond: number;
  readonly #most: number;
  #left: number;
  #at = Number.NaN;

  constructor(bytesPerSecond: number, burstSeconds: number) {
    this.#bytesPerMillisecond = bytesPerSecond / 1_000;
    this.#most = bytesPerSecond * burstSeconds;
    this.#left = this.#most;
  }

  /** Takes what has come at this time (ms); gives how long to wait until nothing is owed, 0 for not at all. */
  take(bytes: number, now: number): number {
    const passed = Number.isNaN(this.#at) ? 0 : Math.max(0, now - this.#at);
    this.#at = now;
    this.#left = Math.min(this.#most, this.#left + passed * this.#bytesPerMillisecond) - bytes;
    return this.#left >= 0 ? 0 : Math.ceil(-this.#left / this.#bytesPerMillisecond);
  }
}

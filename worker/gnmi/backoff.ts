/** How long to wait before trying again: exponential, with full jitter, so that a fleet does not come back at once. */
export interface BackoffOptions {
  readonly firstMilliseconds: number;
  readonly longestMilliseconds: number;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
}

export class Backoff {
  readonly #options: BackoffOptions;
  #attempts = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  get attempts(): number {
    return this.#attempts;
  }

  /** The next wait, in milliseconds: anything from 0 to a ceiling that doubles each time. */
  next(): number {
    const { firstMilliseconds, longestMilliseconds, random } = this.#options;
    const ceiling = Math.min(longestMilliseconds, firstMilliseconds * 2 ** Math.min(this.#attempts, 30));
    this.#attempts += 1;
    return random() * ceiling;
  }

  /** It worked: the next failure starts from the beginning. */
  reset(): void {
    this.#attempts = 0;
  }
}

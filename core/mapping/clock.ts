/** When a cycle of rows closes (design: Cycles). Times are milliseconds of a clock that never goes back. */
export type CycleRule =
  /**
   * Closes at a leaf that arrives again, after max(250 ms, interval ÷ 10) of quiet unless more is awaited, and when the
   * interval is over.
   */
  | {
      readonly kind: 'sample';
      readonly intervalMilliseconds: number;
      /** A leaf that arrives again earlier than this after the cycle's first is the same cycle's, with a newer value. */
      readonly shortestMilliseconds?: number;
    }
  /** Closes at the initial sync, then 250 ms after a first update. */
  | { readonly kind: 'on-change' }
  /** Closes when the one who asks says that everything has come: a poll, ONCE. */
  | { readonly kind: 'asked' };

const ON_CHANGE_MILLISECONDS = 250;

/** Tells when a cycle that has begun is over. */
export class CycleClock {
  private firstAt = Number.NaN;
  private lastAt = Number.NaN;
  private isSynced = false;
  /** Quiet is no end: something that tells apart from the rest has not spoken yet, and the interval bounds the wait. */
  isMoreAwaited = false;
  private readonly rule: CycleRule;

  constructor(rule: CycleRule) {
    this.rule = rule;
  }

  get closesOnRepeat(): boolean {
    return this.rule.kind === 'sample';
  }

  /** A leaf arrives again, and too early to be of another cycle. */
  isTooEarly(now: number): boolean {
    const shortest = this.rule.kind === 'sample' ? this.rule.shortestMilliseconds : undefined;
    return shortest !== undefined && now - this.firstAt < shortest;
  }

  /** An update of this cycle arrived. */
  updated(now: number): void {
    if (Number.isNaN(this.firstAt)) this.firstAt = now;
    this.lastAt = now;
  }

  /** The device said that its initial state is complete. True: close the cycle now. */
  synced(): boolean {
    const closes = this.rule.kind === 'on-change' && !this.isSynced;
    this.isSynced = true;
    return closes;
  }

  /** The device tells its state from the beginning again: what it tells is one cycle until `synced`. */
  restarted(): void {
    this.isSynced = false;
  }

  /** When the cycle closes if nothing more comes, or undefined while it has not begun or waits to be told. */
  deadline(): number | undefined {
    if (Number.isNaN(this.firstAt) || this.rule.kind === 'asked') return undefined;
    if (this.rule.kind === 'on-change') {
      return this.isSynced ? this.firstAt + ON_CHANGE_MILLISECONDS : undefined;
    }
    const { intervalMilliseconds } = this.rule;
    if (this.isMoreAwaited) return this.firstAt + intervalMilliseconds;
    const quiet = Math.max(250, intervalMilliseconds / 10);
    return Math.min(this.lastAt + quiet, this.firstAt + intervalMilliseconds);
  }

  /** The cycle is closed; the next begins with its first update. */
  closed(): void {
    this.firstAt = Number.NaN;
    this.lastAt = Number.NaN;
  }
}

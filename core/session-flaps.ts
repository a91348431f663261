/** A second loss within this time of the one before is a flap; a loss alone is maintenance. */
export const FLAP_WITHIN_MILLISECONDS = 600_000;

/** Tells flaps from single losses: one entry for each peer that this worker runs. Times are of one clock. */
export class SessionFlaps {
  readonly #lostAt = new Map<number, number>();

  /** Takes note of a loss. Whether the same peer's session was lost shortly before. */
  lost(peerId: number, nowMilliseconds: number): boolean {
    const before = this.#lostAt.get(peerId);
    this.#lostAt.set(peerId, nowMilliseconds);
    return before !== undefined && nowMilliseconds - before < FLAP_WITHIN_MILLISECONDS;
  }

  /** This worker no longer runs the peer. */
  forget(peerId: number): void {
    this.#lostAt.delete(peerId);
  }
}

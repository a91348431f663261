/**
 * How many NLRIs this worker may keep for all its peers together (`max-nlri` of the engine): however many peers tell
 * too much at once, the worker's memory has a bound. RFC 9552 §8.2.6.
 */
export class NlriBudget {
  limit = Number.POSITIVE_INFINITY;
  readonly #used = new Map<number, number>();
  #total = 0;

  /** Takes note of how many a peer has now. False when that is more than all peers together may have. */
  account(peerId: number, nlris: number): boolean {
    this.#total += nlris - (this.#used.get(peerId) ?? 0);
    if (nlris === 0) this.#used.delete(peerId);
    else this.#used.set(peerId, nlris);
    return this.#total <= this.limit;
  }
}

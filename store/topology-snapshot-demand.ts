/** When a topology log is due for a snapshot: so much was written since the last one, or somebody wants one. */

/** A snapshot is due when the log after the last one has this much, or as much as that snapshot. */
const AFTER_OCTETS = 2 * 1024 * 1024;
const AFTER_ITEMS = 2_048;

export class SnapshotDemand {
  #items: number;
  #octets = 0;
  #snapshotOctets = 0;
  #isWanted = false;

  /** `items`: of the log after its newest snapshot. */
  constructor(items: number) {
    this.#items = items;
  }

  get isDue(): boolean {
    if (this.#items === 0) return false;
    const enough = Math.max(AFTER_OCTETS, this.#snapshotOctets);
    return this.#isWanted || this.#items >= AFTER_ITEMS || this.#octets >= enough;
  }

  want(): void {
    this.#isWanted = true;
  }

  /** One begins: whoever wants one from now on wants another. */
  begin(): void {
    this.#isWanted = false;
  }

  /** Items were added to the log; octets as stored. */
  logged(items: number, octets: number): void {
    this.#items += items;
    this.#octets += octets;
  }

  /** One was made, of about so many octets as stored, with so many items after it; undefined: it was there already. */
  made(octets: number | undefined, itemsAfter: number): void {
    this.#snapshotOctets = octets ?? this.#snapshotOctets;
    this.#items = itemsAfter;
    this.#octets = 0;
  }
}

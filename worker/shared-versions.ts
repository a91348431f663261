import { readVersions } from '../store/version-store.ts';

/** What one of two readers, a second each, has read so lately serves the other: half the readings, half a second later. */
const LIFE_MILLISECONDS = 500;

/**
 * The versions of the configuration, read once for all who look for changes: at a reading a second and worker, this is
 * most of what an idle installation asks of DynamoDB.
 */
export class SharedVersions {
  readonly #monotonic: () => number;
  readonly #read: () => Promise<ReadonlyMap<string, number>>;
  #last: { readonly versions: Promise<ReadonlyMap<string, number>>; readonly at: number } | undefined;

  constructor(monotonic: () => number, read = readVersions) {
    this.#monotonic = monotonic;
    this.#read = read;
  }

  /** At most half a second old; a reading that failed serves nobody else. */
  current(): Promise<ReadonlyMap<string, number>> {
    const now = this.#monotonic();
    if (this.#last === undefined || now - this.#last.at >= LIFE_MILLISECONDS) {
      const versions = this.#read();
      this.#last = { versions, at: now };
      versions.catch(() => {
        this.#last = undefined;
      });
    }
    return this.#last.versions;
  }
}

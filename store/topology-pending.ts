/** Entries of a topology log that wait to be written: first they keep company, then they are batches, in order. */
import { BatchEncoder, type LogEntry } from '../core/topology/log.ts';

export interface PendingBatch {
  readonly octets: Uint8Array;
  /** When its first entry was appended. */
  readonly since: number;
  /** When its last one was. */
  readonly at: number;
}

export class PendingEntries {
  readonly #batchOctets: number;
  readonly #encoder = new BatchEncoder();
  readonly #batches: PendingBatch[] = [];
  /** When the first entry in the encoder was appended. */
  #openedAt = 0;
  #lastAt = 0;

  /** A batch is closed at this size. */
  constructor(batchOctets: number) {
    this.#batchOctets = batchOctets;
  }

  /** Batches that are closed. */
  get batches(): readonly PendingBatch[] {
    return this.#batches;
  }

  /** Whether entries wait for company: they are in no batch yet. */
  get isOpen(): boolean {
    return this.#encoder.entries > 0;
  }

  /** When the oldest entry was appended; undefined when there is none. */
  get since(): number | undefined {
    return this.#batches[0]?.since ?? (this.isOpen ? this.#openedAt : undefined);
  }

  /** When an entry was last appended, whether or not it is written by now; 0: never. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** Says whether that closed a batch. */
  append(entry: LogEntry): boolean {
    if (!this.isOpen) this.#openedAt = entry.at;
    this.#encoder.add(entry);
    this.#lastAt = entry.at;
    if (this.#encoder.octets < this.#batchOctets) return false;
    this.close();
    return true;
  }

  /** Makes a batch of what waits. */
  close(): void {
    if (!this.isOpen) return;
    this.#batches.push({ octets: this.#encoder.finish(), since: this.#openedAt, at: this.#lastAt });
  }

  /** The oldest batches are written. */
  drop(count: number): void {
    this.#batches.splice(0, count);
  }
}

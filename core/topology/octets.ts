/** The integers and byte strings that log batches, snapshots and versions are made of. */

/** Octets come from our own stores: what does not fit is corruption, or code that is newer than this. */
export class CorruptRecord extends Error {
  constructor(what: string) {
    super(`a stored topology record cannot be read: ${what}`);
    this.name = 'CorruptRecord';
  }
}

/** Grows as it is written to. Integers are unsigned LEB128, so that small ones take one octet. */
export class RecordWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(initialOctets = 1024) {
    this.#bytes = new Uint8Array(initialOctets);
  }

  get length(): number {
    return this.#length;
  }

  octet(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** An integer from 0 to 2^53 - 1. */
  integer(value: number): void {
    this.#reserve(8);
    while (value > 0x7f) {
      this.#bytes[this.#length++] = (value % 128) | 0x80;
      value = Math.floor(value / 128);
    }
    this.#bytes[this.#length++] = value;
  }

  /** A byte string, preceded by its length. */
  bytes(value: Uint8Array): void {
    this.integer(value.length);
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** What has been written; a view until the next write. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  #reserve(octets: number): void {
    if (this.#length + octets <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + octets));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

/** Reads what `RecordWriter` wrote. Throws `CorruptRecord` instead of reading past the end. */
export class RecordReader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get position(): number {
    return this.#position;
  }

  get atEnd(): boolean {
    return this.#position >= this.#bytes.length;
  }

  octet(): number {
    const value = this.#bytes[this.#position++];
    if (value === undefined) throw new CorruptRecord('it ends early');
    return value;
  }

  integer(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const octet = this.octet();
      value += (octet & 0x7f) * scale;
      if (octet < 0x80) break;
      scale *= 128;
      if (scale > Number.MAX_SAFE_INTEGER) throw new CorruptRecord('an integer is too large');
    }
    if (value > Number.MAX_SAFE_INTEGER) throw new CorruptRecord('an integer is too large');
    return value;
  }

  /** A view of the record's own octets. */
  bytes(): Uint8Array {
    const length = this.skipBytes();
    return this.#bytes.subarray(this.#position - length, this.#position);
  }

  /** Passes over a byte string; gives the octets it has, which end at `position`. */
  skipBytes(): number {
    const length = this.integer();
    const end = this.#position + length;
    if (end > this.#bytes.length) throw new CorruptRecord('a byte string overruns it');
    this.#position = end;
    return length;
  }
}

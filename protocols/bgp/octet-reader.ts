/**
 * Reads big-endian integers and views from octets that a peer sent. Reading past the end never throws and never
 * leaves the view: it gives 0 or an empty view and sets `short`, which stays set, so that a decoder may read a
 * whole structure and ask once.
 */
export class OctetReader {
  readonly octets: Uint8Array;
  offset: number;
  readonly end: number;
  /** True once anything was asked for that is not there. */
  short = false;

  constructor(octets: Uint8Array, start = 0, end = octets.length) {
    this.octets = octets;
    this.offset = start;
    this.end = Math.min(end, octets.length);
  }

  get remaining(): number {
    return this.end - this.offset;
  }

  u8(): number {
    if (this.remaining < 1) return this.#runShort();
    return this.octets[this.offset++] as number;
  }

  u16(): number {
    if (this.remaining < 2) return this.#runShort();
    const { octets, offset } = this;
    this.offset += 2;
    return ((octets[offset] as number) << 8) | (octets[offset + 1] as number);
  }

  /** Unsigned, so up to 2³²−1. */
  u32(): number {
    const high = this.u16();
    const low = this.u16();
    return this.short ? 0 : high * 0x1_0000 + low;
  }

  /** A view of the next `length` octets, not a copy. */
  take(length: number): Uint8Array {
    if (length > this.remaining) {
      this.#runShort();
      return EMPTY;
    }
    const view = this.octets.subarray(this.offset, this.offset + length);
    this.offset += length;
    return view;
  }

  /** A reader of the next `length` octets that cannot run past their end; an empty one when they are not there. */
  within(length: number): OctetReader {
    return new OctetReader(this.take(length));
  }

  #runShort(): 0 {
    this.short = true;
    this.offset = this.end;
    return 0;
  }
}

const EMPTY = new Uint8Array(0);

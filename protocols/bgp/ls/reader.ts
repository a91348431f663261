import { viewOf } from '../octet-words.ts';

/**
 * Reads big-endian values from a window of a byte array and cannot leave that window: a read past its
 * end returns zeros and sets `overrun`, so that decoders stay free of checks and of exceptions, and the
 * caller asks once, after a whole TLV, whether what came out can be trusted.
 *
 * `steps` counts the work done, one for each integer and one for each byte of a longer value: it is what
 * bounds a decoder against hostile input, and tests compare it with the input's length.
 */
export class TlvReader {
  bytes: Uint8Array;
  /** Of `bytes`. One read of it is short enough to be compiled into each row, where four octets were not (7 %). */
  view: DataView;
  /** Where the next read begins. */
  position: number;
  /** Where the window ends; nothing at or beyond it is read. */
  limit: number;
  /** A read wanted more than the window holds. Stays set until the caller clears it. */
  overrun = false;
  steps = 0;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.view = viewOf(bytes);
    this.position = start;
    this.limit = end;
  }

  /** Begins anew with another window, so that one reader can serve every object. */
  open(bytes: Uint8Array, start: number, end: number): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.view = viewOf(bytes);
    }
    this.position = start;
    this.limit = end;
    this.overrun = false;
    this.steps = 0;
  }

  get remaining(): number {
    return this.limit - this.position;
  }

  u8(): number {
    const at = this.position;
    if (at + 1 > this.limit) return this.fail();
    this.steps += 1;
    this.position = at + 1;
    return this.bytes[at] as number;
  }

  u16(): number {
    const at = this.position;
    if (at + 2 > this.limit) return this.fail();
    this.steps += 1;
    this.position = at + 2;
    return this.view.getUint16(at);
  }

  u24(): number {
    const at = this.position;
    if (at + 3 > this.limit) return this.fail();
    this.steps += 1;
    this.position = at + 3;
    const bytes = this.bytes;
    return ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
  }

  u32(): number {
    const at = this.position;
    if (at + 4 > this.limit) return this.fail();
    this.steps += 1;
    this.position = at + 4;
    return this.view.getUint32(at);
  }

  u64(): bigint {
    const high = this.u32();
    const low = this.u32();
    return bigintOf(high, low);
  }

  /** An unsigned integer of 1 to 4 octets. */
  unsigned(octets: number): number {
    if (octets === 3) return this.u24();
    if (octets === 2) return this.u16();
    if (octets === 4) return this.u32();
    return this.u8();
  }

  /** IEEE 754 binary32; may be NaN or infinite. */
  f32(): number {
    return floatOf(this.u32());
  }

  skip(octets: number): void {
    if (this.position + octets > this.limit) this.fail();
    else {
      this.steps += 1;
      this.position += octets;
    }
  }

  /** A copy of the next octets. */
  take(octets: number): Uint8Array {
    const at = this.position;
    if (octets > this.limit - at) {
      this.fail();
      return new Uint8Array(0);
    }
    this.steps += octets;
    this.position = at + octets;
    return this.bytes.slice(at, at + octets);
  }

  /** Marks the window as one whose contents make no sense at this length. */
  reject(): void {
    this.overrun = true;
  }

  private fail(): number {
    this.overrun = true;
    this.steps += 1;
    this.position = this.limit;
    return 0;
  }
}

const word = new Uint32Array(1);
const float = new Float32Array(word.buffer);

/** The binary32 number that these 32 bits are. */
export function floatOf(bits: number): number {
  word[0] = bits;
  return float[0] as number;
}

/** The 32 bits of this number as binary32. */
export function bitsOf(value: number): number {
  float[0] = value;
  return word[0] as number;
}

const SMALL = Array.from({ length: 256 }, (_, value) => BigInt(value));

/** A 64-bit integer from its halves. Instance identifiers are nearly always small, and making one anew is slow. */
export function bigintOf(high: number, low: number): bigint {
  if (high === 0 && low < 256) return SMALL[low] as bigint;
  return (BigInt(high) << 32n) | BigInt(low);
}

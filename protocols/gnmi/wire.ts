/** Protobuf's wire format (protobuf.dev, "Encoding"), read in place and never past an end. */

/** A varint's halves; `next` is -1 when the bytes end within it or it is longer than ten bytes. */
export interface Varint {
  hi: number;
  lo: number;
  next: number;
}

/** Reads the varint at `at` into `into`, both halves unsigned. Allocates nothing. */
export function readVarint(bytes: Uint8Array, at: number, end: number, into: Varint): void {
  let lo = 0;
  let hi = 0;
  for (let index = 0; index < 10; index += 1) {
    if (at + index >= end) break;
    const byte = bytes[at + index] as number;
    const bits = byte & 0x7f;
    if (index < 4) lo |= bits << (index * 7);
    else if (index === 4) {
      lo |= bits << 28;
      hi = bits >>> 4;
    } else hi |= bits << (index * 7 - 32);
    if (byte < 0x80) {
      into.hi = hi >>> 0;
      into.lo = lo >>> 0;
      into.next = at + index + 1;
      return;
    }
  }
  into.next = -1;
}

/** A varint that is a length: -1 when it is not one, or when so many bytes are not there. Sets `into.next`. */
export function readLength(bytes: Uint8Array, at: number, end: number, into: Varint): number {
  if (at < end) {
    const first = bytes[at] as number;
    if (first < 0x80) {
      into.next = at + 1;
      return at + 1 + first <= end ? first : -1;
    }
    if (at + 1 < end) {
      const second = bytes[at + 1] as number;
      if (second < 0x80) {
        const length = (first & 0x7f) | (second << 7);
        into.next = at + 2;
        return at + 2 + length <= end ? length : -1;
      }
    }
  }
  readVarint(bytes, at, end, into);
  if (into.next === -1 || into.hi !== 0 || into.next + into.lo > end) return -1;
  return into.lo;
}

/** The signed 64-bit integer of two halves. */
export function int64(hi: number, lo: number): bigint {
  return (BigInt(hi | 0) << 32n) | BigInt(lo >>> 0);
}

/** The unsigned 64-bit integer of two halves. */
export function uint64(hi: number, lo: number): bigint {
  return (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);
}

const floatView = new DataView(new ArrayBuffer(8));

/** The IEEE 754 single of its 32 bits. */
export function float32(bits: number): number {
  floatView.setUint32(0, bits);
  return floatView.getFloat32(0);
}

/** The IEEE 754 double of its two halves. */
export function float64(hi: number, lo: number): number {
  floatView.setUint32(0, hi);
  floatView.setUint32(4, lo);
  return floatView.getFloat64(0);
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Text of the peer's: bytes that are no UTF-8 become U+FFFD, and nothing throws. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  return utf8.decode(bytes.subarray(start, end));
}

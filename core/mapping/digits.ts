/** A parsed or formatted 64-bit integer as two unsigned halves: exact where a JavaScript number is not. */
export interface Halves {
  hi: number;
  lo: number;
}

const TWO_32 = 4_294_967_296;
const BILLION = 1_000_000_000;

/** "00" to "99" as ASCII, so that digits are written two at a time. */
const PAIRS = Uint8Array.from({ length: 200 }, (_, at) => {
  const value = at >> 1;
  return 48 + (at & 1 ? value % 10 : Math.floor(value / 10));
});

/** Most bytes that `writeUint64` and `writeInt64` write. */
export const MAX_INTEGER_BYTES = 20;

/** Writes an unsigned 64-bit integer as decimal ASCII at `offset`; returns the offset after it. */
export function writeUint64(target: Uint8Array, offset: number, hi: number, lo: number): number {
  hi >>>= 0;
  lo >>>= 0;
  if (hi === 0 && lo < BILLION) return writeSmall(target, offset, lo);
  let high: number;
  let low: number;
  if (hi < 0x200000) {
    const value = hi * TWO_32 + lo;
    high = Math.floor(value / BILLION);
    low = value - high * BILLION;
  } else {
    // Long division by 10^9 in base 2^16: every partial dividend is below 10^9 · 2^16, which a double holds.
    const first = hi >>> 16;
    let quotient = Math.floor(first / BILLION);
    let rest = first - quotient * BILLION;
    for (const limb of [hi & 0xffff, lo >>> 16, lo & 0xffff]) {
      const dividend = rest * 65_536 + limb;
      const digit = Math.floor(dividend / BILLION);
      quotient = quotient * 65_536 + digit;
      rest = dividend - digit * BILLION;
    }
    high = quotient;
    low = rest;
  }
  if (high < BILLION) {
    return writeNine(target, writeSmall(target, offset, high), low);
  }
  const top = Math.floor(high / BILLION);
  const afterTop = writeSmall(target, offset, top);
  return writeNine(target, writeNine(target, afterTop, high - top * BILLION), low);
}

/** Writes a two's complement 64-bit integer as decimal ASCII; returns the offset after it. */
export function writeInt64(target: Uint8Array, offset: number, hi: number, lo: number): number {
  if ((hi | 0) >= 0) return writeUint64(target, offset, hi, lo);
  target[offset] = 0x2d;
  const negatedLo = (~lo + 1) >>> 0;
  const negatedHi = (~hi + (negatedLo === 0 ? 1 : 0)) >>> 0;
  return writeUint64(target, offset + 1, negatedHi, negatedLo);
}

/**
 * Reads decimal digits `bytes[start, end)` into `into` as an unsigned 64-bit integer. False, and `into` undefined
 * in meaning, when there is no digit, something else than digits, or more than 2^64−1.
 */
export function readDigits(bytes: Uint8Array, start: number, end: number, into: Halves): boolean {
  if (start >= end) return false;
  let hi = 0;
  let lo = 0;
  for (let at = start; at < end; at += 1) {
    const digit = (bytes[at] as number) - 48;
    if (digit < 0 || digit > 9) return false;
    const product = lo * 10 + digit;
    const carry = Math.floor(product / TWO_32);
    lo = product - carry * TWO_32;
    hi = hi * 10 + carry;
    if (hi >= TWO_32) return false;
  }
  into.hi = hi >>> 0;
  into.lo = lo >>> 0;
  return true;
}

/** Two's complement negation in place. */
export function negate(value: Halves): void {
  const lo = (~value.lo + 1) >>> 0;
  value.hi = (~value.hi + (lo === 0 ? 1 : 0)) >>> 0;
  value.lo = lo;
}

/** Below 10^9, without leading zeros. */
function writeSmall(target: Uint8Array, offset: number, value: number): number {
  let length = 1;
  for (let limit = 10; value >= limit; limit *= 10) length += 1;
  let at = offset + length;
  while (value >= 100) {
    const rest = Math.floor(value / 100);
    const pair = (value - rest * 100) * 2;
    target[--at] = PAIRS[pair + 1] as number;
    target[--at] = PAIRS[pair] as number;
    value = rest;
  }
  if (value >= 10) {
    target[--at] = PAIRS[value * 2 + 1] as number;
    target[--at] = PAIRS[value * 2] as number;
  } else {
    target[--at] = 48 + value;
  }
  return offset + length;
}

/** Below 10^9, nine digits. */
function writeNine(target: Uint8Array, offset: number, value: number): number {
  let at = offset + 9;
  for (let pairs = 0; pairs < 4; pairs += 1) {
    const rest = Math.floor(value / 100);
    const pair = (value - rest * 100) * 2;
    target[--at] = PAIRS[pair + 1] as number;
    target[--at] = PAIRS[pair] as number;
    value = rest;
  }
  target[offset] = 48 + value;
  return offset + 9;
}

/** Nanoseconds as two halves to whole milliseconds. 2^32 is 4,294 × 10^6 + 967,296, so every product stays below 2^53. */
export function nanosecondsToMilliseconds(hi: number, lo: number): number {
  const high = hi >>> 0;
  return high * 4_294 + Math.floor((high * 967_296 + (lo >>> 0)) / 1_000_000);
}

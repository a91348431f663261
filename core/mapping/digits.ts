/** A parsed or formatted 64-bit integer as two unsigned halves: exact where a JavaScript number is not. */
export interface Halves {
  hi: number;
  lo: number;
}

const TWO_32 = 4_294_967_296;
const BILLION = 1_000_000_000;

/** "000" to "999" as the three low octets of a little-endian word: digits are written three at a time. */
const TRIPLES = Int32Array.from({ length: 1_000 }, (_, value) => {
  const [hundreds, tens, ones] = `${value}`.padStart(3, '0');
  return [hundreds, tens, ones].reduce((word, digit, at) => word | ((48 + Number(digit)) << (8 * at)), 0);
});

/** Most octets that `writeUint64` and `writeInt64` touch: their digits, and what a last word reaches beyond them. */
export const MAX_INTEGER_BYTES = 21;

/**
 * Writes an unsigned 64-bit integer as decimal ASCII at `offset`; returns the offset after it. By the word, and with one
 * division that doubles do exactly enough: 19 digits take 14 ns, by long division and pairs of digits they took 81.
 */
export function writeUint64(target: DataView, offset: number, hi: number, lo: number): number {
  lo >>>= 0;
  if (hi === 0 && lo < BILLION) return writeSmall(target, offset, lo);
  // As a double the value may be off by 2^10, so the quotient by at most one; the rest, exact in 32 bits, tells.
  let quotient = Math.floor(((hi >>> 0) * TWO_32 + lo) / BILLION);
  let rest = (lo - Math.imul(quotient | 0, BILLION)) | 0;
  if (rest < 0) {
    quotient -= 1;
    rest += BILLION;
  } else if (rest >= BILLION) {
    quotient += 1;
    rest -= BILLION;
  }
  let at: number;
  if (quotient < BILLION) at = writeSmall(target, offset, quotient);
  else {
    const top = Math.floor(quotient / BILLION);
    at = writeNine(target, writeSmall(target, offset, top), quotient - top * BILLION);
  }
  return writeNine(target, at, rest);
}

/** Writes a two's complement 64-bit integer as decimal ASCII; returns the offset after it. */
export function writeInt64(target: DataView, offset: number, hi: number, lo: number): number {
  if ((hi | 0) >= 0) return writeUint64(target, offset, hi, lo);
  target.setUint8(offset, 0x2d);
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
function writeSmall(target: DataView, offset: number, value: number): number {
  const small = value | 0;
  if (small < 1_000) {
    const length = small < 10 ? 1 : small < 100 ? 2 : 3;
    target.setInt32(offset, (TRIPLES[small] as number) >>> (24 - 8 * length), true);
    return offset + length;
  }
  const thousands = (small / 1_000) | 0;
  const at = writeSmall(target, offset, thousands);
  target.setInt32(at, TRIPLES[small - thousands * 1_000] as number, true);
  return at + 3;
}

/** Below 10^9, nine digits. */
function writeNine(target: DataView, offset: number, value: number): number {
  const nine = value | 0;
  const millions = (nine / 1_000_000) | 0;
  const rest = nine - millions * 1_000_000;
  const thousands = (rest / 1_000) | 0;
  target.setInt32(offset, TRIPLES[millions] as number, true);
  target.setInt32(offset + 3, TRIPLES[thousands] as number, true);
  target.setInt32(offset + 6, TRIPLES[rest - thousands * 1_000] as number, true);
  return offset + 9;
}

/** Nanoseconds as two halves to whole milliseconds. 2^32 is 4,294 × 10^6 + 967,296, so every product stays below 2^53. */
export function nanosecondsToMilliseconds(hi: number, lo: number): number {
  const high = hi >>> 0;
  return high * 4_294 + Math.floor((high * 967_296 + (lo >>> 0)) / 1_000_000);
}

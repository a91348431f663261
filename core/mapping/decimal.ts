/** A finite decimal number: `digits` (an integer without trailing zeros) × 10^−`scale`. */
export interface Decimal {
  readonly digits: bigint;
  /** Negative for multiples of ten. */
  readonly scale: number;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,6}))?$/;
/** More digits than any type holds are refused before arithmetic: the text is a peer's. */
const MAX_DIGITS = 400;

/** Reads a decimal number with optional fraction and exponent, exactly. Undefined when it is none, or has over 400 digits. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const [, sign, whole, fraction = '', exponent = '0'] = match;
  const all = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = all.replace(/0+$/, '');
  if (significant === '') return { digits: 0n, scale: 0 };
  if (significant.length > MAX_DIGITS) return undefined;
  const scale = fraction.length - Number(exponent) - (all.length - significant.length);
  return { digits: BigInt(`${sign}${significant}`), scale };
}

/** The number as an integer, or undefined when it has a fraction or over 400 digits. */
export function integerOf({ digits, scale }: Decimal): bigint | undefined {
  return scale > 0 || scale < -MAX_DIGITS ? undefined : digits * 10n ** BigInt(-scale);
}

/** Plain decimal text without exponent or trailing zeros; undefined when that is no decimal64 (RFC 7950 §9.3). */
export function formatDecimal64({ digits, scale }: Decimal): string | undefined {
  if (scale > 18 || scale < -18) return undefined;
  const shifted = scale < 0 ? digits * 10n ** BigInt(-scale) : digits;
  if (shifted > 0x7fffffffffffffffn || shifted < -0x8000000000000000n) return undefined;
  if (scale <= 0) return String(shifted);
  const magnitude = String(shifted < 0n ? -shifted : shifted).padStart(scale + 1, '0');
  const point = magnitude.length - scale;
  return `${shifted < 0n ? '-' : ''}${magnitude.slice(0, point)}.${magnitude.slice(point)}`;
}

/** The shortest decimal text that reads back as this binary32 value, in JavaScript's number notation. */
export function shortestFloat32(value: number): string {
  for (let precision = 1; precision < 9; precision += 1) {
    const candidate = Number(value.toPrecision(precision));
    if (Math.fround(candidate) === value) return String(candidate);
  }
  return String(Number(value.toPrecision(9)));
}

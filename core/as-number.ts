/** The spellings of RFC 5396, for whoever checks before he sends; numbers beyond their range fit it too. */
export const AS_NUMBER_PATTERN = '^(0|[1-9][0-9]{0,9})(\\.(0|[1-9][0-9]{0,4}))?$';

/**
 * Reads an autonomous system number as RFC 5396 writes it: asplain (`65001`, `4200000001`) or asdot+
 * (`0.65001`, `64086.59905`). No sign, no leading zeros. Returns 0 to 2^32−1, or undefined.
 */
export function parseAsNumber(text: string): number | undefined {
  const match = /^(0|[1-9]\d{0,9})(?:\.(0|[1-9]\d{0,4}))?$/.exec(text);
  if (match === null) return undefined;
  const [, first, second] = match;
  if (second === undefined) return within(Number(first), 0xffffffff);
  const high = within(Number(first), 0xffff);
  const low = within(Number(second), 0xffff);
  return high === undefined || low === undefined ? undefined : high * 0x10000 + low;
}

/** Why this number cannot be a speaker's AS, or undefined: 0 (RFC 7607) and AS_TRANS 23456 (RFC 6793 §9). */
export function asNumberRefusal(asNumber: number): string | undefined {
  if (asNumber === 0) return 'AS 0 is reserved (RFC 7607)';
  if (asNumber === 23456) return 'AS 23456 is AS_TRANS, which no speaker has (RFC 6793)';
  return undefined;
}

function within(value: number, maximum: number): number | undefined {
  return value <= maximum ? value : undefined;
}

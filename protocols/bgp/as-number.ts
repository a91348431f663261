/** RFC 6793 §9: stands in a 2-octet field for an AS number that needs four. */
export const AS_TRANS = 23456;

/** RFC 6793 §4.2.3: what the 2-octet My Autonomous System field holds for this AS. */
export function twoOctetAs(as: number): number {
  return as > 0xffff ? AS_TRANS : as;
}

/** IP prefixes as people ask for them. */
import { formatIpAddress, type IpAddress, parseIpAddress } from '../ip-address.ts';

export interface Prefix {
  readonly address: IpAddress;
  /** Length in bits. */
  readonly bits: number;
  /** Canonical: address bits beyond the length are zero. */
  readonly text: string;
}

/** `10.0.0.0/24`, or an address alone, which is its own longest prefix. Undefined for anything else. */
export function parsePrefix(text: string): Prefix | undefined {
  const [literal, length, ...rest] = text.split('/');
  const address = parseIpAddress(literal ?? '');
  if (address === undefined || rest.length > 0) return undefined;
  const longest = address.bytes.length * 8;
  const bits = length === undefined ? longest : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  if (!(bits <= longest)) return undefined;
  const bytes = address.bytes.slice();
  for (let bit = bits; bit < longest; bit += 1) {
    bytes[bit >> 3] = (bytes[bit >> 3] as number) & ~(0x80 >> (bit & 7));
  }
  const masked: IpAddress = { family: address.family, bytes };
  return { address: masked, bits, text: `${formatIpAddress(masked)}/${bits}` };
}

/** Whether every address of `inner` is one of `outer`. */
export function containsPrefix(outer: Prefix, inner: Prefix): boolean {
  if (outer.address.family !== inner.address.family || outer.bits > inner.bits) return false;
  for (let bit = 0; bit < outer.bits; bit += 1) {
    const mask = 0x80 >> (bit & 7);
    if (((outer.address.bytes[bit >> 3] as number) ^ (inner.address.bytes[bit >> 3] as number)) & mask)
      return false;
  }
  return true;
}

/** Those of the entries whose prefix contains `wanted` and is the longest that does; several may announce it. */
export function longestMatches<Entry>(
  entries: readonly Entry[],
  prefixOf: (entry: Entry) => Prefix | undefined,
  wanted: Prefix,
): Set<Entry> {
  let best = new Set<Entry>();
  let bits = -1;
  for (const entry of entries) {
    const prefix = prefixOf(entry);
    if (prefix === undefined || prefix.bits < bits || !containsPrefix(prefix, wanted)) continue;
    if (prefix.bits > bits) best = new Set();
    bits = prefix.bits;
    best.add(entry);
  }
  return best;
}

/**
 * Whether a BGP-LS Attribute can be kept: are the lengths of its TLVs and, in those known to have some, of their
 * sub-TLVs such that each ends within what holds it? RFC 9552 §8.2.2. Reads no values. What `decodeAttribute` asks
 * attribute discard for is exactly what this refuses.
 */
import { viewOf } from '../octet-words.ts';
import { DEEPEST } from './tlv.ts';
import { SEGMENT_TYPES } from './tlv-policy-parts.ts';

/** What a sequence of TLVs stands in, which decides whose sub-TLVs are known. */
const ATTRIBUTE = 0;
const SEGMENT_LIST = 1;
const OTHER = 2;

/** Where sub-TLVs begin in the value of a TLV of the attribute, and what they then stand in. */
const CONTAINERS: readonly (readonly [code: number, octets: number, within: number])[] = [
  [1039, 4, OTHER],
  [1106, 22, OTHER],
  [1107, 28, OTHER],
  [1108, 26, OTHER],
  [1159, 4, OTHER],
  [1162, 8, OTHER],
  [1172, 4, ATTRIBUTE],
  [1204, 8, OTHER],
  [1205, 12, SEGMENT_LIST],
  [1212, 36, OTHER],
];

/** By code point: 0, none; -1, one of those whose sub-TLVs begin where its own fields say. */
const BEGIN = new Int8Array(1300);
const WITHIN = new Uint8Array(BEGIN.length);
for (const [code, octets, within] of CONTAINERS) {
  BEGIN[code] = octets;
  WITHIN[code] = within;
}
const SR_CAPABILITIES = 1034;
const SR_LOCAL_BLOCK = 1036;
const APPLICATION_SPECIFIC = 1122;
const SEGMENT = 1206;
for (const code of [SR_CAPABILITIES, SR_LOCAL_BLOCK, APPLICATION_SPECIFIC]) BEGIN[code] = -1;

/** False when a length overruns: the attribute is to be discarded. */
export function isAttributeFramed(bytes: Uint8Array, start: number, end: number): boolean {
  return areTlvsFramed(bytes, start, end, ATTRIBUTE, 0);
}

function areTlvsFramed(
  bytes: Uint8Array,
  start: number,
  end: number,
  within: number,
  depth: number,
): boolean {
  const view = viewOf(bytes);
  let at = start;
  while (at < end) {
    const value = at + 4;
    if (value > end) return false;
    const header = view.getInt32(at);
    const code = header >>> 16;
    const next = value + (header & 0xffff);
    if (next > end) return false;
    if (within === ATTRIBUTE && code < BEGIN.length && BEGIN[code] !== 0) {
      if (!areSubTlvsFramed(bytes, code, value, next, depth)) return false;
    } else if (within === SEGMENT_LIST && code === SEGMENT) {
      const subTlvs = value + segmentLength(bytes, value, next);
      if (depth < DEEPEST && subTlvs < next && !areTlvsFramed(bytes, subTlvs, next, OTHER, depth + 1)) {
        return false;
      }
    }
    at = next;
  }
  return true;
}

function areSubTlvsFramed(
  bytes: Uint8Array,
  code: number,
  start: number,
  end: number,
  depth: number,
): boolean {
  if (code === SR_CAPABILITIES || code === SR_LOCAL_BLOCK) return areRangesFramed(bytes, start, end);
  if (depth >= DEEPEST) return true;
  let subTlvs = start + (BEGIN[code] as number);
  if (code === APPLICATION_SPECIFIC) {
    subTlvs = start + 4 + (bytes[start] as number) + (bytes[start + 1] as number);
    if (start + 4 > end || !isMaskLength(bytes[start]) || !isMaskLength(bytes[start + 1])) return true;
  }
  // A fixed part that is cut short is not syntax: the TLV is kept as it is.
  return subTlvs >= end || areTlvsFramed(bytes, subTlvs, end, WITHIN[code] as number, depth + 1);
}

/** Two octets, then ranges: three octets of size and a SID/Label TLV each. RFC 9085 §2.1.2. */
function areRangesFramed(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start + 2;
  while (at < end) {
    const sid = at + 3;
    if (sid + 4 > end) return false;
    at = sid + 4 + u16(bytes, sid + 2);
    if (at > end) return false;
    if (!isSidLabel(bytes, sid)) return true;
  }
  return true;
}

/** The fixed part of an SR Segment, RFC 9857 §5.7.1; more than there is when the type is not known. */
function segmentLength(bytes: Uint8Array, start: number, end: number): number {
  const shape = start < end ? SEGMENT_TYPES[bytes[start] as number] : undefined;
  return shape === undefined ? 0x10000 : shape.octets;
}

/** Whether a range's TLV is one that a range must have: the rest is read only then. */
function isSidLabel(bytes: Uint8Array, at: number): boolean {
  const length = u16(bytes, at + 2);
  return u16(bytes, at) === 1161 && (length === 3 || length === 4);
}

function isMaskLength(octets: number | undefined): boolean {
  return octets === 0 || octets === 4 || octets === 8;
}

function u16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

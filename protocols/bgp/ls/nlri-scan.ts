/** Whether one NLRI can be kept, and where its parts are: what must be known of every NLRI, without decoding it. */
import { LINK_STATE_VPN_SAFI, type LinkStateSafi, NlriType } from './code-point.ts';
import type { ProblemCode } from './problem.ts';

export const LOCAL_NODE_DESCRIPTORS = 256;
export const REMOTE_NODE_DESCRIPTORS = 257;

/** The octets before the TLVs: type and length, then Protocol-ID and Identifier; SAFI 72 has its RD between. */
export const NLRI_HEADER = 4;
const ROUTE_DISTINGUISHER = 8;
export const PROTOCOL_AND_IDENTIFIER = 9;

/** Where the NLRI that begins at `start` of a field ends, or -1 when its length overruns the field. */
export function nlriEnd(bytes: Uint8Array, start: number, fieldEnd: number): number {
  const body = start + NLRI_HEADER;
  if (body > fieldEnd) return -1;
  const end = body + (((bytes[start + 2] as number) << 8) | (bytes[start + 3] as number));
  return end > fieldEnd ? -1 : end;
}

/**
 * The result of `scan`, one object reused for any number of NLRIs: a table asks for it once an NLRI. Offsets are
 * those of the bytes scanned; -1 where there is no such part.
 */
export class NlriScan {
  nlriType = 0;
  protocolId = 0;
  /** Where Protocol-ID stands; for an unknown type, where the opaque body begins. */
  bodyStart = 0;
  /** The values of the Local and Remote Node Descriptors TLVs, without type and length. */
  localStart = -1;
  localEnd = -1;
  remoteStart = -1;
  remoteEnd = -1;
  /** Where the TLVs that are no node descriptors begin, in an NLRI that has them in the order of RFC 9552 §5.2. */
  ownStart = 0;
  /** TLVs are not in the order of RFC 9552 §5.1. A consumer keeps the NLRI; only a propagator must not. */
  outOfOrder = false;
  /** Why the NLRI must be discarded, and where. RFC 9552 §8.2.2. */
  malformed: ProblemCode | undefined = undefined;
  malformedAt = 0;
  malformedType = 0;

  /** Reads the NLRI in `bytes[start, end)`, framed by `splitNlris`. True when it can be kept. */
  scan(bytes: Uint8Array, start: number, end: number, safi: LinkStateSafi): boolean {
    this.malformed = undefined;
    this.outOfOrder = false;
    this.localStart = -1;
    this.localEnd = -1;
    this.remoteStart = -1;
    this.remoteEnd = -1;
    this.protocolId = 0;
    this.nlriType = ((bytes[start] as number) << 8) | (bytes[start + 1] as number);
    const body = start + NLRI_HEADER + (safi === LINK_STATE_VPN_SAFI ? ROUTE_DISTINGUISHER : 0);
    this.bodyStart = body;
    // Other types are opaque: nothing within them can be wrong. RFC 9552 §5.2.
    const known = this.nlriType >= NlriType.node && this.nlriType <= NlriType.stubLink;
    if (body + (known ? PROTOCOL_AND_IDENTIFIER : 0) > end) {
      return this.fail('nlri-too-short', start, 0);
    }
    if (!known) return true;
    this.protocolId = bytes[body] as number;
    this.ownStart = body + PROTOCOL_AND_IDENTIFIER;
    return this.scanTlvs(bytes, body + PROTOCOL_AND_IDENTIFIER, end);
  }

  private scanTlvs(bytes: Uint8Array, start: number, end: number): boolean {
    let previousType = -1;
    let previousStart = 0;
    let previousLength = 0;
    let at = start;
    while (at < end) {
      const value = at + 4;
      if (value > end) return this.fail('tlv-overruns', at, 0);
      const type = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
      const length = ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);
      const next = value + length;
      if (next > end) return this.fail('tlv-overruns', at, type);
      if (
        type <= previousType &&
        !inOrder(bytes, previousType, previousStart, previousLength, type, value, length)
      ) {
        this.outOfOrder = true;
      }
      if (type === LOCAL_NODE_DESCRIPTORS || type === REMOTE_NODE_DESCRIPTORS) {
        if (!this.scanNodeDescriptors(bytes, value, next)) return false;
        if (at === this.ownStart) this.ownStart = next;
        if (type === LOCAL_NODE_DESCRIPTORS) {
          if (this.localStart < 0) {
            this.localStart = value;
            this.localEnd = next;
          }
        } else if (this.remoteStart < 0) {
          this.remoteStart = value;
          this.remoteEnd = next;
        }
      }
      previousType = type;
      previousStart = value;
      previousLength = length;
      at = next;
    }
    return true;
  }

  /** RFC 9552 §5.2.1.4: ascending, and at most one of each type, else the NLRI is malformed. */
  private scanNodeDescriptors(bytes: Uint8Array, start: number, end: number): boolean {
    let previousType = -1;
    let seen: Set<number> | undefined;
    let at = start;
    while (at < end) {
      const value = at + 4;
      if (value > end) return this.fail('sub-tlv-overruns', at, 0);
      const type = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
      const next = value + (((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number));
      if (next > end) return this.fail('sub-tlv-overruns', at, type);
      if (type <= previousType) this.outOfOrder = true;
      // While types ascend none can stand twice; a set is made only for those that do not.
      if (type <= previousType && seen === undefined) seen = typesBetween(bytes, start, at);
      if (seen?.has(type)) return this.fail('duplicate-node-descriptor-sub-tlv', at, type);
      seen?.add(type);
      previousType = type;
      at = next;
    }
    return true;
  }

  private fail(code: ProblemCode, at: number, type: number): false {
    this.malformed = code;
    this.malformedAt = at;
    this.malformedType = type;
    return false;
  }
}

/** RFC 9552 §5.1: by type; those of one type by length, then by value. */
function inOrder(
  bytes: Uint8Array,
  previousType: number,
  previousStart: number,
  previousLength: number,
  type: number,
  start: number,
  length: number,
): boolean {
  if (type !== previousType) return type > previousType;
  if (length !== previousLength) return length > previousLength;
  for (let index = 0; index < length; index += 1) {
    const difference = (bytes[start + index] as number) - (bytes[previousStart + index] as number);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** The types of the TLVs, already known to be framed, that stand in a range. */
function typesBetween(bytes: Uint8Array, start: number, end: number): Set<number> {
  const types = new Set<number>();
  let at = start;
  while (at < end) {
    types.add(((bytes[at] as number) << 8) | (bytes[at + 1] as number));
    at += 4 + (((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number));
  }
  return types;
}

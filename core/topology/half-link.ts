/**
 * The marks by which a half-link is known to its other direction, read from the octets: pairing asks for those of every
 * link, and decoding all of each NLRI into text took ten times as long.
 */
import { decodeAttribute } from '../../protocols/bgp/ls/attribute.ts';
import { NlriType } from '../../protocols/bgp/ls/code-point.ts';
import { NlriScan, PROTOCOL_AND_IDENTIFIER } from '../../protocols/bgp/ls/nlri-scan.ts';
import type { TopologyObject } from './graph-object.ts';
import { latin1 } from './identity.ts';

export interface HalfLink {
  readonly object: TopologyObject;
  /** Multi-topology identifier; 0 is the default topology. */
  topology: number;
  /** Link identifiers; 0: absent, or sent as unknown. */
  localIdentifier: number;
  remoteIdentifier: number;
  /** Addresses as their octets, one character each. */
  readonly interface4: string[];
  readonly neighbor4: string[];
  readonly interface6: string[];
  readonly neighbor6: string[];
  /** The ends are in two autonomous systems. */
  readonly betweenAutonomousSystems: boolean;
}

/** RFC 9552 §5.2.1.4, §5.2.2. */
const AUTONOMOUS_SYSTEM = 512;
const IDENTIFIERS = 258;
const IPV4_INTERFACE = 259;
const IPV4_NEIGHBOR = 260;
const IPV6_INTERFACE = 261;
const IPV6_NEIGHBOR = 262;
const MULTI_TOPOLOGY = 263;

const scan = new NlriScan();

/**
 * Reads a link; `attribute` is that of its shown copy, since some routers put the identifiers there. As the decoder
 * does, it passes over TLVs of a wrong length, and of TLVs that may stand once, the first stands.
 */
export function readHalfLink(object: TopologyObject, attribute: Uint8Array | null): HalfLink {
  const { nlri } = object;
  // What is in the graph was scanned before it got there.
  scan.scan(nlri, 0, nlri.length, object.safi);
  const { bodyStart, localStart, localEnd, remoteStart, remoteEnd } = scan;
  const local = autonomousSystem(nlri, localStart, localEnd);
  const remote = autonomousSystem(nlri, remoteStart, remoteEnd);
  const half: HalfLink = {
    object,
    topology: 0,
    localIdentifier: 0,
    remoteIdentifier: 0,
    interface4: [],
    neighbor4: [],
    interface6: [],
    neighbor6: [],
    betweenAutonomousSystems: local !== -1 && remote !== -1 && local !== remote,
  };
  let identified = false;
  let inTopology = false;
  let at = bodyStart + PROTOCOL_AND_IDENTIFIER;
  while (at + 4 <= nlri.length) {
    const type = u16(nlri, at);
    const length = u16(nlri, at + 2);
    const value = at + 4;
    at = value + length;
    switch (type) {
      case IDENTIFIERS:
        if (length !== 8 || identified) break;
        identified = true;
        half.localIdentifier = u32(nlri, value);
        half.remoteIdentifier = u32(nlri, value + 4);
        break;
      case IPV4_INTERFACE:
        if (length === 4) half.interface4.push(latin1(nlri, value, at));
        break;
      case IPV4_NEIGHBOR:
        if (length === 4) half.neighbor4.push(latin1(nlri, value, at));
        break;
      case IPV6_INTERFACE:
        if (length === 16) half.interface6.push(latin1(nlri, value, at));
        break;
      case IPV6_NEIGHBOR:
        if (length === 16) half.neighbor6.push(latin1(nlri, value, at));
        break;
      case MULTI_TOPOLOGY:
        if (length < 2 || inTopology) break;
        inTopology = true;
        // The first four bits are reserved: RFC 9552 §5.2.2.1.
        half.topology = u16(nlri, value) & 0x0fff;
        break;
    }
  }
  if (!identified && attribute !== null) takeIdentifiers(half, attribute);
  return half;
}

function takeIdentifiers(half: HalfLink, attribute: Uint8Array): void {
  if (!hasIdentifiers(attribute)) return;
  const context = { protocolId: scan.protocolId, nlriType: NlriType.link };
  const identifiers = decodeAttribute(attribute, context).attributes['link-local-remote-identifiers'];
  half.localIdentifier = identifiers?.['link-local-identifier'] ?? 0;
  half.remoteIdentifier = identifiers?.['link-remote-identifier'] ?? 0;
}

/** Whether the attribute holds TLV 258; most do not, and need not be decoded. */
function hasIdentifiers(attribute: Uint8Array): boolean {
  let at = 0;
  while (at + 4 <= attribute.length) {
    if (u16(attribute, at) === IDENTIFIERS) return true;
    at += 4 + u16(attribute, at + 2);
  }
  return false;
}

/** Of node descriptors in `nlri[start, end)`; -1: none. */
function autonomousSystem(nlri: Uint8Array, start: number, end: number): number {
  let at = start;
  while (start >= 0 && at + 4 <= end) {
    const length = u16(nlri, at + 2);
    if (u16(nlri, at) === AUTONOMOUS_SYSTEM && length === 4) return u32(nlri, at + 4);
    at += 4 + length;
  }
  return -1;
}

function u16(octets: Uint8Array, at: number): number {
  return ((octets[at] as number) << 8) | (octets[at + 1] as number);
}

function u32(octets: Uint8Array, at: number): number {
  return u16(octets, at) * 65_536 + u16(octets, at + 2);
}

/**
 * What makes two announcements one object, and what the API calls it: (AFI, SAFI, RD, exact NLRI octets), so that
 * levels, areas, instances and topologies never collapse. RFC 9552 §5.2.1.1.
 */
import { hash } from 'node:crypto';
import { LINK_STATE_VPN_SAFI, type LinkStateSafi, NlriType } from '../../protocols/bgp/ls/code-point.ts';
import { LOCAL_NODE_DESCRIPTORS } from '../../protocols/bgp/ls/nlri-scan.ts';

/** AFI 16388 in two octets. */
const AFI = [0x40, 0x04] as const;
const ROUTE_DISTINGUISHER_OCTETS = 8;
const ID_OCTETS = 16;

/** What the API lists apart; an `unknown` object is one whose NLRI type has no decoder. */
export type ObjectKind = 'node' | 'link' | 'prefix' | 'srv6-sid' | 'sr-policy' | 'unknown';

const ID_PREFIX: Readonly<Record<ObjectKind, string>> = {
  node: 'n.',
  link: 'l.',
  prefix: 'p.',
  'srv6-sid': 's.',
  'sr-policy': 'c.',
  unknown: 'u.',
};

/** A stub link is a link without a remote node. */
export function kindOf(nlriType: number): ObjectKind {
  switch (nlriType) {
    case NlriType.node:
      return 'node';
    case NlriType.link:
    case NlriType.stubLink:
      return 'link';
    case NlriType.ipv4Prefix:
    case NlriType.ipv6Prefix:
      return 'prefix';
    case NlriType.srPolicy:
      return 'sr-policy';
    case NlriType.srv6Sid:
      return 'srv6-sid';
    default:
      return 'unknown';
  }
}

/** Ends the keys of SAFI 72: a character that no octet becomes. The others are one slice, with nothing to join. */
const VPN_MARK = '\u{100}';

/** The identity as a map key: one character an octet. */
export function objectKey(safi: LinkStateSafi, nlri: Uint8Array): string {
  const key = latin1(nlri);
  return safi === LINK_STATE_VPN_SAFI ? key + VPN_MARK : key;
}

/**
 * The public id: a letter, and base64url of the first 16 octets of SHA-256(AFI ‖ SAFI ‖ RD or nothing ‖ NLRI).
 * The NLRI is type, length as sent, and body; the RD of SAFI 72 is taken out of the body and put before it.
 */
export function publicId(kind: ObjectKind, safi: LinkStateSafi, nlri: Uint8Array): string {
  const octets = new Uint8Array(3 + nlri.length);
  octets[0] = AFI[0];
  octets[1] = AFI[1];
  octets[2] = safi;
  octets.set(nlri, 3);
  if (safi === LINK_STATE_VPN_SAFI) {
    octets.copyWithin(3, 7, 7 + ROUTE_DISTINGUISHER_OCTETS);
    octets.set(nlri.subarray(0, 4), 3 + ROUTE_DISTINGUISHER_OCTETS);
  }
  const digest = hash('sha256', octets, 'buffer');
  return ID_PREFIX[kind] + digest.toString('base64url', 0, ID_OCTETS);
}

/** Where the parts of an NLRI that name a node stand. */
export interface NodeReference {
  readonly safi: LinkStateSafi;
  readonly nlri: Uint8Array;
  /** Where the NLRI's Protocol-ID stands. */
  readonly bodyStart: number;
  /** The value of the Local or Remote Node Descriptors TLV. */
  readonly start: number;
  readonly end: number;
}

/** The NLRI that the node itself would have: same RD, protocol and identifier, these descriptors as its own. */
export function nodeNlri({ safi, nlri, bodyStart, start, end }: NodeReference): Uint8Array {
  const rd = safi === LINK_STATE_VPN_SAFI ? ROUTE_DISTINGUISHER_OCTETS : 0;
  const length = rd + 9 + 4 + (end - start);
  const octets = new Uint8Array(4 + length);
  octets[1] = NlriType.node;
  octets[2] = length >> 8;
  octets[3] = length;
  octets.set(nlri.subarray(bodyStart - rd, bodyStart + 9), 4);
  const tlv = 4 + rd + 9;
  octets[tlv] = LOCAL_NODE_DESCRIPTORS >> 8;
  octets[tlv + 1] = LOCAL_NODE_DESCRIPTORS & 0xff;
  octets[tlv + 2] = (end - start) >> 8;
  octets[tlv + 3] = end - start;
  octets.set(nlri.subarray(start, end), tlv + 4);
  return octets;
}

/** What nodes of one family, RD, protocol, identifier and descriptors share, as a map key. */
export function nodeKey({ safi, nlri, bodyStart, start, end }: NodeReference): string {
  const rd = safi === LINK_STATE_VPN_SAFI ? ROUTE_DISTINGUISHER_OCTETS : 0;
  const head = rd + 9;
  const length = head + end - start;
  if (length > joined.length) joined = Buffer.alloc(length);
  // Octet by octet: for the forty of them that is less than making two strings and joining them.
  for (let at = 0; at < head; at += 1) joined[at] = nlri[bodyStart - rd + at] as number;
  for (let at = head; at < length; at += 1) joined[at] = nlri[start - head + at] as number;
  const key = joined.toString('latin1', 0, length);
  return safi === LINK_STATE_VPN_SAFI ? key + VPN_MARK : key;
}

let joined = Buffer.alloc(256);

// Many octets in a row stand in one buffer: a view of it for each would cost more than the string.
let viewed: ArrayBufferLike | undefined;
let view: Buffer<ArrayBufferLike> = Buffer.alloc(0);

/** Octets as a string of one character each, to be compared and to be a key. */
export function latin1(octets: Uint8Array, start = 0, end = octets.length): string {
  if (octets.buffer !== viewed) {
    viewed = octets.buffer;
    view = Buffer.from(viewed);
  }
  return view.toString('latin1', octets.byteOffset + start, octets.byteOffset + end);
}

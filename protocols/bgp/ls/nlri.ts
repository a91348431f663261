/**
 * Link-State NLRIs: framing, validity, decoding, encoding. RFC 9552 §5.2, RFC 9857 §3, RFC 9514 §6.
 *
 *     0                   1                   2                   3
 *     0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *    +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *    |            NLRI Type          |     Total NLRI Length         |
 *    +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *    |             Route Distinguisher (8 octets, SAFI 72 only)      |
 *    +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *    |  Protocol-ID  |  Identifier (8 octets)  |  TLVs, ascending   //
 *    +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 */

import { viewOf } from '../octet-words.ts';
import type { LinkStateAttributes } from './attributes.ts';
import {
  LINK_STATE_SAFI,
  LINK_STATE_VPN_SAFI,
  type LinkStateSafi,
  NlriType,
  type NlriTypeName,
  nlriTypeCode,
  nlriTypeName,
  protocolCode,
  protocolName,
} from './code-point.ts';
import {
  type Descriptor,
  descriptorTable,
  emptyDescriptor,
  NODE_DESCRIPTORS,
  type NodeDescriptor,
  type PrefixDescriptor,
  type SrPolicyDescriptor,
  type Srv6SidDescriptor,
} from './descriptor.ts';
import {
  LOCAL_NODE_DESCRIPTORS,
  NLRI_HEADER,
  NlriScan,
  nlriEnd,
  PROTOCOL_AND_IDENTIFIER,
  REMOTE_NODE_DESCRIPTORS,
} from './nlri-scan.ts';
import { type LinkStateProblem, NO_PROBLEMS, ProblemList, type UpdateProblem } from './problem.ts';
import { bigintOf, TlvReader } from './reader.ts';
import { RecentNodes } from './recent-nodes.ts';
import { formatHex, parseHex, parseRouteDistinguisher, readHex, readRouteDistinguisher } from './text.ts';
import { decodeTlvs, encodeTlvs, TLV_HEADER, type TlvTable, type UnknownTlv } from './tlv.ts';
import { decodeUsualDescriptor } from './usual-descriptor.ts';
import { TlvWriter } from './writer.ts';

/** Where one NLRI stands in an NLRI field: from its type to its end. */
export interface NlriRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Frames the NLRI field `bytes[fieldStart, fieldEnd)` of an MP_REACH_NLRI or MP_UNREACH_NLRI. When a length overruns
 * the field, what follows cannot be found: the ranges before it stand, and the problem's action is `afi-safi-disable`.
 * RFC 9552 §8.2.2.
 */
export function splitNlris(
  bytes: Uint8Array,
  safi: LinkStateSafi,
  fieldStart = 0,
  fieldEnd = bytes.length,
): { readonly ranges: readonly NlriRange[]; readonly problem?: UpdateProblem } {
  const ranges: NlriRange[] = [];
  for (let start = fieldStart; start < fieldEnd; ) {
    const end = nlriEnd(bytes, start, fieldEnd);
    if (end < 0) {
      const offset = start - fieldStart;
      return { ranges, problem: { code: 'nlri-overruns-field', action: 'afi-safi-disable', offset, safi } };
    }
    ranges.push({ start, end });
    start = end;
  }
  return { ranges };
}

/** What an NLRI says. `nlriType`, `protocolId` are the codes; `type`, `protocol` the API's names for them. */
export interface LinkStateNlri {
  readonly safi: LinkStateSafi;
  readonly nlriType: number;
  readonly type: NlriTypeName;
  readonly protocolId: number;
  /** null when the type is unknown: its body is opaque. */
  readonly protocol: string | null;
  /** BGP-LS Instance-ID, an exact 64-bit integer; null when the type is unknown. */
  readonly identifier: bigint | null;
  /** `65000:1`; empty for SAFI 71. */
  readonly routeDistinguisher: string;
  /** The node itself, a link's near end, a prefix's, SID's or policy's node. null when the TLV is absent. */
  readonly localNode: NodeDescriptor | null;
  readonly remoteNode: NodeDescriptor | null;
  /** What else identifies the object; its shape goes with `type`. */
  readonly descriptor: Descriptor;
  /** The body of an unknown type in hex; empty for the others. */
  readonly value: string;
}

/** A `LinkStateNlri` as decoded from bytes. */
export interface DecodedNlri extends LinkStateNlri {
  /** What is wrong or odd; with action `nlri-discard` nothing but type and protocol has been decoded. */
  readonly problems: readonly LinkStateProblem[];
  /** How much work the decoding was: see `TlvReader`. */
  readonly steps: number;
}

const NOTHING: Descriptor = Object.freeze({});
const NO_ROWS: TlvTable<LinkStateAttributes> = [];

/**
 * The code of the TLV that an object of this type cannot do without and does; 0 when it has it. Its absence is
 * semantic: the object is kept. RFC 9552 §8.2.2.
 */
function missingEssential(nlriType: number, descriptor: Descriptor): number {
  switch (nlriType) {
    case NlriType.ipv4Prefix:
    case NlriType.ipv6Prefix:
      return (descriptor as PrefixDescriptor)['ip-reachability'] === undefined ? 265 : 0;
    case NlriType.srPolicy:
      return (descriptor as SrPolicyDescriptor)['protocol-origin'] === undefined ? 554 : 0;
    case NlriType.srv6Sid:
      return (descriptor as Srv6SidDescriptor).sid === undefined ? 518 : 0;
    default:
      return 0;
  }
}

/** What every call needs and none keeps: one decode never calls another. */
const scan = new NlriScan();
const recentNodes = new RecentNodes();
const reader = new TlvReader(new Uint8Array(0));
const problems = new ProblemList();
const scope = { protocolId: 0, nlriType: 0, problems, depth: 0, attributes: NO_ROWS };

/**
 * Decodes one NLRI, framed by `splitNlris`: its type, its length and all that follows. Never throws; what it could
 * not read stands in `problems`, with an action only where RFC 9552 §8.2.2 has one.
 */
export function decodeNlri(
  bytes: Uint8Array,
  safi: LinkStateSafi,
  start = 0,
  end = bytes.length,
): DecodedNlri {
  const usual = safi === LINK_STATE_SAFI ? decodeUsualNlri(bytes, start, end) : undefined;
  return usual ?? decodeAnyNlri(bytes, safi, start, end);
}

/**
 * One of SAFI 71 in which nothing is wrong or odd, by one walk instead of a scan and a decoding; undefined otherwise.
 * Nodes that stand among those decoded lately are sound and need no walk.
 */
function decodeUsualNlri(bytes: Uint8Array, start: number, end: number): DecodedNlri | undefined {
  const body = start + NLRI_HEADER;
  const local = body + PROTOCOL_AND_IDENTIFIER + TLV_HEADER;
  if (local > end) return undefined;
  const view = viewOf(bytes);
  if (view.getUint16(local - 4) !== LOCAL_NODE_DESCRIPTORS) return undefined;
  const localEnd = local + view.getUint16(local - 2);
  if (localEnd > end) return undefined;
  const localNode = recentNodes.find(bytes, local, localEnd);
  if (localNode === undefined) return undefined;
  const nlriType = view.getUint16(start);
  let remoteNode: NodeDescriptor | null = null;
  let own = localEnd;
  if (nlriType === NlriType.link) {
    const remote = localEnd + TLV_HEADER;
    if (remote > end || view.getUint16(localEnd) !== REMOTE_NODE_DESCRIPTORS) return undefined;
    own = remote + view.getUint16(remote - 2);
    if (own > end) return undefined;
    const node = recentNodes.find(bytes, remote, own);
    if (node === undefined) return undefined;
    remoteNode = node;
  }
  const descriptor = decodeUsualDescriptor(view, nlriType, own, end);
  if (descriptor === undefined) return undefined;
  const protocolId = bytes[body] as number;
  return {
    safi: LINK_STATE_SAFI,
    nlriType,
    type: nlriTypeName(nlriType),
    protocolId,
    protocol: protocolName(protocolId),
    identifier: bigintOf(view.getUint32(body + 1), view.getUint32(body + 5)),
    routeDistinguisher: '',
    localNode,
    remoteNode,
    descriptor,
    value: '',
    problems: NO_PROBLEMS,
    steps: end - start,
  };
}

function decodeAnyNlri(bytes: Uint8Array, safi: LinkStateSafi, start: number, end: number): DecodedNlri {
  const isSound = scan.scan(bytes, start, end, safi);
  const { nlriType, protocolId } = scan;
  const type = nlriTypeName(nlriType);
  let protocol: string | null = null;
  let identifier: bigint | null = null;
  let routeDistinguisher = '';
  let localNode: NodeDescriptor | null = null;
  let remoteNode: NodeDescriptor | null = null;
  let descriptor = NOTHING;
  let value = '';
  reader.open(bytes, start + 4, end);
  if (type !== 'unknown') protocol = protocolName(protocolId);
  if (!isSound) {
    const code = scan.malformed ?? 'nlri-too-short';
    problems.add(code, 'nlri-discard', scan.malformedAt - start, scan.malformedType || undefined);
  } else {
    if (scan.outOfOrder) problems.add('out-of-order', 'none', 0);
    if (safi === LINK_STATE_VPN_SAFI) routeDistinguisher = readRouteDistinguisher(reader);
    if (protocol === null) value = readHex(reader, end - reader.position);
    else {
      reader.skip(1);
      identifier = reader.u64();
      scope.protocolId = protocolId;
      scope.nlriType = nlriType;
      const offset = reader.position - start;
      scope.depth = 1;
      if (scan.localStart >= 0) localNode = decodeNode(scan.localStart, scan.localEnd);
      else problems.add('missing-tlv', 'none', offset, LOCAL_NODE_DESCRIPTORS);
      if (scan.remoteStart >= 0) remoteNode = decodeNode(scan.remoteStart, scan.remoteEnd);
      else if (nlriType === NlriType.link)
        problems.add('missing-tlv', 'none', offset, REMOTE_NODE_DESCRIPTORS);
      scope.depth = 0;
      descriptor = decodeDescriptor(end);
      const missing = missingEssential(nlriType, descriptor);
      if (missing > 0) problems.add('missing-tlv', 'none', offset, missing);
    }
  }
  return {
    safi,
    nlriType,
    type,
    protocolId,
    protocol,
    identifier,
    routeDistinguisher,
    localNode,
    remoteNode,
    descriptor,
    value,
    problems: problems.take(),
    steps: reader.steps,
  };
}

/** What stands beside the node descriptors, to the end of the NLRI. */
function decodeDescriptor(end: number): Descriptor {
  const { nlriType } = scan;
  const descriptor = emptyDescriptor(nlriType);
  reader.position = scan.ownStart;
  reader.limit = end;
  const unknown = decodeTlvs(reader, descriptorTable(nlriType), descriptor, scope, 'nlri-discard');
  if (unknown !== undefined) descriptor['unknown-tlvs'] = unknown;
  return descriptor;
}

function decodeNode(start: number, end: number): NodeDescriptor {
  const { bytes } = reader;
  const known = recentNodes.find(bytes, start, end);
  if (known !== undefined) {
    reader.steps += end - start;
    return known;
  }
  const node: NodeDescriptor = {};
  reader.position = start;
  reader.limit = end;
  const unknown = decodeTlvs(reader, NODE_DESCRIPTORS, node, scope, 'nlri-discard');
  // One that is odd has to be looked at anew: that is to be said again.
  if (unknown !== undefined) node['unknown-tlvs'] = unknown;
  else if (!scan.outOfOrder) recentNodes.keep(bytes, start, end, Object.freeze(node));
  return node;
}

/** What `encodeNlri` needs of a `LinkStateNlri`; what is left out is absent from the bytes. */
export type EncodableNlri = Pick<LinkStateNlri, 'type'> &
  Partial<Omit<LinkStateNlri, 'type' | 'descriptor'>> & { readonly descriptor?: Partial<Descriptor> };

/**
 * The bytes of one NLRI, TLVs in the order of RFC 9552 §5.1. The type decides the shape: an `unknown` one needs
 * `nlriType` and `value`. Throws a RangeError on values that have no encoding: those are the caller's, not a peer's.
 */
export function encodeNlri(nlri: EncodableNlri): Uint8Array {
  const writer = new TlvWriter();
  const body = new TlvWriter();
  const nlriType = nlriTypeCode(nlri.type) ?? nlri.nlriType ?? 0;
  if (nlri.safi === LINK_STATE_VPN_SAFI) {
    body.put(parseRouteDistinguisher(nlri.routeDistinguisher || '0:0'));
  }
  if (nlri.type === 'unknown') {
    body.put(parseHex(nlri.value ?? ''));
  } else {
    const protocolId = nlri.protocol == null ? (nlri.protocolId ?? 0) : protocolCode(nlri.protocol);
    const context = { protocolId, nlriType, attributes: NO_ROWS };
    body.u8(protocolId);
    body.u64(BigInt(nlri.identifier ?? 0n));
    const unknown: UnknownTlv[] = [...(nlri.descriptor?.['unknown-tlvs'] ?? [])];
    for (const [type, node] of [
      [LOCAL_NODE_DESCRIPTORS, nlri.localNode],
      [REMOTE_NODE_DESCRIPTORS, nlri.remoteNode],
    ] as const) {
      if (node == null) continue;
      const value = new TlvWriter();
      encodeTlvs(value, NODE_DESCRIPTORS, node, node['unknown-tlvs'] ?? [], context, 'nlri');
      unknown.push({ type, value: formatHex(value.finish()) });
    }
    const descriptor = (nlri.descriptor ?? {}) as Descriptor;
    encodeTlvs(body, descriptorTable(nlriType), descriptor, unknown, context, 'nlri');
  }
  writer.tlv(nlriType, () => writer.put(body.finish()));
  return writer.finish();
}

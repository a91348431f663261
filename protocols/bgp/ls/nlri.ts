/**
 * Link-State NLRIs: framing, validity, decoding, encoding. RFC 9552 §5.2, RFC 9857 §4, RFC 9514 §6.
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
import type { LinkStateAttributes } from './attributes.ts';
import {
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
} from './descriptor.ts';
import { LOCAL_NODE_DESCRIPTORS, NlriScan, REMOTE_NODE_DESCRIPTORS } from './nlri-scan.ts';
import { type LinkStateProblem, ProblemList, type UpdateProblem } from './problem.ts';
import { TlvReader } from './reader.ts';
import { formatHex, parseHex, parseRouteDistinguisher, readHex, readRouteDistinguisher } from './text.ts';
import { decodeTlvs, encodeTlvs, type TlvTable, type UnknownTlv } from './tlv.ts';
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
  let start = fieldStart;
  while (start < fieldEnd) {
    const end = start + 4 + (((bytes[start + 2] as number) << 8) | (bytes[start + 3] as number));
    if (start + 4 > fieldEnd || end > fieldEnd) {
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
export class DecodedNlri implements LinkStateNlri {
  readonly safi: LinkStateSafi;
  readonly nlriType: number;
  readonly type: NlriTypeName;
  readonly protocolId: number;
  readonly protocol: string | null;
  identifier: bigint | null = null;
  routeDistinguisher = '';
  localNode: NodeDescriptor | null = null;
  remoteNode: NodeDescriptor | null = null;
  descriptor: Descriptor = NOTHING;
  value = '';
  /** What is wrong or odd; with action `nlri-discard` nothing but type and protocol has been decoded. */
  problems: readonly LinkStateProblem[] = NO_PROBLEMS;
  /** How much work the decoding was: see `TlvReader`. */
  steps = 0;
  private readonly bytes: Uint8Array;
  private readonly localStart: number;
  private readonly localEnd: number;
  private readonly remoteStart: number;
  private readonly remoteEnd: number;

  constructor(bytes: Uint8Array, safi: LinkStateSafi, scan: NlriScan) {
    this.safi = safi;
    this.nlriType = scan.nlriType;
    this.type = nlriTypeName(scan.nlriType);
    this.protocolId = scan.protocolId;
    this.protocol = this.type === 'unknown' ? null : protocolName(scan.protocolId);
    this.bytes = bytes;
    this.localStart = scan.localStart;
    this.localEnd = scan.localEnd;
    this.remoteStart = scan.remoteStart;
    this.remoteEnd = scan.remoteEnd;
  }

  /** The exact value of the Local Node Descriptors TLV: with protocol, identifier and RD the identity of a node. */
  get localNodeBytes(): Uint8Array | null {
    return this.localStart < 0 ? null : this.bytes.subarray(this.localStart, this.localEnd);
  }

  /** The same of the Remote Node Descriptors TLV, which only links have. */
  get remoteNodeBytes(): Uint8Array | null {
    return this.remoteStart < 0 ? null : this.bytes.subarray(this.remoteStart, this.remoteEnd);
  }
}

const NOTHING: Descriptor = Object.freeze({});
const NO_PROBLEMS: readonly LinkStateProblem[] = Object.freeze([]);
const NO_ROWS: TlvTable<LinkStateAttributes> = [];

/** What an object of each type cannot do without. Its absence is semantic: the object is kept. RFC 9552 §8.2.2. */
const ESSENTIAL: readonly (readonly [member: string, code: number] | undefined)[] = [
  undefined,
  undefined,
  undefined,
  ['ip-reachability', 265],
  ['ip-reachability', 265],
  ['protocol-origin', 554],
  ['sid', 518],
];

/** What every call needs and none keeps: one decode never calls another. */
const scan = new NlriScan();
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
  const whole = scan.scan(bytes, start, end, safi);
  const nlri = new DecodedNlri(bytes, safi, scan);
  if (!whole) {
    const code = scan.malformed ?? 'nlri-too-short';
    problems.add(code, 'nlri-discard', scan.malformedAt - start, scan.malformedType || undefined);
    nlri.problems = problems.take();
    return nlri;
  }
  if (scan.outOfOrder) problems.add('out-of-order', 'none', 0);
  reader.open(bytes, start + 4, end);
  if (safi === LINK_STATE_VPN_SAFI) nlri.routeDistinguisher = readRouteDistinguisher(reader);
  if (nlri.protocol === null) nlri.value = readHex(reader, end - reader.position);
  else decodeBody(nlri, start, end);
  nlri.problems = problems.take();
  nlri.steps = reader.steps;
  return nlri;
}

/** From the Protocol-ID on. */
function decodeBody(nlri: DecodedNlri, start: number, end: number): void {
  const { nlriType } = scan;
  reader.skip(1);
  nlri.identifier = reader.u64();
  const tlvs = reader.position;
  scope.protocolId = scan.protocolId;
  scope.nlriType = nlriType;
  scope.depth = 1;
  if (scan.localStart >= 0) nlri.localNode = decodeLocalNode(scan.localStart, scan.localEnd);
  else problems.add('missing-tlv', 'none', tlvs - start, LOCAL_NODE_DESCRIPTORS);
  if (scan.remoteStart >= 0) nlri.remoteNode = decodeNode(scan.remoteStart, scan.remoteEnd);
  else if (nlriType === NlriType.link) {
    problems.add('missing-tlv', 'none', tlvs - start, REMOTE_NODE_DESCRIPTORS);
  }

  const descriptor = emptyDescriptor(nlriType);
  reader.position = tlvs;
  reader.limit = end;
  scope.depth = 0;
  const unknown = decodeTlvs(reader, descriptorTable(nlriType), descriptor, scope, 'nlri-discard');
  if (unknown !== undefined) descriptor['unknown-tlvs'] = unknown;
  const essential = ESSENTIAL[nlriType];
  if (essential !== undefined && !(essential[0] in descriptor)) {
    problems.add('missing-tlv', 'none', tlvs - start, essential[1]);
  }
  nlri.descriptor = descriptor;
}

/**
 * The Local Node Descriptors read last, and their bytes: the objects of a node come one behind the other, so that
 * nine of ten share one frozen object. Longer ones are odd, and not worth the room.
 */
const recentBytes = new Uint8Array(64);
let recentLength = 0;
let recentNode: NodeDescriptor = Object.freeze({});

function decodeLocalNode(start: number, end: number): NodeDescriptor {
  const { bytes } = reader;
  if (isRecent(bytes, start, end)) {
    reader.steps += recentLength;
    return recentNode;
  }
  const node = decodeNode(start, end);
  // One with unknown or unreadable TLVs has to be looked at anew: what was odd about it is to be said again.
  if (end - start > recentBytes.length || node['unknown-tlvs'] !== undefined) return node;
  recentLength = end - start;
  for (let index = 0; index < recentLength; index += 1) recentBytes[index] = bytes[start + index] as number;
  recentNode = Object.freeze(node);
  return node;
}

function isRecent(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== recentLength || recentLength === 0) return false;
  // The last octets are those of the router identifier, the part that differs from node to node.
  for (let at = end - 1, index = recentLength - 1; index >= 0; at -= 1, index -= 1) {
    if (bytes[at] !== recentBytes[index]) return false;
  }
  return true;
}

function decodeNode(start: number, end: number): NodeDescriptor {
  const node: NodeDescriptor = {};
  reader.position = start;
  reader.limit = end;
  const unknown = decodeTlvs(reader, NODE_DESCRIPTORS, node, scope, 'nlri-discard');
  if (unknown !== undefined) node['unknown-tlvs'] = unknown;
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

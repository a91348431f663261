/** TLVs of SRv6: RFC 9514. */
import { flagField } from './flags.ts';
import type { TlvReader } from './reader.ts';
import { parseIgpRouterId, parseIpv4, parseIpv6, readIpv4, readIpv6, readSystemId } from './text.ts';
import {
  appended,
  decodeSubTlvs,
  encodeTlvs,
  type TlvEncoding,
  type TlvRow,
  type TlvScope,
  tlvTable,
  type UnknownTlv,
} from './tlv.ts';
import type { TlvWriter } from './writer.ts';

/** RFC 9352 §2, RFC 9513 §2. */
const SRV6_CAPABILITIES = flagField(2, [null, 'o']);
/** RFC 9352 §8.1 and §8.2, RFC 9513 §9, RFC 9514 §7.2. */
export const END_X_SID = flagField(1, ['b', 's', 'p']);

export interface Srv6SidStructure {
  'locator-block-bits': number;
  'locator-node-bits': number;
  'function-bits': number;
  'argument-bits': number;
}

export interface Srv6EndpointBehavior {
  /** IANA's "SRv6 Endpoint Behaviors". */
  behavior: number;
  flags: number;
  algorithm: number;
}

/** What a SID carries as sub-TLVs. */
export interface Srv6SidParts {
  'endpoint-behavior'?: Srv6EndpointBehavior;
  'sid-structure'?: Srv6SidStructure;
  'unknown-tlvs'?: readonly UnknownTlv[];
}

export interface Srv6EndXSid extends Srv6SidParts {
  behavior: number;
  flags: ReturnType<typeof END_X_SID.of>;
  algorithm: number;
  weight: number;
  sid: string;
}

export interface Srv6LanEndXSid extends Srv6EndXSid {
  /** The neighbour on the LAN: IS-IS system `0000.0000.0009`, OSPFv3 router `10.0.0.9`. */
  neighbor: string;
}

export interface Srv6Locator {
  flags: number;
  algorithm: number;
  metric: number;
  'unknown-tlvs'?: readonly UnknownTlv[];
}

export interface Srv6BgpPeerNodeSid {
  flags: ReturnType<typeof END_X_SID.of>;
  weight: number;
  'peer-as': number;
  'peer-bgp-identifier': string;
}

export interface Srv6Attributes {
  'srv6-capabilities'?: { flags: ReturnType<typeof SRV6_CAPABILITIES.of> };
  'srv6-end-x-sids'?: Srv6EndXSid[];
  'isis-srv6-lan-end-x-sids'?: Srv6LanEndXSid[];
  'ospfv3-srv6-lan-end-x-sids'?: Srv6LanEndXSid[];
  'srv6-locator'?: Srv6Locator;
  'endpoint-behavior'?: Srv6EndpointBehavior;
  'srv6-bgp-peer-node-sids'?: Srv6BgpPeerNodeSid[];
  'sid-structure'?: Srv6SidStructure;
}

const ENDPOINT_BEHAVIOR_ROW: TlvRow<Srv6SidParts> = {
  code: 1250,
  in: 'attribute',
  name: 'endpoint-behavior',
  title: 'SRv6 Endpoint Behavior',
  rfc: 'RFC 9514 §7.1',
  length: 4,
  decode: (reader, to) => {
    to['endpoint-behavior'] = { behavior: reader.u16(), flags: reader.u8(), algorithm: reader.u8() };
  },
  encode: (writer, value: Srv6EndpointBehavior) => {
    writer.u16(value.behavior);
    writer.u8(value.flags);
    writer.u8(value.algorithm);
  },
};

const SID_STRUCTURE_ROW: TlvRow<Srv6SidParts> = {
  code: 1252,
  in: 'attribute',
  name: 'sid-structure',
  title: 'SRv6 SID Structure',
  rfc: 'RFC 9514 §8',
  length: 4,
  decode: (reader, to, scope) => {
    const at = reader.position;
    const structure = {
      'locator-block-bits': reader.u8(),
      'locator-node-bits': reader.u8(),
      'function-bits': reader.u8(),
      'argument-bits': reader.u8(),
    };
    if (!isSidStructure(structure)) scope.problems.add('invalid-value', 'none', at, 1252);
    to['sid-structure'] = structure;
  },
  encode: (writer, value: Srv6SidStructure) => {
    writer.u8(value['locator-block-bits']);
    writer.u8(value['locator-node-bits']);
    writer.u8(value['function-bits']);
    writer.u8(value['argument-bits']);
  },
};

/** A SID has 128 bits. RFC 9514 §8. */
export function isSidStructure(structure: Srv6SidStructure): boolean {
  const bits =
    structure['locator-block-bits'] +
    structure['locator-node-bits'] +
    structure['function-bits'] +
    structure['argument-bits'];
  return bits <= 128;
}

/** The sub-TLVs of an SRv6 SID: RFC 9514 §4, RFC 9857 §5.2 and §5.7.1. */
export const SRV6_SID_TLVS = tlvTable<Srv6SidParts>([ENDPOINT_BEHAVIOR_ROW, SID_STRUCTURE_ROW]);

const LOCATOR_TLVS = tlvTable<Srv6Locator>([]);

export const SRV6_ROWS: readonly TlvRow<Srv6Attributes>[] = [
  {
    code: 1038,
    in: 'attribute',
    name: 'srv6-capabilities',
    title: 'SRv6 Capabilities',
    rfc: 'RFC 9514 §3.1',
    length: 4,
    decode: (reader, to) => {
      to['srv6-capabilities'] = { flags: SRV6_CAPABILITIES.of(reader.u16()) };
    },
    encode: (writer, value: NonNullable<Srv6Attributes['srv6-capabilities']>) => {
      writer.u16(SRV6_CAPABILITIES.bits(value.flags));
      writer.u16(0);
    },
  },
  {
    code: 1106,
    in: 'attribute',
    name: 'srv6-end-x-sids',
    title: 'SRv6 End.X SID',
    rfc: 'RFC 9514 §4.1',
    repeats: true,
    decode: (reader, to, scope) => {
      const { behavior, flags, algorithm, weight } = readEndX(reader);
      const sid: Srv6EndXSid = { behavior, flags, algorithm, weight, sid: readIpv6(reader) };
      decodeSubTlvs(reader, SRV6_SID_TLVS, sid, scope);
      to['srv6-end-x-sids'] = appended(to['srv6-end-x-sids'], sid);
    },
    encode: (writer, value: Srv6EndXSid, context) => {
      writeEndX(writer, value);
      writeSidAndParts(writer, value, context);
    },
  },
  {
    code: 1107,
    in: 'attribute',
    name: 'isis-srv6-lan-end-x-sids',
    title: 'IS-IS SRv6 LAN End.X SID',
    rfc: 'RFC 9514 §4.2',
    repeats: true,
    decode: (reader, to, scope) => {
      const sid = readLanEndX(reader, scope, readSystemId);
      to['isis-srv6-lan-end-x-sids'] = appended(to['isis-srv6-lan-end-x-sids'], sid);
    },
    encode: (writer, value: Srv6LanEndXSid, context) => writeLanEndX(writer, value, context),
  },
  {
    code: 1108,
    in: 'attribute',
    name: 'ospfv3-srv6-lan-end-x-sids',
    title: 'OSPFv3 SRv6 LAN End.X SID',
    rfc: 'RFC 9514 §4.2',
    repeats: true,
    decode: (reader, to, scope) => {
      const sid = readLanEndX(reader, scope, readIpv4);
      to['ospfv3-srv6-lan-end-x-sids'] = appended(to['ospfv3-srv6-lan-end-x-sids'], sid);
    },
    encode: (writer, value: Srv6LanEndXSid, context) => writeLanEndX(writer, value, context),
  },
  {
    code: 1162,
    in: 'attribute',
    name: 'srv6-locator',
    title: 'SRv6 Locator',
    rfc: 'RFC 9514 §5.1',
    decode: (reader, to, scope) => {
      const flags = reader.u8();
      const algorithm = reader.u8();
      reader.skip(2);
      const locator: Srv6Locator = { flags, algorithm, metric: reader.u32() };
      decodeSubTlvs(reader, LOCATOR_TLVS, locator, scope);
      to['srv6-locator'] = locator;
    },
    encode: (writer, value: Srv6Locator, context) => {
      writer.u8(value.flags);
      writer.u8(value.algorithm);
      writer.u16(0);
      writer.u32(value.metric);
      encodeTlvs(writer, LOCATOR_TLVS, value, value['unknown-tlvs'] ?? [], context, 'attribute');
    },
  },
  ENDPOINT_BEHAVIOR_ROW,
  {
    code: 1251,
    in: 'attribute',
    name: 'srv6-bgp-peer-node-sids',
    title: 'SRv6 BGP PeerNode SID',
    rfc: 'RFC 9514 §7.2',
    length: 12,
    repeats: true,
    decode: (reader, to) => {
      const flags = END_X_SID.of(reader.u8());
      const weight = reader.u8();
      reader.skip(2);
      to['srv6-bgp-peer-node-sids'] = appended(to['srv6-bgp-peer-node-sids'], {
        flags,
        weight,
        'peer-as': reader.u32(),
        'peer-bgp-identifier': readIpv4(reader),
      });
    },
    encode: (writer, value: Srv6BgpPeerNodeSid) => {
      writer.u8(END_X_SID.bits(value.flags));
      writer.u8(value.weight);
      writer.u16(0);
      writer.u32(value['peer-as']);
      writer.put(parseIpv4(value['peer-bgp-identifier']));
    },
  },
  SID_STRUCTURE_ROW,
];

function readEndX(reader: TlvReader) {
  const behavior = reader.u16();
  const flags = END_X_SID.of(reader.u8());
  const algorithm = reader.u8();
  const weight = reader.u8();
  reader.skip(1);
  return { behavior, flags, algorithm, weight };
}

function writeEndX(writer: TlvWriter, sid: Srv6EndXSid): void {
  writer.u16(sid.behavior);
  writer.u8(END_X_SID.bits(sid.flags));
  writer.u8(sid.algorithm);
  writer.u8(sid.weight);
  writer.u8(0);
}

function readLanEndX(
  reader: TlvReader,
  scope: TlvScope,
  readNeighbor: (reader: TlvReader) => string,
): Srv6LanEndXSid {
  const { behavior, flags, algorithm, weight } = readEndX(reader);
  const neighbor = readNeighbor(reader);
  const sid: Srv6LanEndXSid = { behavior, flags, algorithm, weight, neighbor, sid: readIpv6(reader) };
  decodeSubTlvs(reader, SRV6_SID_TLVS, sid, scope);
  return sid;
}

function writeLanEndX(writer: TlvWriter, sid: Srv6LanEndXSid, context: TlvEncoding): void {
  writeEndX(writer, sid);
  writer.put(parseIgpRouterId(sid.neighbor));
  writeSidAndParts(writer, sid, context);
}

function writeSidAndParts(writer: TlvWriter, sid: Srv6EndXSid, context: TlvEncoding): void {
  writer.put(parseIpv6(sid.sid));
  encodeTlvs(writer, SRV6_SID_TLVS, sid, sid['unknown-tlvs'] ?? [], context, 'attribute');
}

/** TLVs of segment routing with MPLS: RFC 9085; maximum SID depths: RFC 8814; egress peers: RFC 9086. */
import { isIsis, isOspf } from './code-point.ts';
import { flagField } from './flags.ts';
import type { TlvReader } from './reader.ts';
import {
  ADJACENCY_FLAGS,
  type LabelOrIndex,
  type LabelRange,
  PREFIX_FLAGS,
  prefixAttributeFlagBits,
  prefixAttributeFlags,
  RANGE_FLAGS,
  readRanges,
  readSid,
  type SidFlags,
  sidFlagBits,
  sidFlags,
  writeRanges,
  writeSid,
} from './sid.ts';
import {
  parseAddress,
  parseHex,
  parseIgpRouterId,
  parseIpv4,
  readAddress,
  readHex,
  readIpv4,
  readSystemId,
} from './text.ts';
import {
  appended,
  decodeSubTlvs,
  encodeTlvs,
  type TlvContext,
  type TlvRow,
  type TlvTable,
  tlvTable,
  type UnknownTlv,
} from './tlv.ts';
import type { TlvWriter } from './writer.ts';

/** RFC 8667 §3.1. */
const SR_CAPABILITIES = flagField(1, ['mpls-ipv4', 'mpls-ipv6']);

/** OSPF has no such flags: what it sends there is ignored. RFC 9085 §2.1.2. */
export function srCapabilityFlags(bits: number, { protocolId }: TlvContext): SrCapabilities['flags'] {
  return SR_CAPABILITIES.of(isOspf(protocolId) ? 0 : bits);
}

export interface SrCapabilities {
  flags: ReturnType<typeof SR_CAPABILITIES.of>;
  ranges: LabelRange[];
}

export interface Msd {
  type: number;
  value: number;
}

export interface AdjacencySid extends LabelOrIndex {
  flags: SidFlags;
  weight: number;
}

export interface LanAdjacencySid extends AdjacencySid {
  /** The neighbour on the LAN: IS-IS system `0000.0000.0009`, OSPF router `10.0.0.9`. */
  neighbor: string;
}

/** RFC 9086 §5. */
const PEER_SID = flagField(1, ['v', 'l', 'b', 'p']);

export interface PeerSid extends LabelOrIndex {
  flags: ReturnType<typeof PEER_SID.of>;
  weight: number;
}

export interface PrefixSid extends LabelOrIndex {
  flags: SidFlags;
  algorithm: number;
}

/** RFC 9085 §2.3.5: as many prefixes from this one on as `size` says, whose SIDs follow one another. */
export interface SidRange {
  flags: SidFlags;
  size: number;
  'prefix-sids'?: PrefixSid[];
  'unknown-tlvs'?: readonly UnknownTlv[];
}

export interface PrefixAttributeFlags {
  flags: SidFlags;
  /** All octets as sent, in hex: IS-IS may send several. */
  value?: string;
}

export interface SrNodeAttributes {
  'node-msds'?: Msd[];
  'sr-capabilities'?: SrCapabilities;
  'sr-algorithms'?: number[];
  'sr-local-block'?: LabelRange[];
  'srms-preference'?: number;
}

export interface SrLinkAttributes {
  'link-msds'?: Msd[];
  'adjacency-sids'?: AdjacencySid[];
  'lan-adjacency-sids'?: LanAdjacencySid[];
  'peer-node-sids'?: PeerSid[];
  'peer-adj-sids'?: PeerSid[];
  'peer-set-sids'?: PeerSid[];
}

export interface SrPrefixAttributes {
  'prefix-sids'?: PrefixSid[];
  'sid-ranges'?: SidRange[];
  'prefix-attribute-flags'?: PrefixAttributeFlags;
  'source-router-identifier'?: string;
  'source-ospf-router-id'?: string;
}

export const SR_NODE_ROWS: readonly TlvRow<SrNodeAttributes>[] = [
  {
    code: 266,
    in: 'attribute',
    name: 'node-msds',
    title: 'Node MSD',
    rfc: 'RFC 8814 §3',
    decode: (reader, to) => {
      to['node-msds'] = readMsds(reader);
    },
    encode: (writer, value: Msd[]) => writeMsds(writer, value),
  },
  {
    code: 1034,
    in: 'attribute',
    name: 'sr-capabilities',
    title: 'SR Capabilities',
    rfc: 'RFC 9085 §2.1.2',
    decode: (reader, to, scope) => {
      const flags = srCapabilityFlags(reader.u8(), scope);
      reader.skip(1);
      to['sr-capabilities'] = { flags, ranges: readRanges(reader, scope.problems) };
    },
    encode: (writer, value: SrCapabilities, { protocolId }) => {
      writer.u8(isOspf(protocolId) ? 0 : SR_CAPABILITIES.bits(value.flags));
      writer.u8(0);
      writeRanges(writer, value.ranges);
    },
  },
  {
    code: 1035,
    in: 'attribute',
    name: 'sr-algorithms',
    title: 'SR Algorithm',
    rfc: 'RFC 9085 §2.1.3',
    decode: (reader, to) => {
      if (reader.remaining === 0) reader.reject();
      const algorithms: number[] = [];
      while (reader.remaining > 0) algorithms.push(reader.u8());
      to['sr-algorithms'] = algorithms;
    },
    encode: (writer, value: number[]) => {
      for (const algorithm of value) writer.u8(algorithm);
    },
  },
  {
    code: 1036,
    in: 'attribute',
    name: 'sr-local-block',
    title: 'SR Local Block',
    rfc: 'RFC 9085 §2.1.4',
    decode: (reader, to, scope) => {
      // One octet of flags, none of which is defined, and one reserved.
      reader.skip(2);
      to['sr-local-block'] = readRanges(reader, scope.problems);
    },
    encode: (writer, value: LabelRange[]) => {
      writer.u16(0);
      writeRanges(writer, value);
    },
  },
  {
    code: 1037,
    in: 'attribute',
    name: 'srms-preference',
    title: 'SRMS Preference',
    rfc: 'RFC 9085 §2.1.5',
    length: 1,
    decode: (reader, to) => {
      to['srms-preference'] = reader.u8();
    },
    encode: (writer, value: number) => writer.u8(value),
  },
];

export const SR_LINK_ROWS: readonly TlvRow<SrLinkAttributes>[] = [
  {
    code: 267,
    in: 'attribute',
    name: 'link-msds',
    title: 'Link MSD',
    rfc: 'RFC 8814 §4',
    decode: (reader, to) => {
      to['link-msds'] = readMsds(reader);
    },
    encode: (writer, value: Msd[]) => writeMsds(writer, value),
  },
  {
    code: 1099,
    in: 'attribute',
    name: 'adjacency-sids',
    title: 'Adjacency SID',
    rfc: 'RFC 9085 §2.2.1',
    repeats: true,
    decode: (reader, to, scope) => {
      const flags = sidFlags(ADJACENCY_FLAGS, reader.u8(), scope);
      const weight = reader.u8();
      reader.skip(2);
      to['adjacency-sids'] = appended(to['adjacency-sids'], readSid<AdjacencySid>(reader, { flags, weight }));
    },
    encode: (writer, value: AdjacencySid, context) => {
      writer.u8(sidFlagBits(ADJACENCY_FLAGS, value.flags, context));
      writer.u8(value.weight);
      writer.u16(0);
      writeSid(writer, value);
    },
  },
  {
    code: 1100,
    in: 'attribute',
    name: 'lan-adjacency-sids',
    title: 'LAN Adjacency SID',
    rfc: 'RFC 9085 §2.2.2',
    repeats: true,
    decode: (reader, to, scope) => {
      const flags = sidFlags(ADJACENCY_FLAGS, reader.u8(), scope);
      const weight = reader.u8();
      reader.skip(2);
      const neighbor = isIsis(scope.protocolId) ? readSystemId(reader) : readIpv4(reader);
      to['lan-adjacency-sids'] = appended(
        to['lan-adjacency-sids'],
        readSid<LanAdjacencySid>(reader, { flags, weight, neighbor }),
      );
    },
    encode: (writer, value: LanAdjacencySid, context) => {
      writer.u8(sidFlagBits(ADJACENCY_FLAGS, value.flags, context));
      writer.u8(value.weight);
      writer.u16(0);
      writer.put(parseIgpRouterId(value.neighbor));
      writeSid(writer, value);
    },
  },
  peerSidRow(1101, 'peer-node-sids', 'PeerNode SID', 'RFC 9086 §5.1', (to, sid) => {
    to['peer-node-sids'] = appended(to['peer-node-sids'], sid);
  }),
  peerSidRow(1102, 'peer-adj-sids', 'PeerAdj SID', 'RFC 9086 §5.2', (to, sid) => {
    to['peer-adj-sids'] = appended(to['peer-adj-sids'], sid);
  }),
  peerSidRow(1103, 'peer-set-sids', 'PeerSet SID', 'RFC 9086 §5.3', (to, sid) => {
    to['peer-set-sids'] = appended(to['peer-set-sids'], sid);
  }),
];

const PREFIX_SID_ROW: TlvRow<{ 'prefix-sids'?: PrefixSid[] }> = {
  code: 1158,
  in: 'attribute',
  name: 'prefix-sids',
  title: 'Prefix-SID',
  rfc: 'RFC 9085 §2.3.1',
  repeats: true,
  decode: (reader, to, scope) => {
    const flags = sidFlags(PREFIX_FLAGS, reader.u8(), scope);
    const algorithm = reader.u8();
    reader.skip(2);
    to['prefix-sids'] = appended(to['prefix-sids'], readSid<PrefixSid>(reader, { flags, algorithm }));
  },
  encode: (writer, value: PrefixSid, context) => {
    writer.u8(sidFlagBits(PREFIX_FLAGS, value.flags, context));
    writer.u8(value.algorithm);
    writer.u16(0);
    writeSid(writer, value);
  },
};

const RANGE_TLVS: TlvTable<SidRange> = tlvTable<SidRange>([PREFIX_SID_ROW]);

export const SR_PREFIX_ROWS: readonly TlvRow<SrPrefixAttributes>[] = [
  PREFIX_SID_ROW,
  {
    code: 1159,
    in: 'attribute',
    name: 'sid-ranges',
    title: 'Range',
    rfc: 'RFC 9085 §2.3.5',
    repeats: true,
    decode: (reader, to, scope) => {
      const flags = sidFlags(RANGE_FLAGS, reader.u8(), scope);
      reader.skip(1);
      const range: SidRange = { flags, size: reader.u16() };
      decodeSubTlvs(reader, RANGE_TLVS, range, scope);
      to['sid-ranges'] = appended(to['sid-ranges'], range);
    },
    encode: (writer, value: SidRange, context) => {
      writer.u8(sidFlagBits(RANGE_FLAGS, value.flags, context));
      writer.u8(0);
      writer.u16(value.size);
      encodeTlvs(writer, RANGE_TLVS, value, value['unknown-tlvs'] ?? [], context, 'attribute');
    },
  },
  {
    code: 1170,
    in: 'attribute',
    name: 'prefix-attribute-flags',
    title: 'Prefix Attribute Flags',
    rfc: 'RFC 9085 §2.3.2',
    decode: (reader, to, scope) => {
      const value = readHex(reader, reader.remaining);
      const first = value === '' ? 0 : (reader.bytes[reader.position - value.length / 2] as number);
      const flags = prefixAttributeFlags(first, scope);
      to['prefix-attribute-flags'] = { flags, value };
    },
    encode: (writer, value: PrefixAttributeFlags, context) => {
      if (value.value !== undefined) {
        writer.put(parseHex(value.value));
        return;
      }
      writer.u8(prefixAttributeFlagBits(value.flags, context));
    },
  },
  {
    code: 1171,
    in: 'attribute',
    name: 'source-router-identifier',
    title: 'Source Router Identifier',
    rfc: 'RFC 9085 §2.3.3',
    decode: (reader, to) => {
      const octets = reader.remaining;
      if (octets !== 4 && octets !== 16) reader.reject();
      else to['source-router-identifier'] = readAddress(reader, octets);
    },
    encode: (writer, value: string) => writer.put(parseAddress(value)),
  },
  {
    code: 1174,
    in: 'attribute',
    name: 'source-ospf-router-id',
    title: 'Source OSPF Router-ID',
    rfc: 'RFC 9085 §2.3.4',
    length: 4,
    decode: (reader, to) => {
      to['source-ospf-router-id'] = readIpv4(reader);
    },
    encode: (writer, value: string) => writer.put(parseIpv4(value)),
  },
];

function peerSidRow(
  code: number,
  name: string,
  title: string,
  rfc: string,
  append: (to: SrLinkAttributes, sid: PeerSid) => void,
): TlvRow<SrLinkAttributes> {
  return {
    code,
    in: 'attribute',
    name,
    title,
    rfc,
    repeats: true,
    decode: (reader, to) => {
      const flags = PEER_SID.of(reader.u8());
      const weight = reader.u8();
      reader.skip(2);
      append(to, readSid<PeerSid>(reader, { flags, weight }));
    },
    encode: (writer, value: PeerSid) => {
      writer.u8(PEER_SID.bits(value.flags));
      writer.u8(value.weight);
      writer.u16(0);
      writeSid(writer, value);
    },
  };
}

/** One pair or more: RFC 8814 §3, §4. */
function readMsds(reader: TlvReader): Msd[] {
  if (reader.remaining === 0) reader.reject();
  const msds: Msd[] = [];
  while (reader.remaining > 0) msds.push({ type: reader.u8(), value: reader.u8() });
  return msds;
}

function writeMsds(writer: TlvWriter, msds: readonly Msd[]): void {
  for (const msd of msds) {
    writer.u8(msd.type);
    writer.u8(msd.value);
  }
}

/**
 * Descriptors: the TLVs that make an object's identity. RFC 9552 §5.2.1 to §5.2.3, RFC 9086 §4.1, RFC 9514 §6,
 * RFC 9857 §3 and §4.
 */
import { NlriType } from './code-point.ts';
import type { TlvReader } from './reader.ts';
import {
  formatIpv4,
  formatIpv6,
  parseAddress,
  parseIgpRouterId,
  parseIpv4,
  parseIpv6,
  readAddress,
  readIgpRouterId,
  readIpv4,
  readIpv6,
} from './text.ts';
import { type TlvRow, type TlvTable, tlvTable, type UnknownTlv } from './tlv.ts';
import type { TlvWriter } from './writer.ts';

/** The sub-TLVs of a Local or Remote Node Descriptors TLV. */
export interface NodeDescriptor {
  'autonomous-system'?: number;
  'bgp-ls-identifier'?: number;
  'ospf-area-id'?: string;
  /**
   * `0000.0000.0009`, pseudonode `0000.0000.0009.02`, `10.1.1.1`, OSPF pseudonode `10.1.4.1:10.1.1.2`; a node of the
   * protocols direct and static may have `2001:db8::1`. Else hex.
   */
  'igp-router-id'?: string;
  'bgp-router-id'?: string;
  'bgp-confederation-member'?: number;
  /** Of the head-end of an SR policy. */
  'ipv4-router-id'?: string;
  'ipv6-router-id'?: string;
  /** TLVs without a row, or that their row could not read; absent when there is none. So in each descriptor. */
  'unknown-tlvs'?: readonly UnknownTlv[];
}

/** Link descriptors, and those of a stub link, which has a remote AS in place of a remote node. */
export interface LinkDescriptor {
  'link-local-identifier'?: number;
  'link-remote-identifier'?: number;
  'ipv4-interface-addresses': readonly string[];
  'ipv4-neighbor-addresses': readonly string[];
  'ipv6-interface-addresses': readonly string[];
  'ipv6-neighbor-addresses': readonly string[];
  'multi-topology-id'?: number;
  'remote-as-number'?: number;
  'ipv4-remote-asbr-id'?: string;
  'ipv6-remote-asbr-id'?: string;
  'unknown-tlvs'?: readonly UnknownTlv[];
}

export interface PrefixDescriptor {
  'multi-topology-id'?: number;
  /** `intra-area`, `inter-area`, `external-1`, `external-2`, `nssa-1`, `nssa-2`; `route-type-<n>` for others. */
  'ospf-route-type'?: string;
  /** `10.0.0.0/24`; bits beyond the prefix length are shown as zero whatever was sent. */
  'ip-reachability'?: string;
  'unknown-tlvs'?: readonly UnknownTlv[];
}

export interface Srv6SidDescriptor {
  'multi-topology-id'?: number;
  sid?: string;
  'unknown-tlvs'?: readonly UnknownTlv[];
}

/** Of the SR Policy CP Descriptor: which candidate path of a policy. RFC 9857 §4. */
export interface SrPolicyDescriptor {
  /** RFC 9857 §4: 1 PCEP, 2 BGP SR Policy, 3 configuration; 10, 20, 30 the same told by a PCE. */
  'protocol-origin'?: number;
  endpoint?: string;
  color?: number;
  'originator-as'?: number;
  originator?: string;
  discriminator?: number;
  'unknown-tlvs'?: readonly UnknownTlv[];
}

export type Descriptor = LinkDescriptor | PrefixDescriptor | Srv6SidDescriptor | SrPolicyDescriptor;

/** RFC 9552 §5.2.1.4, RFC 9086 §4.1. */
export const NODE_DESCRIPTOR_ROWS: readonly TlvRow<NodeDescriptor>[] = [
  {
    code: 512,
    in: 'node-descriptor',
    name: 'autonomous-system',
    title: 'Autonomous System',
    rfc: 'RFC 9552 §5.2.1.4',
    length: 4,
    decode: (reader, to) => {
      to['autonomous-system'] = reader.u32();
    },
    encode: (writer, value: number) => writer.u32(value),
  },
  {
    code: 513,
    in: 'node-descriptor',
    name: 'bgp-ls-identifier',
    title: 'BGP-LS Identifier (deprecated)',
    rfc: 'RFC 9552 §5.2.1.4',
    length: 4,
    decode: (reader, to) => {
      to['bgp-ls-identifier'] = reader.u32();
    },
    encode: (writer, value: number) => writer.u32(value),
  },
  {
    code: 514,
    in: 'node-descriptor',
    name: 'ospf-area-id',
    title: 'OSPF Area-ID',
    rfc: 'RFC 9552 §5.2.1.4',
    length: 4,
    decode: (reader, to) => {
      to['ospf-area-id'] = readIpv4(reader);
    },
    encode: (writer, value: string) => writer.put(parseIpv4(value)),
  },
  {
    code: 515,
    in: 'node-descriptor',
    name: 'igp-router-id',
    title: 'IGP Router-ID',
    rfc: 'RFC 9552 §5.2.1.4',
    decode: (reader, to) => {
      to['igp-router-id'] = readIgpRouterId(reader, reader.remaining);
    },
    encode: (writer, value: string) => writer.put(parseIgpRouterId(value)),
  },
  {
    code: 516,
    in: 'node-descriptor',
    name: 'bgp-router-id',
    title: 'BGP Router-ID',
    rfc: 'RFC 9086 §4.1',
    length: 4,
    decode: (reader, to) => {
      to['bgp-router-id'] = readIpv4(reader);
    },
    encode: (writer, value: string) => writer.put(parseIpv4(value)),
  },
  {
    code: 517,
    in: 'node-descriptor',
    name: 'bgp-confederation-member',
    title: 'BGP Confederation Member',
    rfc: 'RFC 9086 §4.1',
    length: 4,
    decode: (reader, to) => {
      to['bgp-confederation-member'] = reader.u32();
    },
    encode: (writer, value: number) => writer.u32(value),
  },
  {
    code: 1028,
    in: 'node-descriptor',
    name: 'ipv4-router-id',
    title: 'IPv4 Router-ID of Local Node',
    rfc: 'RFC 9857 §3',
    length: 4,
    decode: (reader, to) => {
      to['ipv4-router-id'] = readIpv4(reader);
    },
    encode: (writer, value: string) => writer.put(parseIpv4(value)),
  },
  {
    code: 1029,
    in: 'node-descriptor',
    name: 'ipv6-router-id',
    title: 'IPv6 Router-ID of Local Node',
    rfc: 'RFC 9857 §3',
    length: 16,
    decode: (reader, to) => {
      to['ipv6-router-id'] = readIpv6(reader);
    },
    encode: (writer, value: string) => writer.put(parseIpv6(value)),
  },
];

/** No address: one array for all, since most links lack most kinds. */
export const NO_ADDRESSES: readonly string[] = Object.freeze([]);

function withAddress(addresses: readonly string[], address: string): readonly string[] {
  return addresses.length === 0 ? [address] : [...addresses, address];
}

/** RFC 9552 §5.2.2. */
export const LINK_DESCRIPTOR_ROWS: readonly TlvRow<LinkDescriptor>[] = [
  {
    code: 258,
    in: 'link-descriptor',
    name: 'link-local-identifier',
    title: 'Link Local/Remote Identifiers',
    rfc: 'RFC 9552 §5.2.2; RFC 5307 §1.1',
    length: 8,
    decode: (reader, to) => {
      to['link-local-identifier'] = reader.u32();
      to['link-remote-identifier'] = reader.u32();
    },
    encode: (writer, value: number, _context, from) => {
      writer.u32(value);
      writer.u32(from['link-remote-identifier'] ?? 0);
    },
  },
  {
    code: 259,
    in: 'link-descriptor',
    name: 'ipv4-interface-addresses',
    title: 'IPv4 interface address',
    rfc: 'RFC 9552 §5.2.2',
    length: 4,
    repeats: true,
    decode: (reader, to) => {
      to['ipv4-interface-addresses'] = withAddress(to['ipv4-interface-addresses'], readIpv4(reader));
    },
    encode: (writer, value: string) => writer.put(parseIpv4(value)),
  },
  {
    code: 260,
    in: 'link-descriptor',
    name: 'ipv4-neighbor-addresses',
    title: 'IPv4 neighbor address',
    rfc: 'RFC 9552 §5.2.2',
    length: 4,
    repeats: true,
    decode: (reader, to) => {
      to['ipv4-neighbor-addresses'] = withAddress(to['ipv4-neighbor-addresses'], readIpv4(reader));
    },
    encode: (writer, value: string) => writer.put(parseIpv4(value)),
  },
  {
    code: 261,
    in: 'link-descriptor',
    name: 'ipv6-interface-addresses',
    title: 'IPv6 interface address',
    rfc: 'RFC 9552 §5.2.2',
    length: 16,
    repeats: true,
    decode: (reader, to) => {
      to['ipv6-interface-addresses'] = withAddress(to['ipv6-interface-addresses'], readIpv6(reader));
    },
    encode: (writer, value: string) => writer.put(parseIpv6(value)),
  },
  {
    code: 262,
    in: 'link-descriptor',
    name: 'ipv6-neighbor-addresses',
    title: 'IPv6 neighbor address',
    rfc: 'RFC 9552 §5.2.2',
    length: 16,
    repeats: true,
    decode: (reader, to) => {
      to['ipv6-neighbor-addresses'] = withAddress(to['ipv6-neighbor-addresses'], readIpv6(reader));
    },
    encode: (writer, value: string) => writer.put(parseIpv6(value)),
  },
  multiTopologyId('link-descriptor', 'RFC 9552 §5.2.2.1'),
];

/** A stub link has the link descriptors and says who is at the other end by AS and ASBR. */
export const STUB_LINK_DESCRIPTOR_ROWS: readonly TlvRow<LinkDescriptor>[] = [
  {
    code: 270,
    in: 'stub-link-descriptor',
    name: 'remote-as-number',
    title: 'Remote AS Number',
    rfc: 'draft-ietf-idr-bgpls-inter-as-topology-ext',
    length: 4,
    decode: (reader, to) => {
      to['remote-as-number'] = reader.u32();
    },
    encode: (writer, value: number) => writer.u32(value),
  },
  {
    code: 271,
    in: 'stub-link-descriptor',
    name: 'ipv4-remote-asbr-id',
    title: 'IPv4 Remote ASBR ID',
    rfc: 'draft-ietf-idr-bgpls-inter-as-topology-ext',
    length: 4,
    decode: (reader, to) => {
      to['ipv4-remote-asbr-id'] = readIpv4(reader);
    },
    encode: (writer, value: string) => writer.put(parseIpv4(value)),
  },
  {
    code: 272,
    in: 'stub-link-descriptor',
    name: 'ipv6-remote-asbr-id',
    title: 'IPv6 Remote ASBR ID',
    rfc: 'draft-ietf-idr-bgpls-inter-as-topology-ext',
    length: 16,
    decode: (reader, to) => {
      to['ipv6-remote-asbr-id'] = readIpv6(reader);
    },
    encode: (writer, value: string) => writer.put(parseIpv6(value)),
  },
];

const OSPF_ROUTE_TYPES = ['', 'intra-area', 'inter-area', 'external-1', 'external-2', 'nssa-1', 'nssa-2'];

export function ospfRouteType(type: number): string {
  return OSPF_ROUTE_TYPES[type] || `route-type-${type}`;
}

/** RFC 9552 §5.2.3. */
export const PREFIX_DESCRIPTOR_ROWS: readonly TlvRow<PrefixDescriptor>[] = [
  multiTopologyId('prefix-descriptor', 'RFC 9552 §5.2.2.1'),
  {
    code: 264,
    in: 'prefix-descriptor',
    name: 'ospf-route-type',
    title: 'OSPF Route Type',
    rfc: 'RFC 9552 §5.2.3.1',
    length: 1,
    decode: (reader, to) => {
      to['ospf-route-type'] = ospfRouteType(reader.u8());
    },
    encode: (writer, value: string) => {
      const type = OSPF_ROUTE_TYPES.indexOf(value);
      writer.u8(type > 0 ? type : Number(value.slice('route-type-'.length)));
    },
  },
  {
    code: 265,
    in: 'prefix-descriptor',
    name: 'ip-reachability',
    title: 'IP Reachability Information',
    rfc: 'RFC 9552 §5.2.3.2',
    decode: (reader, to, scope) => {
      to['ip-reachability'] = readPrefix(reader, scope.nlriType === NlriType.ipv6Prefix);
    },
    encode: (writer, value: string) => writePrefix(writer, value),
  },
];

/** RFC 9514 §6.1. */
export const SRV6_SID_DESCRIPTOR_ROWS: readonly TlvRow<Srv6SidDescriptor>[] = [
  multiTopologyId('srv6-sid-descriptor', 'RFC 9514 §6'),
  {
    code: 518,
    in: 'srv6-sid-descriptor',
    name: 'sid',
    title: 'SRv6 SID Information',
    rfc: 'RFC 9514 §6.1',
    length: 16,
    decode: (reader, to) => {
      to.sid = readIpv6(reader);
    },
    encode: (writer, value: string) => writer.put(parseIpv6(value)),
  },
];

const IPV6_ENDPOINT = 0x80;
const IPV6_ORIGINATOR = 0x40;

/** RFC 9857 §4. */
export const SR_POLICY_DESCRIPTOR_ROWS: readonly TlvRow<SrPolicyDescriptor>[] = [
  {
    code: 554,
    in: 'sr-policy-descriptor',
    name: 'protocol-origin',
    title: 'SR Policy CP Descriptor',
    rfc: 'RFC 9857 §4',
    decode: (reader, to) => {
      const origin = reader.u8();
      const flags = reader.u8();
      reader.skip(2);
      const endpoint = readAddress(reader, flags & IPV6_ENDPOINT ? 16 : 4);
      const color = reader.u32();
      const originatorAs = reader.u32();
      const originator = readAddress(reader, flags & IPV6_ORIGINATOR ? 16 : 4);
      const discriminator = reader.u32();
      if (reader.remaining > 0) reader.reject();
      to['protocol-origin'] = origin;
      if (reader.overrun) return;
      to.endpoint = endpoint;
      to.color = color;
      to['originator-as'] = originatorAs;
      to.originator = originator;
      to.discriminator = discriminator;
    },
    encode: (writer, value: number, _context, from) => {
      const endpoint = parseAddress(from.endpoint ?? '0.0.0.0');
      const originator = parseAddress(from.originator ?? '0.0.0.0');
      writer.u8(value);
      writer.u8(
        (endpoint.length === 16 ? IPV6_ENDPOINT : 0) | (originator.length === 16 ? IPV6_ORIGINATOR : 0),
      );
      writer.u16(0);
      writer.put(endpoint);
      writer.u32(from.color ?? 0);
      writer.u32(from['originator-as'] ?? 0);
      writer.put(originator);
      writer.u32(from.discriminator ?? 0);
    },
  },
];

/**
 * The containers of node descriptors, so that the loop over an NLRI's TLVs knows them; `decodeNlri` reads and
 * `encodeNlri` writes them, since an identity needs them apart.
 */
export const NODE_DESCRIPTORS_ROWS: readonly TlvRow<object>[] = [
  { code: 256, name: 'local-node', title: 'Local Node Descriptors', rfc: 'RFC 9552 §5.2.1.2' },
  { code: 257, name: 'remote-node', title: 'Remote Node Descriptors', rfc: 'RFC 9552 §5.2.1.3' },
].map((row) => ({ ...row, in: 'nlri', decode: () => {}, encode: () => {} }));

export const NODE_DESCRIPTORS = tlvTable(NODE_DESCRIPTOR_ROWS);
const LINK_DESCRIPTORS = tlvTable([...NODE_DESCRIPTORS_ROWS, ...LINK_DESCRIPTOR_ROWS]);
const STUB_LINK_DESCRIPTORS = tlvTable([
  ...NODE_DESCRIPTORS_ROWS,
  ...LINK_DESCRIPTOR_ROWS,
  ...STUB_LINK_DESCRIPTOR_ROWS,
]);
const PREFIX_DESCRIPTORS = tlvTable([...NODE_DESCRIPTORS_ROWS, ...PREFIX_DESCRIPTOR_ROWS]);
const SRV6_SID_DESCRIPTORS = tlvTable([...NODE_DESCRIPTORS_ROWS, ...SRV6_SID_DESCRIPTOR_ROWS]);
const SR_POLICY_DESCRIPTORS = tlvTable([...NODE_DESCRIPTORS_ROWS, ...SR_POLICY_DESCRIPTOR_ROWS]);
const NO_DESCRIPTORS = tlvTable<Descriptor>(NODE_DESCRIPTORS_ROWS);

/** The rows of the descriptors that stand beside the node descriptors in an NLRI of this type. */
export function descriptorTable(nlriType: number): TlvTable<Descriptor> {
  switch (nlriType) {
    case NlriType.link:
      return LINK_DESCRIPTORS as TlvTable<Descriptor>;
    case NlriType.ipv4Prefix:
    case NlriType.ipv6Prefix:
      return PREFIX_DESCRIPTORS as TlvTable<Descriptor>;
    case NlriType.srv6Sid:
      return SRV6_SID_DESCRIPTORS as TlvTable<Descriptor>;
    case NlriType.srPolicy:
      return SR_POLICY_DESCRIPTORS as TlvTable<Descriptor>;
    case NlriType.stubLink:
      return STUB_LINK_DESCRIPTORS as TlvTable<Descriptor>;
    default:
      return NO_DESCRIPTORS;
  }
}

/** A descriptor before any TLV of it has been read. */
export function emptyDescriptor(nlriType: number): Descriptor {
  return nlriType === NlriType.link || nlriType === NlriType.stubLink ? emptyLinkDescriptor() : {};
}

export function emptyLinkDescriptor(): LinkDescriptor {
  return {
    'ipv4-interface-addresses': NO_ADDRESSES,
    'ipv4-neighbor-addresses': NO_ADDRESSES,
    'ipv6-interface-addresses': NO_ADDRESSES,
    'ipv6-neighbor-addresses': NO_ADDRESSES,
  };
}

/** A descriptor holds one identifier; of an (illegal) list the first counts. The four reserved bits are ignored. */
function multiTopologyId(
  place: 'link-descriptor' | 'prefix-descriptor' | 'srv6-sid-descriptor',
  rfc: string,
): TlvRow<{ 'multi-topology-id'?: number }> {
  return {
    code: 263,
    in: place,
    name: 'multi-topology-id',
    title: 'Multi-Topology Identifier',
    rfc,
    decode: (reader, to, scope) => {
      if (reader.remaining !== 2) scope.problems.add('wrong-length', 'none', reader.position, 263);
      to['multi-topology-id'] = reader.u16() & 0x0fff;
    },
    encode: (writer, value: number) => writer.u16(value),
  };
}

/**
 * A prefix: its length in bits, then as many octets as hold them. Longer values are legal to receive; the octets
 * beyond count for identity only. RFC 9552 §5.2.3.2.
 */
function readPrefix(reader: TlvReader, ipv6: boolean): string {
  const bits = reader.u8();
  const octets = (bits + 7) >> 3;
  if (octets > (ipv6 ? 16 : 4) || octets > reader.remaining) {
    reader.reject();
    return '';
  }
  if (!ipv6) return `${formatIpv4(prefixWord(reader, bits))}/${bits}`;
  const first = prefixWord(reader, bits);
  const second = prefixWord(reader, bits - 32);
  const third = prefixWord(reader, bits - 64);
  return `${formatIpv6(first, second, third, prefixWord(reader, bits - 96))}/${bits}`;
}

/** The next 32 bits of a prefix of which this many bits are left; those beyond are zero. */
function prefixWord(reader: TlvReader, bits: number): number {
  if (bits <= 0) return 0;
  if (bits >= 32) return reader.u32();
  const octets = (bits + 7) >> 3;
  const value = reader.unsigned(octets) << (8 * (4 - octets));
  return ((value >>> (32 - bits)) << (32 - bits)) >>> 0;
}

function writePrefix(writer: TlvWriter, text: string): void {
  const [address, bits] = text.split('/') as [string, string];
  writer.u8(Number(bits));
  writer.put(parseAddress(address).subarray(0, (Number(bits) + 7) >> 3));
}

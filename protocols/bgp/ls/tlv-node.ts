/** TLVs that describe a node. RFC 9552 §5.3.1. */
import { flagField } from './flags.ts';
import {
  encodeText,
  parseHex,
  parseIpv4,
  parseIpv6,
  parseIsisArea,
  readHex,
  readIpv4,
  readIpv6,
  readIsisArea,
  readText,
} from './text.ts';
import { appended, type TlvRow } from './tlv.ts';

/** O, A of IS-IS, E, B of OSPF, R, V of OSPFv3. */
export const NODE_FLAG_BITS = flagField(1, ['overload', 'attached', 'external', 'abr', 'router', 'v6']);
type NodeFlagBits = ReturnType<typeof NODE_FLAG_BITS.of>;

export interface NodeAttributes {
  'multi-topology-ids'?: number[];
  'node-flag-bits'?: NodeFlagBits;
  'opaque-node-attributes'?: string[];
  'node-name'?: string;
  'isis-area-identifiers'?: string[];
  /** Of the node; in a link's attribute, of its local node. */
  'ipv4-router-ids'?: string[];
  'ipv6-router-ids'?: string[];
}

export const NODE_ROWS: readonly TlvRow<NodeAttributes>[] = [
  {
    code: 263,
    in: 'attribute',
    name: 'multi-topology-ids',
    title: 'Multi-Topology Identifier',
    rfc: 'RFC 9552 §5.2.2.1',
    decode: (reader, to) => {
      // The four high bits are reserved, or a router's own overload and attached bits: RFC 5120 §7.1.
      const ids: number[] = [];
      while (reader.remaining > 0) ids.push(reader.u16() & 0x0fff);
      to['multi-topology-ids'] = ids;
    },
    encode: (writer, value: number[]) => {
      for (const id of value) writer.u16(id);
    },
  },
  {
    code: 1024,
    in: 'attribute',
    name: 'node-flag-bits',
    title: 'Node Flag Bits',
    rfc: 'RFC 9552 §5.3.1.1',
    length: 1,
    decode: (reader, to) => {
      to['node-flag-bits'] = NODE_FLAG_BITS.of(reader.u8());
    },
    encode: (writer, value: NodeFlagBits) => writer.u8(NODE_FLAG_BITS.bits(value)),
  },
  {
    code: 1025,
    in: 'attribute',
    name: 'opaque-node-attributes',
    title: 'Opaque Node Attribute',
    rfc: 'RFC 9552 §5.3.1.5',
    repeats: true,
    decode: (reader, to) => {
      to['opaque-node-attributes'] = appended(
        to['opaque-node-attributes'],
        readHex(reader, reader.remaining),
      );
    },
    encode: (writer, value: string) => writer.put(parseHex(value)),
  },
  {
    code: 1026,
    in: 'attribute',
    name: 'node-name',
    title: 'Node Name',
    rfc: 'RFC 9552 §5.3.1.3',
    decode: (reader, to) => {
      to['node-name'] = readText(reader, reader.remaining);
    },
    encode: (writer, value: string) => writer.put(encodeText(value)),
  },
  {
    code: 1027,
    in: 'attribute',
    name: 'isis-area-identifiers',
    title: 'IS-IS Area Identifier',
    rfc: 'RFC 9552 §5.3.1.2',
    repeats: true,
    decode: (reader, to) => {
      to['isis-area-identifiers'] = appended(
        to['isis-area-identifiers'],
        readIsisArea(reader, reader.remaining),
      );
    },
    encode: (writer, value: string) => writer.put(parseIsisArea(value)),
  },
  {
    code: 1028,
    in: 'attribute',
    name: 'ipv4-router-ids',
    title: 'IPv4 Router-ID of Local Node',
    rfc: 'RFC 9552 §5.3.1.4',
    length: 4,
    repeats: true,
    decode: (reader, to) => {
      to['ipv4-router-ids'] = appended(to['ipv4-router-ids'], readIpv4(reader));
    },
    encode: (writer, value: string) => writer.put(parseIpv4(value)),
  },
  {
    code: 1029,
    in: 'attribute',
    name: 'ipv6-router-ids',
    title: 'IPv6 Router-ID of Local Node',
    rfc: 'RFC 9552 §5.3.1.4',
    length: 16,
    repeats: true,
    decode: (reader, to) => {
      to['ipv6-router-ids'] = appended(to['ipv6-router-ids'], readIpv6(reader));
    },
    encode: (writer, value: string) => writer.put(parseIpv6(value)),
  },
];

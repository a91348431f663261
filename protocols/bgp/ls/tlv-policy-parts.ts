/** Sub-TLVs of an SR Policy candidate path: its constraints, RFC 9857 §5.6, and its segment lists, §5.7. */
import { flagField } from './flags.ts';
import type { TlvReader } from './reader.ts';
import { formatBits, parseHex, parseIpv4, parseIpv6, readHex, readIpv4, readIpv6 } from './text.ts';
import { appended, decodeSubTlvs, encodeTlvs, type TlvRow, tlvTable } from './tlv.ts';
import { finite, isFiniteFloat, readOneOrMoreWords, writeFloat, writeWords } from './tlv-link.ts';
import { SRV6_SID_TLVS, type Srv6SidParts } from './tlv-srv6.ts';
import type { TlvWriter } from './writer.ts';

/** RFC 9857 §5.6.4: S SRLG, N node, L link disjoint, F fall back to less, I fall back to the best path, X invalid. */
const DISJOINT_REQUEST = flagField(1, ['s', 'n', 'l', 'f', 'i']);
const DISJOINT_STATUS = flagField(1, ['s', 'n', 'l', 'f', 'i', 'x']);
/** RFC 9857 §5.6.5: R reverse, C co-routed. */
const BIDIRECTIONAL = flagField(2, ['r', 'c']);
/** RFC 9857 §5.6.6: O to be optimized, M margin, A margin absolute, B bound. */
const METRIC_CONSTRAINT = flagField(1, ['o', 'm', 'a', 'b']);
/** RFC 9857 §5.7.2: M margin, A margin absolute, B bound, V value. */
const LIST_METRIC = flagField(1, ['m', 'a', 'b', 'v']);
/** RFC 9857 §5.7.1: S the SID is there, E explicit, V verified, R resolved, A the algorithm counts. */
const SEGMENT = flagField(2, ['s', 'e', 'v', 'r', 'a']);

/** A group of paths, by number; or the PCEP association that has no number, in hex. */
export interface PathGroup {
  'group-id'?: number;
  'pcep-association'?: string;
}

export interface PolicyConstraints {
  affinity?: { 'exclude-any': number[]; 'include-any': number[]; 'include-all': number[] };
  'shared-risk-link-groups'?: number[];
  'bandwidth-bytes-per-second'?: number | null;
  'bandwidth-bytes-per-second-raw'?: string;
  'disjoint-group'?: PathGroup & {
    'request-flags': ReturnType<typeof DISJOINT_REQUEST.of>;
    'status-flags': ReturnType<typeof DISJOINT_STATUS.of>;
  };
  'bidirectional-group'?: PathGroup & { flags: ReturnType<typeof BIDIRECTIONAL.of> };
  metrics?: MetricConstraint[];
}

export interface MetricConstraint {
  /** RFC 9857 §5.6.6: 0 IGP, 1 minimum delay, 2 TE, 3 hop count, 4 SID list length. */
  type: number;
  flags: ReturnType<typeof METRIC_CONSTRAINT.of>;
  margin: number;
  bound: number;
}

export interface SegmentListMetric {
  type: number;
  flags: ReturnType<typeof LIST_METRIC.of>;
  margin: number;
  bound: number;
  value: number;
}

export interface Segment extends Srv6SidParts {
  /** RFC 9857 §5.7.1, 1 to 11: the letters A to K of RFC 9256 §4. */
  type: number;
  flags: ReturnType<typeof SEGMENT.of>;
  /** An MPLS label, or an IPv6 address for the types of SRv6. Means nothing without the S-flag. */
  sid: number | string;
  algorithm?: number;
  'local-address'?: string;
  'local-interface-id'?: number;
  'remote-address'?: string;
  'remote-interface-id'?: number;
}

export interface SegmentListParts {
  segments: Segment[];
  metrics?: SegmentListMetric[];
  'bandwidth-bytes-per-second'?: number | null;
  'bandwidth-bytes-per-second-raw'?: string;
  identifier?: number;
}

export const CONSTRAINT_ROWS: readonly TlvRow<PolicyConstraints>[] = [
  {
    code: 1208,
    in: 'sr-policy-constraints',
    name: 'affinity',
    title: 'SR Affinity Constraint',
    rfc: 'RFC 9857 §5.6.1',
    decode: (reader, to) => {
      const sizes = [reader.u8(), reader.u8(), reader.u8()];
      reader.skip(1);
      const [excludeAny, includeAny, includeAll] = sizes.map((size) => readSomeWords(reader, size));
      if (reader.remaining > 0) reader.reject();
      to.affinity = {
        'exclude-any': excludeAny as number[],
        'include-any': includeAny as number[],
        'include-all': includeAll as number[],
      };
    },
    encode: (writer, value: NonNullable<PolicyConstraints['affinity']>) => {
      const groups = [value['exclude-any'], value['include-any'], value['include-all']];
      for (const group of groups) writer.u8(group.length);
      writer.u8(0);
      for (const group of groups) writeWords(writer, group);
    },
  },
  {
    code: 1209,
    in: 'sr-policy-constraints',
    name: 'shared-risk-link-groups',
    title: 'SR SRLG Constraint',
    rfc: 'RFC 9857 §5.6.2',
    decode: (reader, to) => {
      to['shared-risk-link-groups'] = readOneOrMoreWords(reader);
    },
    encode: (writer, value: number[]) => writeWords(writer, value),
  },
  {
    code: 1210,
    in: 'sr-policy-constraints',
    name: 'bandwidth-bytes-per-second',
    title: 'SR Bandwidth Constraint',
    rfc: 'RFC 9857 §5.6.3',
    length: 4,
    decode: (reader, to) => readBandwidth(reader, to),
    encode: (writer, value: number | null, _context, from) =>
      writeFloat(writer, value, from['bandwidth-bytes-per-second-raw']),
  },
  {
    code: 1211,
    in: 'sr-policy-constraints',
    name: 'disjoint-group',
    title: 'SR Disjoint Group Constraint',
    rfc: 'RFC 9857 §5.6.4',
    decode: (reader, to) => {
      const request = DISJOINT_REQUEST.of(reader.u8());
      const status = DISJOINT_STATUS.of(reader.u8());
      reader.skip(2);
      to['disjoint-group'] = {
        'request-flags': request,
        'status-flags': status,
        ...readGroup(reader),
      };
    },
    encode: (writer, value: NonNullable<PolicyConstraints['disjoint-group']>) => {
      writer.u8(DISJOINT_REQUEST.bits(value['request-flags']));
      writer.u8(DISJOINT_STATUS.bits(value['status-flags']));
      writer.u16(0);
      writeGroup(writer, value);
    },
  },
  {
    code: 1214,
    in: 'sr-policy-constraints',
    name: 'bidirectional-group',
    title: 'SR Bidirectional Group Constraint',
    rfc: 'RFC 9857 §5.6.5',
    decode: (reader, to) => {
      const flags = BIDIRECTIONAL.of(reader.u16());
      reader.skip(2);
      to['bidirectional-group'] = { flags, ...readGroup(reader) };
    },
    encode: (writer, value: NonNullable<PolicyConstraints['bidirectional-group']>) => {
      writer.u16(BIDIRECTIONAL.bits(value.flags));
      writer.u16(0);
      writeGroup(writer, value);
    },
  },
  {
    code: 1215,
    in: 'sr-policy-constraints',
    name: 'metrics',
    title: 'SR Metric Constraint',
    rfc: 'RFC 9857 §5.6.6',
    length: 12,
    repeats: true,
    decode: (reader, to) => {
      const type = reader.u8();
      const flags = METRIC_CONSTRAINT.of(reader.u8());
      reader.skip(2);
      to.metrics = appended(to.metrics, { type, flags, margin: reader.u32(), bound: reader.u32() });
    },
    encode: (writer, value: MetricConstraint) => {
      writer.u8(value.type);
      writer.u8(METRIC_CONSTRAINT.bits(value.flags));
      writer.u16(0);
      writer.u32(value.margin);
      writer.u32(value.bound);
    },
  },
];

type SegmentPart =
  | 'algorithm'
  | 'local-address'
  | 'local-interface-id'
  | 'remote-address'
  | 'remote-interface-id';

interface SegmentShape {
  readonly srv6: boolean;
  readonly ipv6: boolean;
  readonly parts: readonly SegmentPart[];
  /** From the type to the last part. */
  readonly octets: number;
}

function segmentShape(sid: 'label' | 'srv6', family: 4 | 6, ...parts: SegmentPart[]): SegmentShape {
  const ipv6 = family === 6;
  const octets = parts.reduce(
    (sum, part) => sum + (part === 'algorithm' ? 1 : part.endsWith('-address') && ipv6 ? 16 : 4),
    4 + (sid === 'srv6' ? 16 : 4),
  );
  return { srv6: sid === 'srv6', ipv6, parts, octets };
}

const NODE_AND_INTERFACES = [
  'local-address',
  'local-interface-id',
  'remote-address',
  'remote-interface-id',
] as const;

/** What a segment has beside its SID, by type from 1 on, the letters A to K: RFC 9857 §5.7.1. */
export const SEGMENT_TYPES: readonly (SegmentShape | undefined)[] = [
  undefined,
  segmentShape('label', 4, 'algorithm'),
  segmentShape('srv6', 6, 'algorithm'),
  segmentShape('label', 4, 'algorithm', 'local-address'),
  segmentShape('label', 6, 'algorithm', 'local-address'),
  segmentShape('label', 4, 'local-address', 'local-interface-id'),
  segmentShape('label', 4, 'local-address', 'remote-address'),
  segmentShape('label', 6, ...NODE_AND_INTERFACES),
  segmentShape('label', 6, 'local-address', 'remote-address'),
  segmentShape('srv6', 6, 'algorithm', 'local-address'),
  segmentShape('srv6', 6, ...NODE_AND_INTERFACES),
  segmentShape('srv6', 6, 'local-address', 'remote-address'),
];

export const SEGMENT_LIST_ROWS: readonly TlvRow<SegmentListParts>[] = [
  {
    code: 1206,
    in: 'segment-list',
    name: 'segments',
    title: 'SR Segment',
    rfc: 'RFC 9857 §5.7.1',
    repeats: true,
    always: true,
    decode: (reader, to, scope) => {
      const type = reader.u8();
      reader.skip(1);
      const flags = SEGMENT.of(reader.u16());
      const shape = SEGMENT_TYPES[type];
      if (shape === undefined) reader.reject();
      const segment: Segment = { type, flags, sid: readPolicySid(reader, shape?.srv6 === true) };
      for (const part of shape?.parts ?? []) readSegmentPart(reader, segment, part, shape?.ipv6 === true);
      decodeSubTlvs(reader, SRV6_SID_TLVS, segment, scope);
      to.segments.push(segment);
    },
    encode: (writer, value: Segment, context) => {
      const shape = SEGMENT_TYPES[value.type];
      if (shape === undefined) throw new RangeError(`no segment type ${value.type}`);
      writer.u8(value.type);
      writer.u8(0);
      writer.u16(SEGMENT.bits(value.flags));
      writePolicySid(writer, value.sid);
      for (const part of shape.parts) writeSegmentPart(writer, value, part, shape.ipv6);
      encodeTlvs(writer, SRV6_SID_TLVS, value, value['unknown-tlvs'] ?? [], context, 'attribute');
    },
  },
  {
    code: 1207,
    in: 'segment-list',
    name: 'metrics',
    title: 'SR Segment List Metric',
    rfc: 'RFC 9857 §5.7.2',
    length: 16,
    repeats: true,
    decode: (reader, to) => {
      const type = reader.u8();
      const flags = LIST_METRIC.of(reader.u8());
      reader.skip(2);
      to.metrics = appended(to.metrics, {
        type,
        flags,
        margin: reader.u32(),
        bound: reader.u32(),
        value: reader.u32(),
      });
    },
    encode: (writer, value: SegmentListMetric) => {
      writer.u8(value.type);
      writer.u8(LIST_METRIC.bits(value.flags));
      writer.u16(0);
      writer.u32(value.margin);
      writer.u32(value.bound);
      writer.u32(value.value);
    },
  },
  {
    code: 1216,
    in: 'segment-list',
    name: 'bandwidth-bytes-per-second',
    title: 'SR Segment List Bandwidth',
    rfc: 'RFC 9857 §5.7.3',
    length: 4,
    decode: (reader, to) => readBandwidth(reader, to),
    encode: (writer, value: number | null, _context, from) =>
      writeFloat(writer, value, from['bandwidth-bytes-per-second-raw']),
  },
  {
    code: 1217,
    in: 'segment-list',
    name: 'identifier',
    title: 'SR Segment List Identifier',
    rfc: 'RFC 9857 §5.7.4',
    length: 4,
    decode: (reader, to) => {
      to.identifier = reader.u32();
    },
    encode: (writer, value: number) => writer.u32(value),
  },
];

export const CONSTRAINT_TLVS = tlvTable(CONSTRAINT_ROWS);
export const SEGMENT_LIST_TLVS = tlvTable(SEGMENT_LIST_ROWS);

/** 16 octets of an SRv6 SID, or a label in the 20 high bits of four octets. RFC 9857 §5.1. */
export function readPolicySid(reader: TlvReader, srv6: boolean): number | string {
  return srv6 ? readIpv6(reader) : reader.u32() >>> 12;
}

export function writePolicySid(writer: TlvWriter, sid: number | string): void {
  if (typeof sid === 'string') writer.put(parseIpv6(sid));
  else writer.u32(sid << 12);
}

function readSegmentPart(reader: TlvReader, segment: Segment, part: SegmentPart, ipv6: boolean): void {
  if (part === 'algorithm') segment.algorithm = reader.u8();
  else if (part === 'local-address') segment['local-address'] = ipv6 ? readIpv6(reader) : readIpv4(reader);
  else if (part === 'remote-address') segment['remote-address'] = ipv6 ? readIpv6(reader) : readIpv4(reader);
  else segment[part] = reader.u32();
}

function writeSegmentPart(writer: TlvWriter, segment: Segment, part: SegmentPart, ipv6: boolean): void {
  if (part === 'algorithm') writer.u8(segment.algorithm ?? 0);
  else if (part === 'local-interface-id' || part === 'remote-interface-id') writer.u32(segment[part] ?? 0);
  else writer.put(ipv6 ? parseIpv6(segment[part] ?? '::') : parseIpv4(segment[part] ?? '0.0.0.0'));
}

function readBandwidth(
  reader: TlvReader,
  to: { 'bandwidth-bytes-per-second'?: number | null; 'bandwidth-bytes-per-second-raw'?: string },
): void {
  const bits = reader.u32();
  to['bandwidth-bytes-per-second'] = finite(bits);
  if (!isFiniteFloat(bits)) to['bandwidth-bytes-per-second-raw'] = formatBits(bits);
}

function readGroup(reader: TlvReader): PathGroup {
  const octets = reader.remaining;
  if (octets < 4) reader.reject();
  return octets === 4 ? { 'group-id': reader.u32() } : { 'pcep-association': readHex(reader, octets) };
}

function writeGroup(writer: TlvWriter, group: PathGroup): void {
  if (group['pcep-association'] !== undefined) writer.put(parseHex(group['pcep-association']));
  else writer.u32(group['group-id'] ?? 0);
}

function readSomeWords(reader: TlvReader, count: number): number[] {
  const words: number[] = [];
  for (let index = 0; index < count && !reader.overrun; index += 1) words.push(reader.u32());
  return words;
}

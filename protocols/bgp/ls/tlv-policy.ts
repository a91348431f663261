/** TLVs of an SR Policy candidate path: RFC 9857 §5. Their sub-TLVs are in tlv-policy-parts.ts. */
import { flagField } from './flags.ts';
import { encodeText, parseIpv6, readIpv6, readText } from './text.ts';
import { appended, decodeSubTlvs, encodeTlvs, type TlvRow, type UnknownTlv } from './tlv.ts';
import {
  CONSTRAINT_TLVS,
  type PolicyConstraints,
  readPolicySid,
  SEGMENT_LIST_TLVS,
  type SegmentListParts,
  writePolicySid,
} from './tlv-policy-parts.ts';
import { SRV6_SID_TLVS, type Srv6SidParts } from './tlv-srv6.ts';

/** RFC 9857 §5.1: D SRv6, B allocated, U unavailable, L from the local block, F fallback. */
const BINDING_SID = flagField(2, ['d', 'b', 'u', 'l', 'f']);
/** RFC 9857 §5.2. */
const SRV6_BINDING_SID = flagField(2, ['b', 'u', 'f']);
/**
 * RFC 9857 §5.3: S shut, A active, B backup, E evaluated, V has a valid SID list, O on demand, D delegated,
 * C provisioned by a controller, I drop upon invalid, T transit eligible, U dropping.
 */
const STATE = flagField(2, ['s', 'a', 'b', 'e', 'v', 'o', 'd', 'c', 'i', 't', 'u']);
/**
 * RFC 9857 §5.6: D SRv6, P protected SIDs only, U unprotected SIDs only, A algorithm only, T topology only, S strict,
 * F fixed, H hop by hop.
 */
const CONSTRAINTS = flagField(2, ['d', 'p', 'u', 'a', 't', 's', 'f', 'h']);
/**
 * RFC 9857 §5.7: D SRv6, E explicit, C computed, V verified, R resolved, F failed, A all of the algorithm, T all of
 * the topology, M removed by fault monitoring.
 */
const SEGMENT_LIST = flagField(2, ['d', 'e', 'c', 'v', 'r', 'f', 'a', 't', 'm']);

export interface BindingSid {
  flags: ReturnType<typeof BINDING_SID.of>;
  /** An MPLS label, or an IPv6 address when the D-flag is set; 0 or `::` when there is none. So the next. */
  sid: number | string;
  'specified-sid': number | string;
}

export interface Srv6BindingSid extends Srv6SidParts {
  flags: ReturnType<typeof SRV6_BINDING_SID.of>;
  sid: string;
  'specified-sid': string;
}

export interface CandidatePathState {
  priority: number;
  flags: ReturnType<typeof STATE.of>;
  preference: number;
}

export interface CandidatePathConstraints extends PolicyConstraints {
  flags: ReturnType<typeof CONSTRAINTS.of>;
  'multi-topology-id': number;
  algorithm: number;
  'unknown-tlvs'?: readonly UnknownTlv[];
}

export interface SegmentList extends SegmentListParts {
  flags: ReturnType<typeof SEGMENT_LIST.of>;
  'multi-topology-id': number;
  algorithm: number;
  weight: number;
  'unknown-tlvs'?: readonly UnknownTlv[];
}

export interface PolicyAttributes {
  'binding-sid'?: BindingSid;
  'candidate-path-state'?: CandidatePathState;
  'candidate-path-name'?: string;
  'candidate-path-constraints'?: CandidatePathConstraints;
  'segment-lists'?: SegmentList[];
  'srv6-binding-sids'?: Srv6BindingSid[];
  'policy-name'?: string;
}

export const POLICY_ROWS: readonly TlvRow<PolicyAttributes>[] = [
  {
    code: 1201,
    in: 'attribute',
    name: 'binding-sid',
    title: 'SR Binding SID',
    rfc: 'RFC 9857 §5.1',
    decode: (reader, to) => {
      const flags = BINDING_SID.of(reader.u16());
      reader.skip(2);
      const sid = readPolicySid(reader, flags.d);
      to['binding-sid'] = { flags, sid, 'specified-sid': readPolicySid(reader, flags.d) };
      if (reader.remaining > 0) reader.reject();
    },
    encode: (writer, value: BindingSid) => {
      writer.u16(BINDING_SID.bits(value.flags));
      writer.u16(0);
      writePolicySid(writer, value.sid);
      writePolicySid(writer, value['specified-sid']);
    },
  },
  {
    code: 1202,
    in: 'attribute',
    name: 'candidate-path-state',
    title: 'SR CP State',
    rfc: 'RFC 9857 §5.3',
    length: 8,
    decode: (reader, to) => {
      const priority = reader.u8();
      reader.skip(1);
      to['candidate-path-state'] = {
        priority,
        flags: STATE.of(reader.u16()),
        preference: reader.u32(),
      };
    },
    encode: (writer, value: CandidatePathState) => {
      writer.u8(value.priority);
      writer.u8(0);
      writer.u16(STATE.bits(value.flags));
      writer.u32(value.preference);
    },
  },
  {
    code: 1203,
    in: 'attribute',
    name: 'candidate-path-name',
    title: 'SR CP Name',
    rfc: 'RFC 9857 §5.5',
    decode: (reader, to) => {
      to['candidate-path-name'] = readText(reader, reader.remaining);
    },
    encode: (writer, value: string) => writer.put(encodeText(value)),
  },
  {
    code: 1204,
    in: 'attribute',
    name: 'candidate-path-constraints',
    title: 'SR CP Constraints',
    rfc: 'RFC 9857 §5.6',
    decode: (reader, to, scope) => {
      const flags = CONSTRAINTS.of(reader.u16());
      reader.skip(2);
      const topology = reader.u16();
      const algorithm = reader.u8();
      reader.skip(1);
      const constraints: CandidatePathConstraints = { flags, 'multi-topology-id': topology, algorithm };
      decodeSubTlvs(reader, CONSTRAINT_TLVS, constraints, scope);
      to['candidate-path-constraints'] = constraints;
    },
    encode: (writer, value: CandidatePathConstraints, context) => {
      writer.u16(CONSTRAINTS.bits(value.flags));
      writer.u16(0);
      writer.u16(value['multi-topology-id']);
      writer.u8(value.algorithm);
      writer.u8(0);
      encodeTlvs(writer, CONSTRAINT_TLVS, value, value['unknown-tlvs'] ?? [], context, 'attribute');
    },
  },
  {
    code: 1205,
    in: 'attribute',
    name: 'segment-lists',
    title: 'SR Segment List',
    rfc: 'RFC 9857 §5.7',
    repeats: true,
    decode: (reader, to, scope) => {
      const flags = SEGMENT_LIST.of(reader.u16());
      reader.skip(2);
      const topology = reader.u16();
      const algorithm = reader.u8();
      reader.skip(1);
      const list: SegmentList = {
        flags,
        'multi-topology-id': topology,
        algorithm,
        weight: reader.u32(),
        segments: [],
      };
      decodeSubTlvs(reader, SEGMENT_LIST_TLVS, list, scope);
      to['segment-lists'] = appended(to['segment-lists'], list);
    },
    encode: (writer, value: SegmentList, context) => {
      writer.u16(SEGMENT_LIST.bits(value.flags));
      writer.u16(0);
      writer.u16(value['multi-topology-id']);
      writer.u8(value.algorithm);
      writer.u8(0);
      writer.u32(value.weight);
      encodeTlvs(writer, SEGMENT_LIST_TLVS, value, value['unknown-tlvs'] ?? [], context, 'attribute');
    },
  },
  {
    code: 1212,
    in: 'attribute',
    name: 'srv6-binding-sids',
    title: 'SRv6 Binding SID',
    rfc: 'RFC 9857 §5.2',
    repeats: true,
    decode: (reader, to, scope) => {
      const flags = SRV6_BINDING_SID.of(reader.u16());
      reader.skip(2);
      const sid: Srv6BindingSid = { flags, sid: readIpv6(reader), 'specified-sid': readIpv6(reader) };
      decodeSubTlvs(reader, SRV6_SID_TLVS, sid, scope);
      to['srv6-binding-sids'] = appended(to['srv6-binding-sids'], sid);
    },
    encode: (writer, value: Srv6BindingSid, context) => {
      writer.u16(SRV6_BINDING_SID.bits(value.flags));
      writer.u16(0);
      writer.put(parseIpv6(value.sid));
      writer.put(parseIpv6(value['specified-sid']));
      encodeTlvs(writer, SRV6_SID_TLVS, value, value['unknown-tlvs'] ?? [], context, 'attribute');
    },
  },
  {
    code: 1213,
    in: 'attribute',
    name: 'policy-name',
    title: 'SR Policy Name',
    rfc: 'RFC 9857 §5.4',
    decode: (reader, to) => {
      to['policy-name'] = readText(reader, reader.remaining);
    },
    encode: (writer, value: string) => writer.put(encodeText(value)),
  },
];

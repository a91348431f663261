/** TLVs of Flexible Algorithm: RFC 9351, whose fields are those of RFC 9350. */
import { isIsis } from './code-point.ts';
import { flagField } from './flags.ts';
import { parseHex, readHex } from './text.ts';
import { appended, decodeSubTlvs, encodeTlvs, type TlvRow, tlvTable, type UnknownTlv } from './tlv.ts';
import { readOneOrMoreWords, writeWords } from './tlv-link.ts';

/** RFC 9350 §6.4: the M-flag, use the prefix metric of the algorithm. */
const DEFINITION_FLAGS = flagField(1, ['m']);
/** RFC 9350 §9: the E-flag of OSPF, the metric is external. IS-IS has no flags there, §8. */
const PREFIX_METRIC_FLAGS = flagField(1, ['e']);

export interface FlexibleAlgorithmDefinition {
  /** 128 to 255. */
  'flexible-algorithm': number;
  /** RFC 9350 §5.1: 0 IGP, 1 minimum delay, 2 TE default. */
  'metric-type': number;
  'calculation-type': number;
  priority: number;
  /** Extended administrative groups in 32-bit words, RFC 7308. */
  'exclude-any-affinity'?: number[];
  'include-any-affinity'?: number[];
  'include-all-affinity'?: number[];
  'definition-flags'?: { flags: ReturnType<typeof DEFINITION_FLAGS.of>; value?: string };
  'exclude-shared-risk-link-groups'?: number[];
  /** Sub-TLVs of the definition that the reporting router could not tell of, by their types in that protocol. */
  'unsupported-tlvs'?: { 'protocol-id': number; types: number[] };
  'unknown-tlvs'?: readonly UnknownTlv[];
}

export interface FlexibleAlgorithmPrefixMetric {
  'flexible-algorithm': number;
  flags: ReturnType<typeof PREFIX_METRIC_FLAGS.of>;
  metric: number;
}

export interface FlexAlgoAttributes {
  'flexible-algorithm-definitions'?: FlexibleAlgorithmDefinition[];
  'flexible-algorithm-prefix-metrics'?: FlexibleAlgorithmPrefixMetric[];
}

export const FLEX_ALGO_SUB_ROWS: readonly TlvRow<FlexibleAlgorithmDefinition>[] = [
  {
    code: 1040,
    in: 'flexible-algorithm-definition',
    name: 'exclude-any-affinity',
    title: 'Flexible Algorithm Exclude Any Affinity',
    rfc: 'RFC 9351 §3.1',
    decode: (reader, to) => {
      to['exclude-any-affinity'] = readOneOrMoreWords(reader);
    },
    encode: (writer, value: number[]) => writeWords(writer, value),
  },
  {
    code: 1041,
    in: 'flexible-algorithm-definition',
    name: 'include-any-affinity',
    title: 'Flexible Algorithm Include Any Affinity',
    rfc: 'RFC 9351 §3.2',
    decode: (reader, to) => {
      to['include-any-affinity'] = readOneOrMoreWords(reader);
    },
    encode: (writer, value: number[]) => writeWords(writer, value),
  },
  {
    code: 1042,
    in: 'flexible-algorithm-definition',
    name: 'include-all-affinity',
    title: 'Flexible Algorithm Include All Affinity',
    rfc: 'RFC 9351 §3.3',
    decode: (reader, to) => {
      to['include-all-affinity'] = readOneOrMoreWords(reader);
    },
    encode: (writer, value: number[]) => writeWords(writer, value),
  },
  {
    code: 1043,
    in: 'flexible-algorithm-definition',
    name: 'definition-flags',
    title: 'Flexible Algorithm Definition Flags',
    rfc: 'RFC 9351 §3.4',
    decode: (reader, to) => {
      const first = reader.remaining > 0 ? (reader.bytes[reader.position] as number) : 0;
      to['definition-flags'] = {
        flags: DEFINITION_FLAGS.of(first),
        value: readHex(reader, reader.remaining),
      };
    },
    encode: (writer, value: NonNullable<FlexibleAlgorithmDefinition['definition-flags']>) => {
      // A definition's flags are as many octets as the IGP sent, at least the one with the M-flag.
      if (value.value === undefined) writer.u8(DEFINITION_FLAGS.bits(value.flags));
      else writer.put(parseHex(value.value));
    },
  },
  {
    code: 1045,
    in: 'flexible-algorithm-definition',
    name: 'exclude-shared-risk-link-groups',
    title: 'Flexible Algorithm Exclude SRLG',
    rfc: 'RFC 9351 §3.5',
    decode: (reader, to) => {
      to['exclude-shared-risk-link-groups'] = readOneOrMoreWords(reader);
    },
    encode: (writer, value: number[]) => writeWords(writer, value),
  },
  {
    code: 1046,
    in: 'flexible-algorithm-definition',
    name: 'unsupported-tlvs',
    title: 'Flexible Algorithm Unsupported',
    rfc: 'RFC 9351 §3.6',
    decode: (reader, to) => {
      const protocolId = reader.u8();
      const octets = typeOctets(protocolId);
      const types: number[] = [];
      while (reader.remaining > 0) types.push(reader.unsigned(octets));
      to['unsupported-tlvs'] = { 'protocol-id': protocolId, types };
    },
    encode: (writer, value: { 'protocol-id': number; types: number[] }) => {
      writer.u8(value['protocol-id']);
      const isOneOctet = typeOctets(value['protocol-id']) === 1;
      for (const type of value.types) isOneOctet ? writer.u8(type) : writer.u16(type);
    },
  },
];

/** As many octets as the type of a sub-TLV has in the protocol that the definition comes from. RFC 9351 §3.6. */
function typeOctets(protocolId: number): 1 | 2 {
  return isIsis(protocolId) ? 1 : 2;
}

const DEFINITION_TLVS = tlvTable(FLEX_ALGO_SUB_ROWS);

export const FLEX_ALGO_ROWS: readonly TlvRow<FlexAlgoAttributes>[] = [
  {
    code: 1039,
    in: 'attribute',
    name: 'flexible-algorithm-definitions',
    title: 'Flexible Algorithm Definition',
    rfc: 'RFC 9351 §3',
    repeats: true,
    decode: (reader, to, scope) => {
      const definition: FlexibleAlgorithmDefinition = {
        'flexible-algorithm': reader.u8(),
        'metric-type': reader.u8(),
        'calculation-type': reader.u8(),
        priority: reader.u8(),
      };
      decodeSubTlvs(reader, DEFINITION_TLVS, definition, scope);
      to['flexible-algorithm-definitions'] = appended(to['flexible-algorithm-definitions'], definition);
    },
    encode: (writer, value: FlexibleAlgorithmDefinition, context) => {
      writer.u8(value['flexible-algorithm']);
      writer.u8(value['metric-type']);
      writer.u8(value['calculation-type']);
      writer.u8(value.priority);
      encodeTlvs(writer, DEFINITION_TLVS, value, value['unknown-tlvs'] ?? [], context, 'attribute');
    },
  },
  {
    code: 1044,
    in: 'attribute',
    name: 'flexible-algorithm-prefix-metrics',
    title: 'Flexible Algorithm Prefix Metric',
    rfc: 'RFC 9351 §4',
    length: 8,
    repeats: true,
    decode: (reader, to, { protocolId }) => {
      const algorithm = reader.u8();
      const bits = reader.u8();
      const flags = PREFIX_METRIC_FLAGS.of(isIsis(protocolId) ? 0 : bits);
      reader.skip(2);
      to['flexible-algorithm-prefix-metrics'] = appended(to['flexible-algorithm-prefix-metrics'], {
        'flexible-algorithm': algorithm,
        flags,
        metric: reader.u32(),
      });
    },
    encode: (writer, value: FlexibleAlgorithmPrefixMetric, { protocolId }) => {
      writer.u8(value['flexible-algorithm']);
      writer.u8(isIsis(protocolId) ? 0 : PREFIX_METRIC_FLAGS.bits(value.flags));
      writer.u16(0);
      writer.u32(value.metric);
    },
  },
];

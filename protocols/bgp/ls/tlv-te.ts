/**
 * TLVs of traffic engineering beside RFC 9552: performance metrics (RFC 8571), the extended administrative group
 * (RFC 9104), attributes by application (RFC 9294), members of a bundle (RFC 9085), and what else a link can have.
 */
import type { LinkStateAttributes } from './attributes.ts';
import { flagField } from './flags.ts';
import type { TlvReader } from './reader.ts';
import { formatBits, parseHex, readHex } from './text.ts';
import { appended, decodeSubTlvs, encodeTlvs, type TlvRow, type UnknownTlv } from './tlv.ts';
import { finite, isFiniteFloat, readOneOrMoreWords, writeFloat, writeWords } from './tlv-link.ts';

/** Bit 0 of these TLVs: the value exceeds its threshold. RFC 8570 §4.1. */
export const ANOMALOUS = 0x80;

/** Which applications the attributes are for: RFC 9479 §4.1, RFC 9492, and RFC 9350 §12 for Flexible Algorithm. */
const APPLICATIONS = flagField(1, ['rsvp-te', 'sr-policy', 'loop-free-alternate', 'flexible-algorithm']);

/** RFC 8169 §4.3. */
const RTM = flagField(1, [null, 'two-step', 'one-step']);

export interface ApplicationSpecificLinkAttributes {
  /** The bit masks in hex, 0, 4 or 8 octets each; both empty: all applications. */
  'standard-applications': string;
  'user-defined-applications': string;
  /** The standard mask by names. */
  applications?: ReturnType<typeof APPLICATIONS.of>;
  attributes: LinkStateAttributes;
  'unknown-tlvs'?: readonly UnknownTlv[];
}

export interface L2BundleMember {
  /** The member's Link Local Identifier, RFC 4202 §1.1. */
  descriptor: number;
  attributes: LinkStateAttributes;
  'unknown-tlvs'?: readonly UnknownTlv[];
}

export interface TeAttributes {
  's-bfd-discriminators'?: number[];
  'rtm-capability'?: { flags: ReturnType<typeof RTM.of>; value?: string };
  'unidirectional-link-delay-microseconds'?: { anomalous: boolean; delay: number };
  'min-max-unidirectional-link-delay-microseconds'?: {
    anomalous: boolean;
    'min-delay': number;
    'max-delay': number;
  };
  'unidirectional-delay-variation-microseconds'?: number;
  /** Per cent, in steps of 0.000003. */
  'unidirectional-link-loss-percent'?: { anomalous: boolean; loss: number };
  'unidirectional-residual-bandwidth-bytes-per-second'?: number | null;
  'unidirectional-residual-bandwidth-bytes-per-second-raw'?: string;
  'unidirectional-available-bandwidth-bytes-per-second'?: number | null;
  'unidirectional-available-bandwidth-bytes-per-second-raw'?: string;
  'unidirectional-utilized-bandwidth-bytes-per-second'?: number | null;
  'unidirectional-utilized-bandwidth-bytes-per-second-raw'?: string;
  'graceful-link-shutdown'?: true;
  'application-specific-link-attributes'?: ApplicationSpecificLinkAttributes[];
  'l2-bundle-members'?: L2BundleMember[];
  /** 32-bit words, the first holding bits 0 to 31. RFC 7308. */
  'extended-administrative-group'?: number[];
}

export const TE_ROWS: readonly TlvRow<TeAttributes>[] = [
  {
    code: 1032,
    in: 'attribute',
    name: 's-bfd-discriminators',
    title: 'S-BFD Discriminators',
    rfc: 'RFC 9247',
    decode: (reader, to) => {
      to['s-bfd-discriminators'] = readOneOrMoreWords(reader);
    },
    encode: (writer, value: number[]) => writeWords(writer, value),
  },
  {
    code: 1105,
    in: 'attribute',
    name: 'rtm-capability',
    title: 'RTM Capability',
    rfc: 'RFC 8169',
    decode: (reader, to) => {
      const at = reader.position;
      const flags = RTM.of(reader.u8());
      reader.position = at;
      to['rtm-capability'] = { flags, value: readHex(reader, reader.remaining) };
    },
    encode: (writer, value: NonNullable<TeAttributes['rtm-capability']>) => {
      if (value.value === undefined) writer.u8(RTM.bits(value.flags));
      else writer.put(parseHex(value.value));
    },
  },
  {
    code: 1114,
    in: 'attribute',
    name: 'unidirectional-link-delay-microseconds',
    title: 'Unidirectional Link Delay',
    rfc: 'RFC 8571 §2.1',
    length: 4,
    decode: (reader, to) => {
      to['unidirectional-link-delay-microseconds'] = {
        anomalous: readAnomalous(reader),
        delay: reader.u24(),
      };
    },
    encode: (writer, value: NonNullable<TeAttributes['unidirectional-link-delay-microseconds']>) => {
      writer.u8(value.anomalous ? ANOMALOUS : 0);
      writer.u24(value.delay);
    },
  },
  {
    code: 1115,
    in: 'attribute',
    name: 'min-max-unidirectional-link-delay-microseconds',
    title: 'Min/Max Unidirectional Link Delay',
    rfc: 'RFC 8571 §2.2',
    length: 8,
    decode: (reader, to) => {
      const anomalous = readAnomalous(reader);
      const least = reader.u24();
      reader.skip(1);
      to['min-max-unidirectional-link-delay-microseconds'] = {
        anomalous,
        'min-delay': least,
        'max-delay': reader.u24(),
      };
    },
    encode: (writer, value: NonNullable<TeAttributes['min-max-unidirectional-link-delay-microseconds']>) => {
      writer.u8(value.anomalous ? ANOMALOUS : 0);
      writer.u24(value['min-delay']);
      writer.u8(0);
      writer.u24(value['max-delay']);
    },
  },
  {
    code: 1116,
    in: 'attribute',
    name: 'unidirectional-delay-variation-microseconds',
    title: 'Unidirectional Delay Variation',
    rfc: 'RFC 8571 §2.3',
    length: 4,
    decode: (reader, to) => {
      reader.skip(1);
      to['unidirectional-delay-variation-microseconds'] = reader.u24();
    },
    encode: (writer, value: number) => {
      writer.u8(0);
      writer.u24(value);
    },
  },
  {
    code: 1117,
    in: 'attribute',
    name: 'unidirectional-link-loss-percent',
    title: 'Unidirectional Link Loss',
    rfc: 'RFC 8571 §2.4',
    length: 4,
    decode: (reader, to) => {
      const anomalous = readAnomalous(reader);
      to['unidirectional-link-loss-percent'] = { anomalous, loss: (reader.u24() * 3) / 1e6 };
    },
    encode: (writer, value: { anomalous: boolean; loss: number }) => {
      writer.u8(value.anomalous ? ANOMALOUS : 0);
      writer.u24(Math.round((value.loss * 1e6) / 3));
    },
  },
  {
    code: 1118,
    in: 'attribute',
    name: 'unidirectional-residual-bandwidth-bytes-per-second',
    title: 'Unidirectional Residual Bandwidth',
    rfc: 'RFC 8571 §2.5',
    length: 4,
    decode: (reader, to) => {
      const bits = reader.u32();
      to['unidirectional-residual-bandwidth-bytes-per-second'] = finite(bits);
      if (!isFiniteFloat(bits)) {
        to['unidirectional-residual-bandwidth-bytes-per-second-raw'] = formatBits(bits);
      }
    },
    encode: (writer, value: number | null, _context, from) =>
      writeFloat(writer, value, from['unidirectional-residual-bandwidth-bytes-per-second-raw']),
  },
  {
    code: 1119,
    in: 'attribute',
    name: 'unidirectional-available-bandwidth-bytes-per-second',
    title: 'Unidirectional Available Bandwidth',
    rfc: 'RFC 8571 §2.6',
    length: 4,
    decode: (reader, to) => {
      const bits = reader.u32();
      to['unidirectional-available-bandwidth-bytes-per-second'] = finite(bits);
      if (!isFiniteFloat(bits)) {
        to['unidirectional-available-bandwidth-bytes-per-second-raw'] = formatBits(bits);
      }
    },
    encode: (writer, value: number | null, _context, from) =>
      writeFloat(writer, value, from['unidirectional-available-bandwidth-bytes-per-second-raw']),
  },
  {
    code: 1120,
    in: 'attribute',
    name: 'unidirectional-utilized-bandwidth-bytes-per-second',
    title: 'Unidirectional Utilized Bandwidth',
    rfc: 'RFC 8571 §2.7',
    length: 4,
    decode: (reader, to) => {
      const bits = reader.u32();
      to['unidirectional-utilized-bandwidth-bytes-per-second'] = finite(bits);
      if (!isFiniteFloat(bits)) {
        to['unidirectional-utilized-bandwidth-bytes-per-second-raw'] = formatBits(bits);
      }
    },
    encode: (writer, value: number | null, _context, from) =>
      writeFloat(writer, value, from['unidirectional-utilized-bandwidth-bytes-per-second-raw']),
  },
  {
    code: 1121,
    in: 'attribute',
    name: 'graceful-link-shutdown',
    title: 'Graceful-Link-Shutdown TLV',
    rfc: 'RFC 8379',
    length: 0,
    decode: (_reader, to) => {
      to['graceful-link-shutdown'] = true;
    },
    encode: () => {},
  },
  {
    code: 1122,
    in: 'attribute',
    name: 'application-specific-link-attributes',
    title: 'Application-Specific Link Attributes',
    rfc: 'RFC 9294 §2',
    repeats: true,
    decode: (reader, to, scope) => {
      const standardOctets = reader.u8();
      const userDefinedOctets = reader.u8();
      reader.skip(2);
      if (!isMaskLength(standardOctets) || !isMaskLength(userDefinedOctets)) reader.reject();
      const first = standardOctets > 0 && reader.remaining > 0 ? reader.bytes[reader.position] : undefined;
      const asla: ApplicationSpecificLinkAttributes = {
        'standard-applications': readHex(reader, standardOctets),
        'user-defined-applications': readHex(reader, userDefinedOctets),
        attributes: {},
      };
      if (first !== undefined) asla.applications = APPLICATIONS.of(first);
      decodeSubTlvs(reader, scope.attributes, asla.attributes, scope, asla);
      to['application-specific-link-attributes'] = appended(to['application-specific-link-attributes'], asla);
    },
    encode: (writer, value: ApplicationSpecificLinkAttributes, context) => {
      const standard = parseHex(value['standard-applications']);
      const userDefined = parseHex(value['user-defined-applications']);
      writer.u8(standard.length);
      writer.u8(userDefined.length);
      writer.u16(0);
      writer.put(standard);
      writer.put(userDefined);
      const { attributes } = context;
      encodeTlvs(writer, attributes, value.attributes, value['unknown-tlvs'] ?? [], context, 'attribute');
    },
  },
  {
    code: 1172,
    in: 'attribute',
    name: 'l2-bundle-members',
    title: 'L2 Bundle Member Attributes',
    rfc: 'RFC 9085 §2.2.3',
    repeats: true,
    decode: (reader, to, scope) => {
      const member: L2BundleMember = { descriptor: reader.u32(), attributes: {} };
      decodeSubTlvs(reader, scope.attributes, member.attributes, scope, member);
      to['l2-bundle-members'] = appended(to['l2-bundle-members'], member);
    },
    encode: (writer, value: L2BundleMember, context) => {
      writer.u32(value.descriptor);
      const { attributes } = context;
      encodeTlvs(writer, attributes, value.attributes, value['unknown-tlvs'] ?? [], context, 'attribute');
    },
  },
  {
    code: 1173,
    in: 'attribute',
    name: 'extended-administrative-group',
    title: 'Extended Administrative Group',
    rfc: 'RFC 9104 §2',
    decode: (reader, to) => {
      to['extended-administrative-group'] = readOneOrMoreWords(reader);
    },
    encode: (writer, value: number[]) => writeWords(writer, value),
  },
];

/** RFC 9294 §2: 0, 4 or 8 octets. */
function isMaskLength(octets: number): boolean {
  return octets === 0 || octets === 4 || octets === 8;
}

function readAnomalous(reader: TlvReader): boolean {
  return (reader.u8() & ANOMALOUS) !== 0;
}

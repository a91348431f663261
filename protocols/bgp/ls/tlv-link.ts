/** TLVs that describe a link. RFC 9552 §5.3.2. Bandwidths are IEEE 754 binary32 numbers of octets a second. */
import { isIsis, isOspf } from './code-point.ts';
import { flagField } from './flags.ts';
import { bitsOf, floatOf, type TlvReader } from './reader.ts';
import {
  encodeText,
  formatBits,
  parseHex,
  parseIpv4,
  parseIpv6,
  readHex,
  readIpv4,
  readIpv6,
  readText,
} from './text.ts';
import { appended, type TlvRow } from './tlv.ts';
import type { TlvWriter } from './writer.ts';

/** RFC 5307 §1.2, which numbers from the lowest bit. */
const LINK_PROTECTION = flagField(1, [
  null,
  null,
  'enhanced',
  'dedicated-1-plus-1',
  'dedicated-1-to-1',
  'shared',
  'unprotected',
  'extra-traffic',
]);
type LinkProtectionType = ReturnType<typeof LINK_PROTECTION.of>;

const MPLS_PROTOCOLS = flagField(1, ['ldp', 'rsvp-te']);
type MplsProtocolMask = ReturnType<typeof MPLS_PROTOCOLS.of>;

export interface LinkAttributes {
  /** RFC 5307 §1.1, when it stands in the attribute and not in the descriptor. */
  'link-local-remote-identifiers'?: { 'link-local-identifier': number; 'link-remote-identifier': number };
  'remote-ipv4-router-ids'?: string[];
  'remote-ipv6-router-ids'?: string[];
  /** 32 bits, bit 0 the least significant. */
  'administrative-group'?: number;
  /** null when what was sent is no finite number: then `…-raw` has its bits in hex. So with every bandwidth. */
  'maximum-link-bandwidth-bytes-per-second'?: number | null;
  'maximum-link-bandwidth-bytes-per-second-raw'?: string;
  'max-reservable-link-bandwidth-bytes-per-second'?: number | null;
  'max-reservable-link-bandwidth-bytes-per-second-raw'?: string;
  /** By priority, 0 first. */
  'unreserved-bandwidth-bytes-per-second'?: (number | null)[];
  'unreserved-bandwidth-bytes-per-second-raw'?: string;
  'te-default-metric'?: number;
  'link-protection-type'?: LinkProtectionType;
  'mpls-protocol-mask'?: MplsProtocolMask;
  'igp-metric'?: number;
  'shared-risk-link-groups'?: number[];
  'opaque-link-attributes'?: string[];
  'link-name'?: string;
}

/** A link has eight priorities, RFC 9552 §5.3.2, RFC 5305 §3.6. */
const PRIORITIES = 8;

export const LINK_ROWS: readonly TlvRow<LinkAttributes>[] = [
  {
    code: 258,
    in: 'attribute',
    name: 'link-local-remote-identifiers',
    title: 'Link Local/Remote Identifiers',
    rfc: 'RFC 9552 §5.2.2',
    length: 8,
    decode: (reader, to) => {
      to['link-local-remote-identifiers'] = {
        'link-local-identifier': reader.u32(),
        'link-remote-identifier': reader.u32(),
      };
    },
    encode: (writer, value: NonNullable<LinkAttributes['link-local-remote-identifiers']>) => {
      writer.u32(value['link-local-identifier']);
      writer.u32(value['link-remote-identifier']);
    },
  },
  {
    code: 1030,
    in: 'attribute',
    name: 'remote-ipv4-router-ids',
    title: 'IPv4 Router-ID of Remote Node',
    rfc: 'RFC 9552 §5.3.2.1',
    length: 4,
    repeats: true,
    decode: (reader, to) => {
      to['remote-ipv4-router-ids'] = appended(to['remote-ipv4-router-ids'], readIpv4(reader));
    },
    encode: (writer, value: string) => writer.put(parseIpv4(value)),
  },
  {
    code: 1031,
    in: 'attribute',
    name: 'remote-ipv6-router-ids',
    title: 'IPv6 Router-ID of Remote Node',
    rfc: 'RFC 9552 §5.3.2.1',
    length: 16,
    repeats: true,
    decode: (reader, to) => {
      to['remote-ipv6-router-ids'] = appended(to['remote-ipv6-router-ids'], readIpv6(reader));
    },
    encode: (writer, value: string) => writer.put(parseIpv6(value)),
  },
  {
    code: 1088,
    in: 'attribute',
    name: 'administrative-group',
    title: 'Administrative group (color)',
    rfc: 'RFC 9552 §5.3.2; RFC 5305 §3.1',
    length: 4,
    decode: (reader, to) => {
      to['administrative-group'] = reader.u32();
    },
    encode: (writer, value: number) => writer.u32(value),
  },
  {
    code: 1089,
    in: 'attribute',
    name: 'maximum-link-bandwidth-bytes-per-second',
    title: 'Maximum link bandwidth',
    rfc: 'RFC 9552 §5.3.2; RFC 5305 §3.4',
    length: 4,
    decode: (reader, to) => {
      const bits = reader.u32();
      if (isFiniteFloat(bits)) to['maximum-link-bandwidth-bytes-per-second'] = floatOf(bits);
      else {
        to['maximum-link-bandwidth-bytes-per-second'] = null;
        to['maximum-link-bandwidth-bytes-per-second-raw'] = formatBits(bits);
      }
    },
    encode: (writer, value: number | null, _context, from) =>
      writeFloat(writer, value, from['maximum-link-bandwidth-bytes-per-second-raw']),
  },
  {
    code: 1090,
    in: 'attribute',
    name: 'max-reservable-link-bandwidth-bytes-per-second',
    title: 'Max. reservable link bandwidth',
    rfc: 'RFC 9552 §5.3.2; RFC 5305 §3.5',
    length: 4,
    decode: (reader, to) => {
      const bits = reader.u32();
      if (isFiniteFloat(bits)) to['max-reservable-link-bandwidth-bytes-per-second'] = floatOf(bits);
      else {
        to['max-reservable-link-bandwidth-bytes-per-second'] = null;
        to['max-reservable-link-bandwidth-bytes-per-second-raw'] = formatBits(bits);
      }
    },
    encode: (writer, value: number | null, _context, from) =>
      writeFloat(writer, value, from['max-reservable-link-bandwidth-bytes-per-second-raw']),
  },
  {
    code: 1091,
    in: 'attribute',
    name: 'unreserved-bandwidth-bytes-per-second',
    title: 'Unreserved bandwidth',
    rfc: 'RFC 9552 §5.3.2; RFC 5305 §3.6',
    length: 4 * PRIORITIES,
    decode: (reader, to) => {
      const at = reader.position;
      const bandwidths = [
        reader.f32(),
        reader.f32(),
        reader.f32(),
        reader.f32(),
        reader.f32(),
        reader.f32(),
        reader.f32(),
        reader.f32(),
      ];
      to['unreserved-bandwidth-bytes-per-second'] = bandwidths;
      let sum = 0;
      for (const bandwidth of bandwidths) sum += bandwidth;
      // Of binary32 numbers eight cannot exceed binary64: the sum is finite when all of them are.
      if (Number.isFinite(sum)) return;
      to['unreserved-bandwidth-bytes-per-second'] = bandwidths.map((bandwidth) =>
        Number.isFinite(bandwidth) ? bandwidth : null,
      );
      to['unreserved-bandwidth-bytes-per-second-raw'] = readAgain(reader, at);
    },
    encode: (writer, values: (number | null)[], _context, from) => {
      const raw = from['unreserved-bandwidth-bytes-per-second-raw'];
      values.forEach((value, priority) => {
        writeFloat(writer, value, raw?.slice(priority * 8, priority * 8 + 8));
      });
    },
  },
  {
    code: 1092,
    in: 'attribute',
    name: 'te-default-metric',
    title: 'TE Default Metric',
    rfc: 'RFC 9552 §5.3.2.3',
    length: 4,
    decode: (reader, to) => {
      to['te-default-metric'] = reader.u32();
    },
    encode: (writer, value: number) => writer.u32(value),
  },
  {
    code: 1093,
    in: 'attribute',
    name: 'link-protection-type',
    title: 'Link Protection Type',
    rfc: 'RFC 9552 §5.3.2; RFC 5307 §1.2',
    length: 2,
    decode: (reader, to) => {
      to['link-protection-type'] = LINK_PROTECTION.of(reader.u8());
    },
    encode: (writer, value: LinkProtectionType) => {
      writer.u8(LINK_PROTECTION.bits(value));
      writer.u8(0);
    },
  },
  {
    code: 1094,
    in: 'attribute',
    name: 'mpls-protocol-mask',
    title: 'MPLS Protocol Mask',
    rfc: 'RFC 9552 §5.3.2.2',
    length: 1,
    decode: (reader, to) => {
      to['mpls-protocol-mask'] = MPLS_PROTOCOLS.of(reader.u8());
    },
    encode: (writer, value: MplsProtocolMask) => writer.u8(MPLS_PROTOCOLS.bits(value)),
  },
  {
    code: 1095,
    in: 'attribute',
    name: 'igp-metric',
    title: 'IGP Metric',
    rfc: 'RFC 9552 §5.3.2.4',
    decode: (reader, to, scope) => {
      const octets = reader.remaining;
      if (octets < 1 || octets > 3) {
        reader.reject();
        return;
      }
      const metric = reader.unsigned(octets);
      // One octet is an IS-IS small metric of six bits: the two above MUST be zero, and MUST be ignored.
      if (octets === 1 && metric > 0x3f)
        scope.problems.add('invalid-value', 'none', reader.position - 1, 1095);
      to['igp-metric'] = octets === 1 ? metric & 0x3f : metric;
    },
    encode: (writer, value: number, context) => {
      if (isOspf(context.protocolId) || (!isIsis(context.protocolId) && value <= 0xffff)) writer.u16(value);
      else writer.u24(value);
    },
  },
  {
    code: 1096,
    in: 'attribute',
    name: 'shared-risk-link-groups',
    title: 'Shared Risk Link Group',
    rfc: 'RFC 9552 §5.3.2.5',
    decode: (reader, to) => {
      to['shared-risk-link-groups'] = readWords(reader);
    },
    encode: (writer, value: number[]) => writeWords(writer, value),
  },
  {
    code: 1097,
    in: 'attribute',
    name: 'opaque-link-attributes',
    title: 'Opaque Link Attribute',
    rfc: 'RFC 9552 §5.3.2.6',
    repeats: true,
    decode: (reader, to) => {
      to['opaque-link-attributes'] = appended(
        to['opaque-link-attributes'],
        readHex(reader, reader.remaining),
      );
    },
    encode: (writer, value: string) => writer.put(parseHex(value)),
  },
  {
    code: 1098,
    in: 'attribute',
    name: 'link-name',
    title: 'Link Name',
    rfc: 'RFC 9552 §5.3.2.7',
    decode: (reader, to) => {
      to['link-name'] = readText(reader, reader.remaining);
    },
    encode: (writer, value: string) => writer.put(encodeText(value)),
  },
];

/** 32-bit integers to the end of the value. */
export function readWords(reader: TlvReader): number[] {
  const words: number[] = [];
  while (reader.remaining > 0) words.push(reader.u32());
  return words;
}

/** The same where an RFC wants one at least: an empty value is of the wrong length. */
export function readOneOrMoreWords(reader: TlvReader): number[] {
  if (reader.remaining === 0) reader.reject();
  return readWords(reader);
}

export function writeWords(writer: TlvWriter, words: readonly number[]): void {
  for (const word of words) writer.u32(word);
}

/** An exponent of all ones is an infinity or no number. */
export function isFiniteFloat(bits: number): boolean {
  return (bits & 0x7f800000) !== 0x7f800000;
}

/** The number that these bits are; null when it has no place in JSON. */
export function finite(bits: number): number | null {
  return isFiniteFloat(bits) ? floatOf(bits) : null;
}

export function writeFloat(writer: TlvWriter, value: number | null, raw: string | undefined): void {
  writer.u32(value === null ? Number.parseInt(raw ?? '7fc00000', 16) : bitsOf(value));
}

function readAgain(reader: TlvReader, from: number): string {
  const end = reader.position;
  reader.position = from;
  return readHex(reader, end - from);
}

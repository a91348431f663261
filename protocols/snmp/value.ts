/** The values that a varbind carries (RFC 2578 §7.1, RFC 3416 §3), as bytes and as data. */
import { type BerReader, type BerWriter, copyBytes, Tag } from './ber.ts';
import { decodeOid, encodeOid, type Oid } from './oid.ts';
import { isText } from './textual-convention.ts';

export type SnmpValue =
  | { readonly kind: 'integer'; readonly value: number }
  | { readonly kind: 'counter32' | 'gauge32' | 'time-ticks'; readonly value: number }
  | { readonly kind: 'counter64'; readonly value: bigint }
  | { readonly kind: 'octet-string' | 'ip-address' | 'opaque'; readonly value: Uint8Array }
  | { readonly kind: 'object-identifier'; readonly value: Oid }
  | { readonly kind: 'null' | ExceptionKind }
  /** A tag that no RFC gives, or content that its tag does not allow: kept as it came. */
  | { readonly kind: 'unreadable'; readonly tag: number; readonly value: Uint8Array };

/** RFC 3416 §3: what stands in place of a value that is not there. */
export type ExceptionKind = 'no-such-object' | 'no-such-instance' | 'end-of-mib-view';

export type ValueKind = SnmpValue['kind'];

const KIND_BY_TAG: ReadonlyMap<number, ValueKind> = new Map([
  [Tag.integer, 'integer'],
  [Tag.octetString, 'octet-string'],
  [Tag.null, 'null'],
  [Tag.objectIdentifier, 'object-identifier'],
  [Tag.ipAddress, 'ip-address'],
  [Tag.counter32, 'counter32'],
  [Tag.gauge32, 'gauge32'],
  [Tag.timeTicks, 'time-ticks'],
  [Tag.opaque, 'opaque'],
  [Tag.counter64, 'counter64'],
  [Tag.noSuchObject, 'no-such-object'],
  [Tag.noSuchInstance, 'no-such-instance'],
  [Tag.endOfMibView, 'end-of-mib-view'],
]);

const TAG_BY_KIND = new Map([...KIND_BY_TAG].map(([tag, kind]) => [kind, tag]));

/** The name that the API gives a tag: `counter64`, `octet-string`; `unreadable` for one that no RFC gives. */
export function kindOfTag(tag: number): ValueKind {
  return KIND_BY_TAG.get(tag) ?? 'unreadable';
}

export function isException(value: SnmpValue): boolean {
  return (
    value.kind === 'no-such-object' || value.kind === 'no-such-instance' || value.kind === 'end-of-mib-view'
  );
}

/** Takes one value of any tag. Content that its tag does not allow is data, `unreadable`, not a failure. */
export function decodeValue(reader: BerReader): SnmpValue {
  const tag = reader.peekTag();
  const content = reader.readBytes(tag);
  return interpretValue(tag, content);
}

/** The value that a tag and its content mean. The bytes are copied where they are kept. */
export function interpretValue(tag: number, content: Uint8Array): SnmpValue {
  const kind = kindOfTag(tag);
  const unreadable: SnmpValue = { kind: 'unreadable', tag, value: copyBytes(content) };
  switch (kind) {
    case 'integer': {
      if (content.length < 1 || content.length > 4) return unreadable;
      let value = (content[0] as number) >= 0x80 ? -1 : 0;
      for (const byte of content) value = (value << 8) | byte;
      return { kind, value };
    }
    case 'counter32':
    case 'gauge32':
    case 'time-ticks': {
      const value = unsignedOf(content, 4);
      return value === undefined ? unreadable : { kind, value: Number(value) };
    }
    case 'counter64': {
      const value = unsignedOf(content, 8);
      return value === undefined ? unreadable : { kind, value };
    }
    case 'ip-address':
      return content.length === 4 ? { kind, value: copyBytes(content) } : unreadable;
    case 'octet-string':
    case 'opaque':
      return { kind, value: copyBytes(content) };
    case 'object-identifier': {
      const value = decodeOid(content);
      return value === undefined ? unreadable : { kind, value };
    }
    case 'unreadable':
      return unreadable;
    default:
      return content.length === 0 ? { kind } : unreadable;
  }
}

/**
 * An unsigned integer of at most `width` bytes and the zero that may lead them. Agents that leave the zero out
 * mean the unsigned value all the same (a Counter has no negative one), so the top bit is never a sign.
 */
function unsignedOf(content: Uint8Array, width: number): bigint | undefined {
  if (content.length < 1 || content.length > width + 1) return undefined;
  if (content.length === width + 1 && content[0] !== 0) return undefined;
  let value = 0n;
  for (const byte of content) value = (value << 8n) | BigInt(byte);
  return value;
}

/** Writes one value, tag and all. */
export function encodeValue(writer: BerWriter, value: SnmpValue): void {
  switch (value.kind) {
    case 'unreadable':
      writer.primitive(value.tag, value.value);
      break;
    case 'integer':
      writer.integer(value.value);
      break;
    case 'counter32':
    case 'gauge32':
    case 'time-ticks':
    case 'counter64':
      writer.unsigned(BigInt(value.value), TAG_BY_KIND.get(value.kind) as number);
      break;
    case 'octet-string':
    case 'ip-address':
    case 'opaque':
      writer.primitive(TAG_BY_KIND.get(value.kind) as number, value.value);
      break;
    case 'object-identifier':
      writer.primitive(Tag.objectIdentifier, encodeOid(value.value));
      break;
    default:
      writer.header(TAG_BY_KIND.get(value.kind) as number, 0);
  }
}

/** One value as text for people (the live test's raw updates): digits, dotted, UTF-8 text or `0x` and hex. */
export function formatValue(value: SnmpValue): string {
  switch (value.kind) {
    case 'integer':
    case 'counter32':
    case 'gauge32':
    case 'time-ticks':
    case 'counter64':
      return value.value.toString();
    case 'object-identifier':
    case 'ip-address':
      return value.value.join('.');
    case 'octet-string':
      return formatOctets(value.value);
    case 'opaque':
    case 'unreadable':
      return formatHex(value.value);
    default:
      return '';
  }
}

function formatOctets(bytes: Uint8Array): string {
  return bytes.length === 0 || isText(bytes) ? new TextDecoder().decode(bytes) : formatHex(bytes);
}

function formatHex(bytes: Uint8Array): string {
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/**
 * Messages of a shape that is legal but rare (fields given twice, unknown fields, deprecated ones), put into the plain form
 * by the full protobuf decoder.
 */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { isNested } from './nesting.ts';
import {
  Encoding,
  type SubscribeResponseMessage,
  SubscribeResponseSchema,
  type TypedValueMessage,
  type UpdateMessage,
  UpdateSchema,
} from './schema.ts';
import { decodeText, readLength, readVarint, type Varint } from './wire.ts';

/** More fields than this in one Notification of a rare shape are refused: as objects they would outgrow it. */
const MAXIMUM_RARE_FIELDS = 50_000;

/** A SubscribeResponse in the plain form, or the deprecated Error that it is. Undefined when it is neither. */
export function plainResponse(
  bytes: Uint8Array,
): { readonly plain: Uint8Array } | { readonly code: number; readonly message: string } | undefined {
  if (bytes.length > 2 * MAXIMUM_RARE_FIELDS && countFields(bytes) > MAXIMUM_RARE_FIELDS) return undefined;
  let message: SubscribeResponseMessage;
  try {
    if (!isNested(SubscribeResponseSchema, bytes)) return undefined;
    message = fromBinary(SubscribeResponseSchema, bytes, { readUnknownFields: false });
  } catch {
    return undefined;
  }
  const { response } = message;
  if (response.case === 'error') return response.value;
  for (const update of response.case === 'update' ? response.value.update : []) moveDeprecatedValue(update);
  return { plain: toBinary(SubscribeResponseSchema, message) };
}

/** The SubscribeResponse of a Notification. */
export function responseAround(notification: Uint8Array): Uint8Array {
  const { length } = notification;
  const wrapped = new Uint8Array(length + 6);
  wrapped[0] = 0x0a;
  let at = 1;
  let rest = length;
  for (; rest > 0x7f; rest >>>= 7) wrapped[at++] = (rest & 0x7f) | 0x80;
  wrapped[at++] = rest;
  wrapped.set(notification, at);
  return wrapped.subarray(0, at + length);
}

/** An Update in the plain form; undefined when it is none. */
export function plainUpdate(bytes: Uint8Array): Uint8Array | undefined {
  let message: UpdateMessage;
  try {
    if (!isNested(UpdateSchema, bytes)) return undefined;
    message = fromBinary(UpdateSchema, bytes, { readUnknownFields: false });
  } catch {
    return undefined;
  }
  moveDeprecatedValue(message);
  return toBinary(UpdateSchema, message);
}

/** Moves the deprecated `value` to `val`. */
function moveDeprecatedValue(message: UpdateMessage): void {
  if (message.value === undefined) return;
  message.val ??= {
    $typeName: 'gnmi.TypedValue',
    value: deprecatedValue(message.value.value, message.value.type),
  };
  delete message.value;
}

function deprecatedValue(value: Uint8Array, encoding: number): TypedValueMessage['value'] {
  switch (encoding) {
    case Encoding.JSON:
      return { case: 'jsonVal', value };
    case Encoding.JSON_IETF:
      return { case: 'jsonIetfVal', value };
    case Encoding.ASCII:
      return { case: 'asciiVal', value: decodeText(value, 0, value.length) };
    case Encoding.PROTO:
      return { case: 'protoBytes', value };
    default:
      return { case: 'bytesVal', value };
  }
}

/** How many fields two levels deep the message claims, counted without making objects. */
function countFields(bytes: Uint8Array): number {
  const varint: Varint = { hi: 0, lo: 0, next: 0 };
  let fields = 0;
  const level = (from: number, to: number, depth: number): void => {
    let at = from;
    while (at < to) {
      readVarint(bytes, at, to, varint);
      if (varint.next === -1) return;
      const wireType = varint.lo & 7;
      const after = varint.next;
      fields += 1;
      if (wireType === 0) {
        readVarint(bytes, after, to, varint);
        if (varint.next === -1) return;
        at = varint.next;
      } else if (wireType === 1) at = after + 8;
      else if (wireType === 5) at = after + 4;
      else if (wireType === 2) {
        const length = readLength(bytes, after, to, varint);
        if (length === -1) return;
        const bodyStart = varint.next;
        at = bodyStart + length;
        if (depth > 0) level(bodyStart, at, depth - 1);
      } else return;
    }
  };
  level(0, bytes.length, 1);
  return fields;
}

/** Notifications and their values as objects: for one-shot answers and tests, not for streams at rate. */
import { fromBinary } from '@bufbuild/protobuf';
import type { Path } from './path.ts';
import { PathArena } from './path-arena.ts';
import { type TypedValueMessage, TypedValueSchema } from './schema.ts';
import { type NotificationSink, SubscribeResponseDecoder, ValueKind, viewOf } from './subscribe-response.ts';
import { decodeText, float32, float64, int64, readLength, uint64, type Varint } from './wire.ts';

/** A gnmi.TypedValue. `json` and `json-ietf` hold the text as sent: parsing it is where 64 bits get lost. */
export type Value =
  | { readonly kind: 'string' | 'ascii' | 'json' | 'json-ietf'; readonly value: string }
  | { readonly kind: 'int' | 'uint'; readonly value: bigint }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'float' | 'double'; readonly value: number }
  | { readonly kind: 'decimal'; readonly digits: bigint; readonly precision: number }
  | { readonly kind: 'bytes' | 'any' | 'proto-bytes'; readonly value: Uint8Array }
  | { readonly kind: 'leaf-list'; readonly values: readonly Value[] };

export interface Update {
  /** Absolute: prefix and path joined. */
  readonly path: Path;
  /** Undefined where the target sent a path and no value. */
  readonly value: Value | undefined;
}

export interface Notification {
  /** Nanoseconds since the epoch. */
  readonly timestamp: bigint;
  /** The updates are the whole state below the prefix (gNMI specification §2.1.1). */
  readonly atomic: boolean;
  /** Absolute paths; they are removed before the updates apply. */
  readonly deletes: readonly Path[];
  readonly updates: readonly Update[];
  /** How many values the target coalesced away. */
  readonly duplicates: number;
}

export type SubscribeResponse =
  | { readonly kind: 'notification'; readonly notification: Notification }
  | { readonly kind: 'sync' }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** A response with nothing in it that we know. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'malformed' };

/** Decodes one SubscribeResponse message. Never throws. */
export function decodeSubscribeResponse(bytes: Uint8Array): SubscribeResponse {
  const collector = new Collector();
  const decoder = new SubscribeResponseDecoder(collector.arena, collector);
  if (!decoder.decode(bytes, viewOf(bytes), 0, bytes.length)) return { kind: 'malformed' };
  return collector.response;
}

/** The notifications of a GetResponse; undefined when it is none. */
export function decodeGetResponse(bytes: Uint8Array): readonly Notification[] | undefined {
  const varint: Varint = { hi: 0, lo: 0, next: 0 };
  const view = viewOf(bytes);
  const notifications: Notification[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at] as number;
    const length = (tag & 7) === 2 ? readLength(bytes, at + 1, bytes.length, varint) : -1;
    if (length === -1) return undefined;
    const start = varint.next;
    at = start + length;
    if (tag !== 0x0a) continue;
    const collector = new Collector();
    const decoder = new SubscribeResponseDecoder(collector.arena, collector);
    if (!decoder.decodeNotification(bytes, view, start, at)) return undefined;
    if (collector.response.kind === 'notification') notifications.push(collector.response.notification);
  }
  return notifications;
}

/** Makes objects of what a sink is told. */
class Collector implements NotificationSink {
  readonly arena = new PathArena();
  response: SubscribeResponse = { kind: 'empty' };
  #timestamp = 0n;
  #atomic = false;
  #deletes: Path[] = [];
  #updates: Update[] = [];

  begin(_bytes: Uint8Array, timestampHi: number, timestampLo: number, atomic: boolean): void {
    this.#timestamp = int64(timestampHi, timestampLo);
    this.#atomic = atomic;
    this.#deletes = [];
    this.#updates = [];
  }

  delete(stemId: number, leafId: number): void {
    this.#deletes.push(this.arena.path(stemId, leafId));
  }

  update(
    stemId: number,
    leafId: number,
    kind: number,
    hi: number,
    lo: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    this.#updates.push({
      path: this.arena.path(stemId, leafId),
      value: decodeValue(kind, hi, lo, bytes, start, end),
    });
  }

  end(duplicates: number): void {
    this.response = {
      kind: 'notification',
      notification: {
        timestamp: this.#timestamp,
        atomic: this.#atomic,
        deletes: this.#deletes,
        updates: this.#updates,
        duplicates,
      },
    };
  }

  sync(): void {
    this.response = { kind: 'sync' };
  }

  error(code: number, message: string): void {
    this.response = { kind: 'error', code, message };
  }
}

/** The value that a sink's `update` was given, as an object; undefined for `none`. Copies what it keeps. */
export function decodeValue(
  kind: number,
  hi: number,
  lo: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): Value | undefined {
  switch (kind) {
    case ValueKind.string:
      return { kind: 'string', value: decodeText(bytes, start, end) };
    case ValueKind.ascii:
      return { kind: 'ascii', value: decodeText(bytes, start, end) };
    case ValueKind.json:
      return { kind: 'json', value: decodeText(bytes, start, end) };
    case ValueKind.jsonIetf:
      return { kind: 'json-ietf', value: decodeText(bytes, start, end) };
    case ValueKind.int:
      return { kind: 'int', value: int64(hi, lo) };
    case ValueKind.uint:
      return { kind: 'uint', value: uint64(hi, lo) };
    case ValueKind.bool:
      return { kind: 'bool', value: lo !== 0 };
    case ValueKind.float:
      return { kind: 'float', value: float32(lo) };
    case ValueKind.double:
      return { kind: 'double', value: float64(hi, lo) };
    case ValueKind.decimal:
      return { kind: 'decimal', digits: int64(hi, lo), precision: start };
    case ValueKind.bytes:
      return { kind: 'bytes', value: copyOf(bytes, start, end) };
    case ValueKind.any:
      return { kind: 'any', value: copyOf(bytes, start, end) };
    case ValueKind.protoBytes:
      return { kind: 'proto-bytes', value: copyOf(bytes, start, end) };
    case ValueKind.leafList:
      return { kind: 'leaf-list', values: decodeLeafList(bytes, start, end) };
    default:
      return undefined;
  }
}

/** A copy also of a Buffer, whose own `slice` would share the memory that the next message overwrites. */
function copyOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return new Uint8Array(bytes.subarray(start, end));
}

/** The elements of the ScalarArray in this range; what cannot be read ends the list. */
export function decodeLeafList(bytes: Uint8Array, start: number, end: number): readonly Value[] {
  const varint: Varint = { hi: 0, lo: 0, next: 0 };
  const values: Value[] = [];
  let at = start;
  while (at < end) {
    const tag = bytes[at] as number;
    const length = (tag & 7) === 2 ? readLength(bytes, at + 1, end, varint) : -1;
    if (length === -1) break;
    const from = varint.next;
    at = from + length;
    if (tag !== 0x0a) continue;
    let message: TypedValueMessage;
    try {
      message = fromBinary(TypedValueSchema, bytes.subarray(from, at), { readUnknownFields: false });
    } catch {
      break;
    }
    const value = valueFromMessage(message);
    if (value !== undefined) values.push(value);
  }
  return values;
}

const TEXT_KINDS = { stringVal: 'string', asciiVal: 'ascii' } as const;
const JSON_KINDS = { jsonVal: 'json', jsonIetfVal: 'json-ietf' } as const;

/** The value of a message that the full decoder has read. */
export function valueFromMessage(message: TypedValueMessage | undefined): Value | undefined {
  const value = message?.value;
  switch (value?.case) {
    case 'stringVal':
    case 'asciiVal':
      return { kind: TEXT_KINDS[value.case], value: value.value };
    case 'jsonVal':
    case 'jsonIetfVal':
      return { kind: JSON_KINDS[value.case], value: decodeText(value.value, 0, value.value.length) };
    case 'intVal':
      return { kind: 'int', value: value.value };
    case 'uintVal':
      return { kind: 'uint', value: value.value };
    case 'boolVal':
      return { kind: 'bool', value: value.value };
    case 'floatVal':
      return { kind: 'float', value: value.value };
    case 'doubleVal':
      return { kind: 'double', value: value.value };
    case 'decimalVal':
      return { kind: 'decimal', digits: value.value.digits, precision: value.value.precision };
    case 'bytesVal':
      return { kind: 'bytes', value: value.value };
    case 'protoBytes':
      return { kind: 'proto-bytes', value: value.value };
    case 'anyVal':
      return { kind: 'any', value: value.value };
    case 'leaflistVal':
      return {
        kind: 'leaf-list',
        values: value.value.element.map(valueFromMessage).filter((element) => element !== undefined),
      };
    default:
      return undefined;
  }
}

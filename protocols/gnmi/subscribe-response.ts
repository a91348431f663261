/**
 * Decodes SubscribeResponses where they lie in the receive buffer: no object, no string and no BigInt for an
 * update whose path was seen before. What a target sends is told to a sink. Shapes that are legal but rare
 * (fields given twice, unknown fields, deprecated ones) are first put into the plain form by the full
 * protobuf decoder and then read by the same code, so that there is one reading of everything.
 */
import { type PathArena, PathCursor } from './path-arena.ts';
import { plainResponse, plainUpdate, responseAround } from './rare-shapes.ts';
import { readLength, readVarint, type Varint } from './wire.ts';

/** The field numbers of gnmi.TypedValue; `none` where the update carries no value (Huawei, beside deletes). */
export const ValueKind = {
  none: 0,
  string: 1,
  int: 2,
  uint: 3,
  bool: 4,
  bytes: 5,
  float: 6,
  decimal: 7,
  leafList: 8,
  any: 9,
  json: 10,
  jsonIetf: 11,
  ascii: 12,
  protoBytes: 13,
  double: 14,
} as const;

/**
 * Is told what a target sends. `bytes` of a Notification are good until `end` returns: whoever keeps a
 * string, keeps a copy. Ids are the arena's, of its present generation.
 */
export interface NotificationSink {
  /** A Notification begins. The timestamp is in nanoseconds since the epoch, an int64 in two halves. */
  begin(bytes: Uint8Array, timestampHi: number, timestampLo: number, atomic: boolean): void;
  /** Deletes of a Notification come before its updates (gNMI specification §3.5.2.1), also when sent behind them. */
  delete(stemId: number, leafId: number): void;
  /**
   * `int`, `uint`: the 64 bits in `hi` and `lo` (unsigned halves). `bool`: `lo`. `float`: 32 bits in `lo`;
   * `double`: 64 bits in `hi` and `lo`. `decimal`: digits in `hi` and `lo`, and `start` is the precision.
   * All others: the range `start`–`end` of `bytes`; for `leafList` that is a ScalarArray message.
   */
  update(
    stemId: number,
    leafId: number,
    kind: number,
    hi: number,
    lo: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void;
  /** The Notification is complete. `duplicates`: how many values the target coalesced away in it. */
  end(duplicates: number): void;
  /** sync_response: the target has sent everything once. */
  sync(): void;
  /** The deprecated Error within the stream. The RPC's status usually follows. */
  error(code: number, message: string): void;
}

/** One stream's decoder. Streams may share an arena. */
export class SubscribeResponseDecoder {
  readonly #arena: PathArena;
  readonly #sink: NotificationSink;
  readonly #cursor = new PathCursor();
  readonly #varint: Varint = { hi: 0, lo: 0, next: 0 };
  #valueKind = 0;
  #valueHi = 0;
  #valueLo = 0;
  #valueStart = 0;
  #valueEnd = 0;

  constructor(arena: PathArena, sink: NotificationSink) {
    this.#arena = arena;
    this.#sink = sink;
  }

  /**
   * Decodes the message that lies in `bytes` from `start` to `end`; `view` shows the same bytes. False when
   * it is no SubscribeResponse: the stream cannot be trusted any more, and an `end` that is owed never comes.
   */
  decode(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    this.#arena.makeRoom();
    if (this.#cursor.generation !== this.#arena.generation) {
      this.#cursor.generation = this.#arena.generation;
      this.#cursor.stemEntry = -1;
      this.#cursor.leafEntry = -1;
    }
    return this.#response(bytes, view, start, end, true);
  }

  #response(bytes: Uint8Array, view: DataView, start: number, end: number, mayBeRare: boolean): boolean {
    const varint = this.#varint;
    let found = 0;
    let bodyStart = 0;
    let bodyEnd = 0;
    let sync = false;
    let at = start;
    while (at < end) {
      const tag = bytes[at] as number;
      if ((tag !== 0x0a && tag !== 0x18 && tag !== 0x22 && tag !== 0x2a) || (found !== 0 && tag !== 0x2a)) {
        return mayBeRare && this.#rareResponse(bytes, start, end);
      }
      if (tag === 0x18) {
        readVarint(bytes, at + 1, end, varint);
        if (varint.next === -1) return false;
        sync = varint.lo !== 0 || varint.hi !== 0;
        at = varint.next;
        found = tag;
        continue;
      }
      const length = readLength(bytes, at + 1, end, varint);
      if (length === -1) return false;
      at = varint.next + length;
      if (tag === 0x2a) continue; // Extensions: none changes what the values mean.
      bodyStart = varint.next;
      bodyEnd = at;
      found = tag;
    }
    if (found === 0x0a) return this.#notification(bytes, view, bodyStart, bodyEnd, mayBeRare);
    if (found === 0x18 && sync) this.#sink.sync();
    if (found === 0x22) {
      if (mayBeRare) return this.#rareResponse(bytes, start, end);
      return false;
    }
    return true;
  }

  /** A Notification as the first level of a message, as GetResponse carries it. */
  decodeNotification(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    return this.#notification(bytes, view, start, end, true);
  }

  #notification(bytes: Uint8Array, view: DataView, start: number, end: number, mayBeRare: boolean): boolean {
    const varint = this.#varint;
    const arena = this.#arena;
    const sink = this.#sink;
    let timestampHi = 0;
    let timestampLo = 0;
    let prefixStart = -1;
    let prefixEnd = -1;
    let atomic = false;
    let deletes = 0;
    // Once over the first level: `atomic` and the deletes come last on the wire but first in meaning.
    let at = start;
    while (at < end) {
      const tag = bytes[at] as number;
      if (tag === 0x08 || tag === 0x30) {
        readVarint(bytes, at + 1, end, varint);
        if (varint.next === -1) return false;
        at = varint.next;
        if (tag === 0x30) atomic = varint.lo !== 0 || varint.hi !== 0;
        else {
          timestampHi = varint.hi;
          timestampLo = varint.lo;
        }
        continue;
      }
      if ((tag !== 0x22 && tag !== 0x12 && tag !== 0x2a) || (tag === 0x12 && prefixStart !== -1)) {
        return mayBeRare && this.#rareNotification(bytes, start, end);
      }
      const length = readLength(bytes, at + 1, end, varint);
      if (length === -1) return false;
      at = varint.next + length;
      if (tag === 0x2a) deletes += 1;
      else if (tag === 0x12) {
        prefixStart = varint.next;
        prefixEnd = at;
      }
    }
    const prefixId =
      prefixStart === -1 ? arena.prefixId(bytes, 0, 0) : arena.prefixId(bytes, prefixStart, prefixEnd);
    if (prefixId === -1) return false;

    sink.begin(bytes, timestampHi, timestampLo, atomic);
    if (deletes > 0 && !this.#deletes(bytes, view, start, end, prefixId)) return false;
    let duplicates = 0;
    at = start;
    while (at < end) {
      const tag = bytes[at] as number;
      if (tag === 0x08 || tag === 0x30) {
        readVarint(bytes, at + 1, end, varint);
        at = varint.next;
        continue;
      }
      const length = readLength(bytes, at + 1, end, varint);
      const from = varint.next;
      at = from + length;
      if (tag !== 0x22) continue;
      const coalesced = this.#update(bytes, view, from, at, prefixId, true);
      if (coalesced === -1) return false;
      duplicates += coalesced;
    }
    sink.end(duplicates);
    return true;
  }

  #deletes(bytes: Uint8Array, view: DataView, start: number, end: number, prefixId: number): boolean {
    const varint = this.#varint;
    const cursor = this.#cursor;
    let at = start;
    while (at < end) {
      const tag = bytes[at] as number;
      if (tag === 0x08 || tag === 0x30) {
        readVarint(bytes, at + 1, end, varint);
        at = varint.next;
        continue;
      }
      const length = readLength(bytes, at + 1, end, varint);
      const from = varint.next;
      at = from + length;
      if (tag !== 0x2a) continue;
      if (!this.#arena.resolve(cursor, bytes, view, from, at, prefixId)) return false;
      this.#sink.delete(this.#arena.stemId(cursor.stemEntry), this.#arena.leafId(cursor.leafEntry));
    }
    return true;
  }

  /** The number of coalesced duplicates, or -1 when this is no Update. */
  #update(
    bytes: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    prefixId: number,
    mayBeRare: boolean,
  ): number {
    const varint = this.#varint;
    const cursor = this.#cursor;
    let pathStart = -1;
    let pathEnd = -1;
    let duplicates = 0;
    let hasValue = false;
    this.#valueKind = ValueKind.none;
    this.#valueStart = 0;
    this.#valueEnd = 0;
    let at = start;
    while (at < end) {
      const tag = bytes[at] as number;
      if (tag === 0x20) {
        readVarint(bytes, at + 1, end, varint);
        if (varint.next === -1) return -1;
        duplicates = varint.lo;
        at = varint.next;
        continue;
      }
      if (tag !== 0x0a && tag !== 0x1a) {
        return mayBeRare ? this.#rareUpdate(bytes, start, end, prefixId) : -1;
      }
      const length = readLength(bytes, at + 1, end, varint);
      if (length === -1) return -1;
      const from = varint.next;
      at = from + length;
      if (tag === 0x0a) {
        if (pathStart !== -1) return mayBeRare ? this.#rareUpdate(bytes, start, end, prefixId) : -1;
        pathStart = from;
        pathEnd = at;
      } else {
        if (hasValue || !this.#value(bytes, view, from, at, mayBeRare)) {
          return mayBeRare ? this.#rareUpdate(bytes, start, end, prefixId) : -1;
        }
        hasValue = true;
      }
    }
    if (pathStart === -1) {
      pathStart = start;
      pathEnd = start;
    }
    if (!this.#arena.resolve(cursor, bytes, view, pathStart, pathEnd, prefixId)) return -1;
    this.#sink.update(
      this.#arena.stemId(cursor.stemEntry),
      this.#arena.leafId(cursor.leafEntry),
      this.#valueKind,
      this.#valueHi,
      this.#valueLo,
      bytes,
      this.#valueStart,
      this.#valueEnd,
    );
    return duplicates;
  }

  /** Reads a TypedValue of exactly one field (or none); false for any other shape. */
  #value(bytes: Uint8Array, view: DataView, start: number, end: number, mayBeRare: boolean): boolean {
    if (start === end) return true;
    const varint = this.#varint;
    const tag = bytes[start] as number;
    const kind = tag >>> 3;
    this.#valueKind = kind;
    switch (tag) {
      case 0x10: // int64
      case 0x18: // uint64
      case 0x20: // bool
        readVarint(bytes, start + 1, end, varint);
        if (varint.next !== end) return false;
        this.#valueHi = varint.hi;
        this.#valueLo = kind === ValueKind.bool ? ((varint.hi | varint.lo) === 0 ? 0 : 1) : varint.lo;
        return true;
      case 0x35: // float, fixed32
        if (end - start !== 5) return false;
        this.#valueLo = view.getUint32(start + 1, true);
        this.#valueHi = 0;
        return true;
      case 0x71: // double, fixed64
        if (end - start !== 9) return false;
        this.#valueLo = view.getUint32(start + 1, true);
        this.#valueHi = view.getUint32(start + 5, true);
        return true;
      case 0x0a:
      case 0x2a:
      case 0x3a:
      case 0x42:
      case 0x4a:
      case 0x52:
      case 0x5a:
      case 0x62:
      case 0x6a: {
        const length = readLength(bytes, start + 1, end, varint);
        if (length === -1 || varint.next + length !== end) return false;
        const bodyStart = varint.next;
        if (tag === 0x3a) return this.#decimal(bytes, bodyStart, end);
        if (tag === 0x42 && mayBeRare && !this.#isPlainLeafList(bytes, view, bodyStart, end)) return false;
        this.#valueKind = kind;
        this.#valueHi = 0;
        this.#valueLo = 0;
        this.#valueStart = bodyStart;
        this.#valueEnd = end;
        return true;
      }
      default:
        return false;
    }
  }

  /** Whether each element is one plain scalar; lists within lists and oddities go the long way. */
  #isPlainLeafList(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    const varint = this.#varint;
    let at = start;
    while (at < end) {
      if (bytes[at] !== 0x0a) return false;
      const length = readLength(bytes, at + 1, end, varint);
      if (length === -1) return false;
      const from = varint.next;
      at = from + length;
      if (bytes[from] === 0x42 || !this.#value(bytes, view, from, at, false)) return false;
    }
    return true;
  }

  #decimal(bytes: Uint8Array, start: number, end: number): boolean {
    const varint = this.#varint;
    this.#valueHi = 0;
    this.#valueLo = 0;
    this.#valueStart = 0;
    this.#valueEnd = 0;
    let at = start;
    while (at < end) {
      const tag = bytes[at] as number;
      if (tag !== 0x08 && tag !== 0x10) return false;
      readVarint(bytes, at + 1, end, varint);
      if (varint.next === -1) return false;
      at = varint.next;
      if (tag === 0x10) this.#valueStart = varint.lo;
      else {
        this.#valueHi = varint.hi;
        this.#valueLo = varint.lo;
      }
    }
    return true;
  }

  #rareResponse(bytes: Uint8Array, start: number, end: number): boolean {
    const found = plainResponse(bytes.subarray(start, end));
    if (found === undefined) return false;
    if ('plain' in found)
      return this.#response(found.plain, viewOf(found.plain), 0, found.plain.length, false);
    this.#sink.error(found.code, found.message);
    return true;
  }

  #rareNotification(bytes: Uint8Array, start: number, end: number): boolean {
    const response = responseAround(bytes.subarray(start, end));
    return this.#rareResponse(response, 0, response.length);
  }

  #rareUpdate(bytes: Uint8Array, start: number, end: number, prefixId: number): number {
    const plain = plainUpdate(bytes.subarray(start, end));
    return plain === undefined ? -1 : this.#update(plain, viewOf(plain), 0, plain.length, prefixId, false);
  }
}

/** A view of the same bytes, for `decode`. One a receive buffer, not one a message. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

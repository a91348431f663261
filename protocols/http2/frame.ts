/** HTTP/2 frames: their numbers, and writing them (RFC 9113 §4, §6). */

/** RFC 9113 §11.2. */
export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FrameFlag = { ack: 1, endStream: 1, endHeaders: 4, padded: 8, priority: 0x20 } as const;

/** RFC 9113 §7. */
export const ErrorCode = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  connectError: 10,
  enhanceYourCalm: 11,
  inadequateSecurity: 12,
  http11Required: 13,
} as const;

/** RFC 9113 §6.5.2. */
export const Setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

export const FRAME_HEADER_BYTES = 9;
/** The largest payload that everybody takes, and the largest that may be agreed upon (RFC 9113 §4.2). */
export const DEFAULT_FRAME_BYTES = 16_384;
export const LARGEST_FRAME_BYTES = 2 ** 24 - 1;
export const DEFAULT_WINDOW_BYTES = 65_535;
export const LARGEST_WINDOW_BYTES = 2 ** 31 - 1;

/** What a client says first (RFC 9113 §3.4). */
export const CLIENT_PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** `PROTOCOL_ERROR`, as RFC 9113 writes it. */
export function errorName(code: number): string {
  const found = Object.entries(ErrorCode).find(([, number]) => number === code)?.[0];
  return found === undefined ? `error ${code}` : found.replace(/[A-Z]/g, '_$&').toUpperCase();
}

export function uint32At(bytes: Uint8Array, at: number): number {
  return (
    (((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number)) >>>
    0
  );
}

const FIRST_ROOM_BYTES = 256;

/** Frames one behind the other, to be taken all at once. */
export class FrameWriter {
  #bytes = new Uint8Array(FIRST_ROOM_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** All that was written since the last time, the caller's own; undefined for nothing. */
  take(): Uint8Array | undefined {
    if (this.#length === 0) return undefined;
    const taken = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    if (this.#bytes.length > DEFAULT_FRAME_BYTES) this.#bytes = new Uint8Array(FIRST_ROOM_BYTES);
    return taken;
  }

  preface(): void {
    const at = this.#makeRoom(CLIENT_PREFACE.length);
    for (let place = 0; place < CLIENT_PREFACE.length; place += 1) {
      this.#bytes[at + place] = CLIENT_PREFACE.charCodeAt(place);
    }
  }

  frame(type: number, flags: number, streamId: number, payload: Uint8Array): void {
    const at = this.#header(type, flags, streamId, payload.length);
    this.#bytes.set(payload, at);
  }

  settings(values: ReadonlyArray<readonly [setting: number, value: number]>): void {
    let at = this.#header(FrameType.settings, 0, 0, values.length * 6);
    for (const [setting, value] of values) {
      this.#bytes[at] = setting >> 8;
      this.#bytes[at + 1] = setting;
      this.#uint32(at + 2, value);
      at += 6;
    }
  }

  settingsAck(): void {
    this.#header(FrameType.settings, FrameFlag.ack, 0, 0);
  }

  /** @param payload eight octets. */
  ping(flags: number, payload: Uint8Array): void {
    this.frame(FrameType.ping, flags, 0, payload);
  }

  windowUpdate(streamId: number, increment: number): void {
    this.#uint32(this.#header(FrameType.windowUpdate, 0, streamId, 4), increment);
  }

  resetStream(streamId: number, code: number): void {
    this.#uint32(this.#header(FrameType.rstStream, 0, streamId, 4), code);
  }

  goAway(lastStreamId: number, code: number): void {
    const at = this.#header(FrameType.goAway, 0, 0, 8);
    this.#uint32(at, lastStreamId);
    this.#uint32(at + 4, code);
  }

  #header(type: number, flags: number, streamId: number, length: number): number {
    const at = this.#makeRoom(FRAME_HEADER_BYTES + length);
    this.#uint32(at, (length << 8) | type);
    this.#bytes[at + 4] = flags;
    this.#uint32(at + 5, streamId);
    return at + FRAME_HEADER_BYTES;
  }

  #uint32(at: number, value: number): void {
    this.#bytes[at] = value >>> 24;
    this.#bytes[at + 1] = value >>> 16;
    this.#bytes[at + 2] = value >>> 8;
    this.#bytes[at + 3] = value;
  }

  #makeRoom(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#bytes.length) {
      const before = this.#bytes;
      this.#bytes = new Uint8Array(Math.max(this.#length, 2 * before.length));
      this.#bytes.set(before.subarray(0, at));
    }
    return at;
  }
}

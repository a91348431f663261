/** gRPC's own framing inside an HTTP/2 stream: Length-Prefixed-Message (gRPC over HTTP/2, "Requests"). */

/** One flag byte and four of length. */
export const FRAME_HEADER_BYTES = 5;

/** The message with its prefix, uncompressed. */
export function encodeFrame(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(FRAME_HEADER_BYTES + message.length);
  new DataView(frame.buffer).setUint32(1, message.length);
  frame.set(message, FRAME_HEADER_BYTES);
  return frame;
}

/** Is given each message where it lies; the bytes are good until it returns. */
export type MessageReader = (bytes: Uint8Array, view: DataView, start: number, end: number) => void;

export type FrameError =
  | { readonly code: 'too-large'; readonly bytes: number }
  /** Compressed, though we offer no compression, or a flag that does not exist. */
  | { readonly code: 'bad-flag'; readonly flag: number };

/** A message that lay across chunks leaves its room to the next one, if it is not more than this. */
const KEPT_BYTES = 65_536;

/** Cuts a stream's bytes into messages. A message within one chunk is not copied. */
export class FrameReader {
  readonly #maximumBytes: number;
  readonly #onMessage: MessageReader;
  #partial = new Uint8Array(0);
  #partialView = new DataView(this.#partial.buffer);
  #partialLength = 0;
  /** What the last chunk lay in: reads from a socket lie in the same buffer one after the other. */
  #received: Uint8Array = this.#partial;
  #receivedView: DataView = this.#partialView;

  constructor(maximumBytes: number, onMessage: MessageReader) {
    this.#maximumBytes = maximumBytes;
    this.#onMessage = onMessage;
  }

  /** Whether a message has begun and not ended. */
  get isMidMessage(): boolean {
    return this.#partialLength > 0;
  }

  /** Takes the next bytes: those of `bytes` from `start` to `end`. After an error the stream is of no more use. */
  push(bytes: Uint8Array, start = 0, end = bytes.length): FrameError | undefined {
    let at = start;
    if (this.#partialLength > 0) {
      at = this.#fill(bytes, at, end, FRAME_HEADER_BYTES);
      if (this.#partialLength < FRAME_HEADER_BYTES) return undefined;
      const error = this.#check(this.#partial, 0);
      if (error !== undefined) return error;
      const whole = FRAME_HEADER_BYTES + lengthAt(this.#partial, 0);
      at = this.#fill(bytes, at, end, whole);
      if (this.#partialLength < whole) return undefined;
      this.#partialLength = 0;
      this.#onMessage(this.#partial, this.#partialView, FRAME_HEADER_BYTES, whole);
      if (this.#partial.length > KEPT_BYTES) this.#makeRoom(0);
    }
    if (bytes !== this.#received) {
      this.#received = bytes;
      this.#receivedView = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    while (end - at >= FRAME_HEADER_BYTES) {
      const error = this.#check(bytes, at);
      if (error !== undefined) return error;
      const next = at + FRAME_HEADER_BYTES + lengthAt(bytes, at);
      if (next > end) break;
      this.#onMessage(bytes, this.#receivedView, at + FRAME_HEADER_BYTES, next);
      at = next;
    }
    if (at < end) this.#fill(bytes, at, end, FRAME_HEADER_BYTES + this.#maximumBytes);
    return undefined;
  }

  #makeRoom(length: number): void {
    this.#partial = new Uint8Array(length);
    this.#partialView = new DataView(this.#partial.buffer);
  }

  #check(bytes: Uint8Array, at: number): FrameError | undefined {
    const flag = bytes[at] as number;
    if (flag !== 0) return { code: 'bad-flag', flag };
    const length = lengthAt(bytes, at);
    return length > this.#maximumBytes ? { code: 'too-large', bytes: length } : undefined;
  }

  /** Copies from `bytes` until `wanted` bytes are there; room grows with what came, not with what was promised. */
  #fill(bytes: Uint8Array, at: number, end: number, wanted: number): number {
    const taken = Math.max(0, Math.min(wanted - this.#partialLength, end - at));
    const needed = this.#partialLength + taken;
    if (needed > this.#partial.length) {
      const before = this.#partial;
      this.#makeRoom(Math.max(needed, Math.min(wanted, before.length * 2)));
      this.#partial.set(before.subarray(0, this.#partialLength));
    }
    this.#partial.set(bytes.subarray(at, at + taken), this.#partialLength);
    this.#partialLength = needed;
    return at + taken;
  }
}

function lengthAt(bytes: Uint8Array, at: number): number {
  return (
    (((bytes[at + 1] as number) << 24) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 8) |
      (bytes[at + 4] as number)) >>>
    0
  );
}

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
  /** What the last chunk lay in, whole: chunks that came by one read from the socket lie in one buffer. */
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

  /** Takes the next bytes. After an error the stream is of no more use. */
  push(chunk: Uint8Array): FrameError | undefined {
    let at = 0;
    if (this.#partialLength > 0) {
      at = this.#fill(chunk, 0, FRAME_HEADER_BYTES);
      if (this.#partialLength < FRAME_HEADER_BYTES) return undefined;
      const error = this.#check(this.#partial, 0);
      if (error !== undefined) return error;
      const whole = FRAME_HEADER_BYTES + lengthAt(this.#partial, 0);
      at = this.#fill(chunk, at, whole);
      if (this.#partialLength < whole) return undefined;
      this.#partialLength = 0;
      this.#onMessage(this.#partial, this.#partialView, FRAME_HEADER_BYTES, whole);
      if (this.#partial.length > KEPT_BYTES) this.#makeRoom(0);
    }
    if (chunk.length - at < FRAME_HEADER_BYTES) {
      this.#fill(chunk, at, FRAME_HEADER_BYTES);
      return undefined;
    }
    const bytes = this.#bufferOf(chunk);
    const chunkEnd = chunk.byteOffset + chunk.length;
    at += chunk.byteOffset;
    while (chunkEnd - at >= FRAME_HEADER_BYTES) {
      const error = this.#check(bytes, at);
      if (error !== undefined) return error;
      const end = at + FRAME_HEADER_BYTES + lengthAt(bytes, at);
      if (end > chunkEnd) break;
      this.#onMessage(bytes, this.#receivedView, at + FRAME_HEADER_BYTES, end);
      at = end;
    }
    if (at < chunkEnd) this.#fill(chunk, at - chunk.byteOffset, FRAME_HEADER_BYTES + this.#maximumBytes);
    return undefined;
  }

  /** Small messages come a chunk each: a view of every chunk would be one of every message. */
  #bufferOf({ buffer }: Uint8Array): Uint8Array {
    if (buffer !== this.#received.buffer) {
      this.#received = new Uint8Array(buffer);
      this.#receivedView = new DataView(buffer);
    }
    return this.#received;
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

  /** Copies from `chunk` until `wanted` bytes are there; room grows with what came, not with what was promised. */
  #fill(chunk: Uint8Array, at: number, wanted: number): number {
    const taken = Math.max(0, Math.min(wanted - this.#partialLength, chunk.length - at));
    const needed = this.#partialLength + taken;
    if (needed > this.#partial.length) {
      const before = this.#partial;
      this.#makeRoom(Math.max(needed, Math.min(wanted, before.length * 2)));
      this.#partial.set(before.subarray(0, this.#partialLength));
    }
    this.#partial.set(chunk.subarray(at, at + taken), this.#partialLength);
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

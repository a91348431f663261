/** Cutting what comes on a connection into frames (RFC 9113 §4.1). */
import { DEFAULT_FRAME_BYTES, ErrorCode, FRAME_HEADER_BYTES, FrameFlag, FrameType } from './frame.ts';

/** Is told of frames where they lie; the bytes are good until it returns. Each call says whether to go on. */
export interface FrameSink {
  /**
   * A DATA frame's content, or a part of it as it comes.
   * @param flowBytes what this part counts for flow control: its content, and the frame's padding in the first part.
   * @param endsStream END_STREAM, in the last part.
   */
  data(
    streamId: number,
    flowBytes: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    endsStream: boolean,
  ): boolean;
  /** Any other frame, whole. */
  frame(
    type: number,
    flags: number,
    streamId: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): boolean;
  /** It is no frame; there is nothing more to be read. */
  broken(code: number, detail: string): void;
}

/** One pass over each read: DATA goes on at once where it lies, and only what lies across reads is copied. */
export class Http2FrameReader {
  readonly #sink: FrameSink;
  readonly #header = new Uint8Array(FRAME_HEADER_BYTES);
  #headerLength = 0;
  /** Of the frame that has begun. */
  #type = 0;
  #flags = 0;
  #streamId = 0;
  /** DATA: content that has not come, and the padding behind it. */
  #contentLeft = 0;
  #paddingLeft = 0;
  /** DATA with padding: its whole length, until the octet that says how much of it is padding. */
  #paddedBytes = 0;
  /** Another frame that lies across reads. */
  #payload = new Uint8Array(0);
  #payloadLength = 0;
  #payloadLeft = 0;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Takes what was read. */
  read(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    if (this.#isMidFrame) {
      at = this.#goOn(bytes, at, end);
      if (at < 0) return;
    }
    while (at < end) {
      let head = bytes;
      let headAt = at;
      if (this.#headerLength > 0 || end - at < FRAME_HEADER_BYTES) {
        const wanted = Math.min(FRAME_HEADER_BYTES - this.#headerLength, end - at);
        this.#header.set(bytes.subarray(at, at + wanted), this.#headerLength);
        this.#headerLength += wanted;
        at += wanted;
        if (this.#headerLength < FRAME_HEADER_BYTES) return;
        this.#headerLength = 0;
        head = this.#header;
        headAt = 0;
      } else at += FRAME_HEADER_BYTES;
      const length =
        ((head[headAt] as number) << 16) | ((head[headAt + 1] as number) << 8) | (head[headAt + 2] as number);
      const type = head[headAt + 3] as number;
      const flags = head[headAt + 4] as number;
      // The first bit is reserved and ignored.
      const streamId =
        (((head[headAt + 5] as number) & 0x7f) << 24) |
        ((head[headAt + 6] as number) << 16) |
        ((head[headAt + 7] as number) << 8) |
        (head[headAt + 8] as number);
      if (length > DEFAULT_FRAME_BYTES) {
        this.#sink.broken(ErrorCode.frameSizeError, `a frame of ${length} bytes`);
        return;
      }
      const frameEnd = at + length;
      if (type === FrameType.data && (flags & FrameFlag.padded) === 0) {
        const endsStream = (flags & FrameFlag.endStream) !== 0;
        if (frameEnd <= end) {
          if (!this.#sink.data(streamId, length, bytes, at, frameEnd, endsStream)) return;
          at = frameEnd;
          continue;
        }
        this.#begin(type, flags, streamId);
        this.#contentLeft = length;
        this.#goOn(bytes, at, end);
        return;
      }
      if (type === FrameType.data) {
        if (length === 0) {
          this.#sink.broken(ErrorCode.frameSizeError, 'padded DATA without a length of the padding');
          return;
        }
        this.#begin(type, flags, streamId);
        this.#paddedBytes = length;
        at = this.#goOn(bytes, at, end);
        if (at < 0) return;
      } else if (frameEnd <= end) {
        if (!this.#sink.frame(type, flags, streamId, bytes, at, frameEnd)) return;
        at = frameEnd;
      } else {
        this.#begin(type, flags, streamId);
        this.#payload = new Uint8Array(length);
        this.#payloadLength = 0;
        this.#payloadLeft = length;
        this.#goOn(bytes, at, end);
        return;
      }
    }
  }

  get #isMidFrame(): boolean {
    return this.#contentLeft > 0 || this.#paddingLeft > 0 || this.#paddedBytes > 0 || this.#payloadLeft > 0;
  }

  #begin(type: number, flags: number, streamId: number): void {
    this.#type = type;
    this.#flags = flags;
    this.#streamId = streamId;
  }

  /** More of the frame that has begun; where it ends here, or −1 when the read is used up or is to be left. */
  #goOn(bytes: Uint8Array, from: number, end: number): number {
    let at = from;
    if (this.#type !== FrameType.data) {
      const taken = Math.min(this.#payloadLeft, end - at);
      this.#payload.set(bytes.subarray(at, at + taken), this.#payloadLength);
      this.#payloadLength += taken;
      this.#payloadLeft -= taken;
      if (this.#payloadLeft > 0) return -1;
      const payload = this.#payload;
      this.#payload = new Uint8Array(0);
      const goesOn = this.#sink.frame(this.#type, this.#flags, this.#streamId, payload, 0, payload.length);
      return goesOn ? at + taken : -1;
    }
    if (at >= end) return -1;
    let padded = 0;
    if (this.#paddedBytes > 0) {
      const padding = bytes[at] as number;
      at += 1;
      if (padding >= this.#paddedBytes) {
        this.#sink.broken(ErrorCode.protocolError, 'DATA with more padding than it is long');
        return -1;
      }
      padded = 1 + padding;
      this.#paddingLeft = padding;
      this.#contentLeft = this.#paddedBytes - padded;
      this.#paddedBytes = 0;
    }
    if (padded > 0 || this.#contentLeft > 0) {
      const to = Math.min(at + this.#contentLeft, end);
      this.#contentLeft -= to - at;
      const endsStream = this.#contentLeft === 0 && (this.#flags & FrameFlag.endStream) !== 0;
      if (!this.#sink.data(this.#streamId, padded + to - at, bytes, at, to, endsStream)) return -1;
      at = to;
      if (this.#contentLeft > 0) return -1;
    }
    const skipped = Math.min(this.#paddingLeft, end - at);
    this.#paddingLeft -= skipped;
    return at + skipped;
  }
}

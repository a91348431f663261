/** A header block that comes in several frames: HEADERS and its CONTINUATIONs (RFC 9113 §4.3). */

/** Of any block, however small: the largest of 64 KB in frames of half a kilobyte. More frames are a flood. */
const MOST_FRAMES = 128;

export class HeaderBlock {
  readonly #maximumBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #frames = 0;
  streamId = 0;
  endsStream = false;
  isOpen = false;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  begin(streamId: number, endsStream: boolean): void {
    this.streamId = streamId;
    this.endsStream = endsStream;
    this.isOpen = true;
    this.#parts = [];
    this.#bytes = 0;
    this.#frames = 0;
  }

  /** Keeps a copy; false when it becomes more than is taken. */
  add(bytes: Uint8Array, start: number, end: number): boolean {
    this.#bytes += end - start;
    this.#frames += 1;
    if (this.#bytes > this.#maximumBytes || this.#frames > MOST_FRAMES) return false;
    this.#parts.push(bytes.slice(start, end));
    return true;
  }

  /** The whole block, and no longer open. */
  take(): Uint8Array {
    const whole = new Uint8Array(this.#bytes);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    this.#parts = [];
    this.isOpen = false;
    return whole;
  }
}

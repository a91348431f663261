import type { BgpError } from './error.ts';
import { decodeHeader, HEADER_LENGTH, type MessageType } from './header.ts';

/** One whole message, `octets[start, end)`, which stays valid until the buffer is given more. */
export interface ReceivedMessage {
  readonly type: MessageType;
  readonly octets: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** The message alone. UPDATEs, of which there are many, are read where they stand. */
export function viewOf({ octets, start, end }: ReceivedMessage): Uint8Array {
  return octets.subarray(start, end);
}

/**
 * Cuts a stream of octets into messages. Messages that lie whole in one chunk are told as places in it; only what is
 * left at its end is copied, so a chunk is never kept, and the copy grows with what has arrived (doubling from what is
 * there), not with what a Length field claims.
 */
export class ReceiveBuffer {
  #chunk: Uint8Array = EMPTY;
  #offset = 0;
  #partial: Uint8Array = EMPTY;
  #partialLength = 0;

  /** Octets held over from earlier chunks. */
  get heldOctets(): number {
    return this.#partialLength;
  }

  /** Gives the buffer what arrived; only once `next` has answered undefined for the chunk before. */
  append(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#offset = 0;
  }

  /** The next message, an error after which the stream cannot be read on, or undefined when more must arrive. */
  next(maximumLength: number): ReceivedMessage | BgpError | undefined {
    if (this.#partialLength > 0) return this.#nextFromPartial(maximumLength);
    const available = this.#chunk.length - this.#offset;
    if (available < HEADER_LENGTH) return this.#keepRest();
    const header = decodeHeader(this.#chunk, this.#offset, maximumLength);
    if ('code' in header) return header;
    if (available < header.length) return this.#keepRest();
    const start = this.#offset;
    this.#offset += header.length;
    return { type: header.type, octets: this.#chunk, start, end: this.#offset };
  }

  clear(): void {
    this.#chunk = EMPTY;
    this.#offset = 0;
    this.#partial = EMPTY;
    this.#partialLength = 0;
  }

  #nextFromPartial(maximumLength: number): ReceivedMessage | BgpError | undefined {
    if (!this.#fillPartialTo(HEADER_LENGTH)) return undefined;
    const header = decodeHeader(this.#partial, 0, maximumLength);
    if ('code' in header) return header;
    if (!this.#fillPartialTo(header.length)) return undefined;
    const octets = this.#partial;
    // What is handed out keeps this memory; the next rest gets its own.
    this.#partial = EMPTY;
    this.#partialLength = 0;
    return { type: header.type, octets, start: 0, end: header.length };
  }

  /** Moves octets from the chunk until the partial message has `length` of them; false when there are too few. */
  #fillPartialTo(length: number): boolean {
    const wanted = length - this.#partialLength;
    if (wanted <= 0) return true;
    const moved = Math.min(wanted, this.#chunk.length - this.#offset);
    this.#appendToPartial(this.#chunk.subarray(this.#offset, this.#offset + moved));
    this.#offset += moved;
    return moved === wanted;
  }

  #appendToPartial(octets: Uint8Array): void {
    const needed = this.#partialLength + octets.length;
    if (needed > this.#partial.length) {
      const grown = new Uint8Array(Math.max(needed, 2 * this.#partial.length, 64));
      grown.set(this.#partial.subarray(0, this.#partialLength));
      this.#partial = grown;
    }
    this.#partial.set(octets, this.#partialLength);
    this.#partialLength = needed;
  }

  #keepRest(): undefined {
    if (this.#offset < this.#chunk.length) this.#appendToPartial(this.#chunk.subarray(this.#offset));
    this.#chunk = EMPTY;
    this.#offset = 0;
    return undefined;
  }
}

const EMPTY = new Uint8Array(0);

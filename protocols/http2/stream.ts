/** One request and its response, as the connection keeps it (RFC 9113 §5). */
import type { HeaderField } from './static-table.ts';

/** Why a stream is over before its response is: */
export interface StreamReset {
  /** Of RFC 9113 §7: the peer's, or the one that the peer was told. */
  readonly code: number;
  /**
   * `peer`: it sent RST_STREAM. `malformed`: what came on it is not allowed. `unprocessed`: the peer goes away and never
   * looked at it. `connection`: the connection is over.
   */
  readonly reason: 'peer' | 'malformed' | 'unprocessed' | 'connection';
  readonly detail: string;
}

/** What comes on a stream. After `onEnd` or `onReset` nothing does. */
export interface StreamEvents {
  /** The response's fields; those of 1xx are left out. */
  onHeaders(fields: readonly HeaderField[]): void;
  onTrailers(fields: readonly HeaderField[]): void;
  /** Content where it lies; it is good until this returns. */
  onData(bytes: Uint8Array, start: number, end: number): void;
  /** The response is complete. */
  onEnd(): void;
  onReset(reset: StreamReset): void;
}

/** Content that waits is kept in pieces of this size: a frame of its own size each would be mostly bookkeeping. */
const HELD_PIECE_BYTES = 16_384;

export class ClientStream {
  readonly events: StreamEvents;
  /** The request's header block, until it is sent; till then the stream has no number (0). */
  request: Uint8Array;
  id = 0;
  isClosed = false;
  /** END_STREAM was sent; it came. */
  isLocalEnded = false;
  isRemoteEnded = false;
  hasResponse = false;
  /** The response has no content, whatever its fields say (RFC 9110 §9.3.2). */
  readonly isHead: boolean;
  /** The octets of DATA that `content-length` says are still to come; undefined: it says nothing that binds. */
  contentLeft: number | undefined;
  /** What the peer may still send, and what was read of it and not yet given back. */
  receiveLeft: number;
  consumed = 0;
  /** What we may still send. */
  sendLeft = 0;
  /** Behind it comes END_STREAM when `endsBehind` is set. */
  readonly unsent: Uint8Array[] = [];
  endsBehind = false;
  /** Nothing is handed on; what comes is held, and no window is given back for it. */
  isPaused = false;
  readonly #held: Uint8Array[] = [];
  /** How much of the last piece held is filled, and how much is held in all. */
  #lastHeldBytes = 0;
  #heldBytes = 0;
  /** The response is complete behind what is held. */
  endsBehindHeld = false;
  isHandingHeld = false;

  constructor(request: Uint8Array, isHead: boolean, events: StreamEvents, receiveWindowBytes: number) {
    this.request = request;
    this.isHead = isHead;
    this.events = events;
    this.receiveLeft = receiveWindowBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  hold(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    this.#heldBytes += end - start;
    while (at < end) {
      let piece = this.#held.at(-1);
      if (piece === undefined || this.#lastHeldBytes === piece.length) {
        piece = new Uint8Array(Math.max(HELD_PIECE_BYTES, end - at));
        this.#held.push(piece);
        this.#lastHeldBytes = 0;
      }
      const taken = Math.min(piece.length - this.#lastHeldBytes, end - at);
      piece.set(bytes.subarray(at, at + taken), this.#lastHeldBytes);
      this.#lastHeldBytes += taken;
      at += taken;
    }
  }

  /** The first piece held, no longer held. */
  takeHeld(): Uint8Array | undefined {
    const first = this.#held.shift();
    if (first === undefined) return undefined;
    const piece = this.#held.length > 0 ? first : first.subarray(0, this.#lastHeldBytes);
    this.#heldBytes -= piece.length;
    return piece;
  }

  /** Lets go of what is held; gives how much it was. */
  dropHeld(): number {
    const bytes = this.#heldBytes;
    this.#held.length = 0;
    this.#heldBytes = 0;
    this.endsBehindHeld = false;
    return bytes;
  }
}

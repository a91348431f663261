/**
 * The sending half of a client's connection (RFC 9113): requests get their stream identifiers in the order of their
 * asking, as many at a time as the peer takes (§5.1.2), and are sent as far as its windows go (§5.2).
 */
import {
  DEFAULT_WINDOW_BYTES,
  ErrorCode,
  FrameFlag,
  FrameType,
  type FrameWriter,
  LARGEST_WINDOW_BYTES,
} from './frame.ts';
import type { ConnectionFailure } from './frame-payload.ts';
import { encodeHeaders, type UnsendableHeader } from './hpack-encoder.ts';
import { DEFAULT_HEADER_TABLE_BYTES, PeerSettings } from './peer-settings.ts';
import type { HeaderField } from './static-table.ts';
import { ClientStream, type StreamEvents } from './stream.ts';

const LAST_STREAM_ID = 2 ** 31 - 1;

const WIDENED_BY_NOTHING = { code: ErrorCode.protocolError, detail: 'WINDOW_UPDATE by nothing' };
const WIDENED_TOO_FAR = { code: ErrorCode.flowControlError, detail: 'a window that is too large' };

export class RequestSender {
  readonly #writer: FrameWriter;
  readonly #peer = new PeerSettings();
  /** Those with an identifier, and those for which the peer has no room yet. */
  readonly #streams = new Map<number, ClientStream>();
  readonly #waiting: ClientStream[] = [];
  #nextStreamId = 1;
  #isStopped = false;
  #sendLeft = DEFAULT_WINDOW_BYTES;
  /** DATA of ours may be answered by a WINDOW_UPDATE of its stream and one of the connection. */
  #updatesDue = 0;
  /** The table that the peer keeps for what we write, which never has anything in it; it is told when it shrinks. */
  #encoderTableBytes = DEFAULT_HEADER_TABLE_BYTES;
  #emptiesTable = false;

  constructor(writer: FrameWriter) {
    this.#writer = writer;
  }

  get takesRequests(): boolean {
    return !this.#isStopped && this.#nextStreamId <= LAST_STREAM_ID;
  }

  /** Those with an identifier that are not removed. */
  get openStreams(): number {
    return this.#streams.size;
  }

  /** An open stream. */
  find(streamId: number): ClientStream | undefined {
    return this.#streams.get(streamId);
  }

  /** Whether a stream of this identifier is or was open. */
  wasOpened(streamId: number): boolean {
    return streamId % 2 === 1 && streamId < this.#nextStreamId;
  }

  /** Those that are open and those that wait, as they are now. */
  unfinished(): ClientStream[] {
    return [...this.#streams.values(), ...this.#waiting];
  }

  /** Opens no more streams; those that are open go on. */
  stop(): void {
    this.#isStopped = true;
  }

  /** `fields` in order, pseudo-headers first. */
  request(
    fields: readonly HeaderField[],
    secret: ReadonlySet<string>,
    events: StreamEvents,
    receiveWindowBytes: number,
  ): ClientStream | UnsendableHeader {
    const block = encodeHeaders(fields, secret, this.#emptiesTable);
    if ('unsendable' in block) return block;
    this.#emptiesTable = false;
    const isHead = fields.some(([name, value]) => name === ':method' && value === 'HEAD');
    const stream = new ClientStream(block, isHead, events, receiveWindowBytes);
    this.#waiting.push(stream);
    this.#openWaiting();
    return stream;
  }

  /** A stream that is complete on both sides, or given up; there may be room for another. */
  remove(stream: ClientStream): void {
    if (stream.isClosed) return;
    stream.isClosed = true;
    if (stream.id === 0) this.#waiting.splice(this.#waiting.indexOf(stream), 1);
    else this.#streams.delete(stream.id);
    this.#openWaiting();
  }

  /** Takes the peer's SETTINGS and acknowledges them; what is wrong breaks the connection. */
  applySettings(
    settings: ReadonlyArray<readonly [setting: number, value: number]>,
  ): ConnectionFailure | undefined {
    const before = this.#peer.windowBytes;
    for (const [setting, value] of settings) {
      const failure = this.#peer.apply(setting, value);
      if (failure !== undefined) return failure;
    }
    // What we write uses no table: once emptied, it is never larger than allowed again.
    if (this.#peer.headerTableBytes < this.#encoderTableBytes) {
      this.#encoderTableBytes = 0;
      this.#emptiesTable = true;
    }
    this.#writer.settingsAck();
    for (const stream of this.#streams.values()) {
      stream.sendLeft += this.#peer.windowBytes - before;
      if (stream.sendLeft > LARGEST_WINDOW_BYTES)
        return { code: ErrorCode.flowControlError, detail: 'SETTINGS that make a window too large' };
    }
    for (const stream of this.#streams.values()) this.flush(stream);
    this.#openWaiting();
    return undefined;
  }

  /** A WINDOW_UPDATE of the connection; what is wrong breaks it. */
  widenConnection(increment: number): ConnectionFailure | undefined {
    if (increment === 0) return WIDENED_BY_NOTHING;
    this.#sendLeft += increment;
    if (this.#sendLeft > LARGEST_WINDOW_BYTES) return WIDENED_TOO_FAR;
    for (const stream of this.#streams.values()) this.flush(stream);
    return undefined;
  }

  /** A WINDOW_UPDATE of one open stream; what is wrong breaks the stream. */
  widenStream(stream: ClientStream, increment: number): ConnectionFailure | undefined {
    if (increment === 0) return WIDENED_BY_NOTHING;
    stream.sendLeft += increment;
    if (stream.sendLeft > LARGEST_WINDOW_BYTES) return WIDENED_TOO_FAR;
    this.flush(stream);
    return undefined;
  }

  /** Whether a WINDOW_UPDATE answers DATA of ours; each can be answered for once. */
  takeUpdateDue(): boolean {
    if (this.#updatesDue === 0) return false;
    this.#updatesDue -= 1;
    return true;
  }

  /** Sends what is unsent, as far as the peer's windows go (§6.9); a stream that is complete with it is removed. */
  flush(stream: ClientStream): void {
    if (stream.id === 0 || stream.isLocalEnded || stream.isClosed) return;
    for (let bytes = stream.unsent[0]; bytes !== undefined; bytes = stream.unsent[0]) {
      const most = Math.min(bytes.length, this.#peer.frameBytes, stream.sendLeft, this.#sendLeft);
      if (most <= 0) return;
      stream.sendLeft -= most;
      this.#sendLeft -= most;
      this.#updatesDue += 2;
      if (most < bytes.length) stream.unsent[0] = bytes.subarray(most);
      else stream.unsent.shift();
      const endsStream = stream.endsBehind && stream.unsent.length === 0;
      if (endsStream) stream.isLocalEnded = true;
      this.#writer.frame(
        FrameType.data,
        endsStream ? FrameFlag.endStream : 0,
        stream.id,
        bytes.subarray(0, most),
      );
    }
    if (stream.endsBehind && !stream.isLocalEnded) {
      stream.isLocalEnded = true;
      this.#writer.frame(FrameType.data, FrameFlag.endStream, stream.id, new Uint8Array(0));
    }
    if (stream.isLocalEnded && stream.isRemoteEnded) this.remove(stream);
  }

  #openWaiting(): void {
    while (
      this.#waiting.length > 0 &&
      this.#streams.size < this.#peer.concurrentStreams &&
      this.takesRequests
    ) {
      const stream = this.#waiting.shift() as ClientStream;
      stream.id = this.#nextStreamId;
      this.#nextStreamId += 2;
      stream.sendLeft = this.#peer.windowBytes;
      this.#streams.set(stream.id, stream);
      const { request } = stream;
      stream.request = new Uint8Array(0);
      const most = this.#peer.frameBytes;
      for (let at = 0; at < request.length; at += most) {
        const type = at === 0 ? FrameType.headers : FrameType.continuation;
        const isLast = at + most >= request.length;
        this.#writer.frame(
          type,
          isLast ? FrameFlag.endHeaders : 0,
          stream.id,
          request.subarray(at, at + most),
        );
      }
      this.flush(stream);
    }
  }
}

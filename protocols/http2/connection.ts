/** A client's end of an HTTP/2 connection (RFC 9113): octets and calls in, events and octets out. */
import { FloodLimit } from './flood-limit.ts';
import {
  DEFAULT_WINDOW_BYTES,
  ErrorCode,
  FrameFlag,
  FrameType,
  FrameWriter,
  LARGEST_WINDOW_BYTES,
  Setting,
  uint32At,
} from './frame.ts';
import {
  type ConnectionFailure,
  fragmentOf,
  type GoAway,
  goAwayOf,
  misshapen,
  settingsOf,
} from './frame-payload.ts';
import { type FrameSink, Http2FrameReader } from './frame-reader.ts';
import { HeaderBlock } from './header-block.ts';
import { HpackDecoder } from './hpack-decoder.ts';
import type { UnsendableHeader } from './hpack-encoder.ts';
import { DEFAULT_HEADER_TABLE_BYTES } from './peer-settings.ts';
import { RequestSender } from './request-sender.ts';
import { contentLength, malformedFields } from './response-fields.ts';
import type { HeaderField } from './static-table.ts';
import type { ClientStream, StreamEvents, StreamReset } from './stream.ts';

export interface ConnectionOptions {
  /** What the peer may send on a stream before some of it has been read; more than 65,535 bytes. */
  readonly streamWindowBytes: number;
  /** The same for all streams together; more than 65,535 bytes. */
  readonly connectionWindowBytes: number;
  /** The largest list of fields that is taken, as RFC 9113 §6.5.2 counts it, and the largest block of them. */
  readonly headerListBytes: number;
}

export interface ConnectionEvents {
  /** The peer's first SETTINGS are there. */
  onReady(): void;
  onPong(): void;
  onGoAway(goAway: GoAway): void;
  /** Once; then every stream has its `onReset`. */
  onFailure(failure: ConnectionFailure): void;
}

/** A quarter of a window is given back at a time. */
const WINDOW_PARTS = 4;
const LAST_STREAM_ID = 2 ** 31 - 1;
const OTHER_LENGTH = 'a content-length that is not the length of the DATA';

export class ClientConnection implements FrameSink {
  readonly #options: ConnectionOptions;
  readonly #events: ConnectionEvents;
  readonly #reader = new Http2FrameReader(this);
  readonly #writer = new FrameWriter();
  readonly #sender = new RequestSender(this.#writer);
  readonly #decoder: HpackDecoder;
  readonly #block: HeaderBlock;
  readonly #floods = new FloodLimit();
  /** Frames come many of one stream behind each other. Never one whose response has ended. */
  #current: ClientStream | undefined;
  #receiveLeft: number;
  #consumed = 0;
  #isReady = false;
  #goAway: GoAway | undefined;
  #isOver = false;
  #now = 0;

  constructor(options: ConnectionOptions, events: ConnectionEvents) {
    this.#options = options;
    this.#events = events;
    this.#decoder = new HpackDecoder(DEFAULT_HEADER_TABLE_BYTES, options.headerListBytes);
    this.#block = new HeaderBlock(options.headerListBytes);
    this.#receiveLeft = options.connectionWindowBytes;
    this.#writer.preface();
    this.#writer.settings([
      [Setting.enablePush, 0],
      [Setting.initialWindowSize, options.streamWindowBytes],
      [Setting.maxHeaderListSize, options.headerListBytes],
    ]);
    this.#writer.windowUpdate(0, options.connectionWindowBytes - DEFAULT_WINDOW_BYTES);
  }

  /** Whether requests can be made: not after GOAWAY, nor when it is over. */
  get isUsable(): boolean {
    return this.#sender.takesRequests;
  }

  /** Nothing more is said or heard; the output may have a last word. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The peer goes away, and nothing runs any more. */
  get isDrained(): boolean {
    return this.#goAway !== undefined && this.#sender.openStreams === 0;
  }

  /** What is to be sent; undefined for nothing. To be asked after every call of the others. */
  takeOutput(): Uint8Array | undefined {
    return this.#writer.take();
  }

  /**
   * Takes what was read, which is not kept.
   * @param now milliseconds of a clock that never goes back.
   */
  receive(bytes: Uint8Array, start: number, end: number, now: number): void {
    if (this.#isOver) return;
    this.#now = now;
    this.#reader.read(bytes, start, end);
  }

  /** The transport is gone. A response that is all here stays to be read. */
  lost(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sender.stop();
    this.#endStreams('the connection is over');
  }

  /** Ends it from our side. */
  close(): void {
    if (this.#isOver) return;
    this.#writer.goAway(0, ErrorCode.noError);
    this.lost();
  }

  /** @param payload eight octets. */
  ping(payload: Uint8Array): void {
    if (!this.#isOver) this.#writer.ping(0, payload);
  }

  /** Begins a request; undefined when the connection is not usable. `fields` in order, pseudo-headers first. */
  request(
    fields: readonly HeaderField[],
    secret: ReadonlySet<string>,
    events: StreamEvents,
  ): ClientStream | UnsendableHeader | undefined {
    if (!this.isUsable) return undefined;
    return this.#sender.request(fields, secret, events, this.#options.streamWindowBytes);
  }

  send(stream: ClientStream, bytes: Uint8Array): void {
    if (stream.isClosed || stream.endsBehind || bytes.length === 0) return;
    stream.unsent.push(bytes);
    this.#sender.flush(stream);
  }

  /** Nothing more is sent on the stream behind what has been. */
  end(stream: ClientStream): void {
    if (stream.isClosed || stream.endsBehind) return;
    stream.endsBehind = true;
    this.#sender.flush(stream);
  }

  /** Gives the stream up; it has no more events. */
  reset(stream: ClientStream, code: number): void {
    if (stream.id !== 0 && !stream.isClosed) this.#writer.resetStream(stream.id, code);
    this.#drop(stream);
  }

  pause(stream: ClientStream): void {
    stream.isPaused = true;
  }

  resume(stream: ClientStream): void {
    stream.isPaused = false;
    if (stream.isHandingHeld) return;
    stream.isHandingHeld = true;
    // Whoever takes a piece may pause again.
    while (!stream.isPaused) {
      const piece = stream.takeHeld();
      if (piece === undefined) break;
      stream.events.onData(piece, 0, piece.length);
      this.#giveBack(stream, piece.length);
    }
    stream.isHandingHeld = false;
    if (!stream.endsBehindHeld || stream.isPaused) return;
    stream.endsBehindHeld = false;
    stream.events.onEnd();
  }

  data(
    streamId: number,
    flowBytes: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    endsStream: boolean,
  ): boolean {
    if (!this.#isReady) return this.#fail(ErrorCode.protocolError, 'what came first was not SETTINGS');
    let stream = this.#current;
    if (stream === undefined || stream.id !== streamId) {
      stream = this.#sender.find(streamId);
      this.#current = stream;
    }
    this.#receiveLeft -= flowBytes;
    if (this.#receiveLeft < 0)
      return this.#fail(ErrorCode.flowControlError, "more DATA than the connection's window");
    if (this.#block.isOpen || stream === undefined) return this.#strayData(streamId, flowBytes);
    stream.receiveLeft -= flowBytes;
    if (stream.receiveLeft < 0) {
      this.#giveBackConnection(flowBytes);
      return this.#malformed(stream, ErrorCode.flowControlError, "more DATA than the stream's window");
    }
    if (stream.isRemoteEnded || !stream.hasResponse) {
      this.#giveBackConnection(flowBytes);
      return stream.isRemoteEnded
        ? this.#malformed(stream, ErrorCode.streamClosed, 'DATA behind END_STREAM')
        : this.#malformed(stream, ErrorCode.protocolError, 'DATA before HEADERS');
    }
    if (stream.contentLeft !== undefined) {
      stream.contentLeft -= end - start;
      if (stream.contentLeft < 0 || (endsStream && stream.contentLeft > 0)) {
        this.#giveBackConnection(flowBytes);
        return this.#malformed(stream, ErrorCode.protocolError, OTHER_LENGTH);
      }
    }
    if (start === end) {
      if (!endsStream && !this.#countFlood('empty DATA')) return false;
    } else if (stream.isPaused || stream.heldBytes > 0) {
      stream.hold(bytes, start, end);
      flowBytes -= end - start;
    } else stream.events.onData(bytes, start, end);
    this.#giveBack(stream, flowBytes);
    if (endsStream && !stream.isClosed) this.#remoteEnded(stream);
    return !this.#isOver;
  }

  frame(
    type: number,
    flags: number,
    streamId: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): boolean {
    if (this.#block.isOpen && !(type === FrameType.continuation && streamId === this.#block.streamId))
      return this.#fail(ErrorCode.protocolError, 'another frame within a header block');
    if (!this.#isReady && (type !== FrameType.settings || (flags & FrameFlag.ack) !== 0))
      return this.#fail(ErrorCode.protocolError, 'what came first was not SETTINGS');
    const failure = misshapen(type, flags, streamId, end - start);
    if (failure !== undefined) return this.#fail(failure.code, failure.detail);
    switch (type) {
      case FrameType.headers:
      case FrameType.continuation:
        return this.#fragment(type, flags, streamId, bytes, start, end);
      case FrameType.settings:
        return this.#settings(flags, bytes, start, end);
      case FrameType.ping:
        return this.#pinged(flags, bytes, start, end);
      case FrameType.goAway:
        return this.#goingAway(goAwayOf(bytes, start, end));
      case FrameType.windowUpdate:
        return this.#windowUpdate(streamId, uint32At(bytes, start) & LARGEST_WINDOW_BYTES);
      case FrameType.rstStream:
        return this.#resetByPeer(streamId, uint32At(bytes, start));
      case FrameType.pushPromise:
        return this.#fail(ErrorCode.protocolError, 'PUSH_PROMISE, which we refused in SETTINGS');
      case FrameType.priority:
        return this.#countFlood('PRIORITY');
      default:
        return this.#countFlood('frames of unknown types');
    }
  }

  broken(code: number, detail: string): void {
    this.#fail(code, this.#isReady ? detail : 'what came first was not SETTINGS');
  }

  #fail(code: number, detail: string): false {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#sender.stop();
    this.#writer.goAway(0, code);
    this.#events.onFailure({ code, detail });
    this.#endStreams(detail);
    return false;
  }

  #endStreams(detail: string): void {
    for (const stream of this.#sender.unfinished()) {
      this.#remove(stream);
      // It has told its end, or will behind what is held.
      if (stream.isRemoteEnded) continue;
      stream.dropHeld();
      stream.events.onReset({ code: ErrorCode.cancel, reason: 'connection', detail });
    }
  }

  #countFlood(what: string): boolean {
    if (this.#floods.count(this.#now)) return !this.#isOver;
    return this.#fail(ErrorCode.enhanceYourCalm, `a flood of ${what}`);
  }

  /** DATA of no stream that runs: of one that was given up it is on its way still. */
  #strayData(streamId: number, flowBytes: number): boolean {
    if (this.#block.isOpen) return this.#fail(ErrorCode.protocolError, 'DATA within a header block');
    if (!this.#sender.wasOpened(streamId))
      return this.#fail(ErrorCode.protocolError, `DATA on stream ${streamId}, which was never opened`);
    this.#giveBackConnection(flowBytes);
    return flowBytes > 0 || this.#countFlood('empty DATA');
  }

  /** Read, and the peer may send as much again. */
  #giveBack(stream: ClientStream, bytes: number): void {
    this.#giveBackConnection(bytes);
    stream.consumed += bytes;
    if (stream.consumed * WINDOW_PARTS < this.#options.streamWindowBytes) return;
    if (stream.isClosed || stream.isRemoteEnded) return;
    this.#writer.windowUpdate(stream.id, stream.consumed);
    stream.receiveLeft += stream.consumed;
    stream.consumed = 0;
  }

  #giveBackConnection(bytes: number): void {
    this.#consumed += bytes;
    if (this.#consumed * WINDOW_PARTS < this.#options.connectionWindowBytes || this.#isOver) return;
    this.#writer.windowUpdate(0, this.#consumed);
    this.#receiveLeft += this.#consumed;
    this.#consumed = 0;
  }

  #fragment(
    type: number,
    flags: number,
    streamId: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): boolean {
    if (type === FrameType.continuation && !this.#block.isOpen)
      return this.#fail(ErrorCode.protocolError, 'CONTINUATION without HEADERS');
    if (!this.#sender.wasOpened(streamId))
      return this.#fail(ErrorCode.protocolError, `HEADERS on stream ${streamId}, which was never opened`);
    const fragment = fragmentOf(type, flags, bytes, start, end);
    if ('code' in fragment) return this.#fail(fragment.code, fragment.detail);
    if (type === FrameType.headers) this.#block.begin(streamId, (flags & FrameFlag.endStream) !== 0);
    if (!this.#block.add(bytes, fragment.from, fragment.to))
      return this.#fail(ErrorCode.enhanceYourCalm, 'a header block that is too large or in too many frames');
    return (flags & FrameFlag.endHeaders) === 0 || this.#headers(streamId, this.#block.endsStream);
  }

  #headers(streamId: number, endsStream: boolean): boolean {
    const block = this.#block.take();
    // Also that of a stream that was given up: the table goes on from it.
    const list = this.#decoder.decode(block, 0, block.length);
    if (list === undefined) return this.#fail(ErrorCode.compressionError, 'a header block that is no HPACK');
    const stream = this.#sender.find(streamId);
    if (stream === undefined) return this.#countFlood('HEADERS');
    if (stream.isRemoteEnded)
      return this.#malformed(stream, ErrorCode.streamClosed, 'HEADERS behind END_STREAM');
    if (list.isTooLarge)
      return this.#malformed(
        stream,
        ErrorCode.enhanceYourCalm,
        `a list of fields of more than ${this.#options.headerListBytes} bytes`,
      );
    const isTrailer = stream.hasResponse;
    const wrong =
      malformedFields(list.fields, isTrailer) ??
      (isTrailer && !endsStream ? 'a second header block that does not end the stream' : undefined);
    if (wrong !== undefined) return this.#malformed(stream, ErrorCode.protocolError, wrong);
    if (isTrailer) {
      if (stream.contentLeft !== undefined && stream.contentLeft > 0)
        return this.#malformed(stream, ErrorCode.protocolError, OTHER_LENGTH);
      stream.events.onTrailers(list.fields);
    } else {
      const status = Number(list.fields.find(([name]) => name === ':status')?.[1]);
      if (status < 200) {
        if (endsStream || status === 101)
          return this.#malformed(stream, ErrorCode.protocolError, `:status ${status} in the wrong place`);
        return this.#countFlood('HEADERS');
      }
      stream.contentLeft = contentLength(list.fields, status, stream.isHead);
      if (Number.isNaN(stream.contentLeft) || (endsStream && (stream.contentLeft ?? 0) > 0))
        return this.#malformed(stream, ErrorCode.protocolError, OTHER_LENGTH);
      stream.hasResponse = true;
      stream.events.onHeaders(list.fields);
    }
    if (endsStream && !stream.isClosed) this.#remoteEnded(stream);
    return !this.#isOver;
  }

  #settings(flags: number, bytes: Uint8Array, start: number, end: number): boolean {
    if ((flags & FrameFlag.ack) !== 0) return this.#countFlood('SETTINGS');
    const failure = this.#sender.applySettings(settingsOf(bytes, start, end));
    if (failure !== undefined) return this.#fail(failure.code, failure.detail);
    if (this.#isReady) return this.#countFlood('SETTINGS');
    this.#isReady = true;
    this.#events.onReady();
    return !this.#isOver;
  }

  #pinged(flags: number, bytes: Uint8Array, start: number, end: number): boolean {
    if ((flags & FrameFlag.ack) === 0) this.#writer.ping(FrameFlag.ack, bytes.subarray(start, end));
    else this.#events.onPong();
    return this.#countFlood('PING');
  }

  #goingAway(goAway: GoAway): boolean {
    if (goAway.lastStreamId > (this.#goAway?.lastStreamId ?? LAST_STREAM_ID))
      return this.#fail(ErrorCode.protocolError, 'a second GOAWAY that takes more streams than the first');
    this.#goAway = goAway;
    this.#sender.stop();
    this.#events.onGoAway(goAway);
    const detail = goAway.debug;
    for (const stream of this.#sender.unfinished()) {
      if (stream.id !== 0 && stream.id <= goAway.lastStreamId) continue;
      this.#resetStream(stream, { code: ErrorCode.refusedStream, reason: 'unprocessed', detail });
    }
    return this.#countFlood('GOAWAY');
  }

  #windowUpdate(streamId: number, increment: number): boolean {
    if (streamId === 0) {
      const failure = this.#sender.widenConnection(increment);
      return failure === undefined ? this.#countUpdate() : this.#fail(failure.code, failure.detail);
    }
    if (!this.#sender.wasOpened(streamId))
      return this.#fail(
        ErrorCode.protocolError,
        `WINDOW_UPDATE of stream ${streamId}, which was never opened`,
      );
    const stream = this.#sender.find(streamId);
    if (stream !== undefined) {
      const failure = this.#sender.widenStream(stream, increment);
      if (failure !== undefined) return this.#malformed(stream, failure.code, failure.detail);
    }
    return this.#countUpdate();
  }

  #countUpdate(): boolean {
    return this.#sender.takeUpdateDue() ? !this.#isOver : this.#countFlood('WINDOW_UPDATE');
  }

  #resetByPeer(streamId: number, code: number): boolean {
    if (!this.#sender.wasOpened(streamId))
      return this.#fail(ErrorCode.protocolError, `RST_STREAM of stream ${streamId}, which was never opened`);
    const stream = this.#sender.find(streamId);
    if (stream === undefined) return this.#countFlood('RST_STREAM');
    // A complete response stands; the peer only wants no more of the request (RFC 9113 §8.1).
    if (stream.isRemoteEnded) {
      this.#remove(stream);
      return !this.#isOver;
    }
    return this.#resetStream(stream, { code, reason: 'peer', detail: '' });
  }

  /** What came on the stream breaks the rules; the others go on. */
  #malformed(stream: ClientStream, code: number, detail: string): boolean {
    this.#writer.resetStream(stream.id, code);
    return this.#resetStream(stream, { code, reason: 'malformed', detail });
  }

  #resetStream(stream: ClientStream, reset: StreamReset): boolean {
    const isTold = !stream.isRemoteEnded || stream.endsBehindHeld;
    this.#drop(stream);
    if (isTold) stream.events.onReset(reset);
    return !this.#isOver;
  }

  #remoteEnded(stream: ClientStream): void {
    stream.isRemoteEnded = true;
    this.#current = undefined;
    if (stream.isPaused || stream.heldBytes > 0) stream.endsBehindHeld = true;
    else stream.events.onEnd();
    if (stream.isLocalEnded) this.#remove(stream);
  }

  /** What is held for nobody counts as read. */
  #drop(stream: ClientStream): void {
    const held = stream.dropHeld();
    if (held > 0) this.#giveBackConnection(held);
    this.#remove(stream);
  }

  #remove(stream: ClientStream): void {
    if (this.#current === stream) this.#current = undefined;
    this.#sender.remove(stream);
  }
}

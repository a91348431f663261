/** One HTTP/2 connection to a gNMI target and the RPCs on it: gRPC over HTTP/2 with our own framing. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import {
  encodeFrame,
  type FrameError,
  FrameReader,
  type MessageReader,
} from '../../protocols/gnmi/grpc-frame.ts';
import {
  decodeGrpcMessage,
  faultOfStatus,
  type GnmiFault,
  GrpcStatus,
  PASSWORD_MASK,
  statusName,
} from '../../protocols/gnmi/grpc-status.ts';
import { readDirectly } from './direct-read.ts';
import { type DialGuard, faultOfSocketError, type GnmiEndpoint, openSocket } from './endpoint.ts';

/** What a stream may have under way before its reader must have taken some: a full queue stops a target at this. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
/** Four paused streams do not stop a fifth. */
const CONNECTION_WINDOW_BYTES = 5 * STREAM_WINDOW_BYTES;
/** The largest message taken: SR OS answers ONCE with one notification for everything. */
const MAXIMUM_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Longer than the five minutes that gRPC servers allow by default (grpc, doc/keepalive.md). */
const PING_AFTER_QUIET_MILLISECONDS = 310_000;
const PING_ANSWER_MILLISECONDS = 20_000;

export interface ChannelOptions {
  readonly guard: DialGuard;
  /** For TCP, TLS and HTTP/2 SETTINGS together. */
  readonly connectMilliseconds: number;
  readonly maximumMessageBytes?: number;
  readonly pingAfterQuietMilliseconds?: number;
  readonly pingAnswerMilliseconds?: number;
}

/** How an RPC ended. `fault` is undefined for status OK. */
export interface RpcEnd {
  readonly status: number;
  readonly message: string;
  readonly fault: GnmiFault | undefined;
}

export interface RpcHandlers {
  /** A message, where it lies in the receive buffer. */
  readonly onMessage: MessageReader;
  /** Once, and last. */
  readonly onEnd: (end: RpcEnd) => void;
}

/** A running RPC. */
export interface Rpc {
  /** Sends one message. */
  send(message: Uint8Array): void;
  /** No more messages from us. */
  finish(): void;
  /** Stops reading: the target can send one window more and then waits. */
  pause(): void;
  resume(): void;
  /** Ends the RPC from our side; `onEnd` comes with this fault, or with CANCELLED. */
  cancel(fault?: GnmiFault): void;
}

export type OpenedChannel = { readonly channel: Channel } | { readonly fault: GnmiFault };

/** Connects; the channel is usable at once. Never rejects. */
export async function openChannel(endpoint: GnmiEndpoint, options: ChannelOptions): Promise<OpenedChannel> {
  const started = performance.now();
  const opened = await openSocket(endpoint, options.guard, options.connectMilliseconds);
  if ('fault' in opened) return opened;
  const { socket } = opened;
  const host = endpoint.serverName || endpoint.address;
  const authority = `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${endpoint.port}`;
  const at = `${endpoint.address} port ${endpoint.port}`;
  const session = connect(`${endpoint.tls === 'off' ? 'http' : 'https'}://${authority}`, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    maxSessionMemory: 64,
  });
  session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
  const left = options.connectMilliseconds - (performance.now() - started);
  return new Promise((done) => {
    const fail = (fault: GnmiFault): void => {
      clearTimeout(timer);
      session.off('close', onClose);
      session.destroy();
      done({ fault });
    };
    const onError = (error: Error): void => fail(faultOfSessionError(error, at, endpoint.tls));
    const onClose = (): void => {
      const hint = endpoint.tls === 'off' ? '; does it want TLS?' : '';
      fail({ code: 'protocol-error', detail: `${at} closed before HTTP/2 began${hint}` });
    };
    const timer = setTimeout(
      () => fail({ code: 'timeout', detail: `${at} accepted the connection and sent no HTTP/2 settings` }),
      Math.max(1, left),
    );
    session.on('error', onError);
    session.on('close', onClose);
    // A server that wants a certificate says so after the handshake (TLS 1.3), and only the socket tells it.
    socket.on('error', onError);
    session.once('remoteSettings', () => {
      clearTimeout(timer);
      session.off('error', onError);
      session.off('close', onClose);
      done({ channel: new Channel(session, endpoint, options, authority, at) });
    });
  });
}

export class Channel {
  readonly #session: ClientHttp2Session;
  readonly #endpoint: GnmiEndpoint;
  readonly #options: ChannelOptions;
  readonly #authority: string;
  readonly #at: string;
  #ping: NodeJS.Timeout | undefined;
  #lastReceived = performance.now();
  #isGoingAway = false;
  #running = 0;
  /** Why the connection ended, for RPCs that end with it. */
  #sessionFault: GnmiFault | undefined;
  #onClose: (() => void) | undefined;

  constructor(
    session: ClientHttp2Session,
    endpoint: GnmiEndpoint,
    options: ChannelOptions,
    authority: string,
    at: string,
  ) {
    this.#session = session;
    this.#endpoint = endpoint;
    this.#options = options;
    this.#authority = authority;
    this.#at = at;
    session.on('error', (error) => {
      this.#sessionFault ??= faultOfSessionError(error, at, endpoint.tls);
    });
    session.on('goaway', (code) => {
      this.#isGoingAway = true;
      if (code !== constants.NGHTTP2_NO_ERROR) {
        const calm = code === constants.NGHTTP2_ENHANCE_YOUR_CALM ? ' (enhance your calm)' : '';
        this.#sessionFault ??= {
          code: 'unreachable',
          detail: `${at} ended the connection with GOAWAY ${code}${calm}`,
        };
      }
    });
    session.once('close', () => {
      clearTimeout(this.#ping);
      this.#onClose?.();
    });
    this.#schedulePing();
  }

  /** Whether new RPCs can still be started: not after GOAWAY, nor when closed. */
  get isUsable(): boolean {
    return !this.#isGoingAway && !this.#session.closed && !this.#session.destroyed;
  }

  /** The target's name for the prefix of requests, or `''`. */
  get target(): string {
    return this.#endpoint.target;
  }

  /** RPCs that have begun and not ended. */
  get running(): number {
    return this.#running;
  }

  /** Calls back once, when the connection is gone. */
  set onClose(callback: () => void) {
    if (this.#session.destroyed) callback();
    else this.#onClose = callback;
  }

  /** Ends the connection and every RPC on it. */
  close(): void {
    clearTimeout(this.#ping);
    this.#session.destroy();
  }

  /**
   * Starts an RPC of service gnmi.gNMI. `deadlineMilliseconds` bounds the whole of it and is told to the
   * target; 0 is none.
   */
  start(
    method: 'Capabilities' | 'Get' | 'Subscribe',
    deadlineMilliseconds: number,
    handlers: RpcHandlers,
  ): Rpc {
    const { username, password } = this.#endpoint;
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request({
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_SCHEME]: this.#endpoint.tls === 'off' ? 'http' : 'https',
        [constants.HTTP2_HEADER_AUTHORITY]: this.#authority,
        [constants.HTTP2_HEADER_PATH]: `/gnmi.gNMI/${method}`,
        [constants.HTTP2_HEADER_TE]: 'trailers',
        [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
        [constants.HTTP2_HEADER_USER_AGENT]: 'graticule',
        ...(deadlineMilliseconds > 0 ? { 'grpc-timeout': `${Math.ceil(deadlineMilliseconds)}m` } : {}),
        // gNMI authentication (openconfig/reference, gnmi-authentication.md): metadata of each RPC.
        ...(username === '' ? {} : { username, password }),
      });
    } catch (error) {
      const detail = `${this.#at}: ${error instanceof Error ? error.message : String(error)}`;
      const isHeader = (error as NodeJS.ErrnoException).code === 'ERR_INVALID_CHAR';
      const fault: GnmiFault = isHeader
        ? { code: 'authentication', detail: 'user name or password cannot be sent in a header' }
        : (this.#sessionFault ?? { code: 'unreachable', detail });
      queueMicrotask(() => handlers.onEnd({ status: GrpcStatus.unavailable, message: detail, fault }));
      return { send() {}, finish() {}, pause() {}, resume() {}, cancel() {} };
    }
    return this.#run(stream, deadlineMilliseconds, handlers);
  }

  #run(stream: ClientHttp2Stream, deadlineMilliseconds: number, handlers: RpcHandlers): Rpc {
    this.#running += 1;
    let ownFault: GnmiFault | undefined;
    let headers: IncomingHttpHeaders | undefined;
    let trailers: IncomingHttpHeaders | undefined;
    let streamError: Error | undefined;
    let ended = false;
    const maximum = this.#options.maximumMessageBytes ?? MAXIMUM_MESSAGE_BYTES;
    const reader = new FrameReader(maximum, (bytes, view, start, end) => {
      if (!ended && ownFault === undefined) handlers.onMessage(bytes, view, start, end);
    });
    const abort = (fault: GnmiFault | undefined): void => {
      if (ended) return;
      ownFault ??= fault ?? { code: 'protocol-error', detail: 'cancelled' };
      stream.close(constants.NGHTTP2_CANCEL);
      // A target that no longer reads would never let go of the stream.
      finish(fault === undefined ? GrpcStatus.cancelled : GrpcStatus.unknown, ownFault.detail, fault);
    };
    const finish = (status: number, message: string, fault: GnmiFault | undefined): void => {
      if (ended) return;
      ended = true;
      this.#running -= 1;
      clearTimeout(timer);
      handlers.onEnd({ status, message, fault });
    };
    const timer =
      deadlineMilliseconds > 0
        ? setTimeout(
            () =>
              abort({
                code: 'timeout',
                detail: `${this.#at} did not finish within ${deadlineMilliseconds} ms`,
              }),
            deadlineMilliseconds,
          )
        : undefined;

    stream.on('response', (received) => {
      this.#lastReceived = performance.now();
      headers = received;
    });
    stream.on('trailers', (received) => {
      trailers = received;
    });
    stream.on('error', (error) => {
      streamError = error;
    });
    const reading = readDirectly(stream, (chunk) => {
      this.#lastReceived = performance.now();
      if (ended || ownFault !== undefined) return;
      const error = reader.push(chunk);
      if (error !== undefined) abort(faultOfFrame(error, maximum));
    });
    const statusOf = (received: IncomingHttpHeaders | undefined): number | undefined => {
      const status = received?.['grpc-status'];
      return status !== undefined && /^\d+$/.test(String(status)) ? Number(status) : undefined;
    };
    const finishWithStatus = (): boolean => {
      const status = statusOf(trailers) ?? statusOf(headers);
      if (status === undefined) return false;
      const message = this.#withoutPassword(
        decodeGrpcMessage(String((trailers ?? headers)?.['grpc-message'] ?? '')),
      );
      if (status === GrpcStatus.ok && reader.isMidMessage) {
        const detail = `${this.#at} ended the RPC in the middle of a message`;
        finish(status, message, { code: 'protocol-error', detail });
      } else finish(status, message, status === GrpcStatus.ok ? undefined : faultOfStatus(status, message));
      return true;
    };
    // `close` waits for our half of the stream too, which a Subscribe leaves open.
    stream.on('end', () => {
      if (finishWithStatus()) stream.close(constants.NGHTTP2_NO_ERROR);
      else stream.end();
    });
    stream.on('close', () => {
      if (ended || finishWithStatus()) return;
      const fault = this.#faultWithoutStatus(headers, stream, streamError);
      finish(GrpcStatus.unavailable, fault.detail, fault);
    });
    return {
      send: (message) => {
        if (!ended && !stream.destroyed && stream.writable) stream.write(encodeFrame(message));
      },
      finish: () => {
        if (!ended && !stream.destroyed) stream.end();
      },
      ...reading,
      cancel: abort,
    };
  }

  /** Targets repeat in their errors what they were sent: gnxi's does so with the password. */
  #withoutPassword(text: string): string {
    const { password } = this.#endpoint;
    return password === '' ? text : text.replaceAll(password, PASSWORD_MASK);
  }

  /** gRPC over HTTP/2: what a status would have been when the peer sent none. */
  #faultWithoutStatus(
    headers: IncomingHttpHeaders | undefined,
    stream: ClientHttp2Stream,
    streamError: Error | undefined,
  ): GnmiFault {
    const http = headers?.[constants.HTTP2_HEADER_STATUS] as unknown as number | undefined;
    if (http === 401) return { code: 'authentication', detail: `${this.#at} answered HTTP 401` };
    if (http === 403) return { code: 'permission', detail: `${this.#at} answered HTTP 403` };
    if (http === 404)
      return { code: 'unimplemented', detail: `${this.#at} answered HTTP 404: no gNMI there` };
    if (http !== undefined && http !== 200) {
      return {
        code: http >= 500 ? 'unreachable' : 'protocol-error',
        detail: `${this.#at} answered HTTP ${http}`,
      };
    }
    if (this.#sessionFault !== undefined) return this.#sessionFault;
    const type = headers?.['content-type'];
    if (type !== undefined && !type.startsWith('application/grpc')) {
      return { code: 'protocol-error', detail: `${this.#at} answers ${type}, not gRPC` };
    }
    const reset = stream.rstCode ?? constants.NGHTTP2_NO_ERROR;
    if (reset === constants.NGHTTP2_REFUSED_STREAM || reset === constants.NGHTTP2_ENHANCE_YOUR_CALM) {
      return { code: 'unreachable', detail: `${this.#at} takes no more streams (RST_STREAM ${reset})` };
    }
    if (this.#session.destroyed || this.#session.closed || reset === constants.NGHTTP2_CANCEL) {
      return { code: 'unreachable', detail: `${this.#at} closed the connection` };
    }
    const why = streamError === undefined ? `RST_STREAM ${reset}` : streamError.message;
    return { code: 'protocol-error', detail: `${this.#at} ended the RPC without a status (${why})` };
  }

  /** One PING after a long quiet; a target that does not answer it is gone, whatever the kernel says. */
  #schedulePing(): void {
    const quiet = this.#options.pingAfterQuietMilliseconds ?? PING_AFTER_QUIET_MILLISECONDS;
    const answer = this.#options.pingAnswerMilliseconds ?? PING_ANSWER_MILLISECONDS;
    const due = Math.max(1, quiet - (performance.now() - this.#lastReceived));
    this.#ping = setTimeout(() => {
      if (performance.now() - this.#lastReceived < quiet) {
        this.#schedulePing();
        return;
      }
      const late = setTimeout(() => {
        this.#sessionFault ??= {
          code: 'timeout',
          detail: `${this.#at} answered nothing, not even a PING, for ${quiet + answer} ms`,
        };
        this.#session.destroy();
      }, answer);
      late.unref();
      this.#session.ping((error) => {
        clearTimeout(late);
        if (error !== null) return;
        this.#lastReceived = performance.now();
        this.#schedulePing();
      });
    }, due);
    this.#ping.unref();
  }
}

/** One message there, one back: Capabilities and Get. Never rejects. */
export function callUnary(
  channel: Channel,
  method: 'Capabilities' | 'Get',
  request: Uint8Array,
  deadlineMilliseconds: number,
): Promise<RpcEnd & { readonly response: Uint8Array | undefined }> {
  return new Promise((done) => {
    let response: Uint8Array | undefined;
    const rpc = channel.start(method, deadlineMilliseconds, {
      onMessage: (bytes, _view, start, end) => {
        response = new Uint8Array(bytes.subarray(start, end));
      },
      onEnd: (end) => done({ ...end, response }),
    });
    rpc.send(request);
    rpc.finish();
  });
}

function faultOfFrame(error: FrameError, maximumBytes: number): GnmiFault {
  return error.code === 'too-large'
    ? { code: 'too-large', detail: `a message of ${error.bytes} bytes; at most ${maximumBytes} are taken` }
    : { code: 'protocol-error', detail: `a message with flag ${error.flag}: we asked for no compression` };
}

function faultOfSessionError(error: Error, at: string, tls: GnmiEndpoint['tls']): GnmiFault {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code.startsWith('ERR_HTTP2') || code === 'ERR_PROTO' || code.startsWith('HPE_')) {
    const hint = tls === 'off' ? '; does it want TLS?' : '';
    return { code: 'protocol-error', detail: `${at} does not speak HTTP/2: ${error.message}${hint}` };
  }
  return faultOfSocketError(error, at);
}

/** For logs and explanations: `UNIMPLEMENTED: no such service`. */
export function describeEnd(end: RpcEnd): string {
  return end.message === '' ? statusName(end.status) : `${statusName(end.status)}: ${end.message}`;
}

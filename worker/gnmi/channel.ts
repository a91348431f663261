/** One HTTP/2 connection to a gNMI target, and the RPCs on it. */
import type { GnmiFault } from '../../protocols/gnmi/grpc-status.ts';
import { ErrorCode } from '../../protocols/http2/frame.ts';
import { type ConnectionFailure, describeFailure, type GoAway } from '../../protocols/http2/frame-payload.ts';
import type { HeaderField } from '../../protocols/http2/static-table.ts';
import { type DialGuard, faultOfSocketError, type GnmiEndpoint, openSocket } from './endpoint.ts';
import { type CallContext, GrpcCall, type Rpc, type RpcEnd, type RpcHandlers } from './grpc-call.ts';
import { Http2Transport } from './http2-transport.ts';

/** What a stream may have under way before its reader must have taken some: a full queue stops a target at this. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
/** Four paused streams do not stop a fifth. */
const CONNECTION_WINDOW_BYTES = 5 * STREAM_WINDOW_BYTES;
/** The largest message taken: SR OS answers ONCE with one notification for everything. */
const MAXIMUM_MESSAGE_BYTES = 16 * 1024 * 1024;
/** What a status with all its words may take. */
const HEADER_LIST_BYTES = 64 * 1024;
/** Longer than the five minutes that gRPC servers allow by default (grpc, doc/keepalive.md). */
const PING_AFTER_QUIET_MILLISECONDS = 310_000;
const PING_ANSWER_MILLISECONDS = 20_000;
const PING_PAYLOAD = new TextEncoder().encode('graticul');

/** gNMI authentication (openconfig/reference, gnmi-authentication.md): metadata of each RPC. */
const SECRET_HEADERS: ReadonlySet<string> = new Set(['username', 'password']);

export interface ChannelOptions {
  readonly guard: DialGuard;
  /** For TCP, TLS and HTTP/2 SETTINGS together. */
  readonly connectMilliseconds: number;
  readonly maximumMessageBytes?: number;
  readonly pingAfterQuietMilliseconds?: number;
  readonly pingAnswerMilliseconds?: number;
}

export type OpenedChannel = { readonly channel: Channel } | { readonly fault: GnmiFault };

/** Connects; the channel is usable at once. Never rejects. */
export async function openChannel(endpoint: GnmiEndpoint, options: ChannelOptions): Promise<OpenedChannel> {
  const channel = new Channel(endpoint, options);
  const fault = await channel.open();
  return fault === undefined ? { channel } : { fault };
}

export class Channel {
  readonly #endpoint: GnmiEndpoint;
  readonly #options: ChannelOptions;
  readonly #authority: string;
  readonly #at: string;
  readonly #transport: Http2Transport;
  readonly #context: CallContext;
  /** Until the target's SETTINGS are there: told that they are, or why not. */
  #opened: ((fault: GnmiFault | undefined) => void) | undefined;
  #ping: NodeJS.Timeout | undefined;
  #pong: NodeJS.Timeout | undefined;
  #running = 0;
  /** Why the connection ended, for RPCs that end with it. */
  #fault: GnmiFault | undefined;
  #onClose: (() => void) | undefined;

  constructor(endpoint: GnmiEndpoint, options: ChannelOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    const host = endpoint.serverName || endpoint.address;
    this.#authority = `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${endpoint.port}`;
    this.#at = `${endpoint.address} port ${endpoint.port}`;
    this.#transport = new Http2Transport(
      {
        streamWindowBytes: STREAM_WINDOW_BYTES,
        connectionWindowBytes: CONNECTION_WINDOW_BYTES,
        headerListBytes: HEADER_LIST_BYTES,
      },
      {
        onReady: () => this.#ready(),
        onPong: () => this.#ponged(),
        onGoAway: (goAway) => this.#goingAway(goAway),
        onFailure: (failure) => this.#failed(failure),
        onSocketError: (error) => this.#socketFailed(error),
        onClose: () => this.#closed(),
      },
    );
    this.#context = {
      transport: this.#transport,
      at: this.#at,
      password: endpoint.password,
      maximumMessageBytes: options.maximumMessageBytes ?? MAXIMUM_MESSAGE_BYTES,
      connectionFault: () => this.#fault,
      ended: () => {
        this.#running -= 1;
      },
    };
  }

  /** Connects, and waits for the target's SETTINGS; gives why that failed. Call it once. */
  async open(): Promise<GnmiFault | undefined> {
    const { guard, connectMilliseconds } = this.#options;
    const started = performance.now();
    const opened = await openSocket(this.#endpoint, guard, connectMilliseconds, this.#transport.onread);
    if ('fault' in opened) return opened.fault;
    const left = connectMilliseconds - (performance.now() - started);
    return new Promise((done) => {
      const detail = `${this.#at} accepted the connection and sent no HTTP/2 settings`;
      const timer = setTimeout(() => this.#opened?.({ code: 'timeout', detail }), Math.max(1, left));
      this.#opened = (fault) => {
        clearTimeout(timer);
        this.#opened = undefined;
        if (fault !== undefined) this.#transport.destroy();
        done(fault);
      };
      this.#transport.attach(opened.socket);
    });
  }

  /** Whether new RPCs can still be started: not after GOAWAY, nor when closed. */
  get isUsable(): boolean {
    return this.#transport.isUsable;
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
    if (this.#transport.isGone) callback();
    else this.#onClose = callback;
  }

  /** Ends the connection and every RPC on it. */
  close(): void {
    this.#transport.destroy();
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
    const { tls, username, password } = this.#endpoint;
    const fields: HeaderField[] = [
      [':method', 'POST'],
      [':scheme', tls === 'off' ? 'http' : 'https'],
      [':authority', this.#authority],
      [':path', `/gnmi.gNMI/${method}`],
      ['te', 'trailers'],
      ['content-type', 'application/grpc'],
      ['user-agent', 'graticule'],
    ];
    if (deadlineMilliseconds > 0) fields.push(['grpc-timeout', `${Math.ceil(deadlineMilliseconds)}m`]);
    if (username !== '') fields.push(['username', username], ['password', password]);
    this.#running += 1;
    const call = new GrpcCall(this.#context, deadlineMilliseconds, handlers);
    const stream = this.#transport.request(fields, SECRET_HEADERS, call);
    if (stream !== undefined && 'id' in stream) call.runOn(stream);
    else {
      const detail = `${this.#at} takes no more RPCs on this connection`;
      const fault: GnmiFault =
        stream === undefined
          ? (this.#fault ?? { code: 'unreachable', detail })
          : { code: 'authentication', detail: 'user name or password cannot be sent in a header' };
      queueMicrotask(() => call.refuse(fault));
    }
    return call;
  }

  #ready(): void {
    this.#opened?.(undefined);
    this.#schedulePing();
  }

  #ponged(): void {
    if (this.#pong === undefined) return;
    clearTimeout(this.#pong);
    this.#pong = undefined;
    this.#schedulePing();
  }

  #goingAway({ code, debug }: GoAway): void {
    if (code === ErrorCode.noError) return;
    const calm = code === ErrorCode.enhanceYourCalm ? ' (enhance your calm)' : '';
    const words = debug === '' ? '' : `: ${debug}`;
    this.#fault ??= {
      code: 'unreachable',
      detail: `${this.#at} ended the connection with GOAWAY ${code}${calm}${words}`,
    };
    this.#transport.destroy();
  }

  #failed(failure: ConnectionFailure): void {
    const hint = this.#endpoint.tls === 'off' ? '; does it want TLS?' : '';
    const detail = `${this.#at} does not speak HTTP/2: ${describeFailure(failure)}${hint}`;
    this.#fault ??= { code: 'protocol-error', detail };
    this.#opened?.(this.#fault);
  }

  /** A server that wants a certificate says so after the handshake (TLS 1.3), and only the socket tells it. */
  #socketFailed(error: Error): void {
    this.#fault ??= faultOfSocketError(error, this.#at);
    this.#opened?.(this.#fault);
  }

  #closed(): void {
    clearTimeout(this.#ping);
    clearTimeout(this.#pong);
    const hint = this.#endpoint.tls === 'off' ? '; does it want TLS?' : '';
    const detail = `${this.#at} closed before HTTP/2 began${hint}`;
    this.#opened?.(this.#fault ?? { code: 'protocol-error', detail });
    this.#onClose?.();
  }

  /** One PING after a long quiet; a target that does not answer it is gone, whatever the kernel says. */
  #schedulePing(): void {
    const quiet = this.#options.pingAfterQuietMilliseconds ?? PING_AFTER_QUIET_MILLISECONDS;
    const answer = this.#options.pingAnswerMilliseconds ?? PING_ANSWER_MILLISECONDS;
    const due = Math.max(1, quiet - (performance.now() - this.#transport.lastReceivedAt));
    this.#ping = setTimeout(() => {
      if (performance.now() - this.#transport.lastReceivedAt < quiet) {
        this.#schedulePing();
        return;
      }
      this.#pong = setTimeout(() => {
        this.#fault ??= {
          code: 'timeout',
          detail: `${this.#at} answered nothing, not even a PING, for ${quiet + answer} ms`,
        };
        this.#transport.destroy();
      }, answer);
      this.#pong.unref();
      this.#transport.ping(PING_PAYLOAD);
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

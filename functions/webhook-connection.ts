import type { Socket } from 'node:net';
import type { Attempt } from '../core/delivery-outcome.ts';
import { ResponseReader } from '../core/http-response.ts';
import { type DialFailure, type Dialling, type DialOptions, dial } from './webhook-dial.ts';
import { describeFault } from './webhook-fault.ts';

/** Where requests go and what each of them begins with. */
export interface RequestTemplate {
  readonly url: URL;
  /** A token (RFC 9110 §9.1), sent as it is. */
  readonly method: string;
  /** In the order and spelling in which they are sent; Host and Content-Length are the connection's own. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly timeoutMilliseconds: number;
}

/** Requests that are sent one after another in their order; several are under way at once. */
export interface Wave {
  readonly requests: number;
  /** Without a body there is no Content-Length. Asked for when its turn has come; read before the call returns. */
  body(index: number): Uint8Array | undefined;
  /** Asked before each request; from the first that may not start, none does. */
  mayStart(): boolean;
  /** Called once a request with its outcome, in no order; with nothing for one that was not started. */
  ended(index: number, attempt: Attempt | undefined): void;
}

export interface ConnectionOwner {
  /** The connection can take another request; `now`: of `performance`, in ms. */
  free(connection: Connection, now: number): void;
  gone(connection: Connection): void;
}

/** Receivers close idle connections, and a request that meets the closing is lost: none is used after this. */
const IDLE_LIMIT_MILLISECONDS = 4_000;

/** Bodies up to this size go out in one write with their head. */
const ONE_WRITE_LIMIT_BYTES = 65_536;

/** Requests up to this size are written from a buffer that the connection keeps. */
const KEPT_BUFFER_BYTES = 8_192;

/** One connection, which carries one request at a time. */
export class Connection {
  usableUntil = 0;
  /** When the request that has no outcome yet was given to it (`performance.now`); NaN while there is none. */
  startedAt = Number.NaN;
  private readonly template: RequestTemplate;
  private readonly owner: ConnectionOwner;
  private readonly dialling: Dialling;
  private readonly reader: ResponseReader;
  private readonly head: Buffer;
  private socket: Socket | undefined;
  /** Holds the head, and after it what differs from request to request. */
  private kept: Buffer | undefined;
  private wave: Wave | undefined;
  private index = 0;
  private expectsAnswer = false;
  private bodyTimer: NodeJS.Timeout | undefined;
  private isGone = false;

  /** `head`: what every request begins with, as `requestHead` gives it. */
  constructor(template: RequestTemplate, head: Buffer, options: DialOptions, owner: ConnectionOwner) {
    this.template = template;
    this.head = head;
    this.owner = owner;
    this.reader = new ResponseReader(template.method);
    this.dialling = dial(template.url, options, (bytes) => this.take(bytes));
  }

  /** Sends one request of a wave, once it is connected; its outcome goes to the wave. */
  run(wave: Wave, index: number, now: number): void {
    this.wave = wave;
    this.index = index;
    this.startedAt = now;
    this.expectsAnswer = true;
    this.reader.begin();
    if (this.socket !== undefined) this.write(this.socket, wave.body(index));
    else this.runOnceConnected(wave.body(index));
  }

  /** Ends the request under way, whose time is over, and with it the connection. */
  timeOut(): void {
    const detail = `no answer within ${this.template.timeoutMilliseconds} ms`;
    this.settle({
      status: null,
      reason: 'timeout',
      detail,
      ...this.spent(),
      wasSent: this.socket !== undefined,
    });
    this.destroy(detail);
  }

  /** Ends the connection; a request on it that has no outcome yet ends as `reset`. */
  destroy(detail: string): void {
    if (this.isGone) return;
    this.isGone = true;
    clearTimeout(this.bodyTimer);
    this.dialling.cancel();
    this.socket?.destroy();
    const wasSent = this.socket !== undefined;
    this.settle({ status: null, reason: 'reset', detail, ...this.spent(), wasSent });
    this.owner.gone(this);
  }

  private runOnceConnected(body: Uint8Array | undefined): void {
    this.dialling.connected.then(
      (socket) => {
        if (this.isGone) {
          socket.destroy();
          return;
        }
        this.socket = socket;
        socket.on('error', (error) => this.destroy(describeFault(error)));
        socket.on('end', () => this.destroy('the receiver closed the connection'));
        socket.on('close', () => this.destroy('the connection was closed'));
        this.write(socket, body);
      },
      (failure: DialFailure) => {
        const { reason, message: detail } = failure;
        this.settle({ status: null, reason, detail, ...this.spent(), wasSent: false });
        this.destroy(detail);
      },
    );
  }

  private write(socket: Socket, body: Uint8Array | undefined): void {
    if (body === undefined) {
      socket.write(Buffer.concat([this.head, LINE_END]));
      return;
    }
    const { length } = body;
    const before = this.head.length + LENGTH_FIELD.length;
    // Nothing of an earlier request is still to be written, so that the kept buffer is nobody's.
    const isKept = before + LENGTH_LIMIT + length <= KEPT_BUFFER_BYTES && socket.writableLength === 0;
    if (isKept) this.kept ??= requestBuffer(this.head, KEPT_BUFFER_BYTES);
    const isWhole = length <= ONE_WRITE_LIMIT_BYTES;
    const bytes = isKept
      ? (this.kept as Buffer)
      : requestBuffer(this.head, before + LENGTH_LIMIT + (isWhole ? length : 0));
    const start = writeLength(bytes, before, length);
    if (isWhole) {
      bytes.set(body, start);
      socket.write(bytes.subarray(0, start + length));
      return;
    }
    socket.cork();
    socket.write(bytes.subarray(0, start));
    socket.write(body);
    socket.uncork();
  }

  private take(bytes: string): void {
    if (!this.expectsAnswer || this.socket === undefined) {
      this.destroy('the receiver sent what nobody asked for');
      return;
    }
    const progress = this.reader.push(bytes);
    if (progress === 'malformed') {
      this.destroy('the answer is not HTTP/1.1');
      return;
    }
    const { head } = this.reader;
    if (head === undefined) return;
    const now = performance.now();
    this.settle({ status: head.status, milliseconds: now - this.startedAt });
    if (progress !== 'complete') {
      // The outcome stands; the rest of the body has the request's own time to arrive in.
      this.bodyTimer ??= setTimeout(
        () => this.destroy('the body did not end'),
        this.template.timeoutMilliseconds,
      ).unref();
      return;
    }
    if (this.bodyTimer !== undefined) {
      clearTimeout(this.bodyTimer);
      this.bodyTimer = undefined;
    }
    this.expectsAnswer = false;
    if (!head.keepsAlive) {
      this.destroy('the connection is not kept');
      return;
    }
    const idle = Math.min(
      IDLE_LIMIT_MILLISECONDS,
      (head.keepAliveSeconds ?? Number.POSITIVE_INFINITY) * 1_000 - 1_000,
    );
    this.usableUntil = now + idle;
    if (idle <= 0) this.destroy('the receiver keeps no idle connection');
    else this.owner.free(this, now);
  }

  private settle(attempt: Attempt): void {
    const { wave } = this;
    if (wave === undefined) return;
    this.wave = undefined;
    this.startedAt = Number.NaN;
    wave.ended(this.index, attempt);
  }

  private spent(): { milliseconds: number } {
    return { milliseconds: this.wave === undefined ? 0 : performance.now() - this.startedAt };
  }
}

const LINE_END = Buffer.from('\r\n');
const LENGTH_FIELD = Buffer.from('Content-Length: ');
/** Digits of the longest length, and the two line ends after them. */
const LENGTH_LIMIT = 20;

/** A buffer that begins with the head and the name of the Content-Length. */
function requestBuffer(head: Buffer, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafeSlow(bytes);
  head.copy(buffer);
  LENGTH_FIELD.copy(buffer, head.length);
  return buffer;
}

/** Writes a length in digits and two line ends; returns where the body begins. A text for it would cost as much as the body. */
function writeLength(bytes: Buffer, at: number, length: number): number {
  let digits = 1;
  for (let rest = length; rest >= 10; rest = Math.floor(rest / 10)) digits += 1;
  let rest = length;
  for (let place = at + digits - 1; place >= at; place -= 1) {
    bytes[place] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  const end = at + digits;
  bytes[end] = 0x0d;
  bytes[end + 1] = 0x0a;
  bytes[end + 2] = 0x0d;
  bytes[end + 3] = 0x0a;
  return end + 4;
}

/** The first line and the fields of every request of a template, but for the Content-Length and the line that ends them. */
export function requestHead({ url, method, headers }: RequestTemplate): Buffer {
  const target = method === 'CONNECT' ? authority(url) : `${url.pathname}${url.search}`;
  const fields = [['Host', url.host], ...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${fields}`, 'latin1');
}

/** The target of CONNECT (RFC 9112 §3.2.3), which always names a port. */
function authority(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
}

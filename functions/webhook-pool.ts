import type { Socket } from 'node:net';
import type { Attempt, NoAnswerReason } from '../core/delivery-outcome.ts';
import { ResponseReader } from '../core/http-response.ts';
import { type DialFailure, type Dialling, type DialOptions, dial } from './webhook-dial.ts';

/** Where requests go and what each of them begins with. */
export interface RequestTemplate {
  readonly url: URL;
  /** A token (RFC 9110 §9.1), sent as it is. */
  readonly method: string;
  /** In the order and spelling in which they are sent; Host and Content-Length are the pool's own. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly timeoutMilliseconds: number;
}

export interface PoolOptions extends DialOptions {
  /** Connections at most; what exceeds them waits its turn. */
  readonly connections: number;
}

/** Called with the outcome, or with nothing when the request was not started. */
type Done = (attempt: Attempt | undefined) => void;

interface Job {
  readonly body: Uint8Array | undefined;
  readonly done: Done;
  readonly mayStart: () => boolean;
  startedAt: number;
  /** Set once its connection is known: ends the job without an answer. */
  fail: (reason: NoAnswerReason, detail: string) => void;
}

/** Receivers close idle connections, and a request that meets the closing is lost: none is used after this. */
const IDLE_LIMIT_MILLISECONDS = 4_000;

/** Bodies up to this size go out in one write with their head. */
const ONE_WRITE_LIMIT_BYTES = 65_536;

/**
 * Sends requests over keep-alive connections to one receiver, each exactly once: whatever happens to it is its outcome,
 * and nothing is repeated, not even on a connection that turned out to be dead.
 *
 * HTTP/1.1 is written and read here, on sockets: per core this sends 1.4 times what Go's net/http does, undici's
 * dispatch 1.1 times (docs/decisions/0081), and what was sent is never in doubt.
 */
export class WebhookPool {
  private readonly head: Buffer;
  private readonly template: RequestTemplate;
  private readonly options: PoolOptions;
  private readonly waiting: Job[] = [];
  private waitingFrom = 0;
  private readonly idle: Connection[] = [];
  private readonly open = new Set<Connection>();
  /** In the order of their starts, which is the order of their deadlines. */
  private readonly active = new Set<Job>();
  private timer: NodeJS.Timeout | undefined;
  private isRetired = false;

  constructor(template: RequestTemplate, options: PoolOptions) {
    this.template = template;
    this.options = options;
    const { url, method, headers } = template;
    const target = method === 'CONNECT' ? authority(url) : `${url.pathname}${url.search}`;
    const fields = [['Host', url.host], ...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
    this.head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${fields}`, 'latin1');
  }

  /** Requests that were given to `send` and have no outcome yet, those without a connection included. */
  get pending(): number {
    return this.active.size + this.waiting.length - this.waitingFrom;
  }

  /**
   * Sends one request, in the order of the calls; `done` is called once. Without a body there is no Content-Length.
   * `mayStart` is asked when its turn has come.
   */
  send(body: Uint8Array | undefined, done: Done, mayStart: () => boolean = () => true): void {
    const job: Job = { body, done, mayStart, startedAt: 0, fail: () => {} };
    if (this.waiting.length > this.waitingFrom) {
      this.waiting.push(job);
      return;
    }
    if (!mayStart()) {
      done(undefined);
      return;
    }
    const connection = this.takeIdle();
    if (connection !== undefined) this.start(connection, job);
    else if (this.open.size < this.options.connections) this.connect(job);
    else this.waiting.push(job);
  }

  /** Closes each connection once it is idle; what was given to `send` is still sent. */
  retire(): void {
    this.isRetired = true;
    for (const connection of [...this.idle]) connection.destroy('no longer needed');
  }

  private takeIdle(): Connection | undefined {
    for (;;) {
      const connection = this.idle.pop();
      if (connection === undefined || performance.now() < connection.usableUntil) return connection;
      connection.destroy('idle for too long');
    }
  }

  /** The next job that may start; those that may not are told so. */
  private nextWaiting(): Job | undefined {
    for (;;) {
      const job = this.waiting[this.waitingFrom];
      if (job === undefined) return undefined;
      this.waitingFrom += 1;
      if (this.waitingFrom === this.waiting.length || this.waitingFrom > 1_024) {
        this.waiting.splice(0, this.waitingFrom);
        this.waitingFrom = 0;
      }
      if (job.mayStart()) return job;
      job.done(undefined);
    }
  }

  private connect(job: Job): void {
    const connection = new Connection(this.template, this.options, {
      free: (freed) => {
        const next = this.nextWaiting();
        if (next !== undefined) this.start(freed, next);
        else if (this.isRetired) freed.destroy('no longer needed');
        else this.idle.push(freed);
      },
      gone: (lost) => {
        this.open.delete(lost);
        const index = this.idle.indexOf(lost);
        if (index >= 0) this.idle.splice(index, 1);
        const next = this.nextWaiting();
        if (next !== undefined) this.connect(next);
      },
    });
    this.open.add(connection);
    this.start(connection, job);
  }

  private start(connection: Connection, job: Job): void {
    job.startedAt = performance.now();
    this.active.add(job);
    if (this.active.size === 1) this.arm(this.template.timeoutMilliseconds);
    connection.run(job, this.head, (attempt) => {
      this.active.delete(job);
      job.done(attempt);
    });
  }

  /** One timer for all: it waits for the oldest request, since all have the same time. */
  private arm(milliseconds: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.expire(), Math.max(1, Math.ceil(milliseconds)));
    this.timer.unref();
  }

  private expire(): void {
    const { timeoutMilliseconds } = this.template;
    for (const job of this.active) {
      const left = job.startedAt + timeoutMilliseconds - performance.now();
      if (left > 0) {
        this.arm(left);
        return;
      }
      job.fail('timeout', `no answer within ${timeoutMilliseconds} ms`);
    }
  }
}

interface ConnectionOwner {
  free(connection: Connection): void;
  gone(connection: Connection): void;
}

/** One connection, which carries one request at a time. */
class Connection {
  usableUntil = 0;
  private readonly template: RequestTemplate;
  private readonly owner: ConnectionOwner;
  private readonly dialling: Dialling;
  private socket: Socket | undefined;
  private reader: ResponseReader | undefined;
  private finish: ((attempt: Attempt) => void) | undefined;
  private job: Job | undefined;
  private bodyTimer: NodeJS.Timeout | undefined;
  private isGone = false;

  constructor(template: RequestTemplate, options: DialOptions, owner: ConnectionOwner) {
    this.template = template;
    this.owner = owner;
    this.dialling = dial(template.url, options);
  }

  run(job: Job, head: Buffer, finish: (attempt: Attempt) => void): void {
    this.job = job;
    this.finish = finish;
    this.reader = new ResponseReader(this.template.method);
    job.fail = (reason, detail) => {
      this.settle({ status: null, reason, detail, ...this.spent(), wasSent: this.socket !== undefined });
      this.destroy(detail);
    };
    if (this.socket !== undefined) {
      this.write(this.socket, head, job.body);
      return;
    }
    this.dialling.connected.then(
      (socket) => {
        if (this.isGone) {
          socket.destroy();
          return;
        }
        this.socket = socket;
        this.listen(socket);
        this.write(socket, head, job.body);
      },
      (failure: DialFailure) => {
        this.settle({
          status: null,
          reason: failure.reason,
          detail: failure.message,
          ...this.spent(),
          wasSent: false,
        });
        this.destroy(failure.message);
      },
    );
  }

  /** Ends the connection; a request on it that has no outcome yet ends as `reset`. */
  destroy(detail: string): void {
    if (this.isGone) return;
    this.isGone = true;
    clearTimeout(this.bodyTimer);
    this.dialling.cancel();
    this.socket?.destroy();
    this.settle({
      status: null,
      reason: 'reset',
      detail,
      ...this.spent(),
      wasSent: this.socket !== undefined,
    });
    this.owner.gone(this);
  }

  private listen(socket: Socket): void {
    // HTTP's framing is bytes: latin1 gives one character for each, and Node hands out no buffer that would be kept.
    socket.setEncoding('latin1');
    socket.on('data', (bytes: unknown) => this.take(bytes as string));
    socket.on('error', (error: NodeJS.ErrnoException) => this.destroy(error.code ?? 'error'));
    socket.on('end', () => this.destroy('the receiver closed the connection'));
    socket.on('close', () => this.destroy('the connection was closed'));
  }

  private write(socket: Socket, head: Buffer, body: Uint8Array | undefined): void {
    if (body === undefined) {
      socket.write(Buffer.concat([head, LINE_END]));
      return;
    }
    const length = `Content-Length: ${body.length}\r\n\r\n`;
    if (body.length > ONE_WRITE_LIMIT_BYTES) {
      socket.cork();
      socket.write(Buffer.concat([head, Buffer.from(length, 'latin1')]));
      socket.write(body);
      socket.uncork();
      return;
    }
    const bytes = Buffer.allocUnsafe(head.length + length.length + body.length);
    head.copy(bytes);
    bytes.write(length, head.length, 'latin1');
    bytes.set(body, head.length + length.length);
    socket.write(bytes);
  }

  private take(bytes: string): void {
    const { reader } = this;
    if (reader === undefined) {
      this.destroy('the receiver sent what nobody asked for');
      return;
    }
    const progress = reader.push(bytes);
    if (progress === 'malformed') {
      this.destroy('the answer is not HTTP/1.1');
      return;
    }
    const { head } = reader;
    if (head === undefined) return;
    this.settle({ status: head.status, ...this.spent() });
    if (progress !== 'complete') {
      // The outcome stands; the rest of the body has the request's own time to arrive in.
      this.bodyTimer ??= setTimeout(
        () => this.destroy('the body did not end'),
        this.template.timeoutMilliseconds,
      ).unref();
      return;
    }
    clearTimeout(this.bodyTimer);
    this.bodyTimer = undefined;
    this.reader = undefined;
    if (!head.keepsAlive) {
      this.destroy('the connection is not kept');
      return;
    }
    const idle = Math.min(
      IDLE_LIMIT_MILLISECONDS,
      (head.keepAliveSeconds ?? Number.POSITIVE_INFINITY) * 1_000 - 1_000,
    );
    this.usableUntil = performance.now() + idle;
    if (idle <= 0) this.destroy('the receiver keeps no idle connection');
    else this.owner.free(this);
  }

  private settle(attempt: Attempt): void {
    const { finish } = this;
    if (finish === undefined) return;
    this.finish = undefined;
    finish(attempt);
    this.job = undefined;
  }

  private spent(): { milliseconds: number } {
    return { milliseconds: this.job === undefined ? 0 : performance.now() - this.job.startedAt };
  }
}

const LINE_END = Buffer.from('\r\n');

/** The target of CONNECT (RFC 9112 §3.2.3), which always names a port. */
function authority(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
}

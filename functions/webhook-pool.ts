import type { Attempt } from '../core/delivery-outcome.ts';
import {
  Connection,
  type ConnectionOwner,
  type RequestTemplate,
  requestHead,
  type Wave,
} from './webhook-connection.ts';
import type { DialOptions } from './webhook-dial.ts';

export interface PoolOptions extends DialOptions {
  /** Connections at most; what exceeds them waits its turn. */
  readonly connections: number;
}

/**
 * Sends requests over keep-alive connections to one receiver, each exactly once: whatever happens to it is its outcome,
 * and nothing is repeated, not even on a connection that turned out to be dead.
 *
 * HTTP/1.1 is written and read here, on sockets: per core this sends more than Go's net/http or undici's dispatch do
 * (docs/decisions/0081), and what was sent is never in doubt. A request that is under way has no object of its own: what
 * lives for a whole wave costs the collector of garbage more than it costs to send.
 */
export class WebhookPool {
  private readonly head: Buffer;
  private readonly template: RequestTemplate;
  private readonly options: PoolOptions;
  private readonly owner: ConnectionOwner;
  /** Those with requests that have not had their turn; `next` is the first such of the first of them. */
  private readonly waves: Wave[] = [];
  private next = 0;
  private readonly idle: Connection[] = [];
  private readonly open = new Set<Connection>();
  private timer: NodeJS.Timeout | undefined;
  private isRetired = false;

  constructor(template: RequestTemplate, options: PoolOptions) {
    this.template = template;
    this.options = options;
    this.head = requestHead(template);
    this.owner = {
      free: (connection, now) => {
        if (this.give(connection, now)) return;
        if (this.isRetired) connection.destroy('no longer needed');
        else this.idle.push(connection);
      },
      gone: (connection) => {
        this.open.delete(connection);
        const index = this.idle.indexOf(connection);
        if (index >= 0) this.idle.splice(index, 1);
        this.connectAsNeeded();
      },
    };
  }

  /** Sends the requests of a wave after those of the waves before it. */
  sendAll(wave: Wave): void {
    if (wave.requests === 0) return;
    this.waves.push(wave);
    for (let idle = this.takeIdle(); idle !== undefined; idle = this.takeIdle()) {
      if (this.give(idle, performance.now())) continue;
      this.idle.push(idle);
      return;
    }
    this.connectAsNeeded();
  }

  /** Sends one request; `done` is called once. Without a body there is no Content-Length. */
  send(body: Uint8Array | undefined, done: (attempt: Attempt) => void): void {
    this.sendAll({
      requests: 1,
      body: () => body,
      mayStart: () => true,
      ended: (_index, attempt) => done(attempt as Attempt),
    });
  }

  /** Begins no other request, and closes each connection once it is idle; what is under way still has its outcome. */
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

  private connectAsNeeded(): void {
    while (this.open.size < this.options.connections) {
      const wave = this.waveToStart();
      if (wave === undefined) return;
      const connection = new Connection(this.template, this.head, this.options, this.owner);
      this.open.add(connection);
      this.start(connection, wave, performance.now());
    }
  }

  /** Gives the request whose turn it is to a connection; false when there is none. */
  private give(connection: Connection, now: number): boolean {
    const wave = this.waveToStart();
    if (wave === undefined) return false;
    this.start(connection, wave, now);
    return true;
  }

  /** The wave whose request `next` may start now. Those that may not are told so. */
  private waveToStart(): Wave | undefined {
    for (;;) {
      const wave = this.waves[0];
      if (wave === undefined || (!this.isRetired && wave.mayStart())) return wave;
      const from = this.next;
      this.waves.shift();
      this.next = 0;
      for (let index = from; index < wave.requests; index += 1) wave.ended(index, undefined);
    }
  }

  private start(connection: Connection, wave: Wave, now: number): void {
    const index = this.next;
    this.next += 1;
    if (this.next === wave.requests) {
      this.waves.shift();
      this.next = 0;
    }
    if (this.timer === undefined) this.arm(this.template.timeoutMilliseconds);
    connection.run(wave, index, now);
  }

  /** One timer for all: it is set again to the oldest request that it finds, since all have the same time. */
  private arm(milliseconds: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.expire(), Math.max(1, Math.ceil(milliseconds)));
    this.timer.unref();
  }

  private expire(): void {
    const { timeoutMilliseconds } = this.template;
    this.timer = undefined;
    const startedBefore = performance.now() - timeoutMilliseconds;
    let oldest = Number.POSITIVE_INFINITY;
    for (const connection of [...this.open]) {
      // Not a number where no request is under way, of which no comparison is true.
      if (connection.startedAt <= startedBefore) connection.timeOut();
      else if (connection.startedAt < oldest) oldest = connection.startedAt;
    }
    // One that took the place of what ended here may have set the timer, to its own time.
    if (oldest < Number.POSITIVE_INFINITY) this.arm(oldest - startedBefore);
  }
}

/**
 * A simulated gNMI target over real HTTP/2: Capabilities, Get, and Subscribe in every mode and encoding, with the
 * faults and habits of real ones on command. Loopback only.
 */
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { GrpcStatus } from '../../../protocols/gnmi/grpc-status.ts';
import { formatPath, joinPaths } from '../../../protocols/gnmi/path.ts';
import { pathFromMessage } from '../../../protocols/gnmi/path-message.ts';
import {
  CapabilityResponseSchema,
  GetRequestSchema,
  GetResponseSchema,
  type NotificationMessage,
  SubscribeRequestSchema,
  type SubscriptionListMessage,
} from '../../../protocols/gnmi/schema.ts';
import type { KeyPair } from './certificates.ts';
import { DEFAULT_HABITS, ENCODING_BY_NUMBER, type Habits, NUMBER_BY_ENCODING } from './habits.ts';
import { notificationsOf } from './notifications.ts';
import { ServerCall } from './server-call.ts';
import { Subscribing } from './subscribing.ts';
import { Tree } from './tree.ts';

export interface TargetOptions {
  /** Absent: no TLS. */
  readonly tls?: KeyPair & {
    /** Asks clients for a certificate of this CA. */ readonly clientCa?: string;
  };
  /** A loopback address; 127.0.0.1 when omitted. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port?: number;
  readonly habits?: Partial<Habits>;
  /** Nanoseconds since the epoch, for notifications. */
  readonly timestamp?: () => bigint;
}

/** What the target saw: connections and RPCs with the time since it began. */
export interface LogEntry {
  readonly milliseconds: number;
  readonly event: 'connection' | 'rpc' | 'end';
  readonly rpc: number;
  readonly method: string;
  readonly request: SubscriptionListMessage | undefined;
}

/** Blobs that were cancelled count for a while; Node would refuse streams at its default of 10. */
const SESSION_MEGABYTES = 200;

export class GnmiTarget {
  readonly tree = new Tree();
  readonly habits: Habits;
  readonly log: LogEntry[] = [];
  readonly #server: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #stops = new Set<() => void>();
  readonly #timestamp: () => bigint;
  readonly #started = performance.now();
  #rpcs = 0;
  port = 0;

  private constructor(options: TargetOptions) {
    this.habits = { ...DEFAULT_HABITS, ...options.habits };
    this.#timestamp = options.timestamp ?? (() => BigInt(Date.now()) * 1_000_000n);
    const { tls } = options;
    this.#server =
      tls === undefined
        ? createServer({ maxSessionMemory: SESSION_MEGABYTES })
        : createSecureServer({
            maxSessionMemory: SESSION_MEGABYTES,
            cert: tls.certificate,
            key: tls.key,
            ...(tls.clientCa === undefined
              ? {}
              : { ca: tls.clientCa, requestCert: true, rejectUnauthorized: true }),
          });
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      this.#note('connection', 0, '', undefined);
      session.on('close', () => this.#sessions.delete(session));
      session.on('error', () => undefined);
    });
    this.#server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      stream.on('error', () => undefined);
      this.#serve(stream, headers);
    });
    this.#server.on('sessionError', () => undefined);
    this.#server.on('error', () => undefined);
  }

  static async start(options: TargetOptions = {}): Promise<GnmiTarget> {
    const target = new GnmiTarget(options);
    await new Promise<void>((done, fail) => {
      target.#server.once('error', fail);
      target.#server.listen(options.port ?? 0, options.host ?? '127.0.0.1', () => {
        target.#server.off('error', fail);
        done();
      });
    });
    target.port = (target.#server.address() as AddressInfo).port;
    return target;
  }

  /** How many connections are up. */
  get connections(): number {
    return this.#sessions.size;
  }

  /** Cuts every connection. */
  disconnect(): void {
    for (const session of this.#sessions) session.destroy();
  }

  /** GOAWAY on every connection: code 0 lets running RPCs end, 11 is ENHANCE_YOUR_CALM. */
  goAway(code: number): void {
    for (const session of this.#sessions) session.goaway(code);
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.disconnect();
    await new Promise<void>((done) => this.#server.close(() => done()));
  }

  #note(
    event: LogEntry['event'],
    rpc: number,
    method: string,
    request: SubscriptionListMessage | undefined,
  ): void {
    this.log.push({ milliseconds: performance.now() - this.#started, event, rpc, method, request });
  }

  #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    this.#rpcs += 1;
    const rpc = this.#rpcs;
    const method = String(headers[':path']).split('/').at(-1) as string;
    stream.on('close', () => this.#note('end', rpc, method, undefined));
    if (method !== 'Subscribe') this.#note('rpc', rpc, method, undefined);
    const { habits } = this;
    if (habits.garbage === 'html') {
      stream.respond({ ':status': 200, 'content-type': 'text/html' });
      stream.end('<html>It works!</html>');
      return;
    }
    const call = new ServerCall(stream);
    if (habits.frozen) {
      if (method === 'Subscribe') this.#note('rpc', rpc, method, undefined);
      stream.resume();
      return;
    }
    if (
      habits.username !== '' &&
      (headers['username'] !== habits.username || headers['password'] !== habits.password)
    ) {
      call.end(GrpcStatus.unauthenticated, 'wrong username or password');
      return;
    }
    if (habits.refusal !== undefined) {
      if (method === 'Subscribe') this.#note('rpc', rpc, method, undefined);
      call.end(habits.refusal.status, habits.refusal.message);
      return;
    }
    if (method === 'Capabilities') {
      call.onRequest = () => this.#capabilities(call);
    } else if (method === 'Get' && !habits.withoutGet) {
      call.onRequest = (bytes) => this.#get(call, bytes);
    } else if (method === 'Subscribe' && !habits.withoutSubscribe) {
      const subscription = new Subscribing(this, call, this.#stops, this.#timestamp);
      call.onRequest = (bytes) => {
        const request = fromBinary(SubscribeRequestSchema, bytes);
        if (request.request.case === 'subscribe') this.#note('rpc', rpc, method, request.request.value);
        subscription.request(request);
      };
      call.onClose = () => subscription.stop();
    } else call.end(GrpcStatus.unimplemented, `unknown method ${method}`);
  }

  #capabilities(call: ServerCall): void {
    call.send(
      toBinary(
        CapabilityResponseSchema,
        create(CapabilityResponseSchema, {
          gNMIVersion: '0.10.0',
          supportedEncodings: this.habits.encodings.map((encoding) => NUMBER_BY_ENCODING[encoding]),
          supportedModels: [
            { name: 'openconfig-interfaces', organization: 'OpenConfig', version: '3.7.2' } as never,
          ],
        }),
      ),
    );
    call.end(GrpcStatus.ok, '');
  }

  #get(call: ServerCall, bytes: Uint8Array): void {
    const request = fromBinary(GetRequestSchema, bytes);
    const encoding = ENCODING_BY_NUMBER[request.encoding];
    if (encoding === undefined || !this.habits.encodings.includes(encoding)) {
      call.end(GrpcStatus.unimplemented, `unsupported encoding ${request.encoding}`);
      return;
    }
    const notification: NotificationMessage[] = [];
    for (const each of request.path) {
      const wanted = joinPaths(pathFromMessage(request.prefix), pathFromMessage(each));
      const leaves = this.tree.below(wanted);
      if (leaves.length === 0) {
        call.end(GrpcStatus.notFound, `path ${formatPath(wanted)} not found`);
        return;
      }
      notification.push(...notificationsOf(leaves, encoding, this.habits, '', this.#timestamp()));
    }
    call.send(toBinary(GetResponseSchema, create(GetResponseSchema, { notification })));
    call.end(GrpcStatus.ok, '');
  }
}

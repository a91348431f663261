import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { LIMITS } from '../contract/limits.ts';
import { type ApiFunction, ROUTES } from '../contract/routes.ts';
import { matchRoute } from '../core/route-match.ts';
import { answerOf, type GatewayAnswer, ownAnswer } from './gateway-answer.ts';
import { decodedPath, type GatewayRequest, gatewayEvent, routeOf } from './gateway-event.ts';
import { type Handler, invoke } from './lambda.ts';

export interface Gateway {
  readonly url: string;
  readonly port: number;
  /** Requests since the start by operation, e.g. `GET /api/bgp/peers/{peerId}`; what is no operation by `METHOD -`. */
  counts(): Record<string, number>;
  /** Takes no more requests, waits for those under way for at most this long, and closes every connection. */
  stop(graceMilliseconds: number): Promise<void>;
}

export interface GatewayOptions {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly handlers: Readonly<Record<ApiFunction, Handler>>;
  /** Told of every invocation that failed: API Gateway says nothing of it to the client. */
  readonly onFailure?: (name: ApiFunction, error: unknown) => void;
  /** Shorter than API Gateway's own in tests only. */
  readonly timeoutMilliseconds?: number;
}

/** Above API Gateway's limit on request line and headers, so that the refusal is ours to make and in its words. */
const PARSER_HEADER_BYTES = 65_536;

/** Answers one request as API Gateway HTTP API would with these handlers behind it; used with and without a socket. */
export async function answerRequest(
  request: GatewayRequest,
  options: Pick<GatewayOptions, 'handlers' | 'onFailure' | 'timeoutMilliseconds'>,
  count: (name: string) => void = () => {},
): Promise<GatewayAnswer> {
  const path = decodedPath(request.target);
  const refusal = refusedByGateway(request, path);
  if (refusal !== undefined || path === undefined) {
    count(`${request.method} -`);
    return withRequestId(refusal ?? ownAnswer(400, 'Bad Request'), request.requestId);
  }
  const route = routeOf(path);
  const match = matchRoute(ROUTES, request.method, path);
  count(`${request.method} ${match.kind === 'route' ? match.route.path : '-'}`);
  const invocation = await invoke(
    route.function,
    options.handlers[route.function],
    JSON.stringify(gatewayEvent(request, path, route)),
    request.requestId,
    options.timeoutMilliseconds,
  );
  if (invocation.outcome === 'failed') options.onFailure?.(route.function, invocation.error);
  return withRequestId(answerOf(invocation), request.requestId);
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const counts = new Map<string, number>();
  const count = (name: string) => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  const server = createServer(
    { maxHeaderSize: PARSER_HEADER_BYTES, keepAliveTimeout: 60_000, requestTimeout: 60_000 },
    (incoming, response) => {
      // It fails only when the connection breaks under the request: there is nobody left to answer.
      serve(incoming, response, options, count).catch(() => incoming.destroy());
    },
  );
  await listen(server, options.host, options.port);
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the gateway has no port');
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    counts: () => Object.fromEntries(counts),
    stop: (graceMilliseconds) =>
      new Promise((resolve) => {
        const force = setTimeout(() => server.closeAllConnections(), graceMilliseconds);
        server.close(() => {
          clearTimeout(force);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

/** What API Gateway refuses before any function runs. */
function refusedByGateway(request: GatewayRequest, path: string | undefined): GatewayAnswer | undefined {
  // "Total combined size of request line and header values" (API Gateway quotas): the names do not count.
  const requestLine = Buffer.byteLength(`${request.method} ${request.target} HTTP/1.1`);
  const bytes = request.headers.reduce((sum, [, value]) => sum + Buffer.byteLength(value), requestLine);
  if (bytes > LIMITS.gatewayHeaderBytes) return ownAnswer(431, 'Request Header Fields Too Large');
  if (path === undefined) return ownAnswer(400, 'Bad Request');
  if (request.body.length > LIMITS.gatewayPayloadBytes) return ownAnswer(413, 'Request Entity Too Large');
  return undefined;
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  options: GatewayOptions,
  count: (name: string) => void,
): Promise<void> {
  const body = await boundedBody(incoming);
  const answer = await answerRequest(
    {
      method: incoming.method ?? 'GET',
      target: incoming.url ?? '/',
      headers: headerPairs(incoming.rawHeaders),
      body,
      sourceAddress: incoming.socket.remoteAddress ?? '',
      port: incoming.socket.localPort ?? 0,
      requestId: randomUUID(),
      receivedAt: Date.now(),
    },
    options,
    count,
  );
  if (!incoming.complete) response.shouldKeepAlive = false;
  response.writeHead(answer.status, [...answer.headers.flat(), 'content-length', String(answer.body.length)]);
  response.end(incoming.method === 'HEAD' ? undefined : answer.body);
  // The rest of a body that was too long: read and dropped for a moment, so that the client gets to read the answer.
  if (!incoming.complete) {
    incoming.resume();
    setTimeout(() => incoming.socket.destroy(), 1_000).unref();
  }
}

/** The body, or a little more than the limit when it is longer: enough to be refused, never all of it. */
async function boundedBody(incoming: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    const finish = () => resolve(Buffer.concat(parts));
    incoming.on('data', (part: Buffer) => {
      if (length > LIMITS.gatewayPayloadBytes) return;
      parts.push(part);
      length += part.length;
      if (length > LIMITS.gatewayPayloadBytes) {
        incoming.pause();
        finish();
      }
    });
    incoming.once('end', finish);
    incoming.once('error', reject);
  });
}

function withRequestId(answer: GatewayAnswer, requestId: string): GatewayAnswer {
  return { ...answer, headers: [...answer.headers, ['apigw-requestid', requestId]] };
}

function headerPairs(rawHeaders: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    pairs.push([rawHeaders[index] as string, rawHeaders[index + 1] as string]);
  }
  return pairs;
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

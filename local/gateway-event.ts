import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type ApiFunction, DEFAULT_FUNCTION, PREFIXES } from '../contract/routes.ts';

/** API Gateway HTTP API's event for a Lambda function, payload format 2.0. */
export type GatewayEvent = APIGatewayProxyEventV2;

/** A request as it came off the wire. */
export interface GatewayRequest {
  readonly method: string;
  /** Path and query as sent, e.g. `/a%20b?c=d`. */
  readonly target: string;
  /** In the order sent, names in any case, one pair for each header line. */
  readonly headers: ReadonlyArray<readonly [string, string]>;
  readonly body: Buffer;
  readonly sourceAddress: string;
  /** Of the connection's local end. */
  readonly port: number;
  readonly requestId: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
}

export interface GatewayRoute {
  readonly function: ApiFunction;
  readonly routeKey: string;
  /** What `{proxy+}` stands for. */
  readonly proxy?: string;
}

/** API Gateway hands these bodies over as text and every other one in base64, one without a Content-Type too
 * (seen on AWS: github.com/ministackorg/ministack/pull/766). */
const TEXT_BODY = /^(text\/|application\/(json|javascript|xml)\s*(;|$))/i;

/** What belongs to the connection, not to the request, is not handed on. Cookies have their own member. */
const NOT_HANDED_ON = new Set(['connection', 'cookie', 'keep-alive', 'te', 'transfer-encoding', 'upgrade']);

/** The route of contract/routes.ts that API Gateway would take: `ANY prefix`, `ANY prefix/{proxy+}` or `$default`. */
export function routeOf(path: string): GatewayRoute {
  for (const { prefix, function: name } of PREFIXES) {
    if (path === prefix) return { function: name, routeKey: `ANY ${prefix}` };
    if (path.startsWith(`${prefix}/`) && path.length > prefix.length + 1) {
      return { function: name, routeKey: `ANY ${prefix}/{proxy+}`, proxy: path.slice(prefix.length + 1) };
    }
  }
  return { function: DEFAULT_FUNCTION, routeKey: '$default' };
}

/**
 * The path as payload 2.0 carries it: percent-decoded as a whole, so that `%2F` is a slash, and cut at a decoded `?`
 * (seen on AWS: github.com/hotsock/voker/pull/8; the query string stays encoded). Undefined: not decodable.
 */
export function decodedPath(target: string): string | undefined {
  const [encoded = ''] = target.split('?', 1);
  try {
    const [path = ''] = decodeURIComponent(encoded).split('?', 1);
    return path;
  } catch {
    return undefined;
  }
}

/** The event for a request whose path, decoded, is `path`. */
export function gatewayEvent(request: GatewayRequest, path: string, route: GatewayRoute): GatewayEvent {
  const headers = joinedHeaders(request);
  const query = request.target.includes('?') ? request.target.slice(request.target.indexOf('?') + 1) : '';
  const cookies = request.headers
    .filter(([name]) => name.toLowerCase() === 'cookie')
    .flatMap(([, value]) => value.split(/;\s*/));
  const parameters = queryParameters(query);
  const domain = headers['host'] ?? '';
  const asText = TEXT_BODY.test(headers['content-type'] ?? '') && headers['content-encoding'] === undefined;
  return {
    version: '2.0',
    routeKey: route.routeKey,
    rawPath: path,
    rawQueryString: query,
    ...(cookies.length === 0 ? {} : { cookies }),
    headers,
    ...(parameters === undefined ? {} : { queryStringParameters: parameters }),
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      domainName: domain,
      domainPrefix: domain.split(/[.:]/, 1)[0] ?? '',
      http: {
        method: request.method,
        path,
        protocol: 'HTTP/1.1',
        sourceIp: request.sourceAddress,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: request.requestId,
      routeKey: route.routeKey,
      stage: '$default',
      time: commonLogTime(request.receivedAt),
      timeEpoch: request.receivedAt,
    },
    ...(route.proxy === undefined ? {} : { pathParameters: { proxy: route.proxy } }),
    ...(request.body.length === 0 ? {} : { body: request.body.toString(asText ? 'utf8' : 'base64') }),
    isBase64Encoded: request.body.length > 0 && !asText,
  };
}

function joinedHeaders(request: GatewayRequest): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of request.headers) {
    const lower = name.toLowerCase();
    if (NOT_HANDED_ON.has(lower)) continue;
    const before = headers[lower];
    headers[lower] = before === undefined ? value : `${before},${value}`;
  }
  const forwarded = headers['x-forwarded-for'];
  headers['x-forwarded-for'] =
    forwarded === undefined ? request.sourceAddress : `${forwarded}, ${request.sourceAddress}`;
  headers['x-forwarded-port'] = String(request.port);
  headers['x-forwarded-proto'] = 'http';
  headers['content-length'] = String(request.body.length);
  return headers;
}

/** Decoded, repeated names joined by commas; undefined when there is none. */
function queryParameters(query: string): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  let any = false;
  for (const [name, value] of new URLSearchParams(query)) {
    any = true;
    const before = parameters[name];
    parameters[name] = before === undefined ? value : `${before},${value}`;
  }
  return any ? parameters : undefined;
}

/** `12/Mar/2026:19:03:58 +0000`, as access logs and `requestContext.time` write it. */
function commonLogTime(milliseconds: number): string {
  const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(
    new Date(milliseconds).toUTCString(),
  ) ?? ['', '', '', '', ''];
  return `${day}/${month}/${year}:${time} +0000`;
}

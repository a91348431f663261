import { constants } from 'node:zlib';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { LIMITS } from '../contract/limits.ts';
import { type ApiFunction, ROUTES, type Route } from '../contract/routes.ts';
import { errorFields } from '../core/log-line.ts';
import { parseJson } from '../core/plain-json.ts';
import { Problem } from '../core/problem.ts';
import { matchRoute } from '../core/route-match.ts';
import { scopeAllows } from '../core/token.ts';
import { compressGzip, decompressGzip } from '../store/compression.ts';
import { watchKeyring } from '../store/keyring-fault.ts';
import type { LargeBody } from '../store/large-body-store.ts';
import { WriteConflict } from '../store/table.ts';
import { authenticate } from './authentication.ts';
import { log } from './log.ts';
import { writeMetrics } from './metrics.ts';
import { refuseUnknownParameters } from './preconditions.ts';

watchKeyring(() => writeMetrics({ KeyringFaults: 1 }));

/** Bodies below this many bytes are not worth compressing. */
const COMPRESS_FROM_BYTES = 1_024;

const GZIP_HEADERS = { 'content-encoding': 'gzip', vary: 'accept-encoding' };

/** One request, after authentication, routing and reading of its body. */
export interface ApiRequest {
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The parsed JSON body, or undefined where the operation takes none. */
  readonly body: unknown;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly path: string;
  readonly now: Date;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, unless it is a string, which goes out as it is with its own content-type. */
  readonly body?: unknown;
  /** In place of `body`, what is compressed already. The same octets given again are not stored a second time. */
  readonly gzipped?: Buffer;
}

export interface Operation {
  /** `json`: needed, as application/json. `optional`: the same, or nothing. `none`: what is sent is not looked at. */
  readonly body: 'json' | 'optional' | 'none';
  run(request: ApiRequest): Promise<ApiResponse>;
}

/** Operations by method and path, as `contract/routes.ts` spells them: `GET /api/bgp/peers/{peerId}`. */
export type Operations = Readonly<Record<string, Operation>>;

export interface ApiHandlerOptions {
  /** Keeps a body that is too large for API Gateway and gives its address; without it, such an answer is a 400. */
  readonly putLargeBody?: (body: LargeBody) => Promise<string>;
  /**
   * Headers of refusals too: of a 4xx to a caller whose token is good. `since` is when the request came. When it
   * fails, the refusal goes without.
   */
  readonly refusalHeaders?: (since: Date) => Promise<Readonly<Record<string, string>>>;
}

export type ApiHandler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;

/**
 * The Lambda handler of one API function: authentication, routing, body, errors and compression around its operations.
 *
 * The order of checks is always the same: 401, 404, 405, 403, 413, 415, then what the body shows. A function answers
 * for every path that reaches it, so an unknown one gets our own 404.
 */
export function apiHandler(
  functionName: ApiFunction,
  operations: Operations,
  { putLargeBody, refusalHeaders }: ApiHandlerOptions = {},
): ApiHandler {
  const routes = ROUTES.filter((route) => route.function === functionName);
  assertSameOperations(functionName, routes, operations);
  return middy()
    .use({
      before: ({ internal }) => {
        internal['cameAt'] = new Date();
      },
      after: (request) => compressBody(request, putLargeBody),
      onError: (request) => describeProblem(request, refusalHeaders),
    })
    .handler(async (event: APIGatewayProxyEventV2) => {
      const request = requestOf(event);
      const { route, parameters } = await admit(event, request, routes);
      const operation = operations[`${route.method} ${route.path}`] as Operation;
      const isRead =
        operation.body === 'json' || (operation.body === 'optional' && (event.body ?? '') !== '');
      const body = isRead ? readJson(event, request.headers) : undefined;
      // No write takes any: one who adds ?dry-run=true must not learn afterwards that there is no such thing.
      if (route.method !== 'GET') refuseUnknownParameters(request, []);
      const response = await operation.run({ ...request, parameters, body });
      const result = resultOf(response, event.requestContext.http.method);
      const isHead = event.requestContext.http.method === 'HEAD';
      if (response.gzipped !== undefined && !isHead) {
        await putGzipped(event, result, response.gzipped, putLargeBody);
      }
      return result;
    }) as unknown as ApiHandler;
}

async function admit(
  event: APIGatewayProxyEventV2,
  request: Pick<ApiRequest, 'headers' | 'path' | 'now'>,
  routes: readonly Route[],
): Promise<{ route: Route; parameters: Readonly<Record<string, string>> }> {
  const match = matchRoute(routes, event.requestContext.http.method, request.path);
  const isOpen =
    (match.kind === 'route' && match.route.scope === null) ||
    (match.kind === 'other-methods' && match.isOpen);
  const token = isOpen ? undefined : await authenticate(request.headers['authorization'], request.now);
  if (!isOpen && token === undefined) {
    throw new Problem(
      'unauthenticated',
      'send Authorization: Bearer with a token that is known and not expired',
    );
  }
  if (match.kind === 'none') throw new Problem('not-found', `${request.path} is no path of this API`);
  if (match.kind === 'other-methods') {
    throw new Problem('method-not-allowed', `${request.path} takes ${match.allow.join(', ')}`, {
      allow: match.allow,
    });
  }
  const { scope } = match.route;
  if (scope !== null && token !== undefined && !scopeAllows(token.scope, scope)) {
    throw new Problem(
      'insufficient-scope',
      `this needs scope ${scope}; the token ${token.name} has ${token.scope}`,
    );
  }
  return match;
}

function requestOf(event: APIGatewayProxyEventV2): Omit<ApiRequest, 'parameters' | 'body'> {
  return {
    path: event.rawPath,
    query: new URLSearchParams(event.rawQueryString),
    headers: event.headers,
    now: new Date(),
  };
}

function readJson(event: APIGatewayProxyEventV2, headers: ApiRequest['headers']): unknown {
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.length > LIMITS.requestBodyBytes) {
    throw new Problem(
      'body-too-large',
      `the body has ${bytes.length} bytes; ${LIMITS.requestBodyBytes} are allowed`,
    );
  }
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') {
    throw new Problem(
      'unsupported-media-type',
      `content-type is ${mediaType ?? 'missing'}; send application/json`,
    );
  }
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    // The parser quotes what it could not read, and a body may hold a password: only the position is told.
    const position = /position (\d+)/.exec(String(error))?.[1];
    const place = position === undefined ? '' : ` at position ${position}`;
    throw new Problem(
      'invalid-json',
      bytes.length === 0 ? 'the body is empty' : `the body is not JSON${place}`,
    );
  }
}

function resultOf(response: ApiResponse, method: string): APIGatewayProxyStructuredResultV2 {
  const isText = typeof response.body === 'string';
  const body =
    response.body === undefined ? '' : isText ? (response.body as string) : JSON.stringify(response.body);
  const contentType = response.body === undefined || isText ? {} : { 'content-type': 'application/json' };
  return {
    statusCode: response.status,
    headers: { ...contentType, 'cache-control': 'no-store', ...response.headers },
    body: method === 'HEAD' ? '' : body,
  };
}

/** Gives a result its body, as it is for a caller who takes it compressed, else as text, which `compressBody` looks at. */
async function putGzipped(
  event: APIGatewayProxyEventV2,
  result: APIGatewayProxyStructuredResultV2,
  gzipped: Buffer,
  putLargeBody: ApiHandlerOptions['putLargeBody'],
): Promise<void> {
  if (!acceptsGzip(event.headers['accept-encoding'])) {
    result.body = (await decompressGzip(gzipped)).toString();
    return;
  }
  result.headers = { ...result.headers, ...GZIP_HEADERS };
  if (gzipped.length > LIMITS.directBodyBytes) await redirectToBody(result, gzipped, putLargeBody);
  else {
    result.body = gzipped.toString('base64');
    result.isBase64Encoded = true;
  }
}

/**
 * Compresses what the caller accepts compressed (RFC 9110 §12.5.3). A body that is too large for API Gateway even so
 * goes to S3, and the caller is sent there.
 */
async function compressBody(
  request: { event: APIGatewayProxyEventV2; response: APIGatewayProxyStructuredResultV2 | null },
  putLargeBody: ApiHandlerOptions['putLargeBody'],
): Promise<void> {
  const { response } = request;
  const body = response?.body;
  if (response == null || body === undefined || body.length < COMPRESS_FROM_BYTES) return;
  if (response.isBase64Encoded === true) return;
  const gzipped = acceptsGzip(request.event.headers['accept-encoding']);
  // Of a large body, time is worth more than the last tenth of its size.
  const level =
    body.length > LIMITS.directBodyBytes ? constants.Z_BEST_SPEED : constants.Z_DEFAULT_COMPRESSION;
  const octets = gzipped ? await compressGzip(body, { level }) : undefined;
  if (octets !== undefined) {
    response.headers = { ...response.headers, ...GZIP_HEADERS };
  }
  const size = octets?.length ?? Buffer.byteLength(body);
  if (size > LIMITS.directBodyBytes) {
    await redirectToBody(response, octets ?? Buffer.from(body), putLargeBody);
  } else if (octets !== undefined) {
    response.body = octets.toString('base64');
    response.isBase64Encoded = true;
  }
}

async function redirectToBody(
  response: APIGatewayProxyStructuredResultV2,
  octets: Uint8Array,
  putLargeBody: ApiHandlerOptions['putLargeBody'],
): Promise<void> {
  if (putLargeBody === undefined) {
    throw new Problem(
      'invalid-query',
      `the answer has ${octets.length} bytes, more than goes out at once: ask for pages with limit and after`,
    );
  }
  const {
    'content-type': contentType,
    'content-encoding': contentEncoding,
    ...headers
  } = response.headers ?? {};
  const location = await putLargeBody({
    octets,
    contentType: String(contentType),
    contentEncoding: contentEncoding === undefined ? undefined : String(contentEncoding),
  });
  response.statusCode = 303;
  response.headers = { ...headers, location };
  response.body = '';
}

function acceptsGzip(header: string | undefined): boolean {
  return (header ?? '')
    .split(',')
    .some((coding) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$)[\d.]+)?\s*$/i.test(coding));
}

/** Turns whatever was thrown into problem details; what is not ours is logged and told to nobody. */
async function describeProblem(
  request: {
    event: APIGatewayProxyEventV2;
    error: Error | null;
    response?: unknown;
    internal: Readonly<Record<string, unknown>>;
  },
  refusalHeaders: ApiHandlerOptions['refusalHeaders'],
): Promise<void> {
  const { event, error } = request;
  const { requestId } = event.requestContext;
  const problem = problemOf(error, requestId);
  const { allow, retryAfterSeconds } = problem.extras;
  const result: APIGatewayProxyStructuredResultV2 = {
    statusCode: problem.status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(problem.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(allow === undefined ? {} : { allow: allow.join(', ') }),
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(await headersOfRefusal(problem, request.internal['cameAt'] as Date, refusalHeaders)),
    },
    body:
      event.requestContext.http.method === 'HEAD'
        ? ''
        : JSON.stringify(problem.body(event.rawPath, requestId)),
  };
  request.response = result;
}

async function headersOfRefusal(
  { status }: Problem,
  cameAt: Date,
  refusalHeaders: ApiHandlerOptions['refusalHeaders'],
): Promise<Readonly<Record<string, string>>> {
  // Strangers learn nothing, and where something inside failed, reading again would not help.
  if (refusalHeaders === undefined || status === 401 || status === 403 || status >= 500) return {};
  try {
    return await refusalHeaders(cameAt);
  } catch (error) {
    log('warn', 'a refusal goes without its headers', errorFields(error as Error));
    return {};
  }
}

function problemOf(error: Error | null, requestId: string): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof WriteConflict) {
    return new Problem('busy', 'too many changes to the same things at once; try again', {
      retryAfterSeconds: 1,
    });
  }
  writeMetrics({ InternalErrors: 1 });
  log('error', 'request failed', { ...errorFields(error), 'request-id': requestId });
  return new Problem('internal', 'the request failed for a reason inside; its request-id is in the log');
}

function assertSameOperations(functionName: string, routes: readonly Route[], operations: Operations): void {
  const declared = routes.map((route) => `${route.method} ${route.path}`).sort();
  const given = Object.keys(operations).sort();
  if (declared.join() !== given.join()) {
    throw new Error(`functions/${functionName}.ts has [${given}], contract/routes.ts has [${declared}]`);
  }
}

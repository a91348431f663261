import { LIMITS } from '../contract/limits.ts';
import type { Invocation } from './lambda.ts';

/** An answer on its way to the client. */
export interface GatewayAnswer {
  readonly status: number;
  readonly headers: ReadonlyArray<readonly [string, string]>;
  readonly body: Buffer;
}

/**
 * API Gateway gives these headers of a function another name, so that no client takes them for its own
 * ("Remapped HTTP headers", API Gateway Developer Guide, known issues). Here they come under both: a 401 has its
 * WWW-Authenticate (RFC 9110 §11.6.1), and a client finds what it will find in AWS.
 */
const REMAPPED = new Set(['www-authenticate']);

/** Headers that the gateway sets itself, whatever the function says. */
const OWN = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** What API Gateway answers by itself: its own form, not a problem document of ours. */
export function ownAnswer(status: number, message: string): GatewayAnswer {
  return {
    status,
    headers: [['content-type', 'application/json']],
    body: Buffer.from(JSON.stringify({ message })),
  };
}

/** What API Gateway makes of an invocation, payload format 2.0. */
export function answerOf(invocation: Invocation): GatewayAnswer {
  switch (invocation.outcome) {
    case 'too-large':
      return ownAnswer(413, 'Request Entity Too Large');
    case 'failed':
      return ownAnswer(500, 'Internal Server Error');
    case 'timed-out':
      return ownAnswer(503, 'Service Unavailable');
    case 'answered':
      return formatted(invocation.result) ?? ownAnswer(500, 'Internal Server Error');
  }
}

/**
 * A result with a `statusCode` is an answer in parts; anything else is the body of a 200 of JSON. Undefined when the
 * parts are not what API Gateway understands.
 */
function formatted(result: unknown): GatewayAnswer | undefined {
  if (typeof result !== 'object' || result === null || !('statusCode' in result)) {
    const body = typeof result === 'string' ? result : JSON.stringify(result);
    return { status: 200, headers: [['content-type', 'application/json']], body: Buffer.from(body) };
  }
  const parts = result as Readonly<Record<string, unknown>>;
  const status = Number(parts['statusCode']);
  if (!Number.isInteger(status) || status < 100 || status > 599) return undefined;
  const given = parts['body'] ?? '';
  if (typeof given !== 'string') return undefined;
  const body = Buffer.from(given, parts['isBase64Encoded'] === true ? 'base64' : 'utf8');
  if (body.length > LIMITS.gatewayPayloadBytes) return undefined;

  const headers: [string, string][] = [];
  for (const [name, value] of Object.entries((parts['headers'] ?? {}) as Record<string, unknown>)) {
    if (value === undefined || value === null) continue;
    const lower = name.toLowerCase();
    if (OWN.has(lower)) continue;
    headers.push([lower, String(value)]);
    if (REMAPPED.has(lower)) headers.push([`x-amzn-remapped-${lower}`, String(value)]);
  }
  for (const cookie of (parts['cookies'] ?? []) as unknown[]) headers.push(['set-cookie', String(cookie)]);
  if (!headers.some(([name]) => name === 'content-type')) {
    headers.push(['content-type', 'text/plain;charset=UTF-8']);
  }
  return { status, headers, body };
}

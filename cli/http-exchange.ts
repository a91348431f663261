/** One HTTP request and its answer, over node:http(s): certificates and time-outs are ours to set. */
import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import * as tls from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { proxyAddress, proxyAuthorization, proxyFor } from './proxy.ts';
import { TunnelAgent } from './tunnel-agent.ts';

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Sends one request; throws what Node throws when no answer comes, `TimedOut`, or the signal's reason. */
export type Exchange = (request: HttpRequest, signal: AbortSignal) => Promise<HttpAnswer>;

/** No answer within the time that was given for it. */
export class TimedOut extends Error {
  constructor(seconds: number) {
    super(`no answer within ${seconds} s`);
    this.name = 'TimedOut';
  }
}

/** An answer larger than this is not the API's: its own limit is 10 MB, what it redirects to some hundred. */
const MOST_BYTES = 1_073_741_824;

export interface ExchangeOptions {
  /** PEM text of certificates trusted beside the system's. */
  readonly ca: string | undefined;
  readonly timeoutMilliseconds: number;
  readonly connections: number;
  /** Names the proxies. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Keeps connections open between requests; they do not keep the process alive. */
export function httpExchange(options: ExchangeOptions): Exchange {
  const pool = { keepAlive: true, maxSockets: options.connections };
  const ca = trusted(options.ca);
  const securePool = { ...pool, ...(ca === undefined ? {} : { ca }) };
  const agents = { 'http:': new HttpAgent(pool), 'https:': new HttpsAgent(securePool) };
  const tunnels = new Map<string, TunnelAgent>();
  /** How a URL is reached: which pool of connections, and what else the request says. */
  const way = (url: URL, headers: HttpRequest['headers']): RequestOptions => {
    const proxy = proxyFor(url, options.environment);
    if (url.protocol === 'https:') {
      if (proxy === undefined) return { agent: agents['https:'], headers };
      const tunnel = tunnels.get(proxy.href) ?? new TunnelAgent(proxy, securePool);
      tunnels.set(proxy.href, tunnel);
      return { agent: tunnel, headers };
    }
    if (proxy === undefined) return { agent: agents['http:'], headers };
    // The absolute form is what a proxy takes (RFC 9112 §3.2.2).
    return {
      agent: agents['http:'],
      ...proxyAddress(proxy),
      path: url.href,
      headers: { ...headers, host: url.host, ...proxyAuthorization(proxy) },
    };
  };
  return (request, signal) =>
    new Promise((resolve, reject) => {
      const isTls = request.url.protocol === 'https:';
      const length =
        request.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(request.body)) };
      const settings: RequestOptions = {
        ...way(request.url, { ...request.headers, ...length }),
        method: request.method,
      };
      const outgoing = isTls ? httpsRequest(request.url, settings) : httpRequest(request.url, settings);
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', interrupt);
      };
      const fail = (error: Error) => {
        settle();
        reject(error);
      };
      // A request that still waits for its connection, which a proxy may never give it, says nothing when it is destroyed.
      const giveUp = (error: Error) => {
        fail(error);
        outgoing.destroy(error);
      };
      const timer = setTimeout(
        () => giveUp(new TimedOut(options.timeoutMilliseconds / 1000)),
        options.timeoutMilliseconds,
      );
      const interrupt = () => giveUp(signal.reason as Error);
      signal.addEventListener('abort', interrupt, { once: true });
      outgoing.once('error', fail);
      outgoing.once('response', (incoming) => {
        const parts: Buffer[] = [];
        let bytes = 0;
        incoming.on('data', (part: Buffer) => {
          bytes += part.length;
          if (bytes > MOST_BYTES) outgoing.destroy(new Error('the answer is larger than 1 GB'));
          else parts.push(part);
        });
        incoming.once('error', fail);
        incoming.once('end', () => {
          settle();
          try {
            const body = Buffer.concat(parts);
            const isGzip = incoming.headers['content-encoding'] === 'gzip' && body.length > 0;
            resolve({
              status: incoming.statusCode ?? 0,
              headers: Object.fromEntries(
                Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
              ),
              text: (isGzip ? gunzipSync(body, { maxOutputLength: MOST_BYTES }) : body).toString('utf8'),
            });
          } catch (error) {
            reject(error);
          }
        });
      });
      outgoing.end(request.body);
    });
}

/** Node's own list is not the system's: a company's authority is in the latter (and in NODE_EXTRA_CA_CERTS). */
function trusted(extra: string | undefined): string[] | undefined {
  // Since Node 22.15; an older one has its own list and NODE_EXTRA_CA_CERTS.
  const read = (tls as { getCACertificates?: (type: 'default' | 'system' | 'extra') => string[] })
    .getCACertificates;
  if (read === undefined) return extra === undefined ? undefined : [...tls.rootCertificates, extra];
  return [...read('default'), ...read('system'), ...read('extra'), ...(extra === undefined ? [] : [extra])];
}

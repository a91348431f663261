import { EXIT, Failure } from './exit-code.ts';
import {
  type Exchange,
  type ExchangeOptions,
  type HttpAnswer,
  httpExchange,
  TimedOut,
} from './http-exchange.ts';
import { isObject, type Json, parseJsonText } from './json-text.ts';
import { refusalSentence } from './refusal.ts';
import { unreachableSentence } from './unreachable.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface ApiAnswer {
  readonly status: number;
  /** The configuration's revision, for `If-Match`. */
  readonly etag: string | undefined;
  readonly text: string;
  /** The body, or undefined where there is none or it is no JSON. */
  readonly json: Json | undefined;
}

/** What the API answered with 400 or more. */
export class Refusal extends Failure {
  readonly status: number;
  /** The last part of the problem's type, `conflict` for instance; `''` for what is not ours. */
  readonly type: string;
  /** The id of what is in the way (409). */
  readonly conflictingId: number | undefined;

  constructor(answer: HttpAnswer, context: { readonly url: URL; readonly tokenIsFrom: string }) {
    const { sentence, type, conflictingId } = refusalSentence(answer, context);
    super(sentence, answer.status === 401 || answer.status === 403 ? EXIT.token : EXIT.refused);
    this.name = 'Refusal';
    this.status = answer.status;
    this.type = type;
    this.conflictingId = conflictingId;
  }
}

export interface ClientOptions {
  /** Of the stack; a path is kept as a prefix. */
  readonly url: URL;
  readonly token: string;
  /** Where the token was found, as the end of a sentence. */
  readonly tokenIsFrom: string;
  /** Ends waiting and requests under way. */
  readonly signal: AbortSignal;
  readonly exchange: Exchange;
  /** Told of each wait before another try. */
  readonly onWait?: (sentence: string) => void;
  /** Resolves after so many milliseconds, or rejects when the signal fires. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const MOST_TRIES = 6;
const MOST_WAIT_SECONDS = 30;
const MOST_PAGES = 100_000;
const MOST_REDIRECTS = 3;

/** The one way to the API: authorization, errors as sentences, pages, and patience where it is asked for. */
export class ApiClient {
  readonly url: URL;
  private readonly options: ClientOptions;

  constructor(options: ClientOptions) {
    this.options = options;
    this.url = options.url;
  }

  get(path: string): Promise<ApiAnswer> {
    return this.send('GET', path);
  }

  /** A whole list, page by page (RFC 8288). */
  async list(path: string): Promise<Json[]> {
    const items: Json[] = [];
    let next: string | undefined = path;
    for (let pages = 0; next !== undefined; pages += 1) {
      if (pages === MOST_PAGES) throw new Failure(`${path} has no last page`, EXIT.refused);
      const answer: HttpAnswer = await this.exchange('GET', next);
      const page = parseJsonText(answer.text);
      if (!Array.isArray(page)) throw this.notOurs(answer);
      for (const item of page) items.push(item);
      next = nextPage(answer.headers['link']);
    }
    return items;
  }

  /** Throws a `Refusal` for 400 and above, a `Failure` when there is no answer. */
  async send(
    method: Method,
    path: string,
    options: { readonly body?: Json; readonly ifMatch?: string | undefined } = {},
  ): Promise<ApiAnswer> {
    const answer = await this.exchange(method, path, options);
    return {
      status: answer.status,
      etag: answer.headers['etag'],
      text: answer.text,
      json: answer.text === '' ? undefined : parseJsonText(answer.text),
    };
  }

  private async exchange(
    method: Method,
    path: string,
    { body, ifMatch }: { readonly body?: Json; readonly ifMatch?: string | undefined } = {},
  ): Promise<HttpAnswer> {
    const { token, url, signal } = this.options;
    const headers: Record<string, string> = {
      accept: 'application/json',
      'accept-encoding': 'gzip',
      'user-agent': 'graticule-cli',
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const request = {
      method,
      url: new URL(url.pathname.replace(/\/$/, '') + path, url),
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    for (let tries = 1; ; tries += 1) {
      const answer = await this.attempt(request, signal);
      if (answer.status === 303) return this.follow(answer);
      if (answer.status < 300) return this.recognised(answer);
      const wait = waitSeconds(answer, method, tries);
      if (wait === undefined || tries === MOST_TRIES) {
        throw answer.status < 400 ? this.notOurs(answer) : new Refusal(answer, this.options);
      }
      this.options.onWait?.(
        `the stack is busy (${answer.status}); trying again in ${Math.max(1, Math.round(wait))} s`,
      );
      await this.options.sleep(wait * 1000, signal);
    }
  }

  /** A large answer lies in S3 (or its stand-in), at an address that needs, and gets, no token. */
  private async follow(answer: HttpAnswer): Promise<HttpAnswer> {
    let current = answer;
    for (let redirects = 0; current.status === 303; redirects += 1) {
      const location = current.headers['location'] ?? '';
      const base = this.options.url.href;
      if (redirects === MOST_REDIRECTS || !URL.canParse(location, base)) throw this.notOurs(current);
      const url = new URL(location, base);
      if (!/^https?:$/.test(url.protocol)) throw this.notOurs(current);
      current = await this.attempt(
        { method: 'GET', url, headers: { 'accept-encoding': 'gzip' } },
        this.options.signal,
      );
    }
    if (current.status >= 300) {
      throw new Failure(
        `the answer was to be fetched from ${new URL(answer.headers['location'] ?? '', this.options.url).host}, which said ${current.status}; try again`,
        EXIT.refused,
      );
    }
    return current;
  }

  private async attempt(request: Parameters<Exchange>[0], signal: AbortSignal): Promise<HttpAnswer> {
    signal.throwIfAborted();
    try {
      return await this.options.exchange(request, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof Failure) throw error;
      const isTimeout = error instanceof TimedOut;
      const sentence = isTimeout
        ? `${request.url.host} gave ${error.message}`
        : unreachableSentence(error, request.url);
      // Of a write nobody knows whether it was done; `apply` finds out the next time.
      const doubt = request.method === 'GET' ? '' : '; whether the change was made is not known';
      throw new Failure(`${sentence}${doubt}`, EXIT.unreachable);
    }
  }

  /** A 2xx must look like ours: a captive portal's page is no list of peers. */
  private recognised(answer: HttpAnswer): HttpAnswer {
    if (answer.text === '' || !/html/i.test(answer.headers['content-type'] ?? '')) return answer;
    throw this.notOurs(answer);
  }

  private notOurs(answer: HttpAnswer): Failure {
    const type = answer.headers['content-type'] ?? 'no content type';
    return new Failure(
      `${this.options.url.href} answered ${answer.status} with ${type}: that is not Graticule's API; check the URL`,
      EXIT.unreachable,
    );
  }
}

/** A client over the network. */
export function networkClient(
  options: Omit<ClientOptions, 'exchange' | 'sleep'> & Omit<ExchangeOptions, 'connections'>,
): ApiClient {
  return new ApiClient({
    ...options,
    exchange: httpExchange({ ...options, connections: 16 }),
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        const stop = () => {
          clearTimeout(timer);
          reject(signal.reason);
        };
        const timer = setTimeout(() => {
          signal.removeEventListener('abort', stop);
          resolve();
        }, milliseconds);
        signal.addEventListener('abort', stop, { once: true });
      }),
  });
}

/**
 * How long to wait before the same request again, or undefined: give up. A 429 never reached the function. A 503 with
 * Retry-After is the API's own word that nothing was done; without it the gateway lost patience, and only a GET is safe.
 */
function waitSeconds(answer: HttpAnswer, method: Method, tries: number): number | undefined {
  const given = answer.headers['retry-after'];
  const asked = /^\d{1,4}$/.test(given ?? '') ? Number(given) : undefined;
  const backOff = Math.min(2 ** (tries - 1), MOST_WAIT_SECONDS);
  if (answer.status === 429) return Math.min(asked ?? backOff, MOST_WAIT_SECONDS);
  if (answer.status !== 503) return undefined;
  const { type } = problemOf(answer);
  // No worker runs: that takes a person, not a moment.
  if (type === 'no-worker') return undefined;
  if (asked !== undefined) return Math.min(asked, MOST_WAIT_SECONDS);
  return method === 'GET' ? backOff : undefined;
}

function problemOf(answer: HttpAnswer): { type: string } {
  const body = parseJsonText(answer.text);
  const type = isObject(body) && typeof body['type'] === 'string' ? body['type'] : '';
  return { type: type.split(':').at(-1) as string };
}

function nextPage(link: string | undefined): string | undefined {
  for (const part of (link ?? '').split(/,\s*(?=<)/)) {
    const match = /^<([^>]*)>\s*;(.*)$/.exec(part.trim());
    if (match !== null && /rel="?next"?/.test(match[2] as string)) return match[1];
  }
  return undefined;
}

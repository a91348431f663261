/** One request as a test writes it: `body` goes out as JSON, `rawBody` as it stands. */
export interface ApiCall {
  readonly method: string;
  readonly path: string;
  /** A bearer token; null: no Authorization header; omitted: the client's admin token. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly rawBody?: string | Uint8Array;
}

export interface ApiAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The parsed body of a JSON answer, else undefined. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies member by member.
  readonly json: any;
}

/** Speaks to the API, be it over HTTP or by invoking the handlers: the same contract cases run against both. */
export interface ApiClient {
  send(call: ApiCall): Promise<ApiAnswer>;
}

export function answerOf(status: number, headers: Record<string, string>, text: string): ApiAnswer {
  const isJson = /^application\/(json|[a-z-]+\+json)/.test(headers['content-type'] ?? '');
  return { status, headers, text, json: isJson && text !== '' ? JSON.parse(text) : undefined };
}

/** The wire form of a call's headers and body. */
export function wireForm(
  call: ApiCall,
  adminToken: string,
): { headers: Record<string, string>; body: Uint8Array } {
  const token = call.token === undefined ? adminToken : call.token;
  const text = call.body === undefined ? (call.rawBody ?? '') : JSON.stringify(call.body);
  const body = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  return {
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
    },
    body,
  };
}

import { describe, expect, it } from 'vitest';
import { ApiClient, type Refusal } from '../../cli/client.ts';
import type { Exchange, HttpAnswer, HttpRequest } from '../../cli/http-exchange.ts';

/** A client whose answers come from a list; waits are written down and take no time. */
function clientOf(answers: ReadonlyArray<Partial<HttpAnswer> | Error>) {
  const requests: HttpRequest[] = [];
  const waits: number[] = [];
  const exchange: Exchange = async (request) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push(request);
    if (answer instanceof Error) throw answer;
    return { status: 200, headers: { 'content-type': 'application/json' }, text: '', ...answer };
  };
  const client = new ApiClient({
    url: new URL('https://stack.example/prod'),
    token: 'grt_x',
    tokenIsFrom: 'GRATICULE_API_TOKEN',
    signal: new AbortController().signal,
    exchange,
    sleep: async (milliseconds) => {
      waits.push(milliseconds);
    },
  });
  return { client, requests, waits };
}

const problem = (status: number, body: object, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  text: JSON.stringify({ status, ...body }),
});

const gateway = (status: number, message: string) => ({ status, text: JSON.stringify({ message }) });

describe('the API client', () => {
  it('sends the token, keeps the URL’s own path, and reads numbers without losing a digit', async () => {
    const { client, requests } = clientOf([{ text: '{"identifier":18446744073709551615,"id":7}' }]);
    const { json } = await client.get('/api/topology');
    expect(json).toEqual({ identifier: 18446744073709551615n, id: 7 });
    expect(requests[0]?.url.href).toBe('https://stack.example/prod/api/topology');
    expect(requests[0]?.headers['authorization']).toBe('Bearer grt_x');
  });

  it('puts a list together from its pages', async () => {
    const next = '</api/v1/models?limit=2&after=2>; rel="next"';
    const { client, requests } = clientOf([
      { text: '[{"id":1},{"id":2}]', headers: { link: next } },
      { text: '[{"id":3}]' },
    ]);
    expect(await client.list('/api/v1/models?limit=2')).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    expect(requests[1]?.url.href).toBe('https://stack.example/prod/api/v1/models?limit=2&after=2');
  });

  it('fetches a large answer from where it lies, without the token', async () => {
    const { client, requests } = clientOf([
      { status: 303, headers: { location: 'https://bucket.example/body?signature=1' } },
      { text: '[1]' },
    ]);
    expect((await client.get('/api/topology/graph')).json).toEqual([1]);
    expect(requests[1]?.url.host).toBe('bucket.example');
    expect(requests[1]?.headers['authorization']).toBeUndefined();
  });

  it('waits as Retry-After says, on 429 and on 503, and gives up after six tries', async () => {
    const busy = problem(503, { title: 'busy', type: 'urn:graticule:problem:busy' }, { 'retry-after': '3' });
    const once = clientOf([busy, problem(429, { title: 'slower' }, { 'retry-after': '1' }), { text: '{}' }]);
    expect((await once.client.send('POST', '/api/bgp/peers', { body: {} })).json).toEqual({});
    expect(once.waits).toEqual([3_000, 1_000]);
    const ever = clientOf([busy]);
    await expect(ever.client.get('/api/engine')).rejects.toThrow('busy');
    expect(ever.requests).toHaveLength(6);
  });

  it('does not repeat a write of which nobody knows whether it was done', async () => {
    const lost = clientOf([gateway(503, 'Service Unavailable'), { text: '{}' }]);
    await expect(lost.client.send('POST', '/api/bgp/peers', { body: {} })).rejects.toThrow(
      'whether a change was made is not known (503 Service Unavailable from stack.example)',
    );
    expect(lost.requests).toHaveLength(1);
    const read = clientOf([gateway(503, 'Service Unavailable'), { text: '[]' }]);
    expect(await read.client.list('/api/bgp/peers')).toEqual([]);
    const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    await expect(clientOf([reset]).client.send('PUT', '/x', { body: {} })).rejects.toThrow(
      'stack.example closed the connection without an answer; whether the change was made is not known',
    );
  });

  it('does not wait for a worker that nobody started', async () => {
    const none = problem(
      503,
      { title: 'No worker is running', type: 'urn:graticule:problem:no-worker', detail: 'no worker runs' },
      { 'retry-after': '5' },
    );
    const { client, requests } = clientOf([none]);
    await expect(client.send('POST', '/api/v1/models/1/test', { body: {} })).rejects.toThrow(
      'no worker runs',
    );
    expect(requests).toHaveLength(1);
  });

  it('makes one sentence of a problem, of the gateway’s own bodies, and of strangers’', async () => {
    const told = async (answer: Partial<HttpAnswer> | Error) => {
      const error = await clientOf([answer])
        .client.send('POST', '/x', { body: {} })
        .catch((reason: Refusal) => reason);
      return [(error as Refusal).exitCode, (error as Refusal).message];
    };
    const errors = [
      { pointer: '/hold-time', code: 'out-of-range', detail: 'hold-time is 0 or 3 to 65535' },
      { pointer: '/nme', code: 'unknown-member', detail: 'did you mean name?' },
    ];
    expect(await told(problem(400, { title: 'bad', detail: '2 members are wrong', errors }))).toEqual([
      1,
      '2 members are wrong: /hold-time (hold-time is 0 or 3 to 65535); /nme (did you mean name?)',
    ]);
    expect(await told(problem(401, { title: 'who?' }))).toEqual([
      4,
      'stack.example does not know the token from GRATICULE_API_TOKEN, or it has expired',
    ]);
    expect(await told(problem(403, { title: 'no', detail: 'this needs scope write' }))).toEqual([
      4,
      'this needs scope write',
    ]);
    expect(await told(problem(500, { title: 'Oh', detail: 'failed', 'request-id': 'r1' }))).toEqual([
      1,
      'failed (500, request-id r1)',
    ]);
    expect((await told(gateway(413, 'Request Entity Too Large')))[1]).toContain('larger than the gateway');
    expect((await told(gateway(404, 'Not Found')))[1]).toContain('is the URL that of a Graticule stack?');
    const page = { headers: { 'content-type': 'text/html' }, text: '<h1>Welcome</h1>' };
    expect(await told(page)).toEqual([
      3,
      "https://stack.example/prod answered 200 with text/html: that is not Graticule's API; check the URL",
    ]);
    const refused = Object.assign(new AggregateError([]), {
      errors: [Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })],
    });
    expect((await told(refused))[1]).toContain('nothing listens at stack.example');
  });

  it('lets no control character of an answer through', async () => {
    const error = await clientOf([problem(409, { title: 'x', detail: 'peer \u001b[31mred\u0007' })])
      .client.get('/x')
      .catch((reason: Refusal) => reason);
    expect((error as Refusal).message).toBe('peer \\u001b[31mred\\u0007');
  });
});

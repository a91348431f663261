import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../contract/limits.ts';
import { type Gateway, startGateway } from '../../local/gateway.ts';
import type { GatewayEvent } from '../../local/gateway-event.ts';
import type { Handler } from '../../local/lambda.ts';
import { currentPrincipal } from '../../local/principal.ts';

/** What the stand-in handler does with an event; each test sets its own. */
let behave: (event: GatewayEvent) => unknown;
let seen: GatewayEvent[] = [];
let failures: unknown[] = [];
let gateway: Gateway;

const standIn: Handler = async (event) => {
  seen.push(event);
  return behave(event);
};

beforeAll(async () => {
  gateway = await startGateway({
    host: '127.0.0.1',
    port: 0,
    handlers: {
      peers: standIn,
      topology: standIn,
      models: standIn,
      devices: standIn,
      subscriptions: standIn,
      engine: standIn,
      tokens: standIn,
      outputs: standIn,
    },
    onFailure: (_name, error) => failures.push(error),
    timeoutMilliseconds: 200,
  });
});

afterAll(() => gateway.stop(0));

beforeEach(() => {
  seen = [];
  failures = [];
  behave = () => ({ statusCode: 200, body: 'ok' });
});

/** Sends the bytes and reads until the server closes, so that nothing between changes what goes over the wire. */
function exchange(text: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(gateway.port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('latin1');
    socket.on('data', (part) => {
      answer += part;
    });
    socket.once('close', () => resolve(answer));
    socket.once('error', reject);
    socket.write(text);
  });
}

const get = (target: string, headers: readonly string[] = []) =>
  exchange(
    [`GET ${target} HTTP/1.1`, 'Host: api.example:8080', 'Connection: close', ...headers, '', ''].join(
      '\r\n',
    ),
  );

const post = (body: string | Buffer, headers: readonly string[] = []) => {
  const head = [
    'POST /api/bgp/peers HTTP/1.1',
    'Host: api.example',
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
    '',
    '',
  ].join('\r\n');
  return exchange(Buffer.concat([Buffer.from(head), Buffer.from(body)]));
};

const statusOf = (answer: string) => Number(answer.split(' ')[1]);
const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4);

describe('the event that a function gets', () => {
  it('has the form of payload 2.0', async () => {
    await get('/api/bgp/peers/7?limit=2&after=x%20y', ['User-Agent: curl/8', 'X-One: a', 'x-one: b']);
    expect(seen[0]).toEqual({
      version: '2.0',
      routeKey: 'ANY /api/bgp/peers/{proxy+}',
      rawPath: '/api/bgp/peers/7',
      rawQueryString: 'limit=2&after=x%20y',
      headers: {
        host: 'api.example:8080',
        'user-agent': 'curl/8',
        'x-one': 'a,b',
        'content-length': '0',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-port': String(gateway.port),
        'x-forwarded-proto': 'http',
      },
      queryStringParameters: { limit: '2', after: 'x y' },
      pathParameters: { proxy: '7' },
      requestContext: {
        accountId: '000000000000',
        apiId: 'local',
        domainName: 'api.example:8080',
        domainPrefix: 'api',
        http: {
          method: 'GET',
          path: '/api/bgp/peers/7',
          protocol: 'HTTP/1.1',
          sourceIp: '127.0.0.1',
          userAgent: 'curl/8',
        },
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        routeKey: 'ANY /api/bgp/peers/{proxy+}',
        stage: '$default',
        time: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
        timeEpoch: expect.any(Number),
      },
      isBase64Encoded: false,
    });
  });

  it('has the path decoded as a whole, a slash too, and cut at a decoded question mark', async () => {
    await get('/api/bgp/peers/a%2Fb%20%C3%A9%3Fc?d=%2F');
    expect(seen[0]?.rawPath).toBe('/api/bgp/peers/a/b é');
    expect(seen[0]?.requestContext.http.path).toBe('/api/bgp/peers/a/b é');
    expect(seen[0]?.rawQueryString).toBe('d=%2F');
  });

  it('is not made from a path that cannot be decoded', async () => {
    const answer = await get('/api/%zz');
    expect(statusOf(answer)).toBe(400);
    expect(bodyOf(answer)).toBe('{"message":"Bad Request"}');
    expect(seen).toEqual([]);
  });

  it('joins repeated query parameters by commas and has no member when there is none', async () => {
    await get('/api/topology/nodes?a=1&b=2&a=3');
    await get('/api/topology/nodes');
    expect(seen[0]?.queryStringParameters).toEqual({ a: '1,3', b: '2' });
    expect(seen[1]).not.toHaveProperty('queryStringParameters');
  });

  it('has cookies in their own member, not among the headers', async () => {
    await get('/', ['Cookie: a=1; b=2']);
    expect(seen[0]?.cookies).toEqual(['a=1', 'b=2']);
    expect(seen[0]?.headers).not.toHaveProperty('cookie');
  });

  for (const [type, isBase64Encoded] of [
    ['application/json', false],
    ['application/json; charset=utf-8', false],
    ['text/plain', false],
    ['application/octet-stream', true],
    ['application/x-www-form-urlencoded', true],
    ['application/problem+json', true],
    [undefined, true],
  ] as const) {
    it(`has a body of type ${type ?? 'none'} as ${isBase64Encoded ? 'base64' : 'text'}`, async () => {
      await post('{"é":1}', type === undefined ? [] : [`Content-Type: ${type}`]);
      expect(seen[0]?.isBase64Encoded).toBe(isBase64Encoded);
      expect(Buffer.from(seen[0]?.body ?? '', isBase64Encoded ? 'base64' : 'utf8').toString()).toBe(
        '{"é":1}',
      );
    });
  }

  it('has no body member when nothing is sent', async () => {
    await post('', ['Content-Type: application/json']);
    expect(seen[0]).not.toHaveProperty('body');
    expect(seen[0]?.isBase64Encoded).toBe(false);
  });
});

describe('routing', () => {
  for (const [path, routeKey] of [
    ['/api/bgp/peers', 'ANY /api/bgp/peers'],
    ['/api/bgp/peers/7/reset', 'ANY /api/bgp/peers/{proxy+}'],
    ['/api/bgp/peers/', '$default'],
    ['/api/bgp/peersons', '$default'],
    ['/api/topology', 'ANY /api/topology'],
    ['/api/health', '$default'],
    ['/', '$default'],
  ]) {
    it(`sends ${path} by ${routeKey}`, async () => {
      await get(path as string);
      expect(seen[0]?.routeKey).toBe(routeKey);
    });
  }

  it('runs each function in its own name', async () => {
    const names: unknown[] = [];
    behave = () => {
      names.push(currentPrincipal());
      return {};
    };
    for (const path of ['/api/bgp/peers', '/api/topology', '/api/v1/tokens', '/api/health']) await get(path);
    expect(names).toEqual(['peers', 'topology', 'tokens', 'engine']);
  });

  it('counts requests by operation', async () => {
    const before = gateway.counts();
    for (const path of ['/api/bgp/peers/7', '/api/bgp/peers/8', '/api/health', '/api/none', '/api/%zz']) {
      await get(path);
    }
    const after = gateway.counts();
    const counted = ['GET /api/bgp/peers/{peerId}', 'GET /api/health', 'GET -'].map(
      (operation) => (after[operation] ?? 0) - (before[operation] ?? 0),
    );
    expect(counted).toEqual([2, 1, 2]);
  });

  it('hands any method to the function, HEAD without its body', async () => {
    behave = (event) => ({ statusCode: 200, body: event.requestContext.http.method });
    const answer = await exchange('HEAD /api/bgp/peers HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(seen[0]?.requestContext.http.method).toBe('HEAD');
    expect(answer).toContain('content-length: 4');
    expect(bodyOf(answer)).toBe('');
    expect(await exchange('OPTIONS /api/health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toContain(
      'OPTIONS',
    );
  });
});

describe('the answer that a client gets', () => {
  it('is what the function says, in parts', async () => {
    behave = () => ({
      statusCode: 201,
      headers: { 'Content-Type': 'application/json', Location: '/x', 'Content-Length': '999' },
      cookies: ['a=1', 'b=2'],
      body: '{}',
    });
    const answer = await get('/');
    expect(answer).toMatch(/^HTTP\/1\.1 201 Created\r\n/);
    expect(answer).toContain('content-type: application/json\r\n');
    expect(answer).toContain('location: /x\r\n');
    expect(answer).toContain('set-cookie: a=1\r\nset-cookie: b=2\r\n');
    expect(answer).toContain('content-length: 2\r\n');
    expect(answer).toMatch(/apigw-requestid: \S+/);
    expect(bodyOf(answer)).toBe('{}');
  });

  it('is decoded from base64 when the function says so', async () => {
    behave = () => ({
      statusCode: 200,
      isBase64Encoded: true,
      body: Buffer.from([0, 255]).toString('base64'),
    });
    expect(bodyOf(await get('/'))).toBe('\x00\xff');
  });

  it('is text when the function names no type', async () => {
    expect(await get('/')).toContain('content-type: text/plain;charset=UTF-8');
  });

  it('has WWW-Authenticate under its own name and under the one that API Gateway gives it', async () => {
    behave = () => ({ statusCode: 401, headers: { 'WWW-Authenticate': 'Bearer' } });
    const answer = await get('/');
    expect(answer).toContain('x-amzn-remapped-www-authenticate: Bearer');
    expect(answer).toMatch(/^www-authenticate: Bearer\r$/im);
  });

  it('is a 200 of JSON when the function gives an object or text without a status', async () => {
    behave = () => ({ message: 'hello' });
    const fromObject = await get('/');
    expect(statusOf(fromObject)).toBe(200);
    expect(fromObject).toContain('content-type: application/json');
    expect(bodyOf(fromObject)).toBe('{"message":"hello"}');
    behave = () => 'hello';
    expect(bodyOf(await get('/'))).toBe('hello');
  });

  for (const [what, result] of [
    ['a status that is none', { statusCode: 'abc' }],
    ['a body that is no text', { statusCode: 200, body: { a: 1 } }],
  ] as const) {
    it(`is API Gateway's own 500 when the function gives ${what}`, async () => {
      behave = () => result;
      const answer = await get('/');
      expect(statusOf(answer)).toBe(500);
      expect(bodyOf(answer)).toBe('{"message":"Internal Server Error"}');
    });
  }

  it("is API Gateway's own 500 when the function throws, and the reason is told to the operator alone", async () => {
    behave = () => {
      throw new Error('the password is hunter22');
    };
    const answer = await get('/');
    expect(statusOf(answer)).toBe(500);
    expect(answer).not.toContain('hunter22');
    expect(String(failures[0])).toContain('hunter22');
  });

  it("is API Gateway's own 503 when the function takes too long", async () => {
    behave = () => new Promise(() => {});
    const answer = await get('/');
    expect(statusOf(answer)).toBe(503);
    expect(bodyOf(answer)).toBe('{"message":"Service Unavailable"}');
    expect(LIMITS.gatewayTimeoutMilliseconds).toBe(30_000);
  });
});

describe('the limits', () => {
  it('lets 10,240 bytes of request line and header values through and refuses one more', async () => {
    const rest = 'GET / HTTP/1.1'.length + 'api.example:8080'.length + 'close'.length;
    const within = await get('/', [`X-Long: ${'x'.repeat(LIMITS.gatewayHeaderBytes - rest)}`]);
    expect(statusOf(within)).toBe(200);
    const over = await get('/', [`X-Long: ${'x'.repeat(LIMITS.gatewayHeaderBytes - rest + 1)}`]);
    expect(statusOf(over)).toBe(431);
    expect(bodyOf(over)).toBe('{"message":"Request Header Fields Too Large"}');
  });

  it('lets 6 MB of event through, envelope and base64 included, and refuses one byte more', async () => {
    await post(Buffer.from('x'), ['Content-Type: text/plain']);
    const envelope = Buffer.byteLength(JSON.stringify(seen[0])) - 1;
    // The length's own digits and those of the time are the only other parts that can differ.
    const room = LIMITS.lambdaPayloadBytes - envelope - '6291456'.length + 1;
    expect(statusOf(await post(Buffer.alloc(room, 'x'), ['Content-Type: text/plain']))).toBe(200);
    const over = await post(Buffer.alloc(room + 1, 'x'), ['Content-Type: text/plain']);
    expect(statusOf(over)).toBe(413);
    expect(bodyOf(over)).toBe('{"message":"Request Entity Too Large"}');
    // As base64 the same bytes are a third longer.
    expect(statusOf(await post(Buffer.alloc(Math.ceil(room * 0.76), 'x')))).toBe(413);
  });

  it('refuses more than 10 MB without reading the rest', async () => {
    const answer = await post(Buffer.alloc(LIMITS.gatewayPayloadBytes + 100_000));
    expect(statusOf(answer)).toBe(413);
    expect(bodyOf(answer)).toBe('{"message":"Request Entity Too Large"}');
    expect(seen).toEqual([]);
  });

  it('lets 6 MB of result through and refuses one byte more', async () => {
    const envelope = Buffer.byteLength(JSON.stringify({ statusCode: 200, body: '' }));
    const bodyBytes = LIMITS.lambdaPayloadBytes - envelope;
    behave = () => ({ statusCode: 200, body: 'x'.repeat(bodyBytes) });
    expect(bodyOf(await get('/')).length).toBe(bodyBytes);
    behave = () => ({ statusCode: 200, body: 'x'.repeat(bodyBytes + 1) });
    const over = await get('/');
    expect(statusOf(over)).toBe(500);
    expect(bodyOf(over)).toBe('{"message":"Internal Server Error"}');
  });
});

describe('connections', () => {
  it('carry one request after another', async () => {
    const one = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    const last = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const answers = await exchange(one + one + last);
    expect(answers.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(3);
  });
});

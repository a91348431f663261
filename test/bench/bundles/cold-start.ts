/** A function's cold start in a fresh process, as Lambda makes one: its bundle is imported, then it answers one request. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ApiFunction, ROUTES } from '../../../contract/routes.ts';
import { hashToken } from '../../../core/token.ts';
import { makeCertificates } from '../../support/gnmi-target/certificates.ts';

const run = promisify(execFile);

export interface ColdStart {
  /** Milliseconds of processor time. */
  readonly importMilliseconds: number;
  /** The same, and what the first request takes; undefined where none was made. */
  readonly answeredMilliseconds: number | undefined;
}

const TOKEN = 'grt_cold-start';

/**
 * What is asked of each function first: a write with a member that is none, which takes the token's item from the table
 * and a check of the body; of topology, which takes no bodies, a read with a parameter that is none.
 */
const FIRST_REQUESTS: Readonly<Record<ApiFunction, readonly [operation: string, path: string]>> = {
  peers: ['POST /api/bgp/peers', '/api/bgp/peers'],
  topology: ['GET /api/topology/nodes', '/api/topology/nodes'],
  engine: ['PUT /api/engine', '/api/engine'],
  outputs: ['PUT /api/v1/outputs/webhook', '/api/v1/outputs/webhook'],
  models: ['POST /api/v1/models', '/api/v1/models'],
  devices: ['POST /api/v1/devices', '/api/v1/devices'],
  subscriptions: ['POST /api/v1/subscriptions', '/api/v1/subscriptions'],
  tokens: ['POST /api/v1/tokens', '/api/v1/tokens'],
};

/** Where functions find what they ask of AWS. */
export interface Endpoint {
  readonly url: string;
  /** A file with the certificate that it is known by. */
  readonly ca: string;
}

/**
 * Runs `work` beside a table that has one token. It speaks TLS as AWS does: the SDK has another way, and other modules of
 * Node, for what does not.
 */
export async function withTokenTable<Result>(
  scratchDirectory: string,
  work: (endpoint: Endpoint) => Promise<Result>,
): Promise<Result> {
  const { ca, server: pair } = makeCertificates();
  const file = join(scratchDirectory, 'ca.pem');
  writeFileSync(file, ca);
  const item = {
    v: { N: '1' },
    id: { N: '1' },
    name: { S: 'bench' },
    scope: { S: 'admin' },
    createdAt: { S: '2026-01-01T00:00:00.000Z' },
    expiresAt: { NULL: true },
    hash: { S: hashToken(TOKEN) },
  };
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ Item: item }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    return await work({ url: `https://127.0.0.1:${port}`, ca: file });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Imports a bundle and, where it is an API function's, asks it once. */
export async function coldStart(file: string, name: string, endpoint: Endpoint): Promise<ColdStart> {
  const event = firstEvent(name);
  const script = `
    const taken = () => { const { user, system } = process.cpuUsage(began); return (user + system) / 1000; };
    const event = ${JSON.stringify(event ?? null)};
    const began = process.cpuUsage();
    const { handler } = await import(${JSON.stringify(file)});
    const imported = taken();
    const answer = event === null ? undefined : await handler(event, {});
    console.log(JSON.stringify({ imported, answered: taken(), status: answer?.statusCode, body: answer?.body }));
    process.exit();`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
    env: {
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
      AWS_ENDPOINT_URL: endpoint.url,
      NODE_EXTRA_CA_CERTS: endpoint.ca,
    },
    encoding: 'utf8',
  });
  const { imported, answered, status, body } = JSON.parse(stdout);
  if (event !== undefined) {
    assert.equal(status, 400, `${name} answered ${status} ${body}`);
    assert.match(body, /invalid-(body|query)/, name);
  }
  return { importMilliseconds: imported, answeredMilliseconds: event === undefined ? undefined : answered };
}

/** API Gateway's event of payload 2.0, as far as a handler reads it. */
function firstEvent(name: string): object | undefined {
  const first = FIRST_REQUESTS[name as ApiFunction];
  if (first === undefined) return undefined;
  const [operation, path] = first;
  const route = ROUTES.find((candidate) => `${candidate.method} ${candidate.path}` === operation);
  assert.equal(route?.function, name, operation);
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: 'no-such-parameter=1',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    requestContext: { http: { method: route?.method, path }, requestId: 'bench' },
    body: route?.method === 'GET' ? undefined : '{"no-such-member":1}',
    isBase64Encoded: false,
  };
}

/** The topology function as it is deployed: its bundle, in a process of its own, before the emulators. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleAll, LATER } from '../../infra/bundle.ts';
import { encodeAttribute } from '../../protocols/bgp/ls/attribute.ts';
import { encodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import { type Emulators, runAs, startEmulators } from '../support/stack.ts';
import { makePeer, startFakeWorker } from '../support/topology-worker.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'graticule-bundles-'));
/** More than the gateway takes as text, and little of it compressed. */
const NODES = 9_000;
let emulators: Emulators;

beforeAll(async () => {
  emulators = await startEmulators({ as: 'worker' });
  await makePeer(emulators, 1);
  const worker = await startFakeWorker('w-1');
  const log = await worker.own(1);
  log.established(Date.now());
  for (let number = 0; number < NODES; number += 1) {
    const igpRouterId = `0001.0000.${number.toString(16).padStart(4, '0')}`;
    const nlri = encodeNlri({
      type: 'node',
      safi: 71,
      protocol: 'isis-level-2',
      identifier: 7n,
      localNode: { 'autonomous-system': 65000, 'igp-router-id': igpRouterId },
      descriptor: {},
    });
    const attribute = encodeAttribute({ 'node-name': `r${number}` }, { protocolId: 2, nlriType: 1 });
    log.announce(71, nlri, attribute, Date.now());
  }
  await runAs('worker', () => log.flush());
  await bundleAll(folder);
});

afterAll(async () => {
  await emulators.stop();
  rmSync(folder, { recursive: true });
});

/** Imports the bundle in a fresh process and asks it these, one after another. */
async function askBundle(
  bundle: string,
  ...paths: string[]
): Promise<{ answers: APIGatewayProxyStructuredResultV2[]; printed: string }> {
  const events = paths.map((path) => ({
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: '',
    headers: { authorization: `Bearer ${emulators.token}` },
    requestContext: { http: { method: 'GET', path }, requestId: 'test' },
    isBase64Encoded: false,
  }));
  const script = `
    const { handler } = await import(${JSON.stringify(join(bundle, 'index.js'))});
    const answers = [];
    for (const event of ${JSON.stringify(events)}) answers.push(await handler(event, {}));
    process.stderr.write(JSON.stringify(answers), () => process.exit());`;
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  return { answers: JSON.parse(stderr), printed: stdout };
}

describe('the topology’s bundle', () => {
  it('sends the caller of an answer that is too large to where the whole of it is', async () => {
    const { answers } = await askBundle(join(folder, 'functions/topology'), '/api/topology/nodes');
    expect(answers[0]).toMatchObject({ statusCode: 303, body: '' });
    const body = await fetch(answers[0]?.headers?.['location'] as string);
    expect(body.headers.get('content-type')).toBe('application/json');
    expect(await body.json()).toHaveLength(NODES);
  });

  it('starts and answers without S3’s client, which only an answer that is too large looks for', async () => {
    const bundle = join(folder, 'without');
    cpSync(join(folder, 'functions/topology'), bundle, { recursive: true });
    rmSync(join(bundle, LATER));
    const { answers, printed } = await askBundle(bundle, '/api/topology', '/api/topology/nodes');
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 500]);
    expect(printed).toContain(LATER);
  });
});

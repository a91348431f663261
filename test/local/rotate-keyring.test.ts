import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { contractClient } from '../support/contract-client.ts';
import { startFarEnd } from '../support/far-end-process.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { until } from '../support/until.ts';

const dataDirectory = mkdtempSync(join(tmpdir(), 'graticule-rotate-'));
const SOURCE = '127.63.0.1';
let farEnd: Awaited<ReturnType<typeof startFarEnd>>;
let stack: Stack;

beforeAll(async () => {
  farEnd = await startFarEnd({
    holdTimeSeconds: 90,
    keys: [{ source: SOURCE, password: 'rotate-me' }],
    loader: null,
  });
  stack = await startStack({ dataDirectory });
});

afterAll(async () => {
  await stack.stop();
  await farEnd.stop();
  rmSync(dataDirectory, { recursive: true, force: true });
});

/** Runs the command on the data of the stack; killed after so many milliseconds, if that is said. */
async function rotate(killAfter?: number): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['local/rotate-keyring.ts'], {
    env: { PATH: process.env['PATH'], GRATICULE_DATA_DIR: dataDirectory, POWERTOOLS_LOG_LEVEL: 'SILENT' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  if (killAfter !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfter);
  const [code] = await once(child, 'close');
  return { code, output };
}

it('a rotation, killed and run again, is noticed neither by a session with a password nor by its ETag; later starts read it', async () => {
  const api = contractClient(stack.send, stack.token);
  const body = {
    name: 'with a password',
    'peer-address': '127.63.0.2',
    'local-address': SOURCE,
    'peer-port': farEnd.port,
    'user-peer-as': '65000',
    enabled: true,
    'auth-password': 'rotate-me',
  };
  const { id } = (await api.send({ method: 'POST', path: '/api/bgp/peers', body })).json;
  const path = `/api/bgp/peers/${id}`;
  const established = (answer: { json: { state: string } }) => answer.json.state === 'established';
  const before = await until('established', () => api.send({ method: 'GET', path }), established);
  for (const killAfter of [150, 300, 450]) await rotate(killAfter);
  const { code, output } = await rotate();
  expect(code).toBe(0);
  const result = JSON.parse(output);
  expect(result).toMatchObject({ left: 0, unreadable: [] });

  const after = await api.send({ method: 'GET', path });
  expect(after.headers['etag']).toBe(before.headers['etag']);
  expect(after.json.session['established-since']).toBe(before.json.session['established-since']);
  expect(farEnd.counts()).toMatchObject({ established: 1, lost: 0 });

  // The control: a worker that starts now has nothing but what is stored.
  await stack.stop();
  stack = await startStack({ dataDirectory });
  const again = contractClient(stack.send, stack.token);
  await until('established anew', () => again.send({ method: 'GET', path }), established);
}, 180_000);

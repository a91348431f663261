import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { contractClient } from '../support/contract-client.ts';
import { startFarEnd } from '../support/far-end-process.ts';
import { startStack } from '../support/stack.ts';
import { until } from '../support/until.ts';

const scratch = mkdtempSync(join(tmpdir(), 'graticule-backup-'));
const file = join(scratch, 'backup.jsonl');
const SOURCE = '127.64.0.1';

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** The keys that a data directory has. */
function keyringIn(directory: string): { id: string }[] {
  const { secrets } = JSON.parse(readFileSync(join(scratch, directory, 'secrets.json'), 'utf8'));
  const name = Object.keys(secrets).find((candidate) => candidate.includes('keyring')) ?? '';
  return JSON.parse(secrets[name].current.string);
}

const run = promisify(execFile);
const backup = (directory: string, ...args: string[]) =>
  run(process.execPath, ['local/backup.ts', ...args], {
    env: { PATH: process.env['PATH'], GRATICULE_DATA_DIR: join(scratch, directory) },
  }).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    (error: { code: number; stderr: string }) => ({ code: error.code, text: error.stderr }),
  );

it('an export of a running product, imported into empty data, reads the same and opens the same session with its password', async () => {
  const farEnd = await startFarEnd({
    holdTimeSeconds: 90,
    keys: [{ source: SOURCE, password: 'backed-up' }],
    loader: null,
  });
  let stack = await startStack({ dataDirectory: join(scratch, 'old') });
  try {
    const api = contractClient(stack.send, stack.token);
    const body = {
      name: 'kept',
      'peer-address': '127.64.0.2',
      'local-address': SOURCE,
      'peer-port': farEnd.port,
      'user-peer-as': '65000',
      enabled: true,
      'auth-password': 'backed-up',
    };
    await api.send({ method: 'POST', path: '/api/bgp/peers', body });
    const model = JSON.parse(readFileSync('core/model-library/interfaces.json', 'utf8'));
    await api.send({ method: 'POST', path: '/api/v1/models/import', body: model });
    const read = async (path: string) => (await api.send({ method: 'GET', path })).json;
    const before = [await read('/api/v1/models'), await read('/api/v1/tokens'), await read('/api/engine')];
    expect(await backup('old', 'export', file)).toMatchObject({ code: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain('backed-up');
    // Never over another file.
    expect(await backup('old', 'export', file)).toMatchObject({ code: 1 });
    // Never into a configuration that is there.
    const refused = await backup('old', 'import', file);
    expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('there is a configuration') });
    const { token } = stack;
    await stack.stop();

    const cut = join(scratch, 'cut.jsonl');
    writeFileSync(cut, readFileSync(file, 'utf8').split('\n').slice(0, -3).join('\n'));
    expect((await backup('new', 'import', cut)).text).toMatch(/\d+ of \d+ items are there/);
    expect(await backup('new', 'import', file)).toMatchObject({ code: 0 });
    expect(existsSync(join(scratch, 'new/environment.json'))).toBe(false);
    stack = await startStack({
      dataDirectory: join(scratch, 'new'),
      environment: { GRATICULE_API_TOKEN: token },
    });
    const restored = contractClient(stack.send, token);
    const reread = async (path: string) => (await restored.send({ method: 'GET', path })).json;
    const [models, tokens, engine] = before;
    expect(await reread('/api/v1/models')).toEqual(models);
    expect(await reread('/api/v1/tokens')).toEqual(tokens);
    expect(await reread('/api/engine')).toMatchObject({ 'router-id': engine['router-id'] });
    await until(
      'the session with its password',
      () => reread('/api/bgp/peers/1'),
      (peer) => peer.state === 'established',
    );
  } finally {
    await stack.stop();
    await farEnd.stop();
  }
}, 180_000);

it('is imported into a stack that was set up and not configured, whose own token and key stay', async () => {
  let stack = await startStack({ dataDirectory: join(scratch, 'set-up') });
  const own = stack.token;
  const [{ id: ownKey }] = keyringIn('set-up');
  const ownRouterId = (await contractClient(stack.send, own).send({ method: 'GET', path: '/api/engine' }))
    .json['router-id'];
  await stack.stop();
  expect(await backup('set-up', 'import', file)).toMatchObject({ code: 0 });
  // Once: what is there now is a configuration.
  expect((await backup('set-up', 'import', file)).text).toContain('there is a configuration');
  const [head = ''] = readFileSync(file, 'utf8').split('\n');
  const keys = JSON.parse(JSON.parse(head).keyring) as { id: string }[];
  expect(keyringIn('set-up').map(({ id }) => id)).toEqual([ownKey, ...keys.map(({ id }) => id)]);
  stack = await startStack({ dataDirectory: join(scratch, 'set-up') });
  try {
    const api = contractClient(stack.send, own);
    const read = async (path: string) => (await api.send({ method: 'GET', path })).json;
    expect((await read('/api/engine'))['router-id']).not.toBe(ownRouterId);
    expect(await read('/api/bgp/peers/1')).toMatchObject({ name: 'kept', 'auth-password': '********' });
    const tokens = (await read('/api/v1/tokens')) as { id: number; name: string }[];
    expect(tokens.map(({ name }) => name)).toEqual(['bootstrap', 'bootstrap']);
    expect(new Set(tokens.map(({ id }) => id)).size).toBe(2);
    // The password opens: with a key of the backup, beside the stack's own.
    await until(
      'the worker has the peer',
      () => read('/api/bgp/peers/1'),
      (peer) => peer.session.worker !== '',
    );
    expect(stack.output()).not.toContain('the keyring has no key');
  } finally {
    await stack.stop();
  }
}, 120_000);

it('without the keyring everything is there but the secrets, and what needs one says so', async () => {
  // The same backup with a keyring that has another key.
  const [head = '', ...items] = readFileSync(file, 'utf8').split('\n');
  const other = JSON.stringify([
    { id: 'another', created: '2026-01-01T00:00:00.000Z', key: Buffer.alloc(32).toString('base64') },
  ]);
  const lost = join(scratch, 'lost.jsonl');
  writeFileSync(lost, [JSON.stringify({ ...JSON.parse(head), keyring: other }), ...items].join('\n'));
  expect(await backup('lost', 'import', lost)).toMatchObject({ code: 0 });
  const stack = await startStack({
    dataDirectory: join(scratch, 'lost'),
    environment: { GRATICULE_API_TOKEN: 'a-token-that-is-named-here' },
  });
  try {
    const api = contractClient(stack.send, 'a-token-that-is-named-here');
    const path = '/api/bgp/peers/1';
    const peer = (await api.send({ method: 'GET', path })).json;
    expect(peer).toMatchObject({ name: 'kept', 'auth-password': '********' });
    await until(
      'the log says it',
      () => stack.output(),
      (text) => text.includes('the keyring has no key'),
    );
    expect((await api.send({ method: 'GET', path })).json.state).toBe('idle');
    // A new password is all that it takes.
    const body = { ...peer, 'peer-address': '127.64.0.3', 'auth-password': '' };
    expect((await api.send({ method: 'PUT', path, body })).status).toBe(200);
    await until(
      'the peer runs',
      async () => (await api.send({ method: 'GET', path })).json,
      (again) => again.session.worker !== '' && again.session.attempts > 0,
    );
  } finally {
    await stack.stop();
  }
}, 120_000);

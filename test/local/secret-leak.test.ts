import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { farEndServer } from '../support/bgp-peer.ts';
import { commandOf, processTree } from '../support/processes.ts';
import { searchDirectory, searchText } from '../support/secret-search.ts';
import { type Stack, startStack } from '../support/stack.ts';

/** Long enough that no chance makes it, with characters that each encoding treats in its own way. */
const PASSWORD = 'kR7/w+Z%9=q&Xt2:Lm5?vB8';
const SECOND_PASSWORD = 'Qe4/h+N%3=y&Dc6:Uj1?pG0';
/** Goes into a description, which is stored as it is: the same search must find it. */
const CONTROL = 'Vs5/d+M%8=u&Fb3:Ky9?nH1';

describe('the search for a secret', () => {
  let directory: string;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'graticule-planted-'));
  });

  afterAll(() => rmSync(directory, { recursive: true }));

  const around = (middle: string | Buffer) =>
    Buffer.concat([Buffer.from('before '), Buffer.from(middle), Buffer.from(' after')]);
  const json = Buffer.from(JSON.stringify({ name: 'x', 'auth-password': PASSWORD, more: 'y'.repeat(200) }));

  const PLANTED: Record<string, Buffer> = {
    plain: around(PASSWORD),
    'UTF-16, little end first': around(Buffer.from(PASSWORD, 'utf16le')),
    'UTF-16, big end first': around(Buffer.from(PASSWORD, 'utf16le').swap16()),
    'base64 at its beginning': around(Buffer.from(PASSWORD).toString('base64')),
    'base64 one byte in': around(Buffer.from(`a${PASSWORD}zz`).toString('base64')),
    'base64 two bytes in': around(Buffer.from(`ab${PASSWORD}z`).toString('base64')),
    base64url: around(Buffer.from(`{"p":"${PASSWORD}"}`).toString('base64url')),
    hexadecimal: around(Buffer.from(PASSWORD).toString('hex')),
    'upper-case hexadecimal': around(Buffer.from(PASSWORD).toString('hex').toUpperCase()),
    'URL-encoded': around(encodeURIComponent(PASSWORD)),
    'JSON with escapes': around(
      [...PASSWORD].map((unit) => `\\u00${unit.charCodeAt(0).toString(16)}`).join(''),
    ),
    gzip: around(gzipSync(json)),
    zlib: around(deflateSync(json)),
    zstd: around(zstdCompressSync(json)),
    brotli: brotliCompressSync(json),
    'base64 of gzip': around(gzipSync(json).toString('base64')),
    'base64 of zstd in JSON': Buffer.from(JSON.stringify({ B: zstdCompressSync(json).toString('base64') })),
    'gzip of base64': gzipSync(around(Buffer.from(`a${PASSWORD}`).toString('base64'))),
    'UTF-16 in gzip': gzipSync(Buffer.from(json.toString(), 'utf16le')),
  };

  for (const [form, planted] of Object.entries(PLANTED)) {
    it(`finds one planted as ${form}`, () => {
      const folder = join(directory, form);
      mkdirSync(folder);
      writeFileSync(join(folder, 'planted'), planted);
      expect(searchDirectory(folder, PASSWORD)).not.toEqual([]);
      expect(searchDirectory(folder, SECOND_PASSWORD)).toEqual([]);
    });
  }

  it('finds one in a database row that is spread over many pages', () => {
    const folder = join(directory, 'database');
    mkdirSync(folder);
    const database = new DatabaseSync(join(folder, 'rows.sqlite'));
    database.exec('CREATE TABLE items (item BLOB)');
    // The page's border falls into the secret wherever it is.
    for (let before = 4_000; before < 4_100; before += 7) {
      const item = Buffer.from(`${'x'.repeat(before)}${PASSWORD}${'y'.repeat(9_000)}`);
      database.prepare('INSERT INTO items VALUES (?)').run(item);
    }
    database.close();
    expect(searchDirectory(folder, PASSWORD).map((finding) => finding.where)).toContain(
      'rows.sqlite items.item',
    );
  });
});

describe("a peer's password", () => {
  let dataDirectory: string;
  let stack: Stack;
  let output = '';

  beforeAll(async () => {
    dataDirectory = mkdtempSync(join(tmpdir(), 'graticule-leak-'));
    stack = await startStack({ dataDirectory, environment: { POWERTOOLS_LOG_LEVEL: 'DEBUG' } });
    const { server, port } = await farEndServer((farEnd) => farEnd.socket.destroy());
    try {
      await everythingThatSeesAPassword(stack, port);
      // The crash: the worker loses the database in the middle of its work, and says whatever it then says.
      const tree = processTree(stack.processId);
      const emulator = tree.find((member) => /^\S*dynoxide /.test(commandOf(member)));
      const ended = stack.untilEnded();
      process.kill(emulator as number, 'SIGKILL');
      await ended;
    } finally {
      server.close();
      output = stack.output();
      await stack.stop();
    }
  });

  afterAll(() => rmSync(dataDirectory, { recursive: true }));

  it('is not on the disk, in no form', () => {
    expect(searchDirectory(dataDirectory, PASSWORD)).toEqual([]);
    expect(searchDirectory(dataDirectory, SECOND_PASSWORD)).toEqual([]);
  });

  it('is in no log and in no last words of a crash', () => {
    expect(output).toContain('the DynamoDB emulator ended');
    expect(searchText(output, PASSWORD, 'output')).toEqual([]);
    expect(searchText(output, SECOND_PASSWORD, 'output')).toEqual([]);
  });

  it('would have been found: what was stored in clear is, in the rows and in the write-ahead log', () => {
    const places = searchDirectory(dataDirectory, CONTROL).map((finding) => finding.where);
    expect(places).toContain('dynamodb.sqlite-wal');
    expect(places.some((place) => place.startsWith('dynamodb.sqlite '))).toBe(true);
  });
});

/** Writes, refusals and a session with a password, each on a way of its own. */
async function everythingThatSeesAPassword(stack: Stack, port: number): Promise<void> {
  const headers = { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' };
  const send = (method: string, path: string, body: unknown) =>
    stack.send({ method, path, headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
  const peer = {
    name: 'rr1',
    description: CONTROL,
    'peer-address': '127.0.0.1',
    'peer-port': port,
    'user-peer-as': '65000',
    'connect-retry': 1,
    enabled: true,
    'auth-password': PASSWORD,
  };
  const created = await send('POST', '/api/bgp/peers', peer);
  expect(created.status).toBe(201);
  expect(created.text).not.toContain(PASSWORD);
  const path = created.headers['location'] as string;
  const refusals: [string, string, unknown, number][] = [
    ['POST', '/api/bgp/peers', peer, 409],
    ['POST', '/api/bgp/peers', JSON.stringify(peer).slice(0, -1), 400],
    ['POST', '/api/bgp/peers', { ...peer, 'auth-password': [PASSWORD] }, 400],
    ['POST', '/api/bgp/peers', { ...peer, 'auth-password': PASSWORD.repeat(4) }, 400],
    ['POST', '/api/bgp/peers', { ...peer, [PASSWORD]: true }, 400],
    ['PUT', '/api/bgp/peers/999', peer, 404],
  ];
  for (const [method, target, body, status] of refusals) {
    expect((await send(method, target, body)).status).toBe(status);
  }
  const replaced = await send('PUT', path, { ...peer, 'auth-password': SECOND_PASSWORD });
  expect(replaced.status).toBe(200);
  // The worker reads the password and dials with it, or says that it cannot.
  const owner = await vi.waitUntil(
    async () => JSON.parse((await send('GET', path, '')).text).session.worker,
    { timeout: 20_000, interval: 100 },
  );
  expect(owner).toBe('w-1');
}

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandOf, isRunning, processTree } from '../support/processes.ts';
import { type Stack, startStack } from '../support/stack.ts';

const ROOT = resolve(import.meta.dirname, '../..');

let dataDirectory: string;
let stack: Stack | undefined;

beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'graticule-main-'));
});

afterEach(async () => {
  await stack?.stop();
  stack = undefined;
  rmSync(dataDirectory, { recursive: true });
});

/** Starts on this test's directory, without a worker unless asked for. */
async function start(environment: Record<string, string> = {}): Promise<Stack> {
  stack = await startStack({ dataDirectory, environment: { GRATICULE_WORKERS: '0', ...environment } });
  return stack;
}

/** A start that is expected to be refused. */
function refusedStart(environment: Record<string, string>) {
  const { status, stderr, stdout } = spawnSync(process.execPath, ['local/main.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      GRATICULE_DATA_DIR: dataDirectory,
      GRATICULE_PORT: '0',
      ...environment,
    },
    timeout: 20_000,
  });
  return { status, stderr, stdout };
}

const withToken = (token: string) => ({ authorization: `Bearer ${token}` });

const getEngine = (on: Stack, token: string) =>
  on.send({ method: 'GET', path: '/api/engine', headers: withToken(token) });

const createPeer = (on: Stack, address: string) =>
  on.send({
    method: 'POST',
    path: '/api/bgp/peers',
    headers: { ...withToken(on.token), 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'rr1', 'peer-address': address, 'user-peer-as': '65001' }),
  });

async function peerIds(on: Stack): Promise<number[]> {
  const { text } = await on.send({
    method: 'GET',
    path: '/api/bgp/peers',
    headers: withToken(on.token),
  });
  return (JSON.parse(text) as { id: number }[]).map((peer) => peer.id);
}

describe('npm start', () => {
  it('says where it answers and where the token is, and refuses a second start on the same data', async () => {
    const running = await start({ GRATICULE_LOCAL_AS: '65010', GRATICULE_ROUTER_ID: '10.9.8.7' });
    const { output, token, processId } = running;
    expect(output()).toMatch(/graticule 1\.0\.0 is ready at http:\/\/127\.0\.0\.1:\d+ \(\d+\.\d s\)/);
    expect(output()).toContain(`the admin token is in ${join(dataDirectory, 'token')}`);
    expect(output()).not.toContain(token);
    expect(statSync(join(dataDirectory, 'token')).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDirectory, 'dynamodb.sqlite')).mode & 0o077).toBe(0);

    const engine = await getEngine(running, token);
    expect(engine.status).toBe(200);
    expect(JSON.parse(engine.text)).toMatchObject({ 'local-as': '65010', 'router-id': '10.9.8.7' });
    expect((await getEngine(running, `${token}x`)).status).toBe(401);

    const second = refusedStart({});
    expect(second.status).toBe(1);
    expect(second.stderr).toContain(`is in use by process ${processId}`);
  });

  it('takes a token from its environment and keeps it out of its files and its output', async () => {
    const token = 'grt_from-the-environment';
    const running = await start({ GRATICULE_API_TOKEN: token });
    expect((await getEngine(running, token)).status).toBe(200);
    expect(running.output()).toContain('GRATICULE_API_TOKEN');
    expect(spawnSync('grep', ['-r', token, dataDirectory]).status).toBe(1);
    expect(running.output()).not.toContain(token);
  });

  it('keeps what it acknowledged over a stop, and when everything or it alone is killed', async () => {
    const first = await start();
    expect((await createPeer(first, '192.0.2.1')).status).toBe(201);
    const { code, milliseconds } = await first.stop();
    expect(code).toBe(0);
    expect(milliseconds).toBeLessThan(5_000);

    const second = await start();
    expect(second.token).toBe(first.token);
    expect(await peerIds(second)).toEqual([1]);
    expect((await createPeer(second, '192.0.2.2')).status).toBe(201);
    await second.kill();

    const third = await start();
    expect(await peerIds(third)).toEqual([1, 2]);
    const children = processTree(third.processId).slice(1);
    expect(children.map(commandOf).join('\n')).toContain('dynoxide');
    const ended = third.untilEnded();
    process.kill(third.processId, 'SIGKILL');
    await ended;
    await expect.poll(() => children.filter(isRunning), { timeout: 5_000 }).toEqual([]);
  });

  it('ends, and says why, when its emulator does', async () => {
    const { processId, untilEnded, output } = await start();
    const emulator = processTree(processId).find((member) => /^\S*dynoxide /.test(commandOf(member)));
    const ended = untilEnded();
    process.kill(emulator as number, 'SIGKILL');
    expect(await ended).toBe(1);
    expect(output()).toContain('the DynamoDB emulator ended with 137');
  });

  it('ends with npm, which started it, whether npm is asked to or killed', async () => {
    const npm = (signal: NodeJS.Signals) =>
      new Promise<{ children: number[]; code: number | null }>((settle, refuse) => {
        const started = spawn('npm', ['start'], {
          cwd: ROOT,
          env: {
            PATH: process.env['PATH'],
            HOME: process.env['HOME'],
            GRATICULE_DATA_DIR: dataDirectory,
            GRATICULE_PORT: '0',
            GRATICULE_WORKERS: '0',
          },
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        let children: number[] = [];
        started.once('error', refuse);
        started.once('exit', (code) => settle({ children, code }));
        started.stdout.on('data', (data: Buffer) => {
          if (!data.toString().includes('is ready at')) return;
          children = processTree(started.pid as number).slice(1);
          started.kill(signal);
        });
      });
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const { children, code } = await npm(signal);
      expect(children.length).toBeGreaterThan(2);
      if (signal === 'SIGTERM') expect(code).toBe(0);
      await expect.poll(() => children.filter(isRunning), { timeout: 10_000 }).toEqual([]);
    }
  });

  it('refuses settings that make no sense with exit code 2, all of them at once', () => {
    const { status, stderr } = refusedStart({ GRATICULE_PORT: 'eighty', GRATICULE_HOST: '0.0.0.0' });
    expect(status).toBe(2);
    expect(stderr).toContain('GRATICULE_PORT is "eighty"');
    expect(stderr).toContain('GRATICULE_HOST is "0.0.0.0"');
  });

  it('says so when its port is taken, and leaves nothing running', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((settle) => other.once('listening', settle));
    const { port } = other.address() as { port: number };
    const { status, stderr } = refusedStart({ GRATICULE_PORT: String(port) });
    other.close();
    expect(status).toBe(1);
    expect(stderr).toContain(`port ${port} of 127.0.0.1 is in use by another program; set GRATICULE_PORT`);
  });
});

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { linkStateObjects } from '../support/network/link-state-objects.ts';
import { NetworkLife } from '../support/network/network-life.ts';
import { SimulatedNetwork } from '../support/network/simulated-network.ts';
import { isRunning, processTree } from '../support/processes.ts';
import { Random, testSeed } from '../support/random.ts';
import { until } from '../support/until.ts';
import { type DemoPart, type DemoProduct, startDemo } from './demo.ts';

const ROOT = resolve(import.meta.dirname, '../..');

let started: number | undefined;

afterEach(() => {
  if (started !== undefined && isRunning(started)) process.kill(started, 'SIGKILL');
  started = undefined;
});

describe('npm run demo', () => {
  it('shows a network that lives, prints requests that work, and ends with all of it by Ctrl-C', async () => {
    const npm = spawn('npm', ['run', 'demo'], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], GRATICULE_PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started = npm.pid as number;
    let output = '';
    npm.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    npm.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    const ended = new Promise<number | null>((settle) => npm.once('exit', settle));
    await until(
      'the end of the introduction',
      () => output,
      (text) => text.includes('Ctrl-C ends all of it') || npm.exitCode !== null,
      120_000,
    );
    const commands = [
      ...output.matchAll(/^curl -s -H "Authorization: Bearer \$\(cat (\S+)\)" '(\S+)'$/gm),
    ].map(([, tokenFile, url]) => ({ tokenFile: tokenFile as string, url: url as string }));
    expect(commands.length, output).toBeGreaterThanOrEqual(6);
    type Ask = () => Promise<never>;
    const asks = commands.map(({ tokenFile, url }) => async () => {
      const headers = { authorization: `Bearer ${readFileSync(tokenFile, 'utf8').trim()}` };
      const answer = await fetch(url, { headers });
      expect(answer.status, url).toBe(200);
      return url.endsWith('csv') ? answer.text() : answer.json();
    });
    const [summary, paths, events, subscription, rows] = asks as [Ask, Ask, Ask, Ask, Ask];
    expect(await summary()).toMatchObject({ counts: { nodes: { total: expect.any(Number) } } });
    expect(await paths()).toMatchObject({ paths: expect.arrayContaining([expect.anything()]) });
    const isAlive = (list: { action: string }[]) => list.some(({ action }) => action === 'changed');
    await until('a change among the events', events, isAlive, 60_000);
    expect(await subscription()).toMatchObject({
      reason: '',
      status: ['leaf1', 'leaf2', 'leaf3'].map((device) => ({ device, state: 'streaming' })),
    });
    expect(await rows()).toContain('leaf2,2,/interfaces/interface[name=ethernet-1/1],ethernet-1/1,');

    const dataFile = (commands[0] as { tokenFile: string }).tokenFile;
    const everything = processTree(started);
    expect(everything.length).toBeGreaterThan(4);
    const asked = performance.now();
    npm.kill('SIGINT');
    await ended;
    // The bound is 5 s; a machine that does much else at the same time may take longer to say so.
    expect(performance.now() - asked).toBeLessThan(25_000);
    await until(
      'the end of every process',
      () => everything.filter(isRunning),
      ({ length }) => length === 0,
    );
    expect(existsSync(dataFile)).toBe(false);
  });
});

/** A product that only answers. */
function fakeProduct(): DemoProduct & { stopped: boolean; end(code: number): void } {
  const ended = Promise.withResolvers<number>();
  return {
    url: 'http://127.0.0.1:1',
    token: 'grt_t',
    dataDirectory: '/data',
    stopped: false,
    send: async ({ path }) => {
      const body = Buffer.from('{"a":1}');
      return { status: path === '/wrong' ? 400 : 200, headers: {}, body, text: body.toString() };
    },
    untilEnded: () => ended.promise,
    output: () => 'last words',
    end: ended.resolve,
    async stop() {
      this.stopped = true;
    },
  };
}

function fakePart(name: string, start: DemoPart['start'] = async () => running([])): DemoPart {
  return { name, start };
}

function running(stopped: string[], name = 'part') {
  return {
    sentence: `${name} is there:`,
    requests: [{ shows: 'it', path: `/api/${name}` }],
    async stop() {
      stopped.push(name);
    },
  };
}

describe('the demonstration', () => {
  const ending = () => new AbortController().signal;

  it('starts part after part, prints how to ask for each, and stops the parts before the product', async () => {
    const product = fakeProduct();
    const printed: string[] = [];
    const stopped: string[] = [];
    const demo = await startDemo(
      {
        parts: ['one', 'two'].map((name) =>
          fakePart(name, async ({ call, happened }) => {
            expect(await call('GET', '/api/topology')).toEqual({ a: 1 });
            happened(`${name} moves`);
            return running(stopped, name);
          }),
        ),
        startProduct: async () => product,
        print: (line) => printed.push(line),
      },
      ending(),
    );
    expect(printed.join('\n')).toContain(
      `curl -s -H "Authorization: Bearer $(cat /data/token)" 'http://127.0.0.1:1/api/two'`,
    );
    expect(printed.findIndex((line) => line.includes('one moves'))).toBeLessThan(
      printed.findIndex((line) => line.includes('two moves')),
    );
    await demo.stop();
    expect(stopped).toEqual(['one', 'two']);
    expect(product.stopped).toBe(true);
  });

  it('stops what it started when a part cannot start, and says why', async () => {
    const product = fakeProduct();
    const stopped: string[] = [];
    const parts = [
      fakePart('good', async () => running(stopped, 'good')),
      fakePart('bad', async ({ call }) => call('POST', '/wrong')),
    ];
    await expect(
      startDemo({ parts, startProduct: async () => product, print: () => {} }, ending()),
    ).rejects.toThrow('POST /wrong: 400');
    expect(stopped).toEqual(['good']);
    expect(product.stopped).toBe(true);
  });

  it('does not wait for a part when the product ends meanwhile', async () => {
    const product = fakeProduct();
    const parts = [fakePart('endless', () => new Promise(() => product.end(1)))];
    await expect(
      startDemo({ parts, startProduct: async () => product, print: () => {} }, ending()),
    ).rejects.toThrow('the product ended with 1:\nlast words');
  });

  it('starts nothing more when it is already ending', async () => {
    const early = new AbortController();
    const product = fakeProduct();
    const parts = [
      fakePart('first', async () => {
        early.abort();
        return running([], 'first');
      }),
      fakePart('second', () => Promise.reject(new Error('started all the same'))),
    ];
    const demo = await startDemo({ parts, startProduct: async () => product, print: () => {} }, early.signal);
    await demo.stop();
    expect(product.stopped).toBe(true);
  });
});

describe('a network that lives', () => {
  it('changes at every step, fails little at a time, and repairs what failed', () => {
    const random = new Random(testSeed('network life'));
    const network = new SimulatedNetwork(
      {
        routers: 24,
        igp: 'isis',
        identifier: 1n,
        number: 1,
        chords: 3,
        parallel: 0.1,
        unnumbered: 0.2,
        lansPerHundred: 3,
      },
      random,
    );
    const said = new Set<string>();
    const life = new NetworkLife(network, random);
    const told = () => {
      const digest = createHash('sha256');
      for (const { nlri, attribute } of linkStateObjects(network).values())
        digest.update(nlri).update(attribute);
      return digest.digest('hex');
    };
    let before = told();
    for (let step = 0; step < 100; step += 1) {
      const words = life.step();
      said.add(words.replaceAll(/net\d+-r\d+| \d+$/g, ''));
      const now = told();
      // A link of a router that is down changes without anybody telling.
      if (network.routers.every(({ up }) => up)) expect(now, words).not.toBe(before);
      before = now;
      expect(network.links.filter(({ up }) => !up).length).toBeLessThanOrEqual(6);
      expect(network.routers.filter(({ up }) => !up).length).toBeLessThanOrEqual(1);
    }
    expect(said.size).toBeGreaterThanOrEqual(5);
  });
});

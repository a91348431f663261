import { strict as assert } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ENV } from '../../../contract/env.ts';
import type { TestCase } from '../../harness.ts';
import { contractClient } from '../../support/contract-client.ts';
import { linkStateObjects } from '../../support/network/link-state-objects.ts';
import { Reflector } from '../../support/network/reflector.ts';
import { SimulatedNetwork } from '../../support/network/simulated-network.ts';
import { Random } from '../../support/random.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { until } from '../../support/until.ts';
import { type BuiltImage, buildWorkerImage } from '../image/build.ts';

const READ_ONLY = resolve(import.meta.dirname, '../image/read-only.sh');

/** The product's own limit; a machine that does much else gets twice that. */
const STOP_MILLISECONDS = 5_000;

const PROBE = `
const { writeFileSync } = require('node:fs');
const refused = ['/a', '/graticule/a'].map((path) => {
  try { writeFileSync(path, ''); return 'written'; } catch ({ code }) { return code; }
});
console.log(JSON.stringify({ uid: process.getuid(), refused }));`;

export const testCase: TestCase = {
  title: 'the worker’s image builds from the Dockerfile and works as its task definition runs it',
  inCi: true,
  run: async ({ check, log, scratchDirectory, seed }) => {
    let image: BuiltImage | undefined;
    await check('the image builds without Docker, and says how it is run', () => {
      const began = performance.now();
      image = buildWorkerImage(scratchDirectory);
      const { User, WorkingDir, Entrypoint, Cmd, StopSignal, Healthcheck } = image.configuration;
      assert.deepEqual(
        { User, WorkingDir, Entrypoint, Cmd, StopSignal, health: Healthcheck.Test },
        {
          User: '1000:1000',
          WorkingDir: '/graticule',
          Entrypoint: ['node'],
          Cmd: ['main.js'],
          StopSignal: 'SIGTERM',
          health: ['CMD', 'node', 'health.js'],
        },
      );
      log(`built in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
    });
    if (image === undefined) return;
    const stack = await startStack({ environment: { GRATICULE_WORKERS: '0' } });
    const reflector = await Reflector.listen('127.61.10.1', 0);
    const container = new Container(image, stack);
    const api = contractClient(stack.send, stack.token);
    const get = async (path: string) => (await api.send({ method: 'GET', path })).json;
    try {
      await check('it runs as user 1000 and can write nowhere', async () => {
        const { output, code } = await ended(container.run(['node', '-e', PROBE]));
        assert.equal(code, 0, output);
        assert.deepEqual(JSON.parse(output), { uid: 1000, refused: ['EROFS', 'EROFS'] });
      });
      const health = () => ended(container.run(image?.configuration.Healthcheck.Test.slice(1) ?? []));
      await check('the health check fails while nothing runs', async () => {
        assert.deepEqual(await health(), { output: 'silent\n', code: 1 });
      });
      const worker = container.run([...image.configuration.Entrypoint, ...image.configuration.Cmd]);
      const workerEnded = ended(worker);
      await check('it registers, with TCP-MD5, and its health check answers', async () => {
        await until(
          'a worker',
          () => get('/api/health'),
          ({ workers }) => workers === 1,
          30_000,
        );
        assert.equal((await get('/api/health')).abilities['tcp-md5'], true);
        // It listens for the check a moment after it has registered; Fargate gives it thirty seconds.
        const answer = await until('an answer', health, ({ code }) => code === 0, 30_000);
        assert.equal(answer.output, 'ok\n');
        const status = readFileSync(`/proc/${worker.pid}/status`, 'utf8');
        assert.match(status, /^Uid:\t1000\t1000\t1000\t1000$/m);
        assert.match(status, /^CapEff:\t0+$/m);
        assert.match(status, /^NoNewPrivs:\t1$/m);
      });
      await check('it takes a peer and tells its topology', async () => {
        const network = new SimulatedNetwork(
          {
            routers: 10,
            igp: 'isis',
            identifier: 7n,
            number: 1,
            chords: 1,
            parallel: 0,
            unnumbered: 0,
            lansPerHundred: 0,
          },
          new Random(seed),
        );
        const objects = linkStateObjects(network);
        await reflector.tell(objects);
        const body = {
          name: 'rr1',
          'peer-address': reflector.address,
          'peer-port': reflector.port,
          'user-peer-as': '65000',
          enabled: true,
        };
        assert.equal((await api.send({ method: 'POST', path: '/api/bgp/peers', body })).status, 201);
        const nodes = [...objects.values()].filter(({ type }) => type === 'node').length;
        await until(
          'its nodes',
          () => get('/api/topology/nodes'),
          (list) => list.length === nodes,
          60_000,
        );
      });
      await check('it stops in time, with code 0, and leaves nothing owned', async () => {
        const began = performance.now();
        worker.kill('SIGTERM');
        const { code, output } = await workerEnded;
        const milliseconds = Math.round(performance.now() - began);
        log(`stopped after ${milliseconds} ms (limit ${STOP_MILLISECONDS} ms)`);
        assert.equal(code, 0, output);
        assert.ok(milliseconds < 2 * STOP_MILLISECONDS, `${milliseconds} ms`);
        assert.equal((await get('/api/health')).workers, 0);
        assert.equal((await get('/api/bgp/peers/1')).session.reason, 'no-worker');
      });
    } finally {
      container.end();
      await reflector.stop();
      await stack.stop();
      image.remove();
    }
  },
};

/** Programs on the image's file system, with the stack's environment, as the image's user. */
class Container {
  private readonly image: BuiltImage;
  private readonly environment: Record<string, string>;
  private readonly running = new Set<ChildProcess>();

  constructor({ configuration, ...image }: BuiltImage, stack: Stack) {
    this.image = { configuration, ...image };
    const own = configuration.Env.map((pair): [string, string] => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), pair.slice(at + 1)];
    });
    this.environment = {
      ...Object.fromEntries(own),
      ...JSON.parse(readFileSync(join(stack.dataDirectory, 'environment.json'), 'utf8')),
      // Abstract names are one for all that share a network.
      [ENV.healthSocket]: `graticule-health-${process.pid}`,
    };
  }

  run(words: readonly string[]): ChildProcess {
    const { configuration, fileSystem } = this.image;
    const [user = '', group = ''] = configuration.User.split(':');
    const [name = '', ...rest] = words;
    // Found on the image's PATH: here there is no shell in it that would look.
    const program = name === 'node' ? '/usr/local/bin/node' : name;
    const child = spawn(
      '/usr/bin/unshare',
      ['--mount', '/bin/sh', READ_ONLY, fileSystem, configuration.WorkingDir, user, group, program, ...rest],
      { env: this.environment, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.running.add(child);
    child.once('exit', () => this.running.delete(child));
    return child;
  }

  end(): void {
    for (const child of this.running) child.kill('SIGKILL');
  }
}

/** What a program printed, both streams, and its exit code. */
function ended(child: ChildProcess): Promise<{ output: string; code: number | null }> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return new Promise((settle, refuse) => {
    child.once('error', refuse);
    child.once('close', (code) => settle({ output, code }));
  });
}

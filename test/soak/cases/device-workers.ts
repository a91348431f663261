import { deepEqual, equal, ok } from 'node:assert/strict';
import type { TestCase } from '../../harness.ts';
import { contractClient } from '../../support/contract-client.ts';
import { countPolls, gapsOf, recordsOf, rowsByTime } from '../../support/gnmi-target/cycles.ts';
import { addInterfaces } from '../../support/gnmi-target/interfaces.ts';
import { GnmiTarget } from '../../support/gnmi-target/target.ts';
import { startReceiver } from '../../support/receiver/receiver.ts';
import { startStack } from '../../support/stack.ts';
import { until } from '../../support/until.ts';
import { workerProcess } from '../../support/worker-process.ts';

// biome-ignore lint/suspicious/noExplicitAny: the case looks into bodies member by member.
type Body = any;

const DEVICES = 12;
const INTERVAL = 2_000;
const MODES = ['poll', 'sample'] as const;

export const testCase: TestCase = {
  title: 'two workers and twelve gNMI devices: one is killed, one stopped and continued, one asked to end',
  inCi: true,
  async run({ check, log }) {
    const targets = await Promise.all(Array.from({ length: DEVICES }, () => GnmiTarget.start()));
    for (const { tree } of targets) addInterfaces(tree, 1);
    const receiver = await startReceiver();
    const stack = await startStack({ environment: { GRATICULE_WORKERS: '2' } });
    const api = contractClient(stack.send, stack.token);
    const call = async (method: string, path: string, body?: unknown): Promise<Body> => {
      const answer = await api.send({ method, path, ...(body === undefined ? {} : { body }) });
      ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.json;
    };
    const secondsSince = (start: number) => ((Date.now() - start) / 1000).toFixed(1);
    const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));
    /** Rows of which the device has told something since. */
    const told = (since: number) =>
      new Set(
        recordsOf(receiver.requests)
          .filter(({ timestamp }) => Date.parse(timestamp) > since)
          .map((record) => `${record['device-id']} ${record['model-name']}`),
      ).size;
    const allTell = (since: number) =>
      until(
        'cycles of every device and subscription',
        () => told(since),
        (count) => count === DEVICES * MODES.length,
        75_000,
      );
    const owners = async () =>
      (await call('GET', '/api/v1/devices')).map(({ status }: Body) => status.worker as string);
    try {
      await until(
        'two workers',
        () => call('GET', '/api/health'),
        ({ workers }) => workers === 2,
      );
      await call('PUT', '/api/v1/outputs/webhook', {
        enabled: true,
        config: { url: receiver.url('/status/204', '127.0.0.1') },
      });
      const ids: number[] = [];
      for (const [index, { port }] of targets.entries()) {
        const body = { name: `leaf${index}`, address: '127.0.0.1', netos: 'eos', enabled: true };
        ids.push((await call('POST', '/api/v1/devices', { ...body, gnmi: { port, tls: 'off' } })).id);
      }
      let pollId = 0;
      for (const mode of MODES) {
        const path = '/interfaces/interface[name=*]/state/counters/in-octets';
        const model = await call('POST', '/api/v1/models/import', {
          format: 'graticule-model/1',
          name: mode,
          version: '1.0.0',
          description: '',
          fields: [{ name: 'in-octets', type: 'counter64' }],
          mappings: [{ protocol: 'gnmi', netos: '*', field_mappings: { 'in-octets': path } }],
        });
        await call('PUT', `/api/v1/models/${model.id}`, { active: true });
        const { id } = await call('POST', '/api/v1/subscriptions', {
          name: mode,
          enabled: true,
          'model-name': mode,
          'model-version': 'latest',
          mode,
          'interval-ms': INTERVAL,
          devices: { ids },
        });
        if (mode === 'poll') pollId = id;
      }
      const begun = Date.now();
      await allTell(0);
      const shares = Map.groupBy(await owners(), (worker) => worker);
      log(
        `shares after ${secondsSince(begun)} s: ${[...shares].map(([worker, share]) => `${worker} ${share.length}`).join(', ')}`,
      );
      await check('each worker has a share of the devices', () => {
        deepEqual([...shares.keys()].sort(), ['w-1', 'w-2']);
      });

      await check('SIGKILL of one worker: every device is collected again', async () => {
        const killedAt = Date.now();
        process.kill(workerProcess(stack, 'w-1'), 'SIGKILL');
        await allTell(killedAt + 500);
        log(`all collected again ${secondsSince(killedAt)} s after the kill`);
      });

      const stopped = { at: 0, continuedAt: 0 };
      await check(
        'SIGSTOP of one worker: the other takes its devices; after SIGCONT it lets go of all',
        async () => {
          const pid = workerProcess(stack, 'w-2');
          stopped.at = Date.now();
          process.kill(pid, 'SIGSTOP');
          await until(
            'taken over',
            owners,
            (workers: string[]) => workers.every((worker) => worker === 'w-1'),
            75_000,
          );
          log(`taken over ${secondsSince(stopped.at)} s after SIGSTOP (target 15 plus connect)`);
          await allTell(Date.now());
          stopped.continuedAt = Date.now();
          process.kill(pid, 'SIGCONT');
          await until(
            'the old connections are closed',
            () => targets.map(({ connections }) => connections),
            (counts) => counts.every((count) => count === 1),
          );
          await pause(3 * INTERVAL);
          ok((await owners()).every((worker: string) => worker === 'w-1'));
        },
      );

      await check('SIGTERM of the one that owns all: the other goes on at once', async () => {
        const askedAt = Date.now();
        process.kill(workerProcess(stack, 'w-1'), 'SIGTERM');
        await allTell(askedAt + 500);
        log(`all collected again ${secondsSince(askedAt)} s after SIGTERM`);
      });

      await pause(INTERVAL);
      const rows = [...rowsByTime(recordsOf(receiver.requests))];
      await check('no cycle of a polled row is doubled, over all of it', () => {
        const polled = rows.filter(([name]) => name.includes(' poll '));
        equal(polled.length, DEVICES);
        let cycles = 0;
        let missed = 0;
        for (const [name, row] of polled) {
          const count = countPolls(row, pollId, INTERVAL);
          cycles += count.cycles;
          missed += count.missed.length;
          deepEqual({ name, doubled: count.doubled }, { name, doubled: [] });
        }
        log(`${cycles} polled cycles, none doubled; ${missed} fell into the times without an owner`);
      });
      await check('nothing that waited in the stopped worker is told beside what its successor told', () => {
        for (const [name, row] of rows.filter(([each]) => each.includes(' sample '))) {
          const inside = row.filter(({ timestamp }) => {
            const at = Date.parse(timestamp);
            return at > stopped.at + INTERVAL && at < stopped.continuedAt + 3 * INTERVAL;
          });
          const least = Math.min(...gapsOf(inside));
          ok(least > INTERVAL / 4, `${name}: two cycles ${least} ms apart`);
        }
      });
    } finally {
      await stack.stop();
      await receiver.stop();
      for (const target of targets) await target.stop();
    }
  },
};

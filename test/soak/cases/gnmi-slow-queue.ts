import { equal, ok } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { WORKER_ENVIRONMENT, WORKER_NODE_OPTIONS } from '../../../contract/worker.ts';
import type { TestCase } from '../../harness.ts';
import { contractClient } from '../../support/contract-client.ts';
import { addInterfaces } from '../../support/gnmi-target/interfaces.ts';
import { GnmiTarget } from '../../support/gnmi-target/target.ts';
import { startEmulators } from '../../support/stack.ts';
import { until } from '../../support/until.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const TARGETS = 10;
const INTERFACES = 200;
const LEAVES = ['in-octets', 'in-unicast-pkts', 'in-discards', 'in-errors', 'out-octets', 'out-errors'];
/** Four messages of at most 1.5 MB at a time, each so long on its way: a tenth of what is collected. */
const SEND_MILLISECONDS = 20_000;
const MEMORY_TARGET_MEGABYTES = 200;

export const testCase: TestCase = {
  title: 'a worker whose queue is ten times too slow, before gNMI devices that never end',
  inCi: true,
  async run({ check, log, scale }) {
    const seconds = Math.max(25, 120 * scale);
    // A figure is held to its target by the whole run; the gate's machine is not always ours alone.
    const memoryLimitMegabytes = scale < 1 ? 1.5 * MEMORY_TARGET_MEGABYTES : MEMORY_TARGET_MEGABYTES;
    const targets = await Promise.all(
      Array.from({ length: TARGETS }, () => GnmiTarget.start({ habits: { garbage: 'endless' } })),
    );
    for (const { tree } of targets) addInterfaces(tree, INTERFACES);
    const emulators = await startEmulators();
    const api = contractClient(emulators.send, emulators.token);
    const call = async (method: string, path: string, body?: unknown) => {
      const answer = await api.send({ method, path, ...(body === undefined ? {} : { body }) });
      ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.json;
    };
    const metrics = async () => (await call('GET', '/api/v1/outputs/metrics')).records;
    let worker: ChildProcess | undefined;
    try {
      await call('PUT', '/api/v1/outputs/webhook', { enabled: true, config: { url: 'http://127.0.0.1:1/' } });
      const model = await call('POST', '/api/v1/models/import', {
        format: 'graticule-model/1',
        name: 'interfaces',
        version: '1.0.0',
        description: '',
        fields: LEAVES.map((name) => ({ name, type: 'counter64' })),
        mappings: [
          {
            protocol: 'gnmi',
            netos: '*',
            field_mappings: Object.fromEntries(
              LEAVES.map((leaf) => [leaf, `/interfaces/interface[name=*]/state/counters/${leaf}`]),
            ),
          },
        ],
      });
      await call('PUT', `/api/v1/models/${model.id}`, { active: true });
      for (const [index, { port }] of targets.entries()) {
        const body = {
          name: `leaf${index}`,
          address: '127.0.0.1',
          netos: 'eos',
          labels: { all: '1' },
          enabled: true,
        };
        await call('POST', '/api/v1/devices', { ...body, gnmi: { port, tls: 'off' } });
      }
      await call('POST', '/api/v1/subscriptions', {
        name: 'all',
        enabled: true,
        'model-name': 'interfaces',
        'model-version': 'latest',
        mode: 'sample',
        'interval-ms': 1_000,
        devices: { labels: { all: '1' } },
      });
      worker = spawn(
        process.execPath,
        [...WORKER_NODE_OPTIONS, '--import', resolve(ROOT, 'test/support/slow-queue.ts'), 'worker/main.ts'],
        {
          cwd: ROOT,
          env: {
            ...process.env,
            ...WORKER_ENVIRONMENT,
            GRATICULE_WORKER_ID: 'w-1',
            GRATICULE_TEST_SEND_MILLISECONDS: `${SEND_MILLISECONDS}`,
          },
          stdio: ['ignore', 'ignore', 'inherit'],
        },
      );
      const pid = worker.pid as number;
      const begun = performance.now();
      while (performance.now() - begun < seconds * 1_000) {
        await new Promise((done) => setTimeout(done, 5_000));
        const { collected, queued } = await metrics();
        log(
          `after ${((performance.now() - begun) / 1_000).toFixed(0)} s: ${collected} collected, ${queued} queued, ${megabytes(pid, 'VmRSS')} MB`,
        );
      }
      await check(
        `the worker's memory stays below ${memoryLimitMegabytes} MB (target ${MEMORY_TARGET_MEGABYTES})`,
        () => {
          log(`peak ${megabytes(pid, 'VmHWM')} MB`);
          ok(megabytes(pid, 'VmHWM') <= memoryLimitMegabytes);
        },
      );
      await check('devices are made to wait: none of what was collected has to be dropped', async () => {
        const { collected, 'failed-by-reason': failed } = await metrics();
        ok(collected > 1_000, `${collected} collected`);
        equal(failed['not-queued'], 0);
      });
      await check('when the queue is quick again, everything that was collected is in it', async () => {
        for (const target of targets) await target.stop();
        process.kill(pid, 'SIGUSR2');
        const last = await until(
          'all in the queue',
          metrics,
          ({ collected, queued }) => collected > 0 && queued === collected,
          40_000,
        );
        log(
          `${last.collected} collected, ${last.queued} queued, ${last['failed-by-reason']['not-queued']} not`,
        );
      });
      await check(
        'what the devices sent beyond that is counted as dropped by their subscription',
        async () => {
          const [subscription] = await call('GET', '/api/v1/subscriptions');
          const drops = subscription.status.map((each: { drops: number }) => each.drops);
          log(`superseded before they were collected: ${drops.join(', ')}`);
          ok(drops.some((count: number) => count > 0));
        },
      );
    } finally {
      if (worker !== undefined && worker.exitCode === null) {
        const ended = once(worker, 'exit');
        worker.kill('SIGKILL');
        await ended;
      }
      await emulators.stop();
      for (const target of targets) await target.stop().catch(() => undefined);
    }
  },
};

function megabytes(pid: number, figure: 'VmRSS' | 'VmHWM'): number {
  const kilobytes = new RegExp(`^${figure}:\\s+(\\d+)`, 'm').exec(
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  )?.[1];
  return Math.round(Number(kilobytes) / 1_024);
}

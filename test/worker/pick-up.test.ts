import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freshAddress } from '../contract/contract-case.ts';
import { contractClient } from '../support/contract-client.ts';
import { isRunning } from '../support/processes.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { workerProcess } from '../support/worker-process.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    environment: {
      NODE_OPTIONS: `--import ${resolve(import.meta.dirname, '../support/slow-store.ts')}`,
      GRATICULE_TEST_CALL_MILLISECONDS: '15',
    },
  });
});

afterAll(() => stack.stop());

it('takes 500 peers created at concurrency 50, each with 201, and picks all of them up', async () => {
  const api = contractClient(stack.send, stack.token);
  const create = () => {
    const body = { name: 'many', 'peer-address': freshAddress(), 'user-peer-as': '65001', enabled: true };
    return api.send({ method: 'POST', path: '/api/bgp/peers', body });
  };
  const statuses: number[] = [];
  let left = 500;
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      while (left > 0) {
        left -= 1;
        statuses.push((await create()).status);
      }
    }),
  );
  expect(statuses).toEqual(Array(500).fill(201));

  const createdAt = performance.now();
  const peers = await until(
    'all picked up',
    async () => (await api.send({ method: 'GET', path: '/api/bgp/peers' })).json,
    (list) => list.every((peer: { session: { worker: string } }) => peer.session.worker !== ''),
    60_000,
  );
  const milliseconds = Math.round(performance.now() - createdAt);
  console.log(`500 peers picked up ${milliseconds} ms after the last create (target 5000)`);
  expect(peers).toHaveLength(500);
  expect(milliseconds).toBeLessThan(25_000);
});

it('ends within five seconds with all of them, also on a store that takes 15 ms for each call', async () => {
  const pid = workerProcess(stack, 'w-1');
  process.kill(pid, 'SIGUSR2');
  const toldAt = performance.now();
  process.kill(pid, 'SIGTERM');
  await until(
    'the end',
    () => isRunning(pid),
    (runs) => !runs,
    30_000,
  );
  const milliseconds = Math.round(performance.now() - toldAt);
  console.log(`the worker of 500 peers ended after ${milliseconds} ms`);
  expect(milliseconds).toBeLessThan(5_000);
});

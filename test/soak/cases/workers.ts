import { deepEqual, equal, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { getTopologyHead } from '../../../store/topology-head.ts';
import type { TestCase } from '../../harness.ts';
import { FarEnds } from '../../support/bgp-far-ends.ts';
import { contractClient } from '../../support/contract-client.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { until } from '../../support/until.ts';
import { environmentOf, workerProcess } from '../../support/worker-process.ts';

const PEERS = 40;
const PORT = 1_795;

interface PeerView {
  readonly name: string;
  readonly id: number;
  readonly state: string;
  readonly session: { readonly worker: string; readonly epoch: number };
}

export const testCase: TestCase = {
  title: 'two workers and forty peers: one is killed, one is stopped and continued, a third joins',
  inCi: true,
  async run({ check, log }) {
    const addresses = Array.from({ length: PEERS }, (_, index) => `127.0.30.${index + 1}`);
    const farEnds = await FarEnds.open(addresses, PORT);
    const stack = await startStack({ environment: { GRATICULE_WORKERS: '2' } });
    const api = contractClient(stack.send, stack.token);
    const peers = async () => (await api.send({ method: 'GET', path: '/api/bgp/peers' })).json as PeerView[];
    /** The peers that the far ends do not see, with what the API says of them. */
    const down = async () => {
      const up = new Set(farEnds.established());
      return up.size === PEERS ? [] : (await peers()).filter((peer) => !up.has(peer.name));
    };
    const workersOf = (list: PeerView[]) => new Map(list.map((peer) => [peer.id, peer.session.worker]));
    const allUp = (list: PeerView[]) =>
      list.length === PEERS &&
      list.every((peer) => peer.state === 'established' && peer.session.worker !== '');
    const secondsSince = (start: number) => ((performance.now() - start) / 1000).toFixed(1);
    try {
      await until(
        'two workers',
        () => api.send({ method: 'GET', path: '/api/health' }),
        ({ json }) => json.workers === 2,
      );
      for (const address of addresses) {
        const body = { name: address, 'peer-address': address, 'peer-port': PORT, 'user-peer-as': '65000' };
        const tuned = { 'connect-retry': 1, 'hold-time': 30, enabled: true };
        equal(
          (await api.send({ method: 'POST', path: '/api/bgp/peers', body: { ...body, ...tuned } })).status,
          201,
        );
      }
      const first = await until('all established', peers, allUp, 60_000);
      const shares = Map.groupBy(first, (peer) => peer.session.worker);
      log(`shares: ${[...shares].map(([worker, share]) => `${worker} ${share.length}`).join(', ')}`);

      await check('each worker has a share, and /api/engine lists who owns what', async () => {
        ok([...shares.values()].every((share) => share.length >= 5) && shares.size === 2);
        const { workers } = (await api.send({ method: 'GET', path: '/api/engine' })).json;
        for (const worker of workers) {
          const owned = (shares.get(worker.id) ?? []).map((peer) => peer.id);
          deepEqual(
            [...worker.peers].sort((a, b) => a - b),
            owned,
          );
        }
      });

      await check('SIGKILL of one worker: every session is up again', async () => {
        const killedAt = performance.now();
        process.kill(workerProcess(stack, 'w-1'), 'SIGKILL');
        await until(
          'a session lost',
          () => farEnds.established().length,
          (up) => up < PEERS,
        );
        await until('all at the far ends', down, (left) => left.length === 0, 75_000);
        log(`all established again ${secondsSince(killedAt)} s after the kill (target 15 plus connect)`);
        await until('all by the API', peers, allUp, 20_000);
      });

      await check('a third worker joins and nothing moves', async () => {
        const before = workersOf(await peers());
        const connections = [...farEnds.sessions.values()].map((sessions) => sessions.length);
        const third = startThirdWorker(stack);
        try {
          await until(
            'three workers',
            () => api.send({ method: 'GET', path: '/api/health' }),
            ({ json }) => json.workers === 3,
          );
          // Two rounds of ownership, and then some.
          await new Promise((resolve) => setTimeout(resolve, 6_000));
          deepEqual(workersOf(await peers()), before);
          deepEqual(
            [...farEnds.sessions.values()].map((sessions) => sessions.length),
            connections,
          );
        } finally {
          third.kill('SIGTERM');
        }
      });

      await check(
        'SIGSTOP for 20 s, then SIGCONT: the old worker says nothing and nothing of it becomes visible',
        async () => {
          const pid = workerProcess(stack, 'w-2');
          const owned = (await peers())
            .filter((peer) => peer.session.worker === 'w-2')
            .map((peer) => peer.id);
          ok(owned.length > 0);
          const oldSessions = owned.map((id) => farEnds.sessions.get(addresses[id - 1] as string)?.at(-1));
          const stoppedAt = performance.now();
          process.kill(pid, 'SIGSTOP');
          const moved = (list: PeerView[]) =>
            allUp(list) && list.every((peer) => peer.session.worker === 'w-1');
          const taken = await until('taken over', peers, moved, 75_000);
          log(`taken over ${secondsSince(stoppedAt)} s after SIGSTOP (target 15 plus connect)`);
          await new Promise((resolve) =>
            setTimeout(resolve, Math.max(0, 20_000 - (performance.now() - stoppedAt))),
          );

          useStoreOf(pid);
          const heads = async () => Promise.all(owned.map(async (id) => (await getTopologyHead(id))?.epoch));
          const epochs = await heads();
          deepEqual(
            epochs,
            owned.map((id) => taken.find((peer) => peer.id === id)?.session.epoch),
          );
          const continuedAt = performance.now();
          process.kill(pid, 'SIGCONT');
          await new Promise((resolve) => setTimeout(resolve, 8_000));
          for (const session of oldSessions) {
            ok(
              session !== undefined && session.lastOctetsAt < continuedAt,
              'octets came on an old connection',
            );
          }
          deepEqual(await heads(), epochs);
          const after = await peers();
          ok(allUp(after));
          deepEqual(workersOf(after), workersOf(taken));
        },
      );
    } finally {
      await stack.stop();
      await farEnds.close();
    }
  },
};

/** Another worker of the same stack, as a second machine would start one. */
function startThirdWorker(stack: Stack) {
  const model = workerProcess(stack, 'w-2');
  const [command, ...words] = readFileSync(`/proc/${model}/cmdline`, 'utf8').split('\0').slice(0, -1);
  const environment = { ...environmentOf(model), GRATICULE_WORKER_ID: 'w-3' };
  return spawn(command as string, words, { stdio: 'ignore', env: environment });
}

/** This process reads the very tables that the stack writes. */
function useStoreOf(pid: number): void {
  for (const [name, value] of Object.entries(environmentOf(pid))) {
    if (/^(AWS_|GRATICULE_)/.test(name)) process.env[name] = value;
  }
}

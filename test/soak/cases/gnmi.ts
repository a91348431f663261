import { equal, ok } from 'node:assert/strict';
import { PathArena } from '../../../protocols/gnmi/path-arena.ts';
import { groupSubscriptions } from '../../../protocols/gnmi/subscribe.ts';
import type { NotificationSink } from '../../../protocols/gnmi/subscribe-response.ts';
import { DeviceStreams } from '../../../worker/gnmi/device-streams.ts';
import type { CaseContext, TestCase } from '../../harness.ts';
import { Chance } from '../../protocols/gnmi/random-message.ts';
import { allowAll, endpointOf } from '../../support/gnmi-target/endpoint.ts';
import type { Habits } from '../../support/gnmi-target/habits.ts';
import { addInterfaces } from '../../support/gnmi-target/interfaces.ts';
import { GnmiTarget } from '../../support/gnmi-target/target.ts';
import { pathOf } from '../../support/gnmi-target/tree.ts';

export const testCase: TestCase = {
  title: 'gNMI streams under edits, beside targets that misbehave, and before a consumer that is too slow',
  inCi: true,
  async run(context) {
    await editsUnderLoad(context);
    await badNeighbours(context);
    await slowConsumer(context);
  },
};

async function editsUnderLoad({ check, log, scale, seed }: CaseContext): Promise<void> {
  const edits = Math.round(1_000 * scale);
  await check(
    `${edits} edits of a device's subscriptions leave the RPC that they do not concern alone`,
    async () => {
      const { target, streams } = await device({});
      try {
        const chance = new Chance(seed);
        const kept = streamOf('/interfaces/interface/state/counters');
        const others = ['mtu', 'oper-status', 'counters/in-octets', 'counters/out-octets'].map((leaf) =>
          streamOf(`/interfaces/interface/state/${leaf}`),
        );
        streams.reconcile([kept]);
        await until(() => kept.sink.syncs === 1);
        let most = 0;
        for (let edit = 0; edit < edits; edit += 1) {
          const wanted = others.filter(() => chance.maybe(2));
          streams.reconcile([kept, ...wanted]);
          most = Math.max(most, wanted.length);
          const updates = kept.sink.updates;
          if (edit % 10 === 0) await until(() => kept.sink.updates > updates);
        }
        equal(kept.sink.syncs, 1);
        equal(target.log.filter(({ event }) => event === 'connection').length, 1);
        const rpcs = target.log.filter(({ event }) => event === 'rpc').length;
        log(`${rpcs} RPCs on one connection, at most ${most + 1} wanted at a time`);
      } finally {
        streams.close();
        await target.stop();
      }
    },
  );
}

async function badNeighbours({ check, log, scale }: CaseContext): Promise<void> {
  const seconds = Math.max(3, 30 * scale);
  await check(
    `${seconds} s beside garbage, half frames, floods, 20 MB blobs and silence cost a good device nothing`,
    async () => {
      const good = await device({});
      const bad = await Promise.all(
        (
          [
            { garbage: 'bytes' },
            { garbage: 'half-frame' },
            { garbage: 'endless' },
            { garbage: 'blob', blobBytes: 20 * 1024 * 1024 },
            { garbage: 'compressed' },
            { garbage: 'html' },
            { frozen: true },
            { refusal: { status: 14, message: 'rebooting' } },
          ] satisfies Partial<Habits>[]
        ).map((habits) => device(habits)),
      );
      const all = [good, ...bad];
      try {
        const stream = streamOf('/interfaces/interface/state/counters');
        good.streams.reconcile([stream]);
        for (const { streams } of bad) streams.reconcile([streamOf('/interfaces/interface/state/counters')]);
        const started = performance.now();
        while (performance.now() - started < seconds * 1_000) await turn();
        equal(stream.sink.syncs, 1);
        equal(good.target.log.filter(({ event }) => event === 'rpc').length, 1);
        ok(stream.sink.updates > 100);
        for (const { target, habits } of bad) {
          const at = target.log
            .filter(({ event }) => event === 'rpc')
            .map(({ milliseconds }) => milliseconds);
          const gaps = at.slice(1).map((time, index) => Math.round(time - (at[index] as number)));
          log(`${JSON.stringify(habits)}: ${at.length} RPCs, gaps ${gaps.slice(0, 12).join(' ')} ms`);
        }
        const refused = bad.at(-1)?.target.log.filter(({ event }) => event === 'rpc').length ?? 0;
        // Waits are drawn from 0 to 1 s, so about two attempts a second; twice that is no back-off.
        ok(refused < 20 + 4 * seconds, `a device that refuses was asked ${refused} times`);
      } finally {
        for (const { streams, target } of all) {
          streams.close();
          await target.stop();
        }
      }
    },
  );
}

async function slowConsumer({ check, log, scale }: CaseContext): Promise<void> {
  const rounds = Math.max(20, Math.round(200 * scale));
  await check(
    '20 floods before a consumer that reads a tenth of the time stay within their windows',
    async () => {
      const arena = new PathArena();
      const devices = await Promise.all(
        Array.from({ length: 20 }, () => device({ garbage: 'endless' }, arena)),
      );
      try {
        const sinks = devices.map(({ streams }) => {
          const stream = streamOf('/interfaces/interface/state/counters');
          streams.reconcile([stream]);
          return stream.sink;
        });
        await until(() => sinks.every(({ updates }) => updates > 0));
        const before = process.memoryUsage().rss;
        let peak = before;
        for (let round = 0; round < rounds; round += 1) {
          for (const { streams } of devices) streams.pause();
          for (let turns = 0; turns < 90; turns += 1) await turn();
          for (const { streams } of devices) streams.resume();
          for (let turns = 0; turns < 10; turns += 1) await turn();
          peak = Math.max(peak, process.memoryUsage().rss);
        }
        const grown = (peak - before) / 1024 / 1024;
        const updates = sinks.reduce((sum, sink) => sum + sink.updates, 0);
        log(
          `${updates} updates read; memory grew by ${Math.round(grown)} MB, the simulated targets included`,
        );
        ok(grown < 200, `memory grew by ${grown} MB`);
      } finally {
        for (const { streams, target } of devices) {
          streams.close();
          await target.stop();
        }
      }
    },
  );
}

async function device(habits: Partial<Habits>, arena = new PathArena()) {
  const target = await GnmiTarget.start({ habits });
  addInterfaces(target.tree, 4);
  const streams = new DeviceStreams({
    endpoint: async () => endpointOf(target.port),
    netos: 'srlinux',
    arena,
    guard: allowAll,
    random: Math.random,
    now: Date.now,
    firstBackoffMilliseconds: 50,
    longestBackoffMilliseconds: 1_000,
  });
  return { target, streams, habits };
}

class Counts implements NotificationSink {
  updates = 0;
  syncs = 0;
  begin(): void {}
  delete(): void {}
  update(): void {
    this.updates += 1;
  }
  end(): void {}
  sync(): void {
    this.syncs += 1;
  }
  error(): void {}
}

function streamOf(text: string) {
  const [group] = groupSubscriptions(
    [{ path: pathOf(text), mode: 'sample', intervalMilliseconds: 50, heartbeatMilliseconds: 0 }],
    'stream',
    'srlinux',
  );
  if (group === undefined) throw new Error('no group');
  return { group, sink: new Counts(), pollMilliseconds: 0 };
}

const turn = () => new Promise<void>((done) => setImmediate(done));

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await turn();
}

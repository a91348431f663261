import { afterEach, describe, expect, it } from 'vitest';
import { PathArena } from '../../../protocols/gnmi/path-arena.ts';
import { groupSubscriptions, type StreamMode } from '../../../protocols/gnmi/subscribe.ts';
import type { NotificationSink } from '../../../protocols/gnmi/subscribe-response.ts';
import { Backoff } from '../../../worker/gnmi/backoff.ts';
import {
  DeviceStreams,
  type DeviceStreamsOptions,
  type WantedStream,
} from '../../../worker/gnmi/device-streams.ts';
import { allowAll, endpointOf } from '../../support/gnmi-target/endpoint.ts';
import { addInterfaces } from '../../support/gnmi-target/interfaces.ts';
import { GnmiTarget, type TargetOptions } from '../../support/gnmi-target/target.ts';
import { pathOf } from '../../support/gnmi-target/tree.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

class Counts implements NotificationSink {
  updates = 0;
  deletes = 0;
  syncs = 0;
  begin(): void {}
  delete(): void {
    this.deletes += 1;
  }
  update(): void {
    this.updates += 1;
  }
  end(): void {}
  sync(): void {
    this.syncs += 1;
  }
  error(): void {}
}

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((done) => setImmediate(done));
};

function streamOf(
  text: string,
  mode: StreamMode | 'poll',
  intervalMilliseconds = 50,
): WantedStream & { sink: Counts } {
  const [group] = groupSubscriptions(
    [
      {
        path: pathOf(text),
        mode: mode === 'poll' ? 'sample' : mode,
        intervalMilliseconds,
        heartbeatMilliseconds: 0,
      },
    ],
    mode === 'poll' ? 'poll' : 'stream',
    'srlinux',
  );
  if (group === undefined) throw new Error('no group');
  return { group, sink: new Counts(), pollMilliseconds: intervalMilliseconds };
}

async function setUp(options: TargetOptions = {}, changes: Partial<DeviceStreamsOptions> = {}) {
  const target = await GnmiTarget.start(options);
  stops.push(() => target.stop());
  addInterfaces(target.tree, 2);
  const streams = new DeviceStreams({
    endpoint: async () => endpointOf(target.port),
    netos: 'srlinux',
    arena: new PathArena(),
    guard: allowAll,
    random: () => 1,
    now: () => Date.now(),
    firstBackoffMilliseconds: 20,
    longestBackoffMilliseconds: 80,
    ...changes,
  });
  stops.push(() => streams.close());
  return { target, streams };
}

const rpcs = (target: GnmiTarget) => target.log.filter(({ event }) => event === 'rpc').length;
const connections = (target: GnmiTarget) => target.log.filter(({ event }) => event === 'connection').length;

describe("a device's streams", () => {
  it('share one connection, each group with an RPC of its own', async () => {
    const { target, streams } = await setUp();
    const sample = streamOf('/interfaces/interface/state/counters', 'sample');
    const onChange = streamOf('/interfaces/interface/state/oper-status', 'on-change');
    const poll = streamOf('/interfaces/interface/state/mtu', 'poll');
    streams.reconcile([sample, onChange, poll]);
    await until(() => sample.sink.updates >= 48 && onChange.sink.syncs === 1 && poll.sink.syncs === 1);
    for (const round of [2, 3]) {
      expect(streams.poll(poll.group.key)).toBe(true);
      await until(() => poll.sink.syncs === round);
    }
    expect(streams.poll('another')).toBe(false);
    expect(connections(target)).toBe(1);
    expect(rpcs(target)).toBe(3);
    expect(streams.status(poll.group.key)?.state).toBe('polling');
    target.tree.set('/interfaces/interface[name=ethernet-1/1]/state/oper-status', 'DOWN');
    target.tree.remove('/interfaces/interface[name=ethernet-1/2]/state/oper-status');
    await until(() => onChange.sink.updates === 3 && onChange.sink.deletes === 1);
  });

  it('leave an RPC alone that an edit does not concern', async () => {
    const { target, streams } = await setUp();
    const kept = streamOf('/interfaces/interface/state/counters', 'sample');
    const old = streamOf('/interfaces/interface/state/mtu', 'sample');
    const next = streamOf('/interfaces/interface/state/oper-status', 'sample');
    streams.reconcile([kept, old]);
    await until(() => kept.sink.syncs === 1 && old.sink.syncs === 1);
    for (let edit = 0; edit < 20; edit += 1) {
      const replacing = edit % 2 === 0 ? next : old;
      const before = replacing.sink.syncs;
      streams.reconcile([kept, replacing]);
      await until(() => replacing.sink.syncs > before);
    }
    expect(kept.sink.syncs).toBe(1);
    expect(connections(target)).toBe(1);
    expect(rpcs(target)).toBe(22);
    streams.reconcile([]);
    await until(() => target.connections === 0);
  });

  it('come back after a loss, later each time while it lasts', async () => {
    const { target, streams } = await setUp();
    const sample = streamOf('/interfaces', 'sample');
    streams.reconcile([sample]);
    await until(() => sample.sink.syncs === 1);
    target.habits.refusal = { status: 14, message: 'rebooting' };
    const refusedFrom = rpcs(target);
    target.disconnect();
    await until(() => rpcs(target) >= refusedFrom + 4);
    expect(streams.status(sample.group.key)?.lastFault?.fault.code).toBe('unreachable');
    const at = target.log.filter(({ event }) => event === 'rpc').map(({ milliseconds }) => milliseconds);
    const gaps = at.slice(refusedFrom).map((time, index, all) => time - (all[index - 1] ?? time));
    // 40, 80, 80: the ceiling doubles and stays. A busy machine only adds to it.
    expect(gaps[1]).toBeGreaterThanOrEqual(35);
    expect(gaps[2]).toBeGreaterThanOrEqual(75);
    target.habits.refusal = undefined;
    await until(() => sample.sink.syncs === 2);
  });

  it('take the next encoding of the NOS when one is refused', async () => {
    const { streams } = await setUp({ habits: { encodings: ['proto'] } });
    const sample = streamOf('/interfaces', 'sample');
    streams.reconcile([sample]);
    await until(() => sample.sink.syncs === 1);
    expect(streams.status(sample.group.key)?.encoding).toBe('proto');
  });

  it('end a stream that brings garbage, and only that one', async () => {
    const { target, streams } = await setUp();
    const good = streamOf('/interfaces/interface/state/counters', 'sample');
    streams.reconcile([good]);
    await until(() => good.sink.syncs === 1);
    target.habits.garbage = 'bytes';
    const bad = streamOf('/interfaces/interface/state/mtu', 'sample');
    streams.reconcile([good, bad]);
    await until(() => streams.status(bad.group.key)?.lastFault?.fault.code === 'protocol-error');
    const before = good.sink.updates;
    await until(() => good.sink.updates > before);
    expect(good.sink.syncs).toBe(1);
  });

  it('stop a device while they are paused, and lose nothing of what it sends then', async () => {
    const { target, streams } = await setUp();
    const onChange = streamOf('/interfaces/interface/state/mtu', 'on-change');
    streams.reconcile([onChange]);
    await until(() => onChange.sink.syncs === 1);
    streams.pause();
    for (let mtu = 0n; mtu < 100n; mtu += 1n) {
      target.tree.set('/interfaces/interface[name=ethernet-1/1]/state/mtu', mtu);
    }
    for (let turn = 0; turn < 200; turn += 1) await new Promise((done) => setImmediate(done));
    expect(onChange.sink.updates).toBe(2);
    streams.resume();
    await until(() => onChange.sink.updates === 102);
  });
});

describe('the back-off', () => {
  it('draws from zero to a ceiling that doubles up to the longest', () => {
    const backoff = new Backoff({ firstMilliseconds: 1_000, longestMilliseconds: 5_000, random: () => 0.5 });
    expect([backoff.next(), backoff.next(), backoff.next(), backoff.next()]).toEqual([
      500, 1_000, 2_000, 2_500,
    ]);
    backoff.reset();
    expect(backoff.next()).toBe(500);
  });
});

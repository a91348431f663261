import { afterEach, describe, expect, it } from 'vitest';
import type { FieldType } from '../../../core/mapping/field-type.ts';
import { PollSchedule } from '../../../worker/collection/poll-schedule.ts';
import { GnmiCollection } from '../../../worker/gnmi/gnmi-collection.ts';
import { addInterfaces } from '../../support/gnmi-target/interfaces.ts';
import { type PlanOptions, streamPlan } from '../../support/gnmi-target/plan.ts';
import { GnmiTarget, type TargetOptions } from '../../support/gnmi-target/target.ts';
import { recordTexts } from '../../support/mapping/stream.ts';
import { until } from '../../support/until.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const AT = '/interfaces/interface[name=*]/state';
const FIELDS = [
  ['name', 'string', '/interfaces/interface[name=*]/name'],
  ['in-octets', 'counter64', `${AT}/counters/in-octets`],
  ['oper-status', 'string', `${AT}/oper-status`],
] as const satisfies ReadonlyArray<readonly [string, FieldType, string]>;

async function start(options: TargetOptions = {}, interfaces = 2) {
  const target = await GnmiTarget.start(options);
  stops.push(() => target.stop());
  addInterfaces(target.tree, interfaces);
  return target;
}

function startCollection(schedule?: PollSchedule): GnmiCollection {
  return new GnmiCollection({
    ...(schedule === undefined ? {} : { schedule }),
    readSecret: async () => 'secret',
    allowLoopback: true,
    random: () => 1,
    wallClock: Date.now,
    monotonic: () => performance.now(),
    timing: { firstBackoffMilliseconds: 20, longestBackoffMilliseconds: 50 },
  });
}

interface CollectedRecord {
  readonly path: string;
  readonly key: string;
  readonly data: Readonly<Record<string, unknown>>;
}

function open(collection: GnmiCollection, options: PlanOptions) {
  const cycles: CollectedRecord[][] = [];
  const counts = { settled: 0 };
  const stream = collection.open(streamPlan(options), {
    deliver: (batch) => cycles.push(recordTexts(batch).map((text) => JSON.parse(text) as CollectedRecord)),
    changed: () => undefined,
    settled: () => {
      counts.settled += 1;
    },
  });
  stops.push(() => stream.stop());
  return { stream, cycles, counts };
}

const rpcs = (target: GnmiTarget) => target.log.filter(({ event }) => event === 'rpc').length;
const connections = (target: GnmiTarget) => target.log.filter(({ event }) => event === 'connection').length;

describe('a gNMI stream of the worker', () => {
  it('SAMPLE: each interval one cycle with a record a row, whole, keys as fields', async () => {
    const target = await start();
    const { stream, cycles } = open(startCollection(), { port: target.port, fields: FIELDS });
    await until(
      'three cycles',
      () => cycles.length,
      (count) => count >= 3,
    );
    for (const cycle of cycles) {
      expect(cycle.map(({ key }) => key)).toEqual(['ethernet-1/1', 'ethernet-1/2']);
      expect(cycle[0]).toMatchObject({
        device: 'leaf1',
        'model-name': 'interfaces',
        path: '/interfaces/interface[name=ethernet-1/1]',
        data: { name: 'ethernet-1/1', 'oper-status': 'UP' },
      });
    }
    expect(stream.figures()).toMatchObject({
      state: 'streaming',
      encoding: 'json_ietf',
      lastError: null,
      rows: 2,
      drops: 0,
      coercionErrors: 0,
      cycleIncomplete: 0,
      unmatchedPaths: [],
    });
  });

  it('ON_CHANGE: the state, then what changes; after a lost connection also what has gone meanwhile', async () => {
    const target = await start();
    const options = { port: target.port, fields: FIELDS, mode: 'on-change' } as const;
    const { cycles } = open(startCollection(), options);
    await until(
      'the state',
      () => cycles.length,
      (count) => count === 1,
    );
    target.tree.set('/interfaces/interface[name=ethernet-1/2]/state/oper-status', 'DOWN');
    await until(
      'a change',
      () => cycles.length,
      (count) => count === 2,
    );
    expect(cycles[1]).toMatchObject([
      { key: 'ethernet-1/2', data: { name: 'ethernet-1/2', 'oper-status': 'DOWN' } },
    ]);
    target.habits.refusal = { status: 14, message: 'rebooting' };
    target.disconnect();
    target.tree.remove('/interfaces/interface[name=ethernet-1/1]');
    target.habits.refusal = undefined;
    await until(
      'the state again',
      () => cycles.length,
      (count) => count === 3,
    );
    expect(cycles[2]?.find(({ key }) => key === 'ethernet-1/1')?.data).toEqual({});
    expect(cycles[2]?.find(({ key }) => key === 'ethernet-1/2')?.data).toMatchObject({
      'oper-status': 'DOWN',
    });
  });

  it('POLL: one cycle each time it is due, and nothing of what comes before it is asked', async () => {
    const target = await start();
    const options = { port: target.port, fields: FIELDS, mode: 'poll' } as const;
    const { stream, cycles } = open(startCollection(), options);
    await until(
      'three polls',
      () => cycles.length,
      (count) => count >= 3,
    );
    expect(stream.figures()).toMatchObject({ state: 'polling', cycleIncomplete: 0 });
    expect(cycles.every((cycle) => cycle.length === 2)).toBe(true);
  });

  it('POLL: asks soon for the first time, also when that is before the device can be asked, and then at its phase', async () => {
    const target = await start();
    const clock = { now: 50_000_000 };
    const schedule = new PollSchedule(() => clock.now);
    const options = {
      port: target.port,
      fields: FIELDS,
      mode: 'poll',
      intervalMilliseconds: 600_000,
    } as const;
    const { stream, cycles } = open(startCollection(schedule), options);
    // Before a connection can be there.
    clock.now += 10_000;
    schedule.advance();
    await until(
      'the first poll',
      () => cycles.length,
      (count) => count === 1,
    );
    clock.now += 290_000;
    schedule.advance();
    clock.now += 600_000;
    schedule.advance();
    await until(
      'the next one',
      () => cycles.length,
      (count) => count === 2,
    );
    expect(stream.figures()).toMatchObject({ cycleIncomplete: 0, rows: 2 });
  });

  it('joins rows over RPCs of two origins, and shows a refused one as the state of the whole', async () => {
    const target = await start({ habits: { refusedOrigin: 'native' } });
    const fields = [
      ['in-octets', 'counter64', `openconfig:${AT}/counters/in-octets`],
      ['mtu', 'uint16', `native:${AT}/mtu`],
    ] as const;
    const { stream, cycles } = open(startCollection(), { port: target.port, fields });
    await until(
      'a cycle',
      () => cycles.length,
      (count) => count >= 1,
    );
    await until(
      'the refusal',
      () => stream.figures().lastError?.code,
      (code) => code === 'unknown-origin',
    );
    expect(stream.figures().state).not.toBe('streaming');
    target.habits.refusedOrigin = '';
    await until(
      'both RPCs',
      () => stream.figures().state,
      (state) => state === 'streaming',
    );
    const together = open(startCollection(), { port: target.port, fields });
    await until(
      'both in one row',
      () => together.cycles[0]?.[0]?.data,
      (data) => data?.['mtu'] === 9_000 && data['in-octets'] !== undefined,
    );
  });

  it('SAMPLE: joins rows over RPCs that sample at different times of the interval', async () => {
    const target = await start({ habits: { refusedOrigin: 'native' } });
    const fields = [
      ['in-octets', 'counter64', `openconfig:${AT}/counters/in-octets`],
      ['mtu', 'uint16', `native:${AT}/mtu`],
    ] as const;
    const { stream, cycles } = open(startCollection(), { port: target.port, fields });
    await until(
      'the end of a cycle, which quiet has told',
      () => cycles.length,
      (count) => count === 1,
    );
    target.habits.refusedOrigin = '';
    await until(
      'both RPCs',
      () => stream.figures().state,
      (state) => state === 'streaming',
    );
    const before = cycles.length;
    await until(
      'four cycles',
      () => cycles.length,
      (count) => count >= before + 4,
    );
    for (const cycle of cycles.slice(before + 2)) {
      expect(cycle.map(({ key, data }) => [key, ...Object.keys(data)])).toEqual([
        ['ethernet-1/1', 'in-octets', 'mtu'],
        ['ethernet-1/2', 'in-octets', 'mtu'],
      ]);
    }
  });

  it('shares a connection with the other streams of its device, and leaves their RPCs alone when it ends', async () => {
    const target = await start();
    const collection = startCollection();
    const kept = open(collection, { port: target.port, fields: FIELDS });
    const other = open(collection, { port: target.port, fields: FIELDS, subscriptionId: 2 });
    await until(
      'both',
      () => Math.min(kept.cycles.length, other.cycles.length),
      (count) => count >= 1,
    );
    await other.stream.stop();
    const before = kept.cycles.length;
    await until(
      'the kept one goes on',
      () => kept.cycles.length,
      (count) => count > before,
    );
    expect([connections(target), rpcs(target)]).toEqual([1, 2]);
    await kept.stream.stop();
    await until(
      'the connection is closed',
      () => target.connections,
      (count) => count === 0,
    );
  });

  it('says which paths bring nothing, and lets no predecessor wait for it', async () => {
    const target = await start();
    const fields = [...FIELDS, ['speed', 'uint64', `${AT}/sped`]] as const;
    const { stream } = open(startCollection(), { port: target.port, fields });
    await until(
      'unmatched',
      () => stream.figures().unmatchedPaths,
      (paths) => paths.length === 1,
    );
    expect(stream.figures().unmatchedPaths).toEqual([`${AT}/sped`]);
    const nothing = open(startCollection(), {
      port: target.port,
      fields: [['x', 'string', '/nowhere']],
      mode: 'on-change',
    });
    await until(
      'settled',
      () => nothing.counts.settled,
      (count) => count > 0,
    );
    expect(nothing.stream.figures()).toMatchObject({ state: 'streaming', unmatchedPaths: ['/nowhere'] });
    const unreadable = open(startCollection(), { port: target.port, fields: [['x', 'string', 'no path']] });
    await until(
      'settled',
      () => unreadable.counts.settled,
      (count) => count > 0,
    );
    expect(unreadable.stream.figures()).toMatchObject({
      state: 'idle',
      lastError: { code: 'invalid-path' },
      unmatchedPaths: ['no path'],
    });
  });

  it('waits while it is paused, and loses nothing of what is told then', async () => {
    const target = await start();
    const collection = startCollection();
    const options = { port: target.port, fields: FIELDS, mode: 'on-change' } as const;
    const { cycles } = open(collection, options);
    await until(
      'the state',
      () => cycles.length,
      (count) => count === 1,
    );
    collection.pause();
    target.tree.set(`${AT.replace('*', 'ethernet-1/1')}/oper-status`, 'DOWN');
    for (let turn = 0; turn < 200; turn += 1) await new Promise((done) => setImmediate(done));
    expect(cycles.length).toBe(1);
    collection.resume();
    await until(
      'the change',
      () => cycles.length,
      (count) => count === 2,
    );
  });

  it('dials no address that the engine may not reach', async () => {
    const target = await start();
    const collection = new GnmiCollection({
      readSecret: async () => '',
      allowLoopback: false,
      random: () => 1,
      wallClock: Date.now,
      monotonic: () => performance.now(),
    });
    const { stream } = open(collection, { port: target.port, fields: FIELDS });
    await until(
      'refused',
      () => stream.figures().lastError?.code,
      (code) => code === 'blocked-address',
    );
    expect(connections(target)).toBe(0);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RUNTIME_KEYS } from '../../contract/tables.ts';
import { changesBetween, neededHistory } from '../../core/topology/changes.ts';
import { listEvents, parseEventQuery } from '../../core/topology/events.ts';
import { publicId } from '../../core/topology/identity.ts';
import { getItem, putItem } from '../../store/table.ts';
import { getTopologyHead, SEGMENT_OCTETS, type TopologyHead } from '../../store/topology-head.ts';
import { HISTORY_MILLISECONDS, withoutOldHistory, withSnapshot } from '../../store/topology-history.ts';
import type { TopologyLogWriter } from '../../store/topology-log.ts';
import { TopologyReader } from '../../store/topology-reader.ts';
import { nodeNamed, nodeNlri } from '../support/isis-node.ts';
import { type Emulators, runAs, startEmulators } from '../support/stack.ts';
import { type FakeWorker, makePeer, startFakeWorker } from '../support/topology-worker.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;

describe('the history of a log', () => {
  const head = (segments: number[], snapshots: [sequence: number, at: number][]): TopologyHead => ({
    peerId: 1,
    epoch: 1,
    worker: 'w-1',
    sequence: 1_000,
    at: 0,
    staleMilliseconds: 0,
    segments: segments.map((first) => ({ epoch: 1, first, octets: 0 })),
    snapshots: snapshots.map(([sequence, at]) => ({ epoch: 1, sequence, parts: 1, at })),
  });
  const firsts = ({ segments }: TopologyHead) => segments.map(({ first }) => first);
  const sequences = ({ snapshots }: TopologyHead) => snapshots.map(({ sequence }) => sequence);

  it('begins with the empty state as long as the first snapshot is young', () => {
    const young = head([1, 11, 31], [[30, 500]]);
    expect(withoutOldHistory(young, 499)).toBe(young);
    const old = withoutOldHistory(young, 500);
    expect([firsts(old), sequences(old)]).toEqual([[31], [30]]);
  });

  it('is all of the log while there is no snapshot', () => {
    const without = head([1, 11, 31], []);
    expect(withoutOldHistory(without, 1_000)).toBe(without);
  });

  it('loses the snapshots, with their stretches, that were replaced before it begins', () => {
    const all = head(
      [1, 11, 31, 51],
      [
        [10, 100],
        [30, 200],
        [50, 300],
      ],
    );
    expect(withoutOldHistory(all, 99)).toBe(all);
    const kept = [100, 199, 200, 300].map((since) => withoutOldHistory(all, since));
    expect(kept.map(firsts)).toEqual([[11, 31, 51], [11, 31, 51], [31, 51], [51]]);
    expect(kept.map(sequences)).toEqual([[10, 30, 50], [10, 30, 50], [30, 50], [50]]);
  });

  it('keeps a stretch that a snapshot ends in, and one that is needed without a snapshot before it', () => {
    // The stretch from 11 was still written to while the snapshot at 30 was made.
    const kept = withoutOldHistory(head([1, 11, 41], [[30, 100]]), 100);
    expect(firsts(kept)).toEqual([11, 41]);
    // Such a log has lost its beginning: the snapshot at 30 is all that reaches it.
    const later = head([11, 41], [[30, 100]]);
    expect(withoutOldHistory(later, 0)).toBe(later);
  });

  it('is no more than 64 stretches long, however young', () => {
    const stretches = Array.from({ length: 65 }, (_, index) => 1 + index);
    const kept = withoutOldHistory(
      head(stretches, [
        [1, 100],
        [40, 200],
      ]),
      0,
    );
    expect([firsts(kept)[0], sequences(kept)]).toEqual([2, [1, 40]]);
    const fewer = head(stretches.slice(0, 64), [[40, 200]]);
    expect(withoutOldHistory(fewer, 0)).toBe(fewer);
  });

  it('has a stretch of its own after a snapshot, unless the log went on meanwhile', () => {
    const quiet = withSnapshot({ ...head([1], []), sequence: 30 }, 2, {
      epoch: 2,
      sequence: 30,
      parts: 1,
      at: 5,
    });
    expect([quiet.segments.at(-1), sequences(quiet)]).toEqual([{ epoch: 2, first: 31, octets: 0 }, [30]]);
    const again = withSnapshot(quiet, 2, { epoch: 2, sequence: 30, parts: 1, at: 5 });
    expect([firsts(again), sequences(again)]).toEqual([[1, 31], [30]]);
    const busy = withSnapshot({ ...head([1], []), sequence: 31 }, 2, {
      epoch: 2,
      sequence: 30,
      parts: 1,
      at: 5,
    });
    expect(firsts(busy)).toEqual([1]);
  });
});

describe('a log whose first snapshot was just made', () => {
  const start = Date.now() - 10 * MINUTE;
  const now = start + 5 * MINUTE;
  let emulators: Emulators;
  let worker: FakeWorker;
  let log: TopologyLogWriter;
  const as = <Result>(run: () => Promise<Result>) => runAs('topology', run);
  const write = (say: () => void) =>
    runAs('worker', async () => {
      say();
      await log.flush();
    });
  const headOf = () => runAs('worker', () => getTopologyHead(1));
  /** What a reader that begins now tells of the first node and the second, oldest first. */
  const names = new Map([1, 2].map((number) => [publicId('node', 71, nodeNlri(number)), `r${number}`]));
  const eventsOf = async () => {
    const reader = new TopologyReader();
    await as(() => reader.refreshWithHistory(now, 'all'));
    const query = parseEventQuery(new URLSearchParams('limit=1000'));
    return listEvents(reader.graph, reader.journal, query, now)
      .events.map((event) => `${event['action']} ${names.get(event['object-id'] as string)}`)
      .toReversed();
  };

  beforeAll(async () => {
    emulators = await startEmulators({ as: 'worker' });
    await makePeer(emulators, 1);
    worker = await startFakeWorker('w-1');
    log = await worker.own(1, { now: start });
  });
  afterAll(async () => {
    await log?.close();
    await emulators?.stop();
  });

  it('tells a reader that begins later what was added before, and what changed since any version', async () => {
    await write(() => {
      log.established(start);
      log.announce(71, nodeNlri(1), nodeNamed('r1'), start);
    });
    const early = new TopologyReader();
    await as(() => early.refresh(now));
    const version = early.version(now);
    // Another epoch writes into another stretch, as the first load of a large network does.
    await runAs('worker', () => log.close());
    log = await worker.own(1, { now: start + 1_000 });
    await write(() => {
      log.established(start + 1_000);
      log.announce(71, nodeNlri(1), nodeNamed('r1'), start + 1_000);
      log.announce(71, nodeNlri(2), nodeNamed('r2'), start + 1_000);
    });
    await write(() => log.endOfRib(start + 2_000));
    expect((await headOf())?.snapshots).toHaveLength(1);

    expect(await eventsOf()).toEqual(['added r1', 'stale r1', 'recovered r1', 'added r2']);
    const late = new TopologyReader();
    await as(() => late.refreshWithHistory(now, neededHistory(version)));
    const changes = changesBetween(late.graph, late.journal, version, late.version(now), now);
    expect(changes?.map(({ action, object }) => [action, object?.['attributes']])).toContainEqual([
      'put',
      { 'node-name': 'r2' },
    ]);
  });

  it('is without them an hour after the snapshot, though nothing else happens', async () => {
    const before = (await headOf()) as TopologyHead;
    const replacedAt = before.snapshots[0]?.at as number;
    await write(() => log.tick(replacedAt + HISTORY_MILLISECONDS - 1));
    expect(await headOf()).toEqual(before);
    await runAs('worker', async () => log.tick(replacedAt + HISTORY_MILLISECONDS));
    const after = (await until(
      'the head without history',
      headOf,
      (head) => head?.segments.length === 1,
      10_000,
    )) as TopologyHead;
    expect(after.segments).toEqual([{ epoch: before.epoch, first: before.sequence + 1, octets: 0 }]);
    expect(await eventsOf()).toEqual([]);
    const reader = new TopologyReader();
    await as(() => reader.refresh(now));
    expect(reader.graph.objects.size).toBe(2);
  });

  it('is read also where the version before this one wrote its head, without what each stretch holds', async () => {
    const key = RUNTIME_KEYS.topologyHead(1);
    const found = await runAs('worker', async () => {
      const item = await getItem('runtime', key);
      if (item === undefined) throw new Error('there is no head');
      const segments = (item['segments'] as number[][]).map(([epoch, first]) => [epoch, first]);
      await putItem('runtime', { ...item, segments });
      return getTopologyHead(1);
    });
    expect(found?.segments.map(({ octets }) => octets)).toEqual([SEGMENT_OCTETS]);
    await runAs('worker', async () => {
      log = await worker.own(1, { now });
      log.announce(71, nodeNlri(3), nodeNamed('r3'), now);
      await log.flush();
    });
    const reader = new TopologyReader();
    await as(() => reader.refresh(now));
    expect(reader.graph.objects.size).toBe(3);
  });
});

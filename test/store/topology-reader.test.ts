import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listEvents, parseEventQuery } from '../../core/topology/events.ts';
import type { TopologyLogWriter } from '../../store/topology-log.ts';
import { TopologyReader } from '../../store/topology-reader.ts';
import { nodeNamed, nodeNlri } from '../support/isis-node.ts';
import { type Emulators, runAs, startEmulators } from '../support/stack.ts';
import { makePeer, startFakeWorker } from '../support/topology-worker.ts';

const NODE = nodeNlri(1);
const MINUTE = 60_000;

describe('two reflectors that tell of a change within a second of each other', () => {
  const end = Date.now();
  const start = end - 20 * MINUTE;
  let emulators: Emulators;
  const logs: TopologyLogWriter[] = [];

  const say = (peer: 0 | 1, name: string, at: number) =>
    runAs('worker', () => {
      const log = logs[peer] as TopologyLogWriter;
      log.announce(71, NODE, nodeNamed(name), at);
      return log.flush();
    });
  /** Conflicts in a reader's history, oldest first, each with the minute. */
  const conflictsOf = (reader: TopologyReader): string[] =>
    listEvents(reader.graph, reader.journal, parseEventQuery(new URLSearchParams('limit=1000')), end)
      .events.filter(({ action }) => String(action).startsWith('conflict'))
      .map(({ action, at }) => `${action} ${(Date.parse(String(at)) - start) / MINUTE}`)
      .toReversed();

  beforeAll(async () => {
    emulators = await startEmulators({ as: 'worker' });
    const worker = await startFakeWorker('w-1');
    for (const peer of [1, 2]) {
      await makePeer(emulators, peer);
      const log = await worker.own(peer, { now: start });
      log.established(start);
      logs.push(log);
    }
    for (let minute = 1; minute <= 10; minute += 1) {
      await say(0, `r${minute}`, start + minute * MINUTE);
      await say(1, `r${minute}`, start + minute * MINUTE + 300);
    }
  });
  afterAll(async () => {
    for (const log of logs) await log.close();
    await emulators?.stop();
  });

  it('are in no conflict, neither now nor in the history of a reader that begins now', async () => {
    const reader = new TopologyReader();
    await runAs('topology', () => reader.refreshWithHistory(end, 'all'));
    expect(reader.graph.differing.size).toBe(0);
    expect(conflictsOf(reader)).toEqual([]);
  });

  it('are in conflict from the moment when one has heard of a change for long enough, for every reader', async () => {
    const early = new TopologyReader();
    await runAs('topology', () => early.refresh(end));
    await say(0, 'r11', start + 11 * MINUTE);
    await runAs('topology', () => early.refresh(end));
    await say(1, 'r11', start + 13 * MINUTE);
    await runAs('topology', () => early.refresh(end));
    const late = new TopologyReader();
    await runAs('topology', () => late.refresh(end));
    for (const reader of [early, late]) {
      await runAs('topology', () => reader.refreshWithHistory(end, 'all'));
      expect(conflictsOf(reader)).toEqual(['conflict 11.5', 'conflict-cleared 13']);
    }
  });

  it('are not in conflict for a reader that begins while one has not heard yet', async () => {
    await say(0, 'r12', end - 500);
    const reader = new TopologyReader();
    await runAs('topology', () => reader.refresh(end));
    expect([...reader.graph.differing].map((object) => reader.graph.inConflict(object, end))).toEqual([
      false,
    ]);
  });

  it('have histories that are read back once, though the journal keeps less, and not at all beyond the limit', async () => {
    // Snapshots, so that there is something to go back behind.
    for (const log of logs) {
      await runAs('worker', async () => {
        log.endOfRib(end);
        await log.flush();
      });
    }
    const calls = () =>
      emulators.guard
        .counts()
        .filter(({ principal }) => principal === 'topology')
        .reduce((sum, { calls: some }) => sum + some, 0);
    const callsOf = async (refresh: () => Promise<void>) => {
      const before = calls();
      await runAs('topology', refresh);
      return calls() - before;
    };
    const forgetful = new TopologyReader({ mostChanges: 5 });
    await runAs('topology', () => forgetful.refresh(end));
    expect(await callsOf(() => forgetful.refreshWithHistory(end, 'all'))).toBeGreaterThan(4);
    expect(forgetful.journal.baseOf(1)).toBeGreaterThan(0);
    expect(await callsOf(() => forgetful.refreshWithHistory(end, 'all'))).toBe(4);
    // It had that, and forgot it: no reading brings it back.
    expect(await callsOf(() => forgetful.refreshWithHistory(end, new Map([[1, 0]])))).toBe(4);

    const modest = new TopologyReader({ mostHistoryOctets: 0 });
    await runAs('topology', () => modest.refreshWithHistory(end, 'all'));
    expect(modest.journal.timeline.all).toEqual([]);
    expect(modest.graph.objects.size).toBe(1);
    expect(await callsOf(() => modest.refreshWithHistory(end, 'all'))).toBe(4);
    expect(await callsOf(() => modest.refreshWithHistory(end, new Map([[1, 0]])))).toBe(4);

    const all = new TopologyReader();
    await runAs('topology', () => all.refresh(end));
    await runAs('topology', () => all.refreshWithHistory(end, 'all'));
    expect(all.journal.baseOf(1)).toBe(0);
    expect(all.journal.timeline.all.length).toBeGreaterThan(20);
  });
});

import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TABLES } from '../../contract/tables.ts';
import { changesBetween, neededHistory } from '../../core/topology/changes.ts';
import { listEvents, parseEventQuery } from '../../core/topology/events.ts';
import { publicId } from '../../core/topology/identity.ts';
import { summarize } from '../../core/topology/summary.ts';
import type { TopologyVersion } from '../../core/topology/version.ts';
import { HISTORY_MILLISECONDS, removeLogsOfDeletedPeers } from '../../store/topology-history.ts';
import type { TopologyLogWriter } from '../../store/topology-log.ts';
import { TopologyReader } from '../../store/topology-reader.ts';
import { nodeNamed, nodeNlri } from '../support/isis-node.ts';
import { type Emulators, runAs, startEmulators } from '../support/stack.ts';
import { deletePeer, makePeer, startFakeWorker } from '../support/topology-worker.ts';

const MINUTE = 60_000;

describe('a peer that is deleted', () => {
  const start = Date.now() - 10 * MINUTE;
  const deletedAt = start + 5 * MINUTE;
  let emulators: Emulators;
  let log: TopologyLogWriter;
  let other: TopologyLogWriter;
  let before: TopologyVersion;
  let after: TopologyVersion;
  const [both, only] = [1, 2].map((number) => publicId('node', 71, nodeNlri(number)));

  const readerAt = async (now: number, wanted: Parameters<TopologyReader['refreshWithHistory']>[1]) => {
    const reader = new TopologyReader();
    await runAs('topology', () => reader.refreshWithHistory(now, wanted));
    return reader;
  };
  /** What a reader that begins now says of the changes since a version. */
  const changesSince = async (version: TopologyVersion, now: number) => {
    const reader = await readerAt(now, neededHistory(version));
    return changesBetween(reader.graph, reader.journal, version, reader.version(now), now)
      ?.map(({ action, id }) => `${action} ${id}`)
      .toSorted();
  };

  beforeAll(async () => {
    emulators = await startEmulators({ as: 'worker' });
    const worker = await startFakeWorker('w-1');
    await makePeer(emulators, 1);
    await makePeer(emulators, 2);
    log = await worker.own(1, { now: start });
    other = await worker.own(2, { now: start });
    await runAs('worker', async () => {
      for (const each of [log, other]) {
        each.established(start);
        each.announce(71, nodeNlri(1), nodeNamed('r1'), start);
      }
      log.announce(71, nodeNlri(2), nodeNamed('r2'), start);
      for (const each of [log, other]) {
        each.endOfRib(start);
        await each.flush();
      }
    });
    const reader = new TopologyReader();
    await runAs('topology', () => reader.refresh(start));
    before = reader.version(start);
    await deletePeer(emulators, 1);
  });
  afterAll(async () => {
    await other?.close();
    await emulators?.stop();
  });

  it('takes what it told along at once, and whoever asks for changes is told', async () => {
    expect(await changesSince(before, deletedAt)).toEqual([`put ${both}`, `remove ${only}`].toSorted());
    await runAs('worker', () => log.end(deletedAt));
    expect(await changesSince(before, deletedAt)).toEqual([`put ${both}`, `remove ${only}`].toSorted());
  });

  it('is told of in the events, object by object', async () => {
    const reader = await readerAt(deletedAt, 'all');
    const query = parseEventQuery(new URLSearchParams('peer=1'));
    const { events } = listEvents(reader.graph, reader.journal, query, deletedAt);
    expect(events.slice(0, 2).map((event) => [event['action'], event['at']])).toEqual(
      Array(2).fill(['purged', new Date(deletedAt).toISOString()]),
    );
    expect(
      events
        .slice(0, 2)
        .map((event) => event['object-id'])
        .toSorted(),
    ).toEqual([both, only].toSorted());
  });

  it('is no longer listed, and is no part of the versions from then on', async () => {
    const reader = await readerAt(deletedAt, neededHistory(before));
    expect(summarize(reader.graph, '', deletedAt)['peers']).toMatchObject([{ 'peer-id': 2 }]);
    after = reader.version(deletedAt);
    expect(after.peers.map(({ peerId }) => peerId)).toEqual([2]);
  });

  it('leaves its log for an hour and no trace behind', async () => {
    const end = deletedAt + HISTORY_MILLISECONDS;
    expect(await runAs('worker', () => removeLogsOfDeletedPeers(end - 1))).toEqual([]);
    expect(await changesSince(before, end - 1)).toContain(`remove ${only}`);
    expect(await runAs('worker', () => removeLogsOfDeletedPeers(end))).toEqual([1]);
    // Asked of the emulator past the guard: nothing of the product scans.
    const { Items = [] } = await new DynamoDBClient().send(
      new ScanCommand({
        TableName: TABLES.runtime.name,
        FilterExpression: 'begins_with(pk, :topology)',
        ExpressionAttributeValues: { ':topology': { S: 'TOPOLOGY-' } },
      }),
    );
    const peersLeft = Items.map(({ pk, sk }) => (pk?.S ?? '').split('#')[1] ?? String(Number(sk?.S)));
    expect([...new Set(peersLeft)]).toEqual(['2']);
    // Who asked after the end has missed nothing; who last asked before it cannot be told any more.
    expect(await changesSince(after, deletedAt)).toEqual([]);
    expect(await changesSince(before, deletedAt)).toBeUndefined();
  });
});

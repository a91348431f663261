import { describe, expect, it } from 'vitest';
import { type EventPage, listEvents, parseEventQuery } from '../../../core/topology/events.ts';
import {
  CONFLICT_AFTER_MILLISECONDS,
  type GraphChange,
  TopologyGraph,
} from '../../../core/topology/graph.ts';
import { TopologyObject } from '../../../core/topology/graph-object.ts';
import { objectKey, publicId } from '../../../core/topology/identity.ts';
import { Journal } from '../../../core/topology/journal.ts';
import type { LogEntry } from '../../../core/topology/log.ts';
import { nodeNamed, nodeNlri } from '../../support/isis-node.ts';
import { Random, testSeed } from '../../support/random.ts';

const START = Date.parse('2026-11-21T03:00:00.000Z');
const MINUTE = 60_000;
const nodeId = (number: number) => publicId('node', 71, nodeNlri(number));

/** A graph and its journal, to which peers' logs are read item by item. */
class Logs {
  readonly journal: Journal;
  readonly graph: TopologyGraph;
  now = START;
  readonly #sequences = new Map<number, number>();

  constructor(mostChanges?: number) {
    this.journal = new Journal(mostChanges);
    this.graph = new TopologyGraph(this.journal);
  }

  begin(peerId: number): void {
    this.journal.restart(peerId, 0);
    this.read(peerId, { kind: 'session-established', at: this.now, sweepBy: this.now + MINUTE });
  }

  read(peerId: number, ...entries: LogEntry[]): void {
    const sequence = (this.#sequences.get(peerId) ?? 0) + 1;
    this.#sequences.set(peerId, sequence);
    for (const entry of entries) this.graph.peer(peerId).rib.apply(entry);
    this.journal.record(peerId, sequence);
  }

  put(number: number, name: string, at = this.now): LogEntry {
    return { kind: 'put', at, safi: 71, nlri: nodeNlri(number), attribute: nodeNamed(name) };
  }

  page(query: string): EventPage {
    return listEvents(this.graph, this.journal, parseEventQuery(new URLSearchParams(query)), this.now);
  }

  /** Page by page, what a query lists. */
  pages(query: string, limit: number): EventPage['events'] {
    const events = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page = this.page(`${query}&limit=${limit}${after === '' ? '' : `&after=${after}`}`);
      expect(page.events.length).toBeLessThanOrEqual(limit);
      events.push(...page.events);
      after = page.next;
    }
    return events;
  }
}

/** Two peers' logs of one another's changes and conflicts, with clocks that are set back now and then. */
function someHistory(random: Random, mostChanges?: number): Logs {
  const logs = new Logs(mostChanges);
  for (const peerId of [2, 1, 3]) logs.begin(peerId);
  for (let item = 0; item < 150; item += 1) {
    logs.now += random.pick([0, 0, 1, 1_000, 20_000]);
    const at = logs.now - (random.chance(0.1) ? 5 * MINUTE : 0);
    const peerId = 1 + random.below(3);
    const entries = Array.from({ length: 1 + random.below(3) }, (): LogEntry => {
      const number = random.below(6);
      if (random.chance(0.2)) return { kind: 'remove', at, safi: 71, nlri: nodeNlri(number) };
      return logs.put(number, random.pick(['r', 's']), at);
    });
    if (random.chance(0.05)) {
      entries.push({ kind: 'session-lost', at, purgeAt: at + MINUTE });
      entries.push({ kind: 'session-established', at, sweepBy: at + MINUTE });
    }
    logs.read(peerId, ...entries);
  }
  return logs;
}

/** What is remembered, and the conflicts that last, without regard to order. */
function rememberedIds({ graph, journal, now }: Logs): string[] {
  const ids: string[] = [];
  const conflict = (object: TopologyObject, since: number) =>
    ids.push(`e.${object.id}.${since + CONFLICT_AFTER_MILLISECONDS}`);
  for (const peerId of graph.peers.keys()) {
    for (const { sequence, changes } of journal.after(peerId, 0)) {
      for (const [index, { action, object, differedSince }] of changes.entries()) {
        ids.push(`e.${peerId}.${sequence}.${index}`);
        if (action === 'conflict-cleared') conflict(object, differedSince);
      }
    }
  }
  for (const object of graph.differing) {
    if (graph.inConflict(object, now)) conflict(object, object.differsSince);
  }
  return ids;
}

const idsOf = (events: EventPage['events']) => events.map((event) => String(event['id']));

describe('the events of a topology', () => {
  it('are all that is remembered, newest first, on pages of any size', () => {
    const random = new Random(testSeed('events'));
    for (const mostChanges of [undefined, 200, 40]) {
      const logs = someHistory(random, mostChanges);
      const all = logs.pages('', 1_000);
      expect(idsOf(all).toSorted()).toEqual(rememberedIds(logs).toSorted());
      const times = all.map((event) => String(event['at']));
      expect(times).toEqual(times.toSorted().toReversed());
      for (const limit of [1, 7, 100]) expect(logs.pages('', limit)).toEqual(all);
    }
  });

  it('are those of a peer, an object or a time when these are asked for', () => {
    const logs = someHistory(new Random(testSeed('events of one')));
    const all = logs.pages('', 1_000);
    const middle = all[all.length >> 1] as EventPage['events'][number];
    const since = String(middle['at']);
    const id = nodeId(1);
    const expected: [query: string, isMeant: (event: EventPage['events'][number]) => boolean][] = [
      ['peer=2', (event) => event['peer-id'] === 2],
      [`id=${id}`, (event) => event['object-id'] === id],
      [`id=${id}&peer=2`, (event) => event['object-id'] === id && event['peer-id'] === 2],
      [`since=${since}`, (event) => String(event['at']) >= since],
    ];
    for (const [query, isMeant] of expected) {
      expect(logs.pages(query, 5), query).toEqual(all.filter(isMeant));
    }
    // Also of what comes after the first question.
    logs.now += MINUTE;
    logs.read(2, logs.put(1, 'new'), logs.put(2, 'new'));
    expect(logs.page(`id=${id}`).events[0]).toMatchObject({ 'object-id': id, after: { 'node-name': 'new' } });
  });

  it('are the same to a reader that took the logs in another order', () => {
    const one = new Logs();
    const other = new Logs();
    for (const [logs, peerIds] of [
      [one, [1, 2]],
      [other, [2, 1]],
    ] as const) {
      for (const peerId of peerIds) logs.begin(peerId);
      for (const peerId of peerIds) {
        logs.read(peerId, logs.put(1, 'r'), logs.put(2, 'r'));
        logs.read(peerId, logs.put(3, 'r'));
      }
    }
    expect(one.pages('', 1)).toEqual(other.pages('', 4));
  });

  it('go on behind a conflict that was cleared between two pages', () => {
    const logs = new Logs();
    for (const peerId of [1, 2]) logs.begin(peerId);
    logs.read(1, logs.put(1, 'r'));
    logs.read(2, logs.put(1, 's'));
    logs.now += MINUTE;
    const first = logs.page('limit=1');
    expect(first.events).toMatchObject([{ action: 'conflict', 'peer-id': null, before: null, after: null }]);
    logs.read(2, logs.put(1, 'r'));
    expect(logs.page('limit=2').events.map((event) => event['action'])).toEqual([
      'changed',
      'conflict-cleared',
    ]);
    const rest = logs.page(`after=${first.next}`);
    expect(rest.events.map(({ action, 'peer-id': peerId }) => [action, peerId])).toEqual([
      ['added', 2],
      ['added', 1],
    ]);
  });

  it('have nothing behind one that is no longer remembered', () => {
    const logs = new Logs();
    logs.begin(1);
    logs.read(1, logs.put(1, 'r'));
    for (const after of ['e.1.99.0', 'e.1.2.9', 'e.7.1.0', `e.${nodeId(1)}.${START}`]) {
      expect(logs.page(`after=${after}`), after).toEqual({ events: [], next: undefined });
    }
  });
});

describe('a page of events', () => {
  const ITEMS = 10_000;
  const PEERS = 4;
  let looks = 0;

  /** A change that counts how often it is looked at. */
  function countedChange(peerId: number, at: number, object: TopologyObject): GraphChange {
    return {
      get at() {
        looks += 1;
        return at;
      },
      get object() {
        looks += 1;
        return object;
      },
      get action(): 'changed' {
        looks += 1;
        return 'changed';
      },
      peerId,
      before: null,
      after: null,
      differedSince: 0,
    };
  }

  it('looks at little more than what is on it, wherever it begins', () => {
    const journal = new Journal();
    const graph = new TopologyGraph(journal);
    const objects = Array.from({ length: 1_000 }, (_, number) => {
      const nlri = nodeNlri(number);
      return new TopologyObject(objectKey(71, nlri), 71, nlri);
    });
    for (let peerId = 1; peerId <= PEERS; peerId += 1) journal.restart(peerId, 0);
    for (let item = 0; item < ITEMS; item += 1) {
      const peerId = 1 + (item % PEERS);
      for (let index = 0; index < 3; index += 1) {
        const object = objects[(3 * item + index) % objects.length] as TopologyObject;
        journal.changed(countedChange(peerId, START + item, object));
      }
      journal.record(peerId, item);
    }
    const looksOf = (text: string) => {
      looks = 0;
      const query = parseEventQuery(new URLSearchParams(text));
      const { events } = listEvents(graph, journal, query, START + ITEMS);
      expect(events).toHaveLength(10);
      return looks;
    };
    const objectId = (objects[7] as TopologyObject).id;
    // The first question after an object makes the index of objects.
    looksOf(`limit=10&id=${objectId}`);
    const middle = ITEMS / 2;
    const after = `e.${1 + (middle % PEERS)}.${middle}.1`;
    for (const from of ['', `&after=${after}`, `&since=${new Date(START).toISOString()}`]) {
      for (const of of ['', '&peer=3', `&id=${objectId}`]) {
        // Each event is looked at some ten times; a place is found by the logarithm of 30,000 looks at two.
        expect(looksOf(`limit=10${from}${of}`), `${from}${of}`).toBeLessThan(300);
      }
    }
  });

  it('sorts few of very many conflicts that last', () => {
    const logs = new Logs();
    for (const peerId of [1, 2]) logs.begin(peerId);
    for (let number = 0; number < 300; number += 1) logs.read(1, logs.put(number, 'r'));
    for (let number = 0; number < 300; number += 1) {
      logs.now += 1;
      logs.read(2, logs.put(number, 's'));
    }
    logs.now += MINUTE;
    const conflicts = logs.pages('', 7).filter(({ action }) => action === 'conflict');
    expect(conflicts.map((event) => event['object-id'])).toEqual(
      Array.from({ length: 300 }, (_, number) => nodeId(299 - number)),
    );
  });
});

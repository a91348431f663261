/**
 * The events of a journal in the order of their times: all of them, each peer's and each object's. A page of them costs what
 * is on it, wherever it begins.
 */
import { CONFLICT_AFTER_MILLISECONDS, type GraphChange } from './graph.ts';
import type { TopologyObject } from './graph-object.ts';
import type { JournalRecord } from './journal.ts';
import { partitionPoint } from './partition-point.ts';

/**
 * What a peer's log says, by where it says it; or that an object's copies had differed for so long that it became a
 * conflict, which no log says: `record` then tells of its end, and a conflict that lasts has none. It keeps no more than
 * that, for there are as many of these as changes.
 */
export interface TimelineEvent {
  readonly record: JournalRecord | undefined;
  readonly index: number;
  /** The object that came into conflict; null of what a log says. */
  readonly conflict: TopologyObject | null;
}

export class Timeline {
  /** What nobody has asked for yet: most readers of logs are asked for no events, and need not sort any. */
  #news: JournalRecord[] = [];
  #all: TimelineEvent[] = [];
  /** Without conflicts, which no peer tells. */
  readonly #byPeer = new Map<number, TimelineEvent[]>();
  /** By the object's id. Made when asked for, which is seldom, and kept until something is forgotten. */
  #byObject: Map<string, TimelineEvent[]> | undefined;

  /** The oldest first. */
  get all(): readonly TimelineEvent[] {
    this.#takeNews();
    return this.#all;
  }

  ofPeer(peerId: number): readonly TimelineEvent[] {
    this.#takeNews();
    return this.#byPeer.get(peerId) ?? [];
  }

  ofObject(objectId: string): readonly TimelineEvent[] {
    this.#takeNews();
    if (this.#byObject === undefined) {
      this.#byObject = new Map();
      for (const event of this.#all) addTo(this.#byObject, objectOf(event).id, event);
    }
    return this.#byObject.get(objectId) ?? [];
  }

  /** That an object came into conflict then, and is in it no longer. */
  findConflict(objectId: string, at: number): TimelineEvent | undefined {
    const end = partitionPoint(this.all, (event) => timeOf(event) <= at);
    const start = partitionPoint(this.all, (event) => timeOf(event) < at);
    return this.all.slice(start, end).find(({ conflict }) => conflict?.id === objectId);
  }

  add(record: JournalRecord): void {
    if (record.changes.length > 0) this.#news.push(record);
  }

  /** Forgets what the records of a peer up to a sequence number said. */
  forget(peerId: number, through: number): void {
    const stays = (record: JournalRecord | undefined) =>
      record?.peerId !== peerId || record.sequence > through;
    this.#news = this.#news.filter(stays);
    this.#all = this.#all.filter(({ record }) => stays(record));
    const ofPeer = (this.#byPeer.get(peerId) ?? []).filter(({ record }) => stays(record));
    if (ofPeer.length > 0) this.#byPeer.set(peerId, ofPeer);
    else this.#byPeer.delete(peerId);
    this.#byObject = undefined;
  }

  #takeNews(): void {
    if (this.#news.length === 0) return;
    const events: TimelineEvent[] = [];
    for (const record of this.#news) {
      for (const [index, { action, object }] of record.changes.entries()) {
        if (action === 'conflict-cleared') events.push({ record, index, conflict: object });
        events.push({ record, index, conflict: null });
      }
    }
    this.#news = [];
    const [first] = events.sort(compareEvents);
    if (first === undefined) return;
    // Most are newer than all that is here; not what a clock that was set back dated, or what was read late.
    const newer = this.#all.splice(placeOf(first, this.#all));
    const ordered = newer.length === 0 ? events : newer.concat(events).sort(compareEvents);
    for (const event of ordered) this.#all.push(event);
    for (const event of events) {
      const peerId = peerOf(event);
      if (peerId !== null) addTo(this.#byPeer, peerId, event);
      if (this.#byObject !== undefined) addTo(this.#byObject, objectOf(event).id, event);
    }
  }
}

/** What the log says; of a conflict, what it says of its end. */
export function changeOf({ record, index }: TimelineEvent): GraphChange | undefined {
  return record?.changes[index];
}

export function objectOf(event: TimelineEvent): TopologyObject {
  return event.conflict ?? (changeOf(event) as GraphChange).object;
}

/** Who says so; null of conflicts, which nobody says. */
export function peerOf(event: TimelineEvent): number | null {
  if (event.conflict !== null) return null;
  const { action, peerId } = changeOf(event) as GraphChange;
  return action === 'conflict-cleared' ? null : peerId;
}

/** Milliseconds since 1970. */
export function timeOf(event: TimelineEvent): number {
  const change = changeOf(event);
  if (event.conflict === null) return (change as GraphChange).at;
  return (change?.differedSince ?? event.conflict.differsSince) + CONFLICT_AFTER_MILLISECONDS;
}

/** Below zero: the first is the older one. The same in every process, for a page may be asked of another one. */
export function compareEvents(a: TimelineEvent, b: TimelineEvent): number {
  const byTime = timeOf(a) - timeOf(b);
  if (byTime !== 0) return byTime;
  if (a.conflict !== null && b.conflict !== null) {
    if (a.conflict.key === b.conflict.key) return 0;
    return a.conflict.key < b.conflict.key ? -1 : 1;
  }
  if (a.record === undefined || b.record === undefined || (a.conflict === null) !== (b.conflict === null)) {
    return a.conflict === null ? -1 : 1;
  }
  return a.record.peerId - b.record.peerId || a.record.sequence - b.record.sequence || a.index - b.index;
}

/** How many of the events, which are in order, are older than this one. */
export function placeOf(event: TimelineEvent, events: readonly TimelineEvent[]): number {
  return partitionPoint(events, (each) => compareEvents(each, event) < 0);
}

function addTo<Key>(lists: Map<Key, TimelineEvent[]>, key: Key, event: TimelineEvent): void {
  const list = lists.get(key);
  const last = list?.at(-1);
  if (list === undefined || last === undefined) lists.set(key, [event]);
  else if (compareEvents(last, event) < 0) list.push(event);
  else list.splice(placeOf(event, list), 0, event);
}

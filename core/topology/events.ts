/** `GET /api/topology/events`: what happened, when, and who said so, newest first. */
import { decodeAttribute } from '../../protocols/bgp/ls/attribute.ts';
import { decodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import { Problem } from '../problem.ts';
import type { GraphChange, TopologyGraph } from './graph.ts';
import type { Journal } from './journal.ts';
import { type JsonObject, stringifyExactly, time } from './object-view.ts';
import {
  changeOf,
  compareEvents,
  objectOf,
  peerOf,
  placeOf,
  type TimelineEvent,
  timeOf,
} from './timeline.ts';

/** The id of an object of any kind. */
export const OBJECT_ID_PATTERN = '^[nlpscu]\\.[A-Za-z0-9_-]{22}$';

export const EVENT_PARAMETERS = ['limit', 'after', 'since', 'peer', 'id'];

/** Of an event that a peer's log has, or of a conflict, which none has. */
export const EVENT_ID_PATTERN = '^e\\.([0-9]+\\.[0-9]+\\.[0-9]+|[nlpscu]\\.[A-Za-z0-9_-]{22}\\.[0-9]+)$';

const MOST_EVENTS = 1_000;
const DEFAULT_EVENTS = 100;

export interface EventQuery {
  readonly limit: number;
  /** The id of the event after which, going back, the page begins. */
  readonly after: string | undefined;
  /** Milliseconds since 1970. */
  readonly since: number | undefined;
  readonly peerId: number | undefined;
  /** The id of an object. */
  readonly objectId: string | undefined;
}

export function parseEventQuery(parameters: URLSearchParams): EventQuery {
  const limit = parameters.get('limit') ?? String(DEFAULT_EVENTS);
  if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > MOST_EVENTS) {
    throw new Problem('invalid-query', `limit is a number from 1 to ${MOST_EVENTS}`);
  }
  const since = parameters.get('since');
  // Date.parse takes much that is no time, such as 0.5.
  const isTime =
    since === null || /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/.test(since);
  const sinceTime = since === null ? undefined : isTime ? Date.parse(since) : Number.NaN;
  if (Number.isNaN(sinceTime))
    throw new Problem('invalid-query', 'since is a time, as 2026-11-21T03:00:00.000Z');
  const peer = parameters.get('peer');
  if (peer !== null && !/^[1-9]\d{0,14}$/.test(peer))
    throw new Problem('invalid-query', 'peer is the id of a peer');
  const id = parameters.get('id') ?? undefined;
  if (id !== undefined && !new RegExp(OBJECT_ID_PATTERN).test(id))
    throw new Problem('invalid-query', 'id is the id of an object');
  const after = parameters.get('after') ?? undefined;
  if (after !== undefined && !new RegExp(EVENT_ID_PATTERN).test(after))
    throw new Problem('invalid-query', 'after is the id of an event');
  return {
    limit: Number(limit),
    after,
    since: sinceTime,
    peerId: peer === null ? undefined : Number(peer),
    objectId: id,
  };
}

export interface EventPage {
  readonly events: readonly JsonObject[];
  /** The `after` of the next page; undefined on the last. */
  readonly next: string | undefined;
}

export function listEvents(
  graph: TopologyGraph,
  journal: Journal,
  query: EventQuery,
  now: number,
): EventPage {
  const cursor = query.after === undefined ? undefined : findEvent(graph, journal, query.after, now);
  // An event that is no longer remembered has nothing older than itself here.
  if (query.after !== undefined && cursor === undefined) return { events: [], next: undefined };
  const page: TimelineEvent[] = [];
  for (const event of newestFirst(graph, journal, query, cursor, now)) {
    if (query.since !== undefined && timeOf(event) < query.since) break;
    if (query.peerId !== undefined && peerOf(event) !== query.peerId) continue;
    if (page.length === query.limit)
      return { events: page.map(viewEvent), next: idOf(page.at(-1) as TimelineEvent) };
    page.push(event);
  }
  return { events: page.map(viewEvent), next: undefined };
}

/** Of the peer or object that is asked for, those that are older than the cursor. */
function* newestFirst(
  graph: TopologyGraph,
  { timeline }: Journal,
  query: EventQuery,
  cursor: TimelineEvent | undefined,
  now: number,
): Generator<TimelineEvent> {
  const { objectId, peerId } = query;
  const past =
    objectId !== undefined
      ? timeline.ofObject(objectId)
      : peerId !== undefined
        ? timeline.ofPeer(peerId)
        : timeline.all;
  const lasting = peerId !== undefined ? [] : newestConflicts(graph, query, cursor, now);
  let place = cursor === undefined ? past.length : placeOf(cursor, past);
  for (const conflict of lasting) {
    for (; place > 0; place -= 1) {
      const event = past[place - 1] as TimelineEvent;
      if (compareEvents(event, conflict) < 0) break;
      yield event;
    }
    yield conflict;
  }
  for (; place > 0; place -= 1) yield past[place - 1] as TimelineEvent;
}

/** Conflicts that last and are older than the cursor, newest first: as many as decide a page. */
function newestConflicts(
  graph: TopologyGraph,
  { limit, objectId }: EventQuery,
  cursor: TimelineEvent | undefined,
  now: number,
): TimelineEvent[] {
  const most = limit + 1;
  const newest: TimelineEvent[] = [];
  const keepMost = () => newest.sort((a, b) => compareEvents(b, a)).splice(most);
  for (const object of graph.differing) {
    if (!graph.inConflict(object, now) || (objectId !== undefined && object.id !== objectId)) continue;
    const conflict = { record: undefined, index: 0, conflict: object };
    if (cursor !== undefined && compareEvents(conflict, cursor) >= 0) continue;
    newest.push(conflict);
    // Of very many, few are sorted at a time.
    if (newest.length === 2 * most) keepMost();
  }
  keepMost();
  return newest;
}

function findEvent(
  graph: TopologyGraph,
  journal: Journal,
  id: string,
  now: number,
): TimelineEvent | undefined {
  const [, first = '', second = '', third = ''] = id.split('.');
  if (/^\d/.test(first)) {
    const record = journal.find(Number(first), Number(second));
    const index = Number(third);
    return record?.changes[index] === undefined ? undefined : { record, index, conflict: null };
  }
  const objectId = `${first}.${second}`;
  const at = Number(third);
  for (const object of graph.differing) {
    const conflict = { record: undefined, index: 0, conflict: object };
    if (timeOf(conflict) === at && object.id === objectId && graph.inConflict(object, now)) return conflict;
  }
  return journal.timeline.findConflict(objectId, at);
}

function idOf(event: TimelineEvent): string {
  const { record, index, conflict } = event;
  return conflict === null
    ? `e.${record?.peerId}.${record?.sequence}.${index}`
    : `e.${conflict.id}.${timeOf(event)}`;
}

function viewEvent(event: TimelineEvent): JsonObject {
  const object = objectOf(event);
  // Nobody says a conflict: it is what was said a while ago and never agreed upon.
  const change = event.conflict === null ? changeOf(event) : undefined;
  const nlri = decodeNlri(object.nlri, object.safi);
  const decoded = (attribute: Uint8Array | null): JsonObject =>
    attribute === null ? {} : (decodeAttribute(attribute, nlri).attributes as JsonObject);
  const { before = null, after = null } = change ?? {};
  const [was, is] = differences(decoded(before), decoded(after));
  return {
    id: idOf(event),
    at: time(timeOf(event)),
    kind: object.kind,
    'object-id': object.id,
    action: change === undefined ? 'conflict' : actionOf(change),
    'peer-id': peerOf(event),
    before: before === null ? null : was,
    after: after === null ? null : is,
  };
}

function actionOf({ action, after }: GraphChange): string {
  return action === 'changed' && after === null ? 'attributes-lost' : action;
}

/** The members in which two objects differ; one that only one of them has is absent in the other. */
function differences(before: JsonObject, after: JsonObject): [JsonObject, JsonObject] {
  const was: JsonObject = {};
  const is: JsonObject = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (name in before && name in after && stringifyExactly(before[name]) === stringifyExactly(after[name]))
      continue;
    if (name in before) was[name] = before[name];
    if (name in after) is[name] = after[name];
  }
  return [was, is];
}

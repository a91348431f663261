/** `GET /api/topology/events`: what happened, when, and who said so, newest first. */
import { decodeAttribute } from '../../protocols/bgp/ls/attribute.ts';
import { decodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import { Problem } from '../problem.ts';
import { CONFLICT_AFTER_MILLISECONDS, type GraphChange, type TopologyGraph } from './graph.ts';
import type { TopologyObject } from './graph-object.ts';
import type { Journal } from './journal.ts';
import { type JsonObject, stringifyExactly, time } from './object-view.ts';

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

interface Event {
  readonly id: string;
  readonly at: number;
  readonly action: string;
  readonly object: TopologyObject;
  readonly peerId: number | null;
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
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
  const events = [...allEvents(graph, journal, now)]
    .filter(
      ({ at, peerId, object }) =>
        (query.since === undefined || at >= query.since) &&
        (query.peerId === undefined || peerId === query.peerId) &&
        (query.objectId === undefined || object.id === query.objectId),
    )
    // Both orders are reversed: what came last in an item of the log is the newest.
    .reverse()
    .sort((a, b) => b.at - a.at);
  const start = query.after === undefined ? 0 : events.findIndex(({ id }) => id === query.after) + 1;
  // An event that is no longer remembered has nothing older than itself here.
  if (query.after !== undefined && start === 0) return { events: [], next: undefined };
  const page = events.slice(start, start + query.limit);
  const more = start + query.limit < events.length;
  return { events: page.map(viewEvent), next: more ? page.at(-1)?.id : undefined };
}

function* allEvents(graph: TopologyGraph, journal: Journal, now: number): Generator<Event> {
  for (const { peerId, sequence, changes } of journal.records()) {
    for (const [index, change] of changes.entries()) {
      const event = { ...change, id: `e.${peerId}.${sequence}.${index}`, action: actionOf(change) };
      if (change.action !== 'conflict-cleared') yield event;
      else {
        yield conflictEvent(change.object, change.differedSince);
        yield { ...event, peerId: null };
      }
    }
  }
  for (const object of graph.differing) {
    if (graph.inConflict(object, now)) yield conflictEvent(object, object.differsSince);
  }
}

/** Nobody says a conflict: it is what was said a while ago and never agreed upon. */
function conflictEvent(object: TopologyObject, differedSince: number): Event {
  const at = differedSince + CONFLICT_AFTER_MILLISECONDS;
  const id = `e.${object.id}.${at}`;
  return { id, at, action: 'conflict', object, peerId: null, before: null, after: null };
}

function actionOf({ action, after }: GraphChange): string {
  return action === 'changed' && after === null ? 'attributes-lost' : action;
}

function viewEvent(event: Event): JsonObject {
  const { object } = event;
  const nlri = decodeNlri(object.nlri, object.safi);
  const decoded = (attribute: Uint8Array | null): JsonObject =>
    attribute === null ? {} : (decodeAttribute(attribute, nlri).attributes as JsonObject);
  const [before, after] = differences(decoded(event.before), decoded(event.after));
  return {
    id: event.id,
    at: time(event.at),
    kind: object.kind,
    'object-id': object.id,
    action: event.action,
    'peer-id': event.peerId,
    before: event.before === null ? null : before,
    after: event.after === null ? null : after,
  };
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

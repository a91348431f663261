import { Problem } from '../core/problem.ts';
import { changesBetween, neededHistory, type ObjectChange } from '../core/topology/changes.ts';
import { EVENT_PARAMETERS, listEvents, parseEventQuery } from '../core/topology/events.ts';
import { formatDot, formatGraphml } from '../core/topology/graph-drawing.ts';
import { formatGraphJson, GraphFragments } from '../core/topology/graph-json.ts';
import { formatRfc8345 } from '../core/topology/graph-rfc8345.ts';
import type { ObjectKind } from '../core/topology/identity.ts';
import { TopologyIndex } from '../core/topology/object-index.ts';
import { stringifyExactly } from '../core/topology/object-view.ts';
import { PATH_PARAMETERS, PathFinder, parsePathQuery } from '../core/topology/path-query.ts';
import { findObject, LIST_PARAMETERS, listObjects, parseObjectQuery } from '../core/topology/query.ts';
import { ROUTER_PARAMETERS, RouterView } from '../core/topology/router-view.ts';
import { summarize } from '../core/topology/summary.ts';
import { formatVersion, parseVersion } from '../core/topology/version.ts';
import { putLargeBody } from '../store/large-body-store.ts';
import { TopologyReader } from '../store/topology-reader.ts';
import { GraphBody, WholeBodies } from './graph-body.ts';
import { type ApiRequest, type ApiResponse, apiHandler, type Operation, type Operations } from './http.ts';
import { refuseUnknownParameters } from './preconditions.ts';

/** How often a waiting request looks for something new. */
const POLL_MILLISECONDS = 250;

/** Kept from one request to the next: a warm instance reads only what is new. */
const reader = new TopologyReader();
const index = new TopologyIndex(reader.graph);
const paths = new PathFinder(reader.graph, index);
const routers = new RouterView(reader.graph, index);
const graphBody = new GraphBody(new GraphFragments(reader.graph, index));
const wholeBodies = new WholeBodies();

const operations: Operations = {
  'GET /api/topology': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, []);
      const now = await current(request);
      return answer(summarize(reader.graph, versionText(now), now), now);
    },
  },
  'GET /api/topology/graph': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, ['format', 'stale']);
      const format = request.query.get('format') ?? 'json';
      const query = parseObjectQuery(request.query);
      const includeStale = query.stale !== 'exclude';
      if (query.stale === 'only') throw new Problem('invalid-query', 'stale is include or exclude');
      const now = await current(request);
      const { graph } = reader;
      const version = versionText(now);
      const whole = (contentType: string, write: () => string) => {
        const name = `${format} ${query.stale}`;
        return compressed(
          wholeBodies.gzipped(name, `${graph.generation} ${version}`, write),
          now,
          contentType,
        );
      };
      switch (format) {
        case 'json':
          return includeStale
            ? compressed(graphBody.gzipped(version, now), now, 'application/json')
            : whole('application/json', () => formatGraphJson(graph, index, version, query, now));
        case 'rfc8345':
          return whole('application/yang-data+json', () =>
            JSON.stringify(formatRfc8345(graph, includeStale)),
          );
        case 'graphml':
          return whole('application/graphml+xml', () => formatGraphml(graph, includeStale));
        case 'dot':
          return whole('text/vnd.graphviz', () => formatDot(graph, includeStale));
        default:
          throw new Problem('invalid-query', 'format is json, rfc8345, graphml or dot');
      }
    },
  },
  'GET /api/topology/paths': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, PATH_PARAMETERS);
      const query = parsePathQuery(request.query);
      const now = await current(request);
      return answer({ version: versionText(now), ...paths.find(query) }, now);
    },
  },
  'GET /api/topology/changes': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, ['since', 'wait']);
      const text = request.query.get('since') ?? '';
      const since = parseVersion(text);
      if (since === undefined) throw new Problem('invalid-query', 'since is a version that an answer gave');
      const wait = request.query.get('wait') ?? '0';
      if (!/^(1?\d|20)$/.test(wait))
        throw new Problem('invalid-query', 'wait is a number from 0 to 20 seconds');
      const deadline = request.now.getTime() + Number(wait) * 1000;
      for (;;) {
        const now = Date.now();
        await reader.refreshWithHistory(now, neededHistory(since));
        const until = reader.version(now);
        const changes = changesBetween(reader.graph, reader.journal, since, until, now);
        if (changes === undefined) {
          throw new Problem(
            'version-expired',
            'the log no longer has what came after this version; load everything again',
          );
        }
        if (changes.length > 0) return changesAnswer(text, formatVersion(until), changes, now);
        if (now >= deadline) return changesAnswer(text, text, [], now, wait === '0');
        await new Promise((resolve) => setTimeout(resolve, Math.min(POLL_MILLISECONDS, deadline - now)));
      }
    },
  },
  'GET /api/topology/events': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, EVENT_PARAMETERS);
      const query = parseEventQuery(request.query);
      const now = request.now.getTime();
      await reader.refreshWithHistory(now, 'all');
      const { events, next } = listEvents(reader.graph, reader.journal, query, Date.now());
      return written(
        stringifyExactly(events),
        now,
        next === undefined ? {} : { link: nextLink(request, next) },
      );
    },
  },
  'GET /api/topology/nodes': listOf('node'),
  'GET /api/topology/nodes/{id}': oneOf('node'),
  'GET /api/topology/routers': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, ROUTER_PARAMETERS);
      const query = parseObjectQuery(request.query);
      const now = await current(request);
      const { objects, next } = routers.list(query);
      return written(
        stringifyExactly(objects),
        now,
        next === undefined ? {} : { link: nextLink(request, next) },
      );
    },
  },
  'GET /api/topology/routers/{id}': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, []);
      const now = await current(request);
      const id = request.parameters['id'] as string;
      const router = routers.find(id);
      if (router === undefined) throw new Problem('not-found', `there is no router ${id}`);
      return answer(router, now);
    },
  },
  'GET /api/topology/links': listOf('link'),
  'GET /api/topology/links/{id}': oneOf('link'),
  'GET /api/topology/prefixes': listOf('prefix'),
  'GET /api/topology/prefixes/{id}': oneOf('prefix'),
  'GET /api/topology/srv6-sids': listOf('srv6-sid'),
  'GET /api/topology/srv6-sids/{id}': oneOf('srv6-sid'),
  'GET /api/topology/sr-policies': listOf('sr-policy'),
  'GET /api/topology/sr-policies/{id}': oneOf('sr-policy'),
  'GET /api/topology/unknown': listOf('unknown'),
  'GET /api/topology/unknown/{id}': oneOf('unknown'),
};

export const handler = apiHandler('topology', operations, {
  putLargeBody,
  refusalHeaders: async (since) => {
    if (reader.refreshedAt < since.getTime()) await reader.refresh(since.getTime());
    return { 'topology-version': versionText(Date.now()) };
  },
});

function listOf(kind: ObjectKind): Operation {
  return {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, LIST_PARAMETERS[kind]);
      const query = parseObjectQuery(request.query);
      const now = await current(request);
      // Written out one by one: a whole network's objects at once would need several times their text.
      const { objects, next } = listObjects(reader.graph, index, kind, query, now, stringifyExactly);
      return written(
        `[${objects.join(',')}]`,
        now,
        next === undefined ? {} : { link: nextLink(request, next) },
      );
    },
  };
}

function oneOf(kind: ObjectKind): Operation {
  return {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, ['raw', 'peer']);
      const query = parseObjectQuery(request.query);
      const now = await current(request);
      const id = request.parameters['id'] as string;
      const object = findObject(reader.graph, index, kind, id, query, now);
      const what = kind === 'unknown' ? 'object of a type that is unknown,' : kind;
      if (object === undefined) throw new Problem('not-found', `there is no ${what} ${id}`);
      return answer(object, now);
    },
  };
}

/** The public cursor of what the graph shows now. */
function versionText(now: number): string {
  return formatVersion(reader.version(now));
}

/** Reads what is new and gives the moment that the answer is of, in milliseconds. */
async function current(request: ApiRequest): Promise<number> {
  await reader.refresh(request.now.getTime());
  return Date.now();
}

function answer(body: unknown, now: number): ApiResponse {
  return written(stringifyExactly(body), now);
}

/** A body that is text already; JSON unless `headers` say otherwise. */
function written(body: string, now: number, headers: Readonly<Record<string, string>> = {}): ApiResponse {
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'topology-version': versionText(now), ...headers },
    body,
  };
}

/** A body that comes compressed. */
async function compressed(gzipped: Promise<Buffer>, now: number, contentType: string): Promise<ApiResponse> {
  const headers = { 'content-type': contentType, 'topology-version': versionText(now) };
  return { status: 200, headers, gzipped: await gzipped };
}

function changesAnswer(
  from: string,
  to: string,
  changes: readonly ObjectChange[],
  now: number,
  askAgain = false,
): ApiResponse {
  const list = changes.map(stringifyExactly).join(',');
  const body = `{"from":${JSON.stringify(from)},"to":${JSON.stringify(to)},"changes":[${list}]}`;
  return written(body, now, askAgain ? { 'retry-after': '1' } : {});
}

/** RFC 8288. */
function nextLink(request: ApiRequest, after: string): string {
  const query = new URLSearchParams(request.query);
  query.set('after', after);
  return `<${request.path}?${query}>; rel="next"`;
}

/** What a list of topology objects can be asked for, and which objects answer. */

import type { LinkStateAttributes } from '../../protocols/bgp/ls/attributes.ts';
import { protocolName } from '../../protocols/bgp/ls/code-point.ts';
import type { NodeDescriptor, PrefixDescriptor } from '../../protocols/bgp/ls/descriptor.ts';
import { type DecodedNlri, decodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import { Problem } from '../problem.ts';
import type { TopologyGraph } from './graph.ts';
import type { TopologyNode, TopologyObject } from './graph-object.ts';
import type { ObjectKind } from './identity.ts';
import type { IndexEntry, TopologyIndex } from './object-index.ts';
import { decodedAttribute, type JsonObject, viewObject, viewUnadvertisedNode } from './object-view.ts';
import { longestMatches, type Prefix, parsePrefix } from './prefix.ts';

const COMMON = [
  'protocol',
  'identifier',
  'as',
  'router-id',
  'name',
  'area',
  'stale',
  'peer',
  'raw',
  'limit',
  'after',
];

/** The query parameters of each list. */
export const LIST_PARAMETERS: Readonly<Record<ObjectKind, readonly string[]>> = {
  node: COMMON,
  link: [...COMMON, 'node'],
  prefix: [...COMMON, 'node', 'family', 'prefix', 'contains'],
  'srv6-sid': [...COMMON, 'node'],
  'sr-policy': [...COMMON, 'node'],
  unknown: ['stale', 'peer', 'raw', 'limit', 'after'],
};

const NAMED_PROTOCOLS = Array.from({ length: 256 }, (_, code) => protocolName(code)).filter(
  (name) => !name.startsWith('protocol-'),
);

/** Every value that an object's `protocol` can have, and the ids of nodes: what is none is a typo, not a question. */
export const PROTOCOL_PATTERN = `^(${NAMED_PROTOCOLS.join('|')}|protocol-(0|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5]))$`;
export const NODE_ID_PATTERN = '^n\\.[A-Za-z0-9_-]{22}$';

export interface ObjectQuery {
  readonly protocol?: string;
  readonly identifier?: bigint;
  readonly as?: number;
  readonly routerId?: string;
  readonly name?: string;
  readonly area?: string;
  readonly stale: 'include' | 'exclude' | 'only';
  readonly peerId?: number;
  readonly raw: boolean;
  readonly node?: string;
  readonly family?: 'ipv4' | 'ipv6';
  readonly prefix?: Prefix;
  readonly contains?: Prefix;
  readonly limit?: number;
  readonly after?: string;
}

/** Reads and checks query parameters; throws an `invalid-query` Problem that names the one at fault. */
export function parseObjectQuery(parameters: URLSearchParams): ObjectQuery {
  const identifier = parameters.get('identifier');
  if (identifier !== null && !/^\d{1,20}$/.test(identifier)) refuse('identifier', 'a 64-bit integer');
  const stale = parameters.get('stale') ?? 'include';
  if (stale !== 'include' && stale !== 'exclude' && stale !== 'only') {
    return refuse('stale', 'include, exclude or only');
  }
  const raw = parameters.get('raw') ?? 'false';
  if (raw !== 'true' && raw !== 'false') return refuse('raw', 'true or false');
  const family = parameters.get('family');
  if (family !== null && family !== 'ipv4' && family !== 'ipv6') return refuse('family', 'ipv4 or ipv6');
  const protocol = parameters.get('protocol') ?? undefined;
  if (protocol !== undefined && !new RegExp(PROTOCOL_PATTERN).test(protocol)) {
    return refuse('protocol', `${NAMED_PROTOCOLS.join(', ')} or protocol-<n>`);
  }
  const node = parameters.get('node') ?? undefined;
  if (node !== undefined && !new RegExp(NODE_ID_PATTERN).test(node))
    return refuse('node', 'the id of a node');
  return withoutUndefined({
    protocol,
    identifier: identifier === null ? undefined : BigInt(identifier),
    as: integer(parameters, 'as', 0, 4_294_967_295),
    routerId: parameters.get('router-id')?.toLowerCase(),
    name: parameters.get('name') ?? undefined,
    area: parameters.get('area')?.toLowerCase(),
    stale,
    peerId: integer(parameters, 'peer', 1, 999_999_999_999_999),
    raw: raw === 'true',
    node,
    family: family ?? undefined,
    prefix: prefixParameter(parameters, 'prefix', 'a prefix, as 10.0.0.0/24'),
    contains: prefixParameter(parameters, 'contains', 'an address or a prefix'),
    limit: integer(parameters, 'limit', 1, 1_000),
    after: parameters.get('after') ?? undefined,
  });
}

export interface ObjectPage<Written = JsonObject> {
  readonly objects: readonly Written[];
  /** The id after which the next page begins; undefined on the last. */
  readonly next?: string;
}

/**
 * The objects of one kind that a query asks for, ordered by id, each as `write` makes it. `now` in milliseconds.
 */
export function listObjects<Written>(
  graph: TopologyGraph,
  index: TopologyIndex,
  kind: ObjectKind,
  query: ObjectQuery,
  now: number,
  write: (object: JsonObject) => Written,
): ObjectPage<Written> {
  let entries = index.entries(kind);
  if (query.contains !== undefined) {
    const fitting = entries.filter((entry) => answers(graph, entry, query));
    const best = longestMatches(fitting, prefixOf, query.contains);
    entries = fitting.filter((entry) => best.has(entry));
  }
  const objects: Written[] = [];
  let last: string | undefined;
  for (const entry of entries) {
    if (query.after !== undefined && entry.id <= query.after) continue;
    if (query.contains === undefined && !answers(graph, entry, query)) continue;
    if (query.limit !== undefined && objects.length === query.limit) return { objects, next: last as string };
    const view = viewEntry(graph, entry, query, now);
    if (view === undefined) continue;
    objects.push(write(view));
    last = entry.id;
  }
  return { objects };
}

/** One object by its id, or undefined. */
export function findObject(
  graph: TopologyGraph,
  index: TopologyIndex,
  kind: ObjectKind,
  id: string,
  query: ObjectQuery,
  now: number,
): JsonObject | undefined {
  const entry = index.find(kind, id);
  return entry === undefined ? undefined : viewEntry(graph, entry, query, now);
}

/** An entry as a list shows it; undefined when the query's peer does not tell it. */
export function viewEntry(
  graph: TopologyGraph,
  { object, node }: IndexEntry,
  query: ObjectQuery,
  now: number,
): JsonObject | undefined {
  const options = { raw: query.raw, ...(query.peerId === undefined ? {} : { peerId: query.peerId }) };
  if (object !== null) return viewObject(graph, object, now, options);
  return node === null || query.peerId !== undefined ? undefined : viewUnadvertisedNode(graph, node);
}

function answers(graph: TopologyGraph, { object, node }: IndexEntry, query: ObjectQuery): boolean {
  if (query.peerId !== undefined && !object?.copies.some(({ rib }) => rib.peerId === query.peerId))
    return false;
  if (query.stale !== 'include') {
    const stale =
      object === null ? [...(node?.links ?? [])].every((link) => graph.isStale(link)) : graph.isStale(object);
    if (stale !== (query.stale === 'only')) return false;
  }
  if (
    query.node !== undefined &&
    object?.localNode?.id !== query.node &&
    object?.remoteNode?.id !== query.node
  ) {
    return false;
  }
  if (!looksInside(query)) return true;
  const told = object ?? (node as TopologyNode);
  const nlri = decodeNlri(told.nlri, told.safi);
  if (query.protocol !== undefined && nlri.protocol !== query.protocol) return false;
  if (query.identifier !== undefined && nlri.identifier !== query.identifier) return false;
  if (query.family !== undefined && nlri.type !== `${query.family}-prefix`) return false;
  if (
    query.prefix !== undefined &&
    (nlri.descriptor as PrefixDescriptor)['ip-reachability'] !== query.prefix.text
  ) {
    return false;
  }
  return namesFit(graph, object, nlri, query);
}

function looksInside({
  protocol,
  identifier,
  as,
  routerId,
  name,
  area,
  family,
  prefix,
}: ObjectQuery): boolean {
  return [protocol, identifier, as, routerId, name, area, family, prefix].some(
    (value) => value !== undefined,
  );
}

/** What nodes are known by: any node that the object names may fit, and all filters must fit the same one. */
function namesFit(
  graph: TopologyGraph,
  object: TopologyObject | null,
  nlri: DecodedNlri,
  query: ObjectQuery,
): boolean {
  const { as, routerId, name, area } = query;
  if (as === undefined && routerId === undefined && name === undefined && area === undefined) return true;
  const own = attributesOf(graph, object, nlri);
  if (object?.kind === 'link' && name !== undefined && own['link-name'] === name && as === undefined) {
    if (routerId === undefined && area === undefined) return true;
  }
  const ends: readonly (readonly [NodeDescriptor | null, TopologyNode | null])[] = [
    [nlri.localNode, object?.localNode ?? null],
    [nlri.remoteNode, object?.remoteNode ?? null],
  ];
  return ends.some(([descriptor, node]) => {
    if (descriptor === null) return false;
    if (as !== undefined && descriptor['autonomous-system'] !== as) return false;
    const nodeObject = object?.kind === 'node' ? object : (node?.objects[0] ?? null);
    const attributes = object?.kind === 'node' ? own : nodeAttributes(graph, nodeObject);
    if (name !== undefined && attributes['node-name'] !== name) return false;
    if (area !== undefined && !areasOf(descriptor, attributes).includes(area)) return false;
    return routerId === undefined || routerIdsOf(descriptor, attributes).includes(routerId);
  });
}

function routerIdsOf(descriptor: NodeDescriptor, attributes: LinkStateAttributes): string[] {
  return [
    descriptor['igp-router-id'] ?? '',
    descriptor['bgp-router-id'] ?? '',
    ...(attributes['ipv4-router-ids'] ?? []),
    ...(attributes['ipv6-router-ids'] ?? []),
  ];
}

function areasOf(descriptor: NodeDescriptor, attributes: LinkStateAttributes): string[] {
  return [descriptor['ospf-area-id'] ?? '', ...(attributes['isis-area-identifiers'] ?? [])];
}

function nodeAttributes(graph: TopologyGraph, node: TopologyObject | null): LinkStateAttributes {
  return node === null ? {} : attributesOf(graph, node, decodeNlri(node.nlri, node.safi));
}

function attributesOf(
  graph: TopologyGraph,
  object: TopologyObject | null,
  nlri: DecodedNlri,
): LinkStateAttributes {
  return object === null ? {} : decodedAttribute(graph.selected(object).attribute, nlri).attributes;
}

function prefixOf({ object }: IndexEntry): Prefix | undefined {
  if (object === null) return undefined;
  const text = (decodeNlri(object.nlri, object.safi).descriptor as PrefixDescriptor)['ip-reachability'];
  return text === undefined ? undefined : parsePrefix(text);
}

function prefixParameter(parameters: URLSearchParams, name: string, legal: string): Prefix | undefined {
  const text = parameters.get(name);
  if (text === null) return undefined;
  return parsePrefix(text) ?? refuse(name, legal);
}

function integer(
  parameters: URLSearchParams,
  name: string,
  minimum: number,
  maximum: number,
): number | undefined {
  const text = parameters.get(name);
  if (text === null) return undefined;
  const value = /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= minimum && value <= maximum)) return refuse(name, `a number from ${minimum} to ${maximum}`);
  return value;
}

function refuse(name: string, legal: string): never {
  throw new Problem('invalid-query', `${name} is ${legal}`);
}

function withoutUndefined(
  query: { [Name in keyof ObjectQuery]: ObjectQuery[Name] | undefined },
): ObjectQuery {
  return Object.fromEntries(
    Object.entries(query).filter(([, value]) => value !== undefined),
  ) as unknown as ObjectQuery;
}

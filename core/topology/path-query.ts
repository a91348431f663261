/** `GET /api/topology/paths`: what can be asked, and the answer. */
import { Problem } from '../problem.ts';
import type { TopologyGraph } from './graph.ts';
import { type EdgePath, shortestPaths } from './k-shortest.ts';
import type { TopologyIndex } from './object-index.ts';
import type { JsonObject } from './object-view.ts';
import { PathNetwork } from './path-network.ts';
import { type PathMetric, PathProperties, UNUSABLE } from './path-properties.ts';
import { mplsLabelStack, srv6SidList } from './segment-list.ts';

export const PATH_PARAMETERS = [
  'from',
  'to',
  'metric',
  'k',
  'multi-topology-id',
  'stale',
  'min-bandwidth-bytes-per-second',
  'include-any',
  'include-all',
  'exclude-any',
  'avoid',
];

const METRICS: readonly PathMetric[] = ['igp', 'te', 'delay', 'hops'];
const MOST_PATHS = 16;

export interface PathQuery {
  /** Node ids. */
  readonly from: string;
  readonly to: string;
  readonly metric: PathMetric;
  readonly k: number;
  readonly multiTopologyId: number;
  readonly stale: 'include' | 'exclude';
  readonly minBandwidth?: number;
  /** Bit masks of administrative groups. */
  readonly includeAny?: bigint;
  readonly includeAll?: bigint;
  readonly excludeAny?: bigint;
  /** Ids of nodes and links; a link stands for both of its directions. */
  readonly avoid: readonly string[];
}

/** Reads and checks query parameters; throws an `invalid-query` Problem that names the one at fault. */
export function parsePathQuery(parameters: URLSearchParams): PathQuery {
  const metric = parameters.get('metric') ?? 'igp';
  if (!(METRICS as readonly string[]).includes(metric)) refuse('metric', METRICS.join(', '));
  const stale = parameters.get('stale') ?? 'include';
  if (stale !== 'include' && stale !== 'exclude') return refuse('stale', 'include or exclude');
  const minBandwidth = parameters.get('min-bandwidth-bytes-per-second');
  if (minBandwidth !== null && !/^\d+(\.\d+)?$/.test(minBandwidth)) {
    refuse('min-bandwidth-bytes-per-second', 'a number of bytes a second');
  }
  const includeAny = groupsParameter(parameters, 'include-any');
  const includeAll = groupsParameter(parameters, 'include-all');
  const excludeAny = groupsParameter(parameters, 'exclude-any');
  return {
    from: parameters.get('from') ?? refuse('from', 'needed: the id of a node'),
    to: parameters.get('to') ?? refuse('to', 'needed: the id of a node'),
    metric: metric as PathMetric,
    k: integerParameter(parameters, 'k', 1, MOST_PATHS, 1),
    multiTopologyId: integerParameter(parameters, 'multi-topology-id', 0, 4095, 0),
    stale,
    ...(minBandwidth === null ? {} : { minBandwidth: Number(minBandwidth) }),
    ...(includeAny === undefined ? {} : { includeAny }),
    ...(includeAll === undefined ? {} : { includeAll }),
    ...(excludeAny === undefined ? {} : { excludeAny }),
    avoid: avoidedIds(parameters),
  };
}

export const AVOID_PATTERN = '^([nl]\\.[A-Za-z0-9_-]{22}(,[nl]\\.[A-Za-z0-9_-]{22})*)?$';

/** An id that names nothing any more is nothing to avoid; what is no id is a mistake whose path might be taken for safe. */
function avoidedIds(parameters: URLSearchParams): string[] {
  const text = parameters.get('avoid') ?? '';
  if (!new RegExp(AVOID_PATTERN).test(text))
    refuse('avoid', 'ids of nodes and links with commas between them');
  return text === '' ? [] : text.split(',');
}

/** Kept at most: of 4,096 topologies, few are in use. */
const MOST_NETWORKS = 8;

/** Computes paths on a graph; keeps the networks that it made for as long as they can follow it. */
export class PathFinder {
  readonly #graph: TopologyGraph;
  readonly #index: TopologyIndex;
  readonly #properties: PathProperties;
  readonly #networks = new Map<string, PathNetwork>();

  constructor(graph: TopologyGraph, index: TopologyIndex) {
    this.#graph = graph;
    this.#index = index;
    this.#properties = new PathProperties(graph);
  }

  /** The answer but for its version. Throws an `invalid-query` Problem for ends that are not in the topology. */
  find(query: PathQuery): JsonObject {
    const network = this.#network(query);
    const [from, to] = [
      this.#nodeNumber(network, 'from', query.from),
      this.#nodeNumber(network, 'to', query.to),
    ];
    const costs = network.costs[query.metric];
    const allowed = this.#constrained(network, query, costs);
    const paths = shortestPaths(network, from, to, query.k, allowed, network.closed);
    const answer = {
      from: query.from,
      to: query.to,
      metric: query.metric,
      paths: paths.map((path) => this.#view(network, from, path, query)),
    };
    if (paths.length > 0) return { ...answer, reason: '' };
    const without = allowed === costs ? [] : shortestPaths(network, from, to, 1, costs, network.closed);
    return { ...answer, reason: without.length > 0 ? 'constraints' : 'unreachable' };
  }

  #network(query: PathQuery): PathNetwork {
    const key = `${query.multiTopologyId} ${query.stale}`;
    let network = this.#networks.get(key);
    if (network === undefined || !network.follow()) {
      network = new PathNetwork(this.#graph, query, this.#properties);
      this.#networks.delete(key);
      this.#networks.set(key, network);
      const [oldest] = this.#networks.keys();
      if (this.#networks.size > MOST_NETWORKS) this.#networks.delete(oldest as string);
    }
    return network;
  }

  #nodeNumber(network: PathNetwork, parameter: string, id: string): number {
    const node = this.#index.find('node', id)?.node ?? undefined;
    const number = node === undefined ? undefined : network.numberOf(node);
    if (number !== undefined) return number;
    throw new Problem('invalid-query', `${parameter}: there is no node ${id}`, {
      errors: [{ pointer: `/${parameter}`, code: 'unknown-reference', detail: `there is no node ${id}` }],
    });
  }

  /** The costs with those links made unusable that the query forbids; the same array when it forbids none. */
  #constrained(network: PathNetwork, query: PathQuery, costs: Float64Array): Float64Array {
    const { minBandwidth, includeAny, includeAll, excludeAny } = query;
    const avoid = new Set(query.avoid);
    const constrained =
      avoid.size > 0 || [minBandwidth, includeAny, includeAll, excludeAny].some((each) => each !== undefined);
    if (!constrained) return costs;
    const avoidedNodes = new Set<number>();
    for (const id of avoid) {
      const node = this.#index.find('node', id)?.node;
      const number = node == null ? undefined : network.numberOf(node);
      if (number !== undefined) avoidedNodes.add(number);
    }
    const avoidedLinks = new Set<unknown>();
    for (const id of avoid) {
      const link = this.#index.find('link', id)?.object;
      if (link == null) continue;
      avoidedLinks.add(link);
      avoidedLinks.add(this.#graph.pairing(link).reverse);
    }
    return costs.map((cost, edge) => {
      const from = network.from[edge] as number;
      if (avoidedNodes.has(from) || avoidedNodes.has(network.to[edge] as number)) return UNUSABLE;
      if (avoidedLinks.has(network.links[edge])) return UNUSABLE;
      // A LAN's own side of a link says nothing of bandwidth and colour: the router's side did.
      if (network.isPseudonode(from)) return cost;
      const { bandwidth, groups } = network.described(edge);
      if (minBandwidth !== undefined && !(bandwidth >= minBandwidth)) return UNUSABLE;
      // None at all is no condition: RFC 3209 §4.7.4.
      if (includeAny !== undefined && includeAny !== 0n && (groups & includeAny) === 0n) return UNUSABLE;
      if (includeAll !== undefined && (groups & includeAll) !== includeAll) return UNUSABLE;
      if (excludeAny !== undefined && (groups & excludeAny) !== 0n) return UNUSABLE;
      return cost;
    });
  }

  #view(network: PathNetwork, from: number, { cost, edges }: EdgePath, query: PathQuery): JsonObject {
    let delay = 0;
    let hops = 0;
    for (const edge of edges) {
      delay += network.costs.delay[edge] as number;
      hops += network.costs.hops[edge] as number;
    }
    const id = (node: number) => network.nodes[node]?.id as string;
    return {
      cost,
      nodes: [id(from), ...edges.map((edge) => id(network.to[edge] as number))],
      links: edges.map((edge) => network.links[edge]?.id),
      'delay-microseconds': edges.length > 0 && delay !== UNUSABLE ? delay : null,
      hops,
      'mpls-label-stack': mplsLabelStack(this.#graph, network, edges, query.multiTopologyId),
      'srv6-sids': srv6SidList(this.#graph, network, edges, query.multiTopologyId),
      'last-resort': edges.some((edge) => network.described(edge).lastResort),
    };
  }
}

function groupsParameter(parameters: URLSearchParams, name: string): bigint | undefined {
  const text = parameters.get(name);
  if (text === null) return undefined;
  if (!/^(0x[0-9a-f]{1,64}|\d{1,77})$/i.test(text))
    refuse(name, 'a bit mask of administrative groups, decimal or 0x');
  return BigInt(text);
}

function integerParameter(
  parameters: URLSearchParams,
  name: string,
  minimum: number,
  maximum: number,
  otherwise: number,
): number {
  const text = parameters.get(name);
  if (text === null) return otherwise;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= minimum && value <= maximum)) refuse(name, `a number from ${minimum} to ${maximum}`);
  return value;
}

function refuse(name: string, legal: string): never {
  throw new Problem('invalid-query', `${name} is ${legal}`);
}

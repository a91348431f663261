/**
 * The topology as paths see it: numbered nodes, and the links that work both ways as edges in compressed sparse rows
 * (the edges of node n are those from `offsets[n]` to `offsets[n + 1]`), with one typed array for each property.
 */
import { decodeAttribute } from '../../protocols/bgp/ls/attribute.ts';
import type { LinkStateAttributes } from '../../protocols/bgp/ls/attributes.ts';
import { isIsis, isOspf, ProtocolId } from '../../protocols/bgp/ls/code-point.ts';
import type { LinkDescriptor } from '../../protocols/bgp/ls/descriptor.ts';
import { decodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import type { TopologyGraph, TopologyNode, TopologyObject } from './graph.ts';
import { type ShortestPaths, shortestPathsBy } from './shortest-path.ts';

export type PathMetric = 'igp' | 'te' | 'delay' | 'hops';

/** No cost: the link is not part of any path by this metric. An absent metric is not a metric of 0. */
export const UNUSABLE = Number.POSITIVE_INFINITY;

/** A link of this IS-IS metric is for other uses than shortest paths. RFC 5305 §3. */
const ISIS_NOT_FOR_PATHS = 0xffffff;
/** MaxLinkMetric: the last resort of a stub router. RFC 6987 §2. */
const OSPF_LAST_RESORT = 0xffff;

const NO_TRANSIT = 1;
const EXCLUDED = 2;
const PSEUDONODE = 4;

export class PathNetwork {
  readonly nodes: readonly TopologyNode[];
  readonly offsets: Int32Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly links: readonly TopologyObject[];
  readonly costs: Readonly<Record<PathMetric, Float64Array>>;
  /** Bytes a second that the link can still take; NaN: it does not say. */
  readonly bandwidth: Float64Array;
  readonly lastResort: Uint8Array;
  /** 1: paths may begin and end there, but not go through: overloaded (IS-IS), or not a router (OSPFv3). */
  readonly closed: Uint8Array;
  readonly #flags: Uint8Array;
  readonly #numbers: ReadonlyMap<TopologyNode, number>;
  readonly #groups: readonly bigint[];
  #reverse: { offsets: Int32Array; edges: Int32Array } | undefined;
  #igpPaths: ShortestPaths | undefined;

  /** Paths never cross between topologies: `multiTopologyId` 0 is the default one. RFC 5120, RFC 4915. */
  constructor(graph: TopologyGraph, options: { multiTopologyId: number; stale: 'include' | 'exclude' }) {
    const nodes: TopologyNode[] = [];
    const numbers = new Map<TopologyNode, number>();
    const outgoing: TopologyObject[][] = [];
    for (const node of graph.nodes.values()) {
      if (!node.listed) continue;
      numbers.set(node, nodes.length);
      nodes.push(node);
      outgoing.push([]);
    }
    const flags = Uint8Array.from(nodes, (node) => flagsOf(graph, node));
    let count = 0;
    for (const link of graph.objects.values()) {
      if (link.kind !== 'link' || link.remoteNode === null || link.localNode === null) continue;
      const { reverse } = graph.pairing(link);
      if (reverse === null) continue;
      if (options.stale === 'exclude' && (graph.isStale(link) || graph.isStale(reverse))) continue;
      const { descriptor } = decodeNlri(link.nlri, link.safi);
      if (((descriptor as LinkDescriptor)['multi-topology-id'] ?? 0) !== options.multiTopologyId) continue;
      const near = numbers.get(link.localNode) as number;
      const far = numbers.get(link.remoteNode) as number;
      // An OSPFv3 router that IPv6 is not to be routed by. RFC 5340 §A.2.
      if (((flags[near] as number) | (flags[far] as number)) & EXCLUDED) continue;
      outgoing[near]?.push(link);
      count += 1;
    }
    this.nodes = nodes;
    this.#numbers = numbers;
    this.offsets = new Int32Array(nodes.length + 1);
    this.from = new Int32Array(count);
    this.to = new Int32Array(count);
    this.bandwidth = new Float64Array(count);
    this.lastResort = new Uint8Array(count);
    this.costs = {
      igp: new Float64Array(count),
      te: new Float64Array(count),
      delay: new Float64Array(count),
      hops: new Float64Array(count),
    };
    this.#flags = flags;
    this.closed = flags.map((each) => (each & NO_TRANSIT ? 1 : 0));
    const links: TopologyObject[] = [];
    const groups: bigint[] = [];
    outgoing.forEach((edges, node) => {
      for (const link of edges) {
        const edge = links.length;
        links.push(link);
        this.from[edge] = node;
        this.to[edge] = numbers.get(link.remoteNode as TopologyNode) as number;
        groups.push(this.#describe(graph, edge, link, node));
      }
      this.offsets[node + 1] = links.length;
    });
    this.links = links;
    this.#groups = groups;
  }

  /** The number of a node; undefined for one that is not in the topology. */
  numberOf(node: TopologyNode): number | undefined {
    return this.#numbers.get(node);
  }

  isPseudonode(node: number): boolean {
    return ((this.#flags[node] as number) & PSEUDONODE) !== 0;
  }

  /** Administrative groups as a bit mask: RFC 5305 §3.1 below 32, RFC 7308 beyond. */
  administrativeGroups(edge: number): bigint {
    return this.#groups[edge] as bigint;
  }

  /** The edges that end at a node. */
  edgesTo(node: number): Int32Array {
    this.#reverse ??= reverseOf(this.nodes.length, this.to);
    const { offsets, edges } = this.#reverse;
    return edges.subarray(offsets[node] as number, offsets[node + 1] as number);
  }

  /** Shortest paths as the routers compute them; shared, so that each run is read before the next. */
  igpPaths(): ShortestPaths {
    this.#igpPaths ??= shortestPathsBy(this, this.costs.igp);
    return this.#igpPaths;
  }

  /** Fills in the columns of one edge; returns its administrative groups. */
  #describe(graph: TopologyGraph, edge: number, link: TopologyObject, node: number): bigint {
    const nlri = decodeNlri(link.nlri, link.safi);
    const { attribute } = graph.selected(link);
    const attributes = attribute === null ? {} : decodeAttribute(attribute, nlri).attributes;
    // From a LAN to a router costs nothing: the way onto the LAN was paid. ISO 10589 §7.2.6, RFC 2328 §16.1.
    const free = this.isPseudonode(node);
    const igp = igpCost(nlri.protocolId, attributes['igp-metric']);
    this.costs.igp[edge] = free ? 0 : igp;
    this.costs.te[edge] = free ? 0 : (attributes['te-default-metric'] ?? UNUSABLE);
    this.costs.delay[edge] = free
      ? 0
      : (attributes['unidirectional-link-delay-microseconds']?.delay ?? UNUSABLE);
    this.costs.hops[edge] = free ? 0 : 1;
    this.lastResort[edge] = !free && isOspf(nlri.protocolId) && igp === OSPF_LAST_RESORT ? 1 : 0;
    this.bandwidth[edge] = free ? UNUSABLE : availableBandwidth(attributes);
    return groupsOf(attributes);
  }
}

function igpCost(protocolId: number, metric: number | undefined): number {
  if (metric === undefined) return UNUSABLE;
  return isIsis(protocolId) && metric === ISIS_NOT_FOR_PATHS ? UNUSABLE : metric;
}

/** What is left at the lowest priority; of a link that counts no reservations, what may be reserved, else all. */
function availableBandwidth(attributes: LinkStateAttributes): number {
  return (
    attributes['unreserved-bandwidth-bytes-per-second']?.[7] ??
    attributes['max-reservable-link-bandwidth-bytes-per-second'] ??
    attributes['maximum-link-bandwidth-bytes-per-second'] ??
    Number.NaN
  );
}

/** A link that names no group is in none. RFC 7308 §2.3.1: both lists describe the same first 32 groups. */
function groupsOf(attributes: LinkStateAttributes): bigint {
  let groups = BigInt(attributes['administrative-group'] ?? 0);
  attributes['extended-administrative-group']?.forEach((word, index) => {
    groups |= BigInt(word) << BigInt(index * 32);
  });
  return groups;
}

function flagsOf(graph: TopologyGraph, node: TopologyNode): number {
  let flags = node.pseudonode ? PSEUDONODE : 0;
  const object = node.objects[0];
  const attribute = object === undefined ? null : graph.selected(object).attribute;
  if (object === undefined || attribute === null) return flags;
  const nlri = decodeNlri(object.nlri, object.safi);
  const bits = decodeAttribute(attribute, nlri).attributes['node-flag-bits'];
  if (bits === undefined) return flags;
  if (bits.overload) flags |= NO_TRANSIT;
  if (nlri.protocolId === ProtocolId.ospfv3 && !node.pseudonode) {
    if (!bits.router) flags |= NO_TRANSIT;
    if (!bits.v6) flags |= EXCLUDED;
  }
  return flags;
}

function reverseOf(nodes: number, to: Int32Array): { offsets: Int32Array; edges: Int32Array } {
  const offsets = new Int32Array(nodes + 1);
  for (const node of to) offsets[node + 1] = (offsets[node + 1] as number) + 1;
  for (let node = 0; node < nodes; node += 1) {
    offsets[node + 1] = (offsets[node + 1] as number) + (offsets[node] as number);
  }
  const next = offsets.slice();
  const edges = new Int32Array(to.length);
  to.forEach((node, edge) => {
    edges[next[node] as number] = edge;
    next[node] = (next[node] as number) + 1;
  });
  return { offsets, edges };
}

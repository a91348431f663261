/**
 * The topology as paths see it: numbered nodes, and the links that work both ways as edges in compressed sparse rows
 * (the edges of node n are those from `offsets[n]` to `offsets[n + 1]`), with one typed array for each property.
 */
import type { TopologyGraph } from './graph.ts';
import type { TopologyNode, TopologyObject } from './graph-object.ts';
import {
  EXCLUDED,
  NO_TRANSIT,
  type PathLink,
  type PathMetric,
  PathProperties,
  PSEUDONODE,
} from './path-properties.ts';
import { type ShortestPaths, shortestPathsBy } from './shortest-path.ts';

export interface PathNetworkOptions {
  readonly multiTopologyId: number;
  readonly stale: 'include' | 'exclude';
}

export class PathNetwork {
  readonly nodes: readonly TopologyNode[];
  readonly offsets: Int32Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly links: readonly TopologyObject[];
  readonly costs: Readonly<Record<PathMetric, Float64Array>>;
  /** 1: paths may begin and end there, but not go through: overloaded (IS-IS), or not a router (OSPFv3). */
  readonly closed: Uint8Array;
  readonly #graph: TopologyGraph;
  readonly #options: PathNetworkOptions;
  readonly #properties: PathProperties;
  /** The graph's generation that this is of. */
  #generation: number;
  /** Links of this topology that do not work both ways: any of them may, when it or its neighbours change. */
  readonly #leftOut: TopologyObject[] = [];
  readonly #flags: Uint8Array;
  readonly #numbers: ReadonlyMap<TopologyNode, number>;
  readonly #described: PathLink[];
  #reverse: { offsets: Int32Array; edges: Int32Array } | undefined;
  #igpPaths: ShortestPaths | undefined;

  /**
   * Paths never cross between topologies: `multiTopologyId` 0 is the default one. RFC 5120, RFC 4915. `properties` are
   * of this graph, and can be kept from one network to the next.
   */
  constructor(graph: TopologyGraph, options: PathNetworkOptions, properties = new PathProperties(graph)) {
    this.#graph = graph;
    this.#options = options;
    this.#properties = properties;
    this.#generation = graph.generation;
    const nodes: TopologyNode[] = [];
    const numbers = new Map<TopologyNode, number>();
    for (const node of graph.nodes.values()) {
      if (!node.listed) continue;
      numbers.set(node, nodes.length);
      nodes.push(node);
    }
    const flags = Uint8Array.from(nodes, (node) => properties.nodeFlags(node));
    const offsets = new Int32Array(nodes.length + 1);
    const links: TopologyObject[] = [];
    const described: PathLink[] = [];
    const from: number[] = [];
    const to: number[] = [];
    nodes.forEach((node, near) => {
      for (const link of node.links) {
        if (link.localNode !== node || link.remoteNode === null) continue;
        const each = properties.link(link);
        if (each.multiTopologyId !== options.multiTopologyId) continue;
        const far = numbers.get(link.remoteNode) as number;
        if (((flags[near] as number) | (flags[far] as number)) & EXCLUDED) continue;
        if (!this.#worksBothWays(link)) {
          this.#leftOut.push(link);
          continue;
        }
        links.push(link);
        described.push(each);
        from.push(near);
        to.push(far);
      }
      offsets[near + 1] = links.length;
    });
    this.nodes = nodes;
    this.#numbers = numbers;
    this.offsets = offsets;
    this.from = new Int32Array(from);
    this.to = new Int32Array(to);
    this.links = links;
    this.#described = described;
    this.costs = {
      igp: new Float64Array(links.length),
      te: new Float64Array(links.length),
      delay: new Float64Array(links.length),
      hops: new Float64Array(links.length),
    };
    described.forEach((each, edge) => {
      this.#setCosts(edge, each);
    });
    this.#flags = flags;
    this.closed = flags.map((each) => (each & NO_TRANSIT ? 1 : 0));
  }

  /**
   * Takes in what changed in the graph, if every edge stays where it is: another metric, an overloaded router. False:
   * it has to be made anew. Of 60,000 edges, 2 ms in place of 45, or 180 without properties that are kept.
   */
  follow(): boolean {
    const { generation, shapedAt, flagsTouchedAt } = this.#graph;
    const since = this.#generation;
    if (generation === since) return true;
    if (shapedAt > since || flagsTouchedAt > since) return false;
    if (this.#leftOut.some(({ touchedAt }) => touchedAt > since)) return false;
    for (let node = 0; node < this.nodes.length; node += 1) {
      if (!this.#isNodeInPlace(node, since)) return false;
    }
    for (let edge = 0; edge < this.links.length; edge += 1) {
      const link = this.links[edge] as TopologyObject;
      if (link.touchedAt <= since) continue;
      if (!this.#worksBothWays(link)) return false;
      const described = this.#properties.link(link);
      this.#described[edge] = described;
      this.#setCosts(edge, described);
    }
    this.#igpPaths = undefined;
    this.#generation = generation;
    return true;
  }

  /** Takes in the node's flags; false: they are such that its links come into paths, or leave them. */
  #isNodeInPlace(number: number, since: number): boolean {
    const node = this.nodes[number] as TopologyNode;
    const object = node.objects[0];
    if (object === undefined || object.touchedAt <= since) return true;
    const flags = this.#properties.nodeFlags(node);
    if (((flags ^ (this.#flags[number] as number)) & EXCLUDED) !== 0) return false;
    this.#flags[number] = flags;
    this.closed[number] = flags & NO_TRANSIT ? 1 : 0;
    return true;
  }

  #worksBothWays(link: TopologyObject): boolean {
    const { reverse } = this.#graph.pairing(link);
    if (reverse === null) return false;
    return this.#options.stale === 'include' || !(this.#graph.isStale(link) || this.#graph.isStale(reverse));
  }

  #setCosts(edge: number, { costs }: PathLink): void {
    this.costs.igp[edge] = costs.igp;
    this.costs.te[edge] = costs.te;
    this.costs.delay[edge] = costs.delay;
    this.costs.hops[edge] = costs.hops;
  }

  /** The number of a node; undefined for one that is not in the topology. */
  numberOf(node: TopologyNode): number | undefined {
    return this.#numbers.get(node);
  }

  isPseudonode(node: number): boolean {
    return ((this.#flags[node] as number) & PSEUDONODE) !== 0;
  }

  /** What else there is to say of an edge. */
  described(edge: number): PathLink {
    return this.#described[edge] as PathLink;
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

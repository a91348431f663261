/**
 * Segment lists that make a packet take exactly one given path: node segments where the network's own shortest path
 * is that path and the only one, adjacency segments elsewhere. RFC 8402 §3.
 */
import { decodeAttribute } from '../../protocols/bgp/ls/attribute.ts';
import type { LinkStateAttributes } from '../../protocols/bgp/ls/attributes.ts';
import { isIsis } from '../../protocols/bgp/ls/code-point.ts';
import type { PrefixDescriptor, Srv6SidDescriptor } from '../../protocols/bgp/ls/descriptor.ts';
import { type DecodedNlri, decodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import type { TopologyGraph } from './graph.ts';
import type { TopologyNode, TopologyObject } from './graph-object.ts';
import type { PathNetwork } from './path-network.ts';
import type { ShortestPaths } from './shortest-path.ts';

/** Gives the segments of one data plane; undefined where a node or link has none. */
interface Segments<Sid> {
  /** Sends to node `to` along shortest paths, as written by whoever handles the packet at node `at`. */
  node(at: number, to: number, through: readonly number[]): Sid | undefined;
  /** Sends over this edge, from its near end; onto a LAN, to the far end of `next`. */
  adjacency(edge: number, next: number | undefined): Sid | undefined;
}

/**
 * The MPLS label stack, top first, for a packet that is handled by the first node as if it had arrived there: each
 * label is of the label space of the node where the segment before it ends. null when there is none.
 */
export function mplsLabelStack(
  graph: TopologyGraph,
  network: PathNetwork,
  edges: readonly number[],
  multiTopologyId: number,
): number[] | null {
  return segmentList(network, edges, {
    node: (at, to, through) => {
      const index = nodeSidIndex(graph, network.nodes[to] as TopologyNode, multiTopologyId);
      if (index === undefined) return undefined;
      // Every router on the way swaps the label, so each needs a block that has the index.
      for (const node of through) {
        if (
          !network.isPseudonode(node) &&
          labelOf(graph, network.nodes[node] as TopologyNode, index) === undefined
        ) {
          return undefined;
        }
      }
      return labelOf(graph, network.nodes[at] as TopologyNode, index);
    },
    adjacency: (edge, next) => {
      const attributes = linkAttributes(graph, network.links[edge] as TopologyObject);
      const usable =
        next === undefined
          ? attributes['adjacency-sids']
          : attributes['lan-adjacency-sids']?.filter(
              ({ neighbor }) =>
                neighbor === routerIdOf(network.nodes[network.to[next] as number] as TopologyNode),
            );
      // One of a set of links is not a promise of this one.
      return usable?.find(({ label, flags }) => label !== undefined && !isSet(flags))?.label;
    },
  });
}

/** The SRv6 SID list in the order in which the segments are visited; null when there is none. RFC 8754, RFC 8986. */
export function srv6SidList(
  graph: TopologyGraph,
  network: PathNetwork,
  edges: readonly number[],
  multiTopologyId: number,
): string[] | null {
  return segmentList(network, edges, {
    node: (_at, to) => endSid(graph, network.nodes[to] as TopologyNode, multiTopologyId),
    adjacency: (edge, next) => {
      const attributes = linkAttributes(graph, network.links[edge] as TopologyObject);
      if (next === undefined) {
        return attributes['srv6-end-x-sids']?.find(({ algorithm, flags }) => algorithm === 0 && !isSet(flags))
          ?.sid;
      }
      const neighbor = routerIdOf(network.nodes[network.to[next] as number] as TopologyNode);
      return [
        ...(attributes['isis-srv6-lan-end-x-sids'] ?? []),
        ...(attributes['ospfv3-srv6-lan-end-x-sids'] ?? []),
      ].find((sid) => sid.neighbor === neighbor && sid.algorithm === 0 && !isSet(sid.flags))?.sid;
    },
  });
}

function segmentList<Sid>(
  network: PathNetwork,
  edges: readonly number[],
  segments: Segments<Sid>,
): Sid[] | null {
  const list: Sid[] = [];
  const finder = network.igpPaths();
  let done = 0;
  while (done < edges.length) {
    const at = network.from[edges[done] as number] as number;
    finder.run(at, network.closed);
    const reach = done + onlyShortest(network, finder, at, edges, done);
    const segment = longestNodeSegment(network, edges, done, reach, segments);
    if (segment !== undefined) {
      list.push(segment.sid);
      done = segment.end;
      continue;
    }
    const edge = edges[done] as number;
    const ontoLan = network.isPseudonode(network.to[edge] as number);
    const next = ontoLan ? edges[done + 1] : undefined;
    // A path that ends on a LAN itself has nobody to send to.
    if (ontoLan && next === undefined) return null;
    const sid = segments.adjacency(edge, next);
    if (sid === undefined) return null;
    list.push(sid);
    done += ontoLan ? 2 : 1;
  }
  return list;
}

/** How many edges from `start` on are the one and only shortest path from node `at` to where they lead. */
function onlyShortest(
  network: PathNetwork,
  finder: ShortestPaths,
  at: number,
  edges: readonly number[],
  start: number,
): number {
  let length = 0;
  let cost = 0;
  for (let index = start; index < edges.length; index += 1) {
    const edge = edges[index] as number;
    const node = network.to[edge] as number;
    cost += network.costs.igp[edge] as number;
    if (finder.distanceTo(node) !== cost) break;
    let ways = 0;
    for (const other of network.edgesTo(node)) {
      const before = network.from[other] as number;
      if (network.closed[before] === 1 && before !== at) continue;
      if (finder.distanceTo(before) + (network.costs.igp[other] as number) === cost) ways += 1;
    }
    if (ways !== 1) break;
    length += 1;
  }
  return length;
}

function longestNodeSegment<Sid>(
  network: PathNetwork,
  edges: readonly number[],
  start: number,
  reach: number,
  segments: Segments<Sid>,
): { sid: Sid; end: number } | undefined {
  const at = network.from[edges[start] as number] as number;
  for (let end = reach; end > start; end -= 1) {
    const to = network.to[edges[end - 1] as number] as number;
    if (network.isPseudonode(to)) continue;
    const through = edges.slice(start, end - 1).map((edge) => network.to[edge] as number);
    const sid = segments.node(at, to, through);
    if (sid !== undefined) return { sid, end };
  }
  return undefined;
}

/** The index of a node's own SID in the default algorithm: of a host prefix that says it is one node's alone. */
function nodeSidIndex(graph: TopologyGraph, node: TopologyNode, multiTopologyId: number): number | undefined {
  for (const object of node.belongings) {
    if (object.kind !== 'prefix') continue;
    const nlri = decodeNlri(object.nlri, object.safi);
    const descriptor = nlri.descriptor as PrefixDescriptor;
    const bits = nlri.type === 'ipv4-prefix' ? '/32' : '/128';
    if (!descriptor['ip-reachability']?.endsWith(bits)) continue;
    if ((descriptor['multi-topology-id'] ?? 0) !== multiTopologyId) continue;
    const attributes = attributesOf(graph, object, nlri);
    // An anycast prefix has no N flag: of the SID in IS-IS (RFC 8667 §2.1.1), of the prefix in OSPF (RFC 7684 §2.1).
    const own = isFlag(attributes['prefix-attribute-flags']?.flags ?? {}, 'n');
    const sid = attributes['prefix-sids']?.find(
      ({ algorithm, index, flags }) =>
        algorithm === 0 && index !== undefined && (own || (isIsis(nlri.protocolId) && isFlag(flags, 'n'))),
    );
    if (sid?.index !== undefined) return sid.index;
  }
  return undefined;
}

function endSid(graph: TopologyGraph, node: TopologyNode, multiTopologyId: number): string | undefined {
  for (const object of node.belongings) {
    if (object.kind !== 'srv6-sid') continue;
    const nlri = decodeNlri(object.nlri, object.safi);
    const descriptor = nlri.descriptor as Srv6SidDescriptor;
    if ((descriptor['multi-topology-id'] ?? 0) !== multiTopologyId) continue;
    const endpoint = attributesOf(graph, object, nlri)['endpoint-behavior'];
    if (endpoint?.algorithm === 0 && isEnd(endpoint.behavior)) return descriptor.sid;
  }
  return undefined;
}

/** End with any flavour of PSP, USP and USD. RFC 8986 §10.2.2. */
function isEnd(behavior: number): boolean {
  return (behavior >= 1 && behavior <= 4) || (behavior >= 28 && behavior <= 31);
}

/** The label that a router gives an index: its block's ranges count as one. RFC 8667 §3.1. */
function labelOf(graph: TopologyGraph, node: TopologyNode, index: number): number | undefined {
  const object = node.objects[0];
  if (object === undefined) return undefined;
  const ranges = attributesOf(graph, object, decodeNlri(object.nlri, object.safi))['sr-capabilities']?.ranges;
  let left = index;
  for (const range of ranges ?? []) {
    if (left < range.size) return range['sid-label'] + left;
    left -= range.size;
  }
  return undefined;
}

function linkAttributes(graph: TopologyGraph, link: TopologyObject): LinkStateAttributes {
  return attributesOf(graph, link, decodeNlri(link.nlri, link.safi));
}

function attributesOf(graph: TopologyGraph, object: TopologyObject, nlri: DecodedNlri): LinkStateAttributes {
  const { attribute } = graph.selected(object);
  return attribute === null ? {} : decodeAttribute(attribute, nlri).attributes;
}

function routerIdOf(node: TopologyNode): string | undefined {
  return decodeNlri(node.nlri, node.safi).localNode?.['igp-router-id'];
}

function isSet(flags: object): boolean {
  return isFlag(flags, 's');
}

function isFlag(flags: object, name: string): boolean {
  return (flags as Readonly<Record<string, unknown>>)[name] === true;
}

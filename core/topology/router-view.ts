/**
 * Routers as people know them: the nodes of the topology in groups, one for each router. The identity of objects stays what
 * it is (levels, areas and instances never collapse): a router is a view of its nodes, and every node is in exactly one.
 */
import { hash } from 'node:crypto';
import type { LinkStateAttributes } from '../../protocols/bgp/ls/attributes.ts';
import type { NodeDescriptor } from '../../protocols/bgp/ls/descriptor.ts';
import { decodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import { parseIpAddress } from '../ip-address.ts';
import type { TopologyGraph } from './graph.ts';
import type { TopologyNode, TopologyObject } from './graph-object.ts';
import type { IndexEntry, TopologyIndex } from './object-index.ts';
import { decodedAttribute, integer, type JsonObject } from './object-view.ts';
import type { ObjectPage, ObjectQuery } from './query.ts';

/** One router: a group of nodes that say the same of who they are. */
interface RouterGroup {
  readonly id: string;
  /** The one that it is known by; null: none of its nodes has any. */
  readonly routerId: string | null;
  readonly routerIds: readonly string[];
  readonly names: readonly string[];
  readonly autonomousSystem: number | null;
  readonly members: readonly RouterMember[];
}

interface RouterMember {
  readonly entry: IndexEntry;
  readonly protocol: string | null;
  readonly identifier: bigint | null;
  readonly safi: number;
  readonly routeDistinguisher: string;
  readonly descriptor: NodeDescriptor;
  readonly pseudonode: boolean;
  readonly attributes: LinkStateAttributes;
  /** What it has in common with other nodes of the same router; empty for a LAN's pseudonode. */
  readonly marks: readonly string[];
  /** In the order of preference: IPv4 and IPv6 router ids, then the identifiers of OSPF and BGP. */
  readonly routerIds: readonly string[];
}

/** The query parameters of the list. */
export const ROUTER_PARAMETERS = ['as', 'router-id', 'name', 'stale', 'limit', 'after'];

/** Keeps the groups until the graph changes. */
export class RouterView {
  readonly #graph: TopologyGraph;
  readonly #index: TopologyIndex;
  #generation = -1;
  #groups: readonly RouterGroup[] = [];

  constructor(graph: TopologyGraph, index: TopologyIndex) {
    this.#graph = graph;
    this.#index = index;
  }

  /** The routers that a query asks for, in the order of their ids. */
  list(query: ObjectQuery): ObjectPage {
    const { as, routerId, name, stale, after = '', limit } = query;
    const fitting = this.#all().filter(
      (group) =>
        group.id > after &&
        (as === undefined || group.autonomousSystem === as) &&
        (routerId === undefined || group.routerIds.includes(routerId) || group.routerId === routerId) &&
        (name === undefined || group.names.includes(name)) &&
        (stale === 'include' || this.#isGroupStale(group) === (stale === 'only')),
    );
    const page = fitting.slice(0, limit);
    const objects = page.map((group) => this.#view(group));
    return page.length < fitting.length ? { objects, next: (page.at(-1) as RouterGroup).id } : { objects };
  }

  find(id: string): JsonObject | undefined {
    const group = this.#all().find((each) => each.id === id);
    return group === undefined ? undefined : this.#view(group);
  }

  #all(): readonly RouterGroup[] {
    if (this.#generation === this.#graph.generation) return this.#groups;
    this.#generation = this.#graph.generation;
    const members = this.#index.entries('node').map((entry) => this.#member(entry));
    this.#groups = grouped(members)
      .map(groupOf)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    return this.#groups;
  }

  #view(group: RouterGroup): JsonObject {
    const [first] = group.members as [RouterMember];
    const nodes = group.members.map((member) => ({
      id: member.entry.id,
      protocol: member.protocol,
      identifier: integer(member.identifier),
      descriptor: member.descriptor,
      advertised: member.entry.object !== null,
      stale: this.#isStale(member.entry),
    }));
    return {
      id: group.id,
      'router-id': group.routerId,
      'router-ids': group.routerIds,
      names: group.names,
      'autonomous-system': group.autonomousSystem,
      safi: first.safi,
      'route-distinguisher': first.routeDistinguisher,
      pseudonode: first.pseudonode,
      stale: nodes.every(({ stale }) => stale),
      nodes,
    };
  }

  #isGroupStale(group: RouterGroup): boolean {
    return group.members.every(({ entry }) => this.#isStale(entry));
  }

  #isStale({ object, node }: IndexEntry): boolean {
    if (object !== null) return this.#graph.isStale(object);
    return [...(node?.links ?? [])].every((link) => this.#graph.isStale(link));
  }

  #member(entry: IndexEntry): RouterMember {
    const told = (entry.object ?? entry.node) as TopologyObject | TopologyNode;
    const nlri = decodeNlri(told.nlri, told.safi);
    const attribute = entry.object === null ? null : this.#graph.selected(entry.object).attribute;
    const { attributes } = decodedAttribute(attribute, nlri);
    const descriptor = nlri.localNode ?? {};
    const pseudonode = entry.node?.pseudonode ?? false;
    const { protocol, identifier, routeDistinguisher } = nlri;
    const own = descriptor['igp-router-id'];
    const routerIds = [
      ...(attributes['ipv4-router-ids'] ?? []),
      ...(attributes['ipv6-router-ids'] ?? []),
      ...[own, descriptor['bgp-router-id']].filter(
        (id) => id !== undefined && parseIpAddress(id)?.family === 4,
      ),
    ] as string[];
    // Private networks use the same identifiers for other routers, and so do other autonomous systems.
    const scope = `${told.safi} ${routeDistinguisher} ${descriptor['autonomous-system'] ?? ''}`;
    const marks = pseudonode ? [] : routerIds.map((id) => `${scope} ${id}`);
    // An IS-IS system id is a router's in both levels of an instance, whether or not it tells of any other identifier.
    if (!pseudonode && own !== undefined && own !== '') marks.push(`${scope} ${identifier} ${own}`);
    return {
      entry,
      protocol,
      identifier,
      safi: told.safi,
      routeDistinguisher,
      descriptor,
      pseudonode,
      attributes,
      marks,
      routerIds: pseudonode ? [] : [...new Set(routerIds)],
    };
  }
}

/** Those with a mark in common are together, directly or through others. */
function grouped(members: readonly RouterMember[]): RouterMember[][] {
  const parents = members.map((_, number) => number);
  const rootOf = (number: number): number => {
    let at = number;
    while (parents[at] !== at) {
      parents[at] = parents[parents[at] as number] as number;
      at = parents[at] as number;
    }
    return at;
  };
  const byMark = new Map<string, number>();
  members.forEach(({ marks }, number) => {
    for (const mark of marks) {
      const other = byMark.get(mark);
      if (other === undefined) byMark.set(mark, number);
      else parents[rootOf(number)] = rootOf(other);
    }
  });
  const groups = new Map<number, RouterMember[]>();
  members.forEach((member, number) => {
    const root = rootOf(number);
    const group = groups.get(root);
    if (group === undefined) groups.set(root, [member]);
    else group.push(member);
  });
  return [...groups.values()];
}

function groupOf(members: readonly RouterMember[]): RouterGroup {
  const routerIds = [...new Set(members.flatMap((member) => member.routerIds))];
  const [first] = members as readonly [RouterMember];
  const sorted = routerIds.toSorted(byFamily);
  // Whichever node was read first, the id is the same.
  const mark = members.flatMap(({ marks }) => marks).sort()[0] ?? first.entry.id;
  return {
    id: `r.${hash('sha256', mark, 'buffer').toString('base64url', 0, 16)}`,
    routerId: sorted[0] ?? first.descriptor['igp-router-id'] ?? null,
    routerIds: sorted,
    names: [...new Set(members.map(({ attributes }) => attributes['node-name']))]
      .filter((each) => each !== undefined)
      .sort(),
    autonomousSystem: first.descriptor['autonomous-system'] ?? null,
    members,
  };
}

/** IPv4 before IPv6, then as text. */
function byFamily(a: string, b: string): number {
  const [six, otherSix] = [a.includes(':'), b.includes(':')];
  if (six !== otherSix) return six ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

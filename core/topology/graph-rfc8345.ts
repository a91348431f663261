/**
 * The topology in the IETF's own model: RFC 8345 networks, nodes, links and termination points, with the layer 3
 * attributes of RFC 8346 and the traffic engineering ones of RFC 8795, in the JSON encoding of RFC 7951 (64-bit integers
 * are strings). One network for each SAFI, route distinguisher, protocol and instance: what RFC 8345 calls a link never
 * leaves its network.
 */
import type { LinkStateAttributes } from '../../protocols/bgp/ls/attributes.ts';
import type { LinkDescriptor, PrefixDescriptor } from '../../protocols/bgp/ls/descriptor.ts';
import { type DecodedNlri, decodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import { parseIpAddress } from '../ip-address.ts';
import type { TopologyGraph } from './graph.ts';
import type { TopologyNode, TopologyObject } from './graph-object.ts';
import {
  isTeLink,
  TE_NETWORK_TYPE,
  type TeState,
  viewTeLink,
  viewTeNetwork,
  viewTeNode,
  viewTeTerminationPoint,
} from './graph-te-topology.ts';
import { decodedAttribute, type JsonObject } from './object-view.ts';
import { isDomainName, xmlText } from './yang-text.ts';

interface Network {
  readonly name: string;
  readonly nodes: { readonly node: TopologyNode; readonly nlri: DecodedNlri; readonly links: Link[] }[];
  /** One of its links is for traffic engineering: then it is a TE topology too, and its nodes are shown as such. */
  te: boolean;
}

/** A link that begins at the node that it is listed with. */
interface Link {
  readonly link: TopologyObject;
  readonly descriptor: LinkDescriptor;
  readonly attributes: LinkStateAttributes;
  readonly te: boolean;
  /** The half-link the other way, if it is in the answer too. */
  readonly reverse: TopologyObject | null;
}

/** `ietf-network:networks`; ids are those of the API. A termination point has the id of the half-link that it begins. */
export function formatRfc8345(graph: TopologyGraph, includeStale: boolean): JsonObject {
  const networks = new Map<string, Network>();
  for (const node of graph.nodes.values()) {
    if (!node.listed) continue;
    const links = [...node.links].filter((link) => includeStale || !graph.isStale(link));
    const object = node.objects[0];
    if (!includeStale && links.length === 0 && (object === undefined || graph.isStale(object))) continue;
    const nlri = decodeNlri(node.nlri, node.safi);
    const network = networkOf(networks, nlri);
    const outgoing = links.filter((link) => link.localNode === node).sort(byId);
    const read = outgoing.map((link) => readLink(graph, link, includeStale));
    network.nodes.push({ node, nlri, links: read });
    network.te ||= read.some(({ te }) => te);
  }
  const list = [...networks].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    'ietf-network:networks': { network: list.map(([id, network]) => viewNetwork(graph, id, network)) },
  };
}

function viewNetwork(graph: TopologyGraph, id: string, { name, nodes, te }: Network): JsonObject {
  nodes.sort((a, b) => byId(a.node, b.node));
  const links = nodes.flatMap((node) => node.links).filter(({ link }) => link.remoteNode !== null);
  return {
    'network-id': id,
    'network-types': {
      'ietf-l3-unicast-topology:l3-unicast-topology': {},
      ...(te ? TE_NETWORK_TYPE : {}),
    },
    'ietf-l3-unicast-topology:l3-topology-attributes': { name },
    ...(te ? viewTeNetwork(id, name) : {}),
    node: nodes.map(({ node, nlri, links }) => viewNode(graph, node, nlri, links, te)),
    ...(links.length > 0 ? { 'ietf-network-topology:link': links.map((link) => viewLink(graph, link)) } : {}),
  };
}

function networkOf(networks: Map<string, Network>, nlri: DecodedNlri): Network {
  const distinguisher = nlri.routeDistinguisher === '' ? '' : `:${nlri.routeDistinguisher}`;
  const id = `bgp-ls:${nlri.safi}${distinguisher}:${nlri.protocol}:${nlri.identifier}`;
  const known = networks.get(id);
  if (known !== undefined) return known;
  const network: Network = { name: `${nlri.protocol} instance ${nlri.identifier}`, nodes: [], te: false };
  networks.set(id, network);
  return network;
}

function viewNode(
  graph: TopologyGraph,
  node: TopologyNode,
  nlri: DecodedNlri,
  outgoing: readonly Link[],
  te: boolean,
): JsonObject {
  const object = node.objects[0];
  const attribute = object === undefined ? null : graph.selected(object).attribute;
  const { attributes } = decodedAttribute(attribute, nlri);
  const name = attributes['node-name'];
  const routerIds = attributes['ipv4-router-ids'] ?? dottedQuad(nlri.localNode?.['igp-router-id']);
  const prefixes = viewPrefixes(graph, node);
  const l3 = {
    // What peers call a node need not be a domain name, and only that may stand here.
    ...(name !== undefined && isDomainName(name) ? { name } : {}),
    ...(routerIds.length > 0 ? { 'router-id': [...new Set(routerIds)] } : {}),
    ...(prefixes.length > 0 ? { prefix: prefixes } : {}),
  };
  const state = object === undefined ? undefined : teState(graph, object);
  const termination = outgoing.map((link) => viewTerminationPoint(link, te));
  return {
    'node-id': node.id,
    ...(outgoing.length > 0 ? { 'ietf-network-topology:termination-point': termination } : {}),
    ...(Object.keys(l3).length > 0 ? { 'ietf-l3-unicast-topology:l3-node-attributes': l3 } : {}),
    ...(te ? viewTeNode(nlri, node.pseudonode, attributes, state) : {}),
  };
}

/** A prefix stands once, with the metric of its default topology if it has one there. */
function viewPrefixes(graph: TopologyGraph, node: TopologyNode): JsonObject[] {
  const prefixes = new Map<string, { topology: number; metric: number | undefined }>();
  for (const object of node.belongings) {
    if (object.kind !== 'prefix') continue;
    const nlri = decodeNlri(object.nlri, object.safi);
    const descriptor = nlri.descriptor as PrefixDescriptor;
    const prefix = descriptor['ip-reachability'];
    const topology = descriptor['multi-topology-id'] ?? 0;
    if (prefix === undefined || (prefixes.get(prefix)?.topology ?? Number.POSITIVE_INFINITY) <= topology)
      continue;
    const { attributes } = decodedAttribute(graph.selected(object).attribute, nlri);
    prefixes.set(prefix, { topology, metric: attributes['prefix-metric'] });
  }
  return [...prefixes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([prefix, { metric }]) => ({ prefix, ...(metric === undefined ? {} : { metric }) }));
}

function readLink(graph: TopologyGraph, link: TopologyObject, includeStale: boolean): Link {
  const nlri = decodeNlri(link.nlri, link.safi);
  const { attributes } = decodedAttribute(graph.selected(link).attribute, nlri);
  const { reverse } = graph.pairing(link);
  return {
    link,
    descriptor: nlri.descriptor as LinkDescriptor,
    attributes,
    te: isTeLink(attributes),
    reverse: reverse !== null && (includeStale || !graph.isStale(reverse)) ? reverse : null,
  };
}

function viewTerminationPoint({ link, descriptor }: Link, te: boolean): JsonObject {
  const addresses = [...descriptor['ipv4-interface-addresses'], ...descriptor['ipv6-interface-addresses']];
  const identifier = descriptor['link-local-identifier'];
  const l3 =
    addresses.length > 0
      ? { 'ip-address': [...new Set(addresses)] }
      : identifier === undefined
        ? undefined
        : { 'unnumbered-id': identifier };
  return {
    'tp-id': link.id,
    ...(l3 === undefined ? {} : { 'ietf-l3-unicast-topology:l3-termination-point-attributes': l3 }),
    ...(te ? viewTeTerminationPoint(descriptor) : {}),
  };
}

/** `metric1` is the IGP's, `metric2` the traffic engineering one: as in RFC 8346's own example. */
function viewLink(graph: TopologyGraph, { link, attributes, te, reverse }: Link): JsonObject {
  const l3 = {
    ...(attributes['link-name'] === undefined ? {} : { name: xmlText(attributes['link-name']) }),
    ...(attributes['igp-metric'] === undefined ? {} : { metric1: String(attributes['igp-metric']) }),
    ...(attributes['te-default-metric'] === undefined
      ? {}
      : { metric2: String(attributes['te-default-metric']) }),
  };
  return {
    'link-id': link.id,
    source: { 'source-node': link.localNode?.id, 'source-tp': link.id },
    destination: {
      'dest-node': link.remoteNode?.id,
      ...(reverse === null ? {} : { 'dest-tp': reverse.id }),
    },
    ...(Object.keys(l3).length > 0 ? { 'ietf-l3-unicast-topology:l3-link-attributes': l3 } : {}),
    ...(te ? viewTeLink(attributes, touchesLan(link), teState(graph, link)) : {}),
  };
}

function touchesLan(link: TopologyObject): boolean {
  return link.localNode?.pseudonode === true || link.remoteNode?.pseudonode === true;
}

function teState(graph: TopologyGraph, object: TopologyObject): TeState {
  return { stale: graph.isStale(object), peerId: graph.selected(object).rib.peerId };
}

/** An OSPF router's identifier is one; an IS-IS pseudonode's only looks like one. */
function dottedQuad(routerId: string | undefined): string[] {
  return routerId !== undefined && parseIpAddress(routerId)?.family === 4 ? [routerId] : [];
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1;
}

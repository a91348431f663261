/**
 * The topology in the IETF's own model: RFC 8345 networks, nodes, links and termination points, with the layer 3
 * attributes of RFC 8346, in the JSON encoding of RFC 7951 (64-bit integers are strings). One network for each SAFI,
 * route distinguisher, protocol and instance: what RFC 8345 calls a link never leaves its network.
 */
import type { LinkDescriptor, PrefixDescriptor } from '../../protocols/bgp/ls/descriptor.ts';
import { type DecodedNlri, decodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import { parseIpAddress } from '../ip-address.ts';
import type { TopologyGraph } from './graph.ts';
import type { TopologyNode, TopologyObject } from './graph-object.ts';
import { decodedAttribute, type JsonObject } from './object-view.ts';

interface Network {
  readonly name: string;
  readonly nodes: JsonObject[];
  readonly links: JsonObject[];
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
    network.nodes.push(viewNode(graph, node, nlri, outgoing));
    for (const link of outgoing) if (link.remoteNode !== null) network.links.push(viewLink(graph, link));
  }
  const list = [...networks].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    'ietf-network:networks': {
      network: list.map(([id, { name, nodes, links }]) => ({
        'network-id': id,
        'network-types': { 'ietf-l3-unicast-topology:l3-unicast-topology': {} },
        'ietf-l3-unicast-topology:l3-topology-attributes': { name },
        node: nodes.sort((a, b) => ((a['node-id'] as string) < (b['node-id'] as string) ? -1 : 1)),
        ...(links.length > 0 ? { 'ietf-network-topology:link': links } : {}),
      })),
    },
  };
}

function networkOf(networks: Map<string, Network>, nlri: DecodedNlri): Network {
  const distinguisher = nlri.routeDistinguisher === '' ? '' : `:${nlri.routeDistinguisher}`;
  const id = `bgp-ls:${nlri.safi}${distinguisher}:${nlri.protocol}:${nlri.identifier}`;
  const known = networks.get(id);
  if (known !== undefined) return known;
  const network: Network = { name: `${nlri.protocol} instance ${nlri.identifier}`, nodes: [], links: [] };
  networks.set(id, network);
  return network;
}

function viewNode(
  graph: TopologyGraph,
  node: TopologyNode,
  nlri: DecodedNlri,
  outgoing: readonly TopologyObject[],
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
  return {
    'node-id': node.id,
    ...(outgoing.length > 0
      ? { 'ietf-network-topology:termination-point': outgoing.map(viewTerminationPoint) }
      : {}),
    ...(Object.keys(l3).length > 0 ? { 'ietf-l3-unicast-topology:l3-node-attributes': l3 } : {}),
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

function viewTerminationPoint(link: TopologyObject): JsonObject {
  const descriptor = decodeNlri(link.nlri, link.safi).descriptor as LinkDescriptor;
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
  };
}

/** `metric1` is the IGP's, `metric2` the traffic engineering one: as in RFC 8346's own example. */
function viewLink(graph: TopologyGraph, link: TopologyObject): JsonObject {
  const nlri = decodeNlri(link.nlri, link.safi);
  const { attributes } = decodedAttribute(graph.selected(link).attribute, nlri);
  const { reverse } = graph.pairing(link);
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
  };
}

/** YANG strings are XML's characters (RFC 7950 §14): what is none becomes U+FFFD. */
export function xmlText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');
}

/** `domain-name` of RFC 6991. */
function isDomainName(text: string): boolean {
  return (
    text.length <= 253 &&
    /^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?\.?$/.test(
      text,
    )
  );
}

/** An OSPF router's identifier is one; an IS-IS pseudonode's only looks like one. */
function dottedQuad(routerId: string | undefined): string[] {
  return routerId !== undefined && parseIpAddress(routerId)?.family === 4 ? [routerId] : [];
}

function byId(a: TopologyObject, b: TopologyObject): number {
  return a.id < b.id ? -1 : 1;
}

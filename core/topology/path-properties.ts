/**
 * What paths need to know of links and nodes, read from their octets. Reading is nearly all that a network of paths
 * costs, so what was read is kept as long as the octets are the same ones: after a change only what it touched is read
 * again.
 */
import { decodeAttribute } from '../../protocols/bgp/ls/attribute.ts';
import type { LinkStateAttributes } from '../../protocols/bgp/ls/attributes.ts';
import { isIsis, isOspf, ProtocolId } from '../../protocols/bgp/ls/code-point.ts';
import type { LinkDescriptor } from '../../protocols/bgp/ls/descriptor.ts';
import { decodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import type { TopologyGraph } from './graph.ts';
import type { TopologyNode, TopologyObject } from './graph-object.ts';

export type PathMetric = 'igp' | 'te' | 'delay' | 'hops';

/** No cost: the link is not part of any path by this metric. An absent metric is not a metric of 0. */
export const UNUSABLE = Number.POSITIVE_INFINITY;

/** A link of this IS-IS metric is for other uses than shortest paths. RFC 5305 §3. */
const ISIS_NOT_FOR_PATHS = 0xffffff;
/** MaxLinkMetric: the last resort of a stub router. RFC 6987 §2. */
const OSPF_LAST_RESORT = 0xffff;

/** Flags of a node: paths do not go through it, its links are in no path, it is a pseudonode. */
export const NO_TRANSIT = 1;
export const EXCLUDED = 2;
export const PSEUDONODE = 4;

/** A half-link as paths see it. */
export interface PathLink {
  readonly multiTopologyId: number;
  readonly costs: Readonly<Record<PathMetric, number>>;
  /** Bytes a second that the link can still take; NaN: it does not say. */
  readonly bandwidth: number;
  readonly lastResort: boolean;
  /** Administrative groups as a bit mask: RFC 5305 §3.1 below 32, RFC 7308 beyond. */
  readonly groups: bigint;
}

interface Read<Properties> {
  readonly from: Uint8Array | null;
  readonly properties: Properties;
}

export class PathProperties {
  readonly #graph: TopologyGraph;
  readonly #links = new WeakMap<TopologyObject, Read<PathLink>>();
  readonly #nodes = new WeakMap<TopologyObject, Read<number>>();

  constructor(graph: TopologyGraph) {
    this.#graph = graph;
  }

  /** `link` has both of its ends. */
  link(link: TopologyObject): PathLink {
    return this.#kept(this.#links, link, readLink);
  }

  /** The flags of a node; one that only links name has those that its identity gives. */
  nodeFlags(node: TopologyNode): number {
    const object = node.objects[0];
    const told = object === undefined ? 0 : this.#kept(this.#nodes, object, readNodeFlags);
    return node.pseudonode ? told | PSEUDONODE : told;
  }

  #kept<Properties>(
    all: WeakMap<TopologyObject, Read<Properties>>,
    object: TopologyObject,
    read: (object: TopologyObject, attribute: Uint8Array | null) => Properties,
  ): Properties {
    const { attribute } = this.#graph.selected(object);
    const before = all.get(object);
    // Attributes are replaced, never written to: the same array has the same octets.
    if (before !== undefined && before.from === attribute) return before.properties;
    const properties = read(object, attribute);
    all.set(object, { from: attribute, properties });
    return properties;
  }
}

function readLink(link: TopologyObject, attribute: Uint8Array | null): PathLink {
  const nlri = decodeNlri(link.nlri, link.safi);
  const attributes = attribute === null ? {} : decodeAttribute(attribute, nlri).attributes;
  const multiTopologyId = (nlri.descriptor as LinkDescriptor)['multi-topology-id'] ?? 0;
  const groups = groupsOf(attributes);
  // From a LAN to a router costs nothing: the way onto the LAN was paid. ISO 10589 §7.2.6, RFC 2328 §16.1.
  if (link.localNode?.pseudonode) {
    const costs = { igp: 0, te: 0, delay: 0, hops: 0 };
    return { multiTopologyId, costs, bandwidth: UNUSABLE, lastResort: false, groups };
  }
  const igp = igpCost(nlri.protocolId, attributes['igp-metric']);
  return {
    multiTopologyId,
    costs: {
      igp,
      te: attributes['te-default-metric'] ?? UNUSABLE,
      delay: attributes['unidirectional-link-delay-microseconds']?.delay ?? UNUSABLE,
      hops: 1,
    },
    bandwidth: availableBandwidth(attributes),
    lastResort: isOspf(nlri.protocolId) && igp === OSPF_LAST_RESORT,
    groups,
  };
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

/** A link that names no group is in none. Where the lists differ in the first 32, the older is right: RFC 7308 §2.3.1. */
function groupsOf(attributes: LinkStateAttributes): bigint {
  let groups = 0n;
  attributes['extended-administrative-group']?.forEach((word, index) => {
    groups |= BigInt(word) << BigInt(index * 32);
  });
  const first = attributes['administrative-group'];
  if (first !== undefined) groups = ((groups >> 32n) << 32n) | BigInt(first);
  return groups;
}

function readNodeFlags(object: TopologyObject, attribute: Uint8Array | null): number {
  if (attribute === null) return 0;
  const nlri = decodeNlri(object.nlri, object.safi);
  const bits = decodeAttribute(attribute, nlri).attributes['node-flag-bits'];
  if (bits === undefined) return 0;
  let flags = bits.overload ? NO_TRANSIT : 0;
  if (nlri.protocolId === ProtocolId.ospfv3 && !object.localNode?.pseudonode) {
    if (!bits.router) flags |= NO_TRANSIT;
    // An OSPFv3 router that IPv6 is not to be routed by. RFC 5340 §A.2.
    if (!bits.v6) flags |= EXCLUDED;
  }
  return flags;
}

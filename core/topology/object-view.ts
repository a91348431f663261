/** Objects of the topology as the API shows them; `object-answer.ts` declares what they look like. */

import { type DecodedAttribute, decodeAttribute } from '../../protocols/bgp/ls/attribute.ts';
import type { LinkStateSafi } from '../../protocols/bgp/ls/code-point.ts';
import type { NodeDescriptor } from '../../protocols/bgp/ls/descriptor.ts';
import { type DecodedNlri, decodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import { formatHex } from '../../protocols/bgp/ls/text.ts';
import type { Copy } from './adj-rib-in.ts';
import type { TopologyGraph } from './graph.ts';
import type { TopologyNode, TopologyObject } from './graph-object.ts';
import type { GraphPeer } from './graph-peer.ts';

export type JsonObject = Record<string, unknown>;

export interface ViewOptions {
  /** Hex of the NLRI and of the attribute with each source. */
  readonly raw?: boolean;
  /** The object as this peer alone tells it. */
  readonly peerId?: number;
}

const NOTHING_DECODED: DecodedAttribute = { attributes: {}, unknownTlvs: [], problems: [], steps: 0 };

/** An object of the graph; undefined when `peerId` names a peer that does not tell it. `now` in milliseconds. */
export function viewObject(
  graph: TopologyGraph,
  object: TopologyObject,
  now: number,
  options: ViewOptions = {},
): JsonObject | undefined {
  const copy =
    options.peerId === undefined
      ? graph.selected(object)
      : object.copies.find(({ rib }) => rib.peerId === options.peerId);
  if (copy === undefined) return undefined;
  const nlri = decodeNlri(object.nlri, object.safi);
  const { attributes, unknownTlvs } = decodedAttribute(copy.attribute, nlri);
  const copies = options.peerId === undefined ? object.copies : [copy];
  let firstSeen = copy.firstSeen;
  for (const other of copies) firstSeen = Math.min(firstSeen, other.firstSeen);
  return {
    id: object.id,
    type: nlri.type,
    protocol: nlri.protocol,
    identifier: integer(nlri.identifier),
    safi: object.safi,
    'route-distinguisher': nlri.routeDistinguisher,
    ...ownMembers(graph, object, nlri),
    attributes,
    'unknown-tlvs': unknownTlvs,
    'attributes-missing': copy.attribute === null,
    stale: !copies.some((other) => graph.isLive(other)),
    conflict: options.peerId === undefined ? viewConflict(graph, object, now) : null,
    sources: copies.map((source) => viewSource(graph, source, source === copy, options.raw === true)),
    'first-seen': time(firstSeen),
    'last-changed': time(copy.changedAt),
  };
}

/** A node that no peer advertises: all that is known is that links have it as an end. */
export function viewUnadvertisedNode(graph: TopologyGraph, node: TopologyNode): JsonObject {
  const nlri = decodeNlri(node.nlri, node.safi);
  let firstSeen = Number.POSITIVE_INFINITY;
  let stale = true;
  for (const link of node.links) {
    for (const copy of link.copies) firstSeen = Math.min(firstSeen, copy.firstSeen);
    if (stale) stale = graph.isStale(link);
  }
  return {
    id: node.id,
    type: 'node',
    protocol: nlri.protocol,
    identifier: integer(nlri.identifier),
    safi: node.safi,
    'route-distinguisher': nlri.routeDistinguisher,
    descriptor: nlri.localNode ?? {},
    pseudonode: node.pseudonode,
    advertised: false,
    attributes: {},
    'unknown-tlvs': [],
    // Nobody took an attribute away: nobody told the node (`advertised` says so).
    'attributes-missing': false,
    stale,
    conflict: null,
    sources: [],
    'first-seen': time(firstSeen),
    'last-changed': time(firstSeen),
  };
}

/** What a peer's copy of an attribute says; a discarded or absent one says nothing. RFC 9552 §8.2.2. */
export function decodedAttribute(attribute: Uint8Array | null, nlri: DecodedNlri): DecodedAttribute {
  return attribute === null ? NOTHING_DECODED : decodeAttribute(attribute, nlri);
}

/** ISO 8601 UTC with milliseconds. */
export function time(milliseconds: number): string {
  if (milliseconds !== lastTime) {
    lastTime = milliseconds;
    lastTimeText = new Date(milliseconds).toISOString();
  }
  return lastTimeText;
}

// A network is learnt in few moments: most objects have the time of the one before.
let lastTime = Number.NaN;
let lastTimeText = '';

/** A 64-bit integer as JSON can hold it: a number while exact, else a bigint, which `stringifyExactly` writes out. */
export function integer(value: bigint | null): number | bigint | null {
  return value !== null && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

declare global {
  interface JSON {
    /** ES2026: text that `stringify` writes as it stands. */
    rawJSON(text: string): unknown;
  }
}

/** JSON in which every bigint is written as its exact digits. */
export function stringifyExactly(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // The commonest body has no bigint, and a replacer would cost every body a multiple of its time.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_, member) =>
      typeof member === 'bigint' ? JSON.rawJSON(String(member)) : member,
    );
  }
}

/** The members that only this kind has, which stand in the middle of the others. */
function ownMembers(graph: TopologyGraph, object: TopologyObject, nlri: DecodedNlri): JsonObject {
  switch (object.kind) {
    case 'node':
      return {
        descriptor: nlri.localNode ?? {},
        pseudonode: object.localNode?.pseudonode ?? false,
        advertised: true,
      };
    case 'link': {
      const { reverse, pairedBy, ambiguous } = graph.pairing(object);
      return {
        'local-node': nodeMember(object.localNode, nlri.localNode),
        'remote-node': nodeMember(object.remoteNode, nlri.remoteNode),
        descriptor: nlri.descriptor,
        reverse: { id: reverse?.id ?? null, 'paired-by': pairedBy, ambiguous },
      };
    }
    case 'sr-policy':
      return { 'head-end': nodeMember(object.localNode, nlri.localNode), descriptor: nlri.descriptor };
    case 'prefix':
    case 'srv6-sid':
      return { node: nodeMember(object.localNode, nlri.localNode), descriptor: nlri.descriptor };
    case 'unknown':
      return { 'nlri-type': nlri.nlriType, value: nlri.value };
  }
}

function nodeMember(node: TopologyNode | null, descriptor: NodeDescriptor | null): JsonObject | null {
  return node === null ? null : { id: node.id, descriptor: descriptor ?? {} };
}

function viewSource(graph: TopologyGraph, copy: Copy, selected: boolean, raw: boolean): JsonObject {
  const peer = graph.peers.get(copy.rib.peerId) as GraphPeer;
  const live = peer.isLive(copy);
  const staleSince = live ? null : peer.staleSince(copy);
  const purgeAt = live ? null : peer.purgeAt(copy);
  return {
    'peer-id': peer.id,
    selected,
    state: live ? 'live' : 'stale',
    'received-at': time(copy.receivedAt),
    'changed-at': time(copy.changedAt),
    'stale-since': staleSince === null ? null : time(staleSince),
    'purge-at': purgeAt === null ? null : time(purgeAt),
    ...(raw
      ? {
          raw: {
            nlri: formatHex(copy.nlri),
            attribute: copy.attribute === null ? null : formatHex(copy.attribute),
          },
        }
      : {}),
  };
}

function viewConflict(graph: TopologyGraph, object: TopologyObject, now: number): JsonObject | null {
  if (!graph.inConflict(object, now)) return null;
  const live = object.copies.filter((copy) => graph.isLive(copy));
  const byPeer = live.map((copy) => ({ peerId: copy.rib.peerId, tlvs: valuesByType(copy.attribute) }));
  const types = [...new Set(byPeer.flatMap(({ tlvs }) => [...tlvs.keys()]))].sort((a, b) => a - b);
  const tlvs = types
    .map((type) => ({
      type,
      values: byPeer.map(({ peerId, tlvs }) => ({ 'peer-id': peerId, value: tlvs.get(type) ?? null })),
    }))
    .filter(({ values }) => values.some(({ value }) => value !== values[0]?.value));
  return { since: time(object.differsSince), tlvs };
}

/** The values of each TLV type in hex; those of a type that stands several times are joined by commas. */
function valuesByType(attribute: Uint8Array | null): Map<number, string> {
  const values = new Map<number, string>();
  if (attribute === null) return values;
  let at = 0;
  while (at + 4 <= attribute.length) {
    const type = ((attribute[at] as number) << 8) | (attribute[at + 1] as number);
    const end = Math.min(
      at + 4 + (((attribute[at + 2] as number) << 8) | (attribute[at + 3] as number)),
      attribute.length,
    );
    const value = formatHex(attribute, at + 4, end);
    const before = values.get(type);
    values.set(type, before === undefined ? value : `${before},${value}`);
    at = end;
  }
  return values;
}

/** What `decodeNlri` says of a node by its own NLRI. */
export function nodeDescriptor(safi: LinkStateSafi, nlri: Uint8Array): NodeDescriptor {
  return decodeNlri(nlri, safi).localNode ?? {};
}

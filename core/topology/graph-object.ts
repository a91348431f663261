/** What a merged topology consists of: objects, and the nodes that they name. */
import type { LinkStateSafi } from '../../protocols/bgp/ls/code-point.ts';
import type { Copy } from './adj-rib-in.ts';
import { kindOf, type ObjectKind, publicId } from './identity.ts';
import { LinkGroup, type Pairing, UNPAIRED } from './pairing.ts';
import { isPseudonode } from './pseudonode.ts';

/** One identity, as told by one or more peers. */
export class TopologyObject {
  readonly key: string;
  readonly kind: ObjectKind;
  readonly nlriType: number;
  readonly safi: LinkStateSafi;
  readonly nlri: Uint8Array;
  /** By peer id, ascending; empty once the object is gone. */
  copies: Copy[] = [];
  /** The node itself, a link's near end, a prefix's or SID's node; null when the NLRI names none. */
  localNode: TopologyNode | null = null;
  /** A link's far end. */
  remoteNode: TopologyNode | null = null;
  /** The links between the same two nodes; null for other kinds and for links that are one-way by nature. */
  group: LinkGroup | null = null;
  /** As the group last found it; asked for by `TopologyGraph.pairing`. */
  pairing: Pairing = UNPAIRED;
  /** Since when live copies have differed; 0 while they agree. */
  differsSince = 0;
  /** The graph's generation when this object's view may last have become another. */
  touchedAt = 0;
  /** Whether an index has it. */
  indexed = false;
  #id: string | undefined;

  constructor(key: string, safi: LinkStateSafi, nlri: Uint8Array) {
    this.key = key;
    this.safi = safi;
    this.nlri = nlri;
    this.nlriType = ((nlri[0] as number) << 8) | (nlri[1] as number);
    this.kind = kindOf(this.nlriType);
  }

  get id(): string {
    this.#id ??= publicId(this.kind, this.safi, this.nlri);
    return this.#id;
  }
}

/** A node as links and prefixes name it, whether or not it was ever advertised. */
export class TopologyNode {
  readonly key: string;
  readonly safi: LinkStateSafi;
  /** The NLRI that it has, or would have. */
  readonly nlri: Uint8Array;
  /** Its node NLRIs: one, unless a peer adds odd TLVs to the descriptors; empty: known only by others. */
  objects: TopologyObject[] = [];
  /** Links with this node at either end. */
  readonly links = new Set<TopologyObject>();
  /** Prefixes, SIDs and policies that belong to it. */
  readonly belongings = new Set<TopologyObject>();
  /** The links to each neighbour whose key is not below this node's; the others keep theirs. */
  readonly groups = new Map<TopologyNode, LinkGroup>();
  /** As those of an object: a node that only links name is listed as it stands. */
  touchedAt = 0;
  indexed = false;
  #id: string | undefined;
  #pseudonode: boolean | undefined;

  constructor(key: string, safi: LinkStateSafi, nlri: Uint8Array) {
    this.key = key;
    this.safi = safi;
    this.nlri = nlri;
  }

  get id(): string {
    this.#id ??= publicId('node', this.safi, this.nlri);
    return this.#id;
  }

  get pseudonode(): boolean {
    this.#pseudonode ??= isPseudonode(this.safi, this.nlri);
    return this.#pseudonode;
  }

  get advertised(): boolean {
    return this.objects.length > 0;
  }

  /** Whether the API lists it: advertised, or the end of a link. */
  get listed(): boolean {
    return this.objects.length > 0 || this.links.size > 0;
  }
}

/** Puts a link into the group of those between the same two nodes, whichever is named first. */
export function joinGroup(link: TopologyObject, one: TopologyNode, other: TopologyNode): void {
  const keeper = keeperOf(one, other);
  const kept = keeper === one ? other : one;
  link.group = keeper.groups.get(kept) ?? new LinkGroup();
  keeper.groups.set(kept, link.group);
  link.group.add(link);
}

/** Takes it out again, with the group when it was the last. */
export function leaveGroup(link: TopologyObject): void {
  const { group, localNode, remoteNode } = link;
  if (group === null || localNode === null || remoteNode === null) return;
  group.remove(link);
  const keeper = keeperOf(localNode, remoteNode);
  if (group.size === 0) keeper.groups.delete(keeper === localNode ? remoteNode : localNode);
}

/** Of two nodes, the one that keeps the group of their links. */
function keeperOf(one: TopologyNode, other: TopologyNode): TopologyNode {
  return one.key < other.key ? one : other;
}

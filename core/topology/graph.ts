/**
 * The merged topology: one object for each identity, with the copies of all peers that tell it, and the nodes that
 * links name. It listens to the Adj-RIBs-In, so that a change costs what it touches and not the network's size.
 */
import type { LinkStateSafi } from '../../protocols/bgp/ls/code-point.ts';
import { AdjRibIn, type AdjRibInListener, type Copy, sameOctets } from './adj-rib-in.ts';
import { type TopologyNode, TopologyObject } from './graph-object.ts';
import { GraphPeer } from './graph-peer.ts';
import { type ObjectKind, objectKey } from './identity.ts';
import type { DerivedLoss } from './liveness.ts';
import type { LogEntry } from './log.ts';
import { NamedNodes } from './named-nodes.ts';
import type { Pairing } from './pairing.ts';

/** Live copies that differ for longer than this are a conflict: reflectors need a moment to hear of a change. */
export const CONFLICT_AFTER_MILLISECONDS = 30_000;

/** What happened to one copy, as the change log and the event list need it. */
export interface GraphChange {
  readonly at: number;
  readonly action: 'added' | 'changed' | 'recovered' | 'removed' | 'purged' | 'stale' | 'conflict-cleared';
  readonly object: TopologyObject;
  readonly peerId: number;
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
  /** Of a conflict that is cleared: since when the copies had differed. Else 0. */
  readonly differedSince: number;
}

export interface GraphListener {
  changed(change: GraphChange): void;
  /** A peer's session began, ended or was synchronised: the flags of all of its objects may be others now. */
  sessionChanged(peerId: number): void;
}

export class TopologyGraph implements AdjRibInListener {
  readonly objects = new Map<string, TopologyObject>();
  readonly #named = new NamedNodes((node) => this.#move(node, this.listsAlone(node)));
  readonly nodes: ReadonlyMap<string, TopologyNode> = this.#named.nodes;
  readonly peers = new Map<number, GraphPeer>();
  /** Objects of which live copies differ. */
  readonly differing = new Set<TopologyObject>();
  readonly #listener: GraphListener | undefined;
  /** Goes up with everything that could change an answer; for caches. */
  generation = 0;
  /** The generation when flags of very many objects, as whether they are stale, may last have become others. */
  flagsTouchedAt = 0;
  /** The generation when a node or link last came or went. */
  shapedAt = 0;
  /** What came or went since somebody took it, of the kinds that somebody has. What came and went in between is not in it. */
  readonly #moved = new Map<ObjectKind, Set<TopologyObject | TopologyNode>>();

  constructor(listener?: GraphListener) {
    this.#listener = listener;
  }

  /** The peer's part, made when new. */
  peer(id: number): GraphPeer {
    let peer = this.peers.get(id);
    if (peer === undefined) {
      peer = new GraphPeer(id, new AdjRibIn(id, this));
      this.peers.set(id, peer);
    }
    return peer;
  }

  /** Takes a whole Adj-RIB-In in place of what the peer had; it must have been made with this graph as listener. */
  replace(rib: AdjRibIn): GraphPeer {
    const peer = this.peer(rib.peerId);
    if (peer.attached) for (const copy of peer.rib.copies.values()) this.#detach(copy);
    peer.rib = rib;
    if (peer.attached) for (const copy of rib.copies.values()) this.#reattach(copy);
    this.#touchFlags();
    return peer;
  }

  forget(peerId: number): void {
    const peer = this.peers.get(peerId);
    if (peer === undefined) return;
    if (peer.attached) for (const copy of peer.rib.copies.values()) this.#detach(copy);
    this.peers.delete(peerId);
    this.#touchFlags();
  }

  /**
   * What a reader knows besides the log. `gone`: the peer is deleted or disabled, or the time of its stale copies
   * has passed, and the log does not say so yet.
   */
  setCircumstances(
    peer: GraphPeer,
    circumstances: { preference: number; derivedLoss: DerivedLoss | null; gone: boolean },
    now: number,
  ): void {
    const before = peer.derivedLoss;
    const lossChanged = (before === null) !== (circumstances.derivedLoss === null);
    const timesChanged =
      before?.at !== circumstances.derivedLoss?.at || before?.purgeAt !== circumstances.derivedLoss?.purgeAt;
    if (timesChanged || peer.preference !== circumstances.preference) this.#touchFlags();
    peer.preference = circumstances.preference;
    peer.derivedLoss = circumstances.derivedLoss;
    if (peer.attached === circumstances.gone) {
      peer.attached = !circumstances.gone;
      for (const copy of peer.rib.copies.values()) {
        if (peer.attached) this.#reattach(copy);
        else this.#detach(copy);
      }
      this.#touchFlags();
    } else if (lossChanged) {
      this.#recompare(peer.rib, now);
      this.#touchFlags();
    }
  }

  /** What came or went of a kind since the last call, at first all there is: for an index, of which a graph has one. */
  takeMoved(kind: ObjectKind): Iterable<TopologyObject | TopologyNode> {
    const moved = this.#moved.get(kind);
    this.#moved.set(kind, new Set());
    return moved ?? this.#allOf(kind);
  }

  *#allOf(kind: ObjectKind): Generator<TopologyObject | TopologyNode> {
    for (const object of this.objects.values()) if (object.kind === kind) yield object;
    if (kind !== 'node') return;
    for (const node of this.nodes.values()) if (this.listsAlone(node)) yield node;
  }

  /** Whether a node is in the topology without an NLRI of its own: other objects name it. */
  listsAlone(node: TopologyNode): boolean {
    return this.#named.listsAlone(node);
  }

  find(safi: LinkStateSafi, nlri: Uint8Array): TopologyObject | undefined {
    return this.objects.get(objectKey(safi, nlri));
  }

  added(copy: Copy, at: number): void {
    const object = this.#attachIfPresent(copy, at);
    this.#tell('added', object, copy, at, null, copy.attribute);
  }

  changed(copy: Copy, before: Uint8Array | null, at: number): void {
    const object = this.objectOf(copy);
    this.#touchWithNeighbors(object);
    this.#compare(object, at, copy.rib.peerId);
    this.#tell('changed', object, copy, at, before, copy.attribute);
  }

  confirmed(copy: Copy, at: number): void {
    const object = this.objectOf(copy);
    this.#touchWithNeighbors(object);
    this.#compare(object, at, copy.rib.peerId);
    this.#tell('recovered', object, copy, at, copy.attribute, copy.attribute);
  }

  removed(copy: Copy, entry: LogEntry): void {
    const object = this.objectOf(copy);
    if (this.#isAttached(copy)) this.#detach(copy, entry.at);
    const action = entry.kind === 'remove' ? 'removed' : 'purged';
    this.#tell(action, object, copy, entry.at, copy.attribute, null);
  }

  sessionChanged(rib: AdjRibIn, entry: LogEntry): void {
    this.#touchFlags();
    this.#listener?.sessionChanged(rib.peerId);
    if (entry.kind === 'end-of-rib') return;
    this.#recompare(rib, entry.at);
    if (entry.kind !== 'session-lost' || this.#listener === undefined) return;
    for (const copy of rib.copies.values()) {
      if (rib.staleSince(copy) !== entry.at) continue;
      this.#tell('stale', this.objectOf(copy), copy, entry.at, copy.attribute, copy.attribute);
    }
  }

  /** The copy that the API shows: live before stale, lower preference, the later change, lower peer id. */
  selected(object: TopologyObject): Copy {
    let best = object.copies[0] as Copy;
    for (let index = 1; index < object.copies.length; index += 1) {
      const copy = object.copies[index] as Copy;
      if (this.#isBetter(copy, best)) best = copy;
    }
    return best;
  }

  /** When a difference last became a conflict by age alone; 0: none did. */
  lastTimedChange(now: number): number {
    let last = 0;
    for (const object of this.differing) {
      if (this.inConflict(object, now)) {
        last = Math.max(last, object.differsSince + CONFLICT_AFTER_MILLISECONDS);
      }
    }
    return last;
  }

  /** The other direction of a link. */
  pairing(link: TopologyObject): Pairing {
    link.group?.pair(this.#attributeOf);
    return link.pairing;
  }

  readonly #attributeOf = (link: TopologyObject) => this.selected(link).attribute;

  isLive(copy: Copy): boolean {
    return this.peers.get(copy.rib.peerId)?.isLive(copy) ?? false;
  }

  /** Stale: no live copy is left. */
  isStale(object: TopologyObject): boolean {
    return !object.copies.some((copy) => this.isLive(copy));
  }

  inConflict(object: TopologyObject, now: number): boolean {
    return object.differsSince !== 0 && now - object.differsSince > CONFLICT_AFTER_MILLISECONDS;
  }

  #isBetter(copy: Copy, than: Copy): boolean {
    const a = this.peers.get(copy.rib.peerId) as GraphPeer;
    const b = this.peers.get(than.rib.peerId) as GraphPeer;
    const live = a.isLive(copy);
    if (live !== b.isLive(than)) return live;
    if (a.preference !== b.preference) return a.preference < b.preference;
    if (copy.changedAt !== than.changedAt) return copy.changedAt > than.changedAt;
    return a.id < b.id;
  }

  #touch(thing: TopologyObject | TopologyNode): void {
    this.generation += 1;
    thing.touchedAt = this.generation;
  }

  /** A link's pairing depends on all links between the same nodes, and so does a node that only links name. */
  #touchWithNeighbors(object: TopologyObject): void {
    this.#touch(object);
    if (object.kind !== 'link') return;
    if (object.localNode !== null) this.#touch(object.localNode);
    if (object.remoteNode !== null) this.#touch(object.remoteNode);
    if (object.group === null) return;
    object.group.touch();
    for (const link of object.group.links) this.#touch(link);
  }

  #touchFlags(): void {
    this.generation += 1;
    this.flagsTouchedAt = this.generation;
  }

  /** Something is there, or is no longer. */
  #reshape({ kind }: TopologyObject): void {
    this.generation += 1;
    if (kind === 'node' || kind === 'link') this.shapedAt = this.generation;
  }

  /** An index that has it, or should, has to learn it. */
  #move(thing: TopologyObject | TopologyNode, isThere: boolean): void {
    const moved = this.#moved.get('kind' in thing ? thing.kind : 'node');
    if (moved === undefined) return;
    if (isThere || thing.indexed) moved.add(thing);
    else moved.delete(thing);
  }

  #tell(
    action: GraphChange['action'],
    object: TopologyObject,
    { rib: { peerId } }: Copy,
    at: number,
    before: Uint8Array | null,
    after: Uint8Array | null,
  ): void {
    this.generation += 1;
    this.#listener?.changed({ at, action, object, peerId, before, after, differedSince: 0 });
  }

  #isAttached(copy: Copy): boolean {
    const peer = this.peers.get(copy.rib.peerId);
    return peer?.attached === true && peer.rib === copy.rib;
  }

  #attachIfPresent(copy: Copy, at: number): TopologyObject {
    return this.#isAttached(copy) ? this.#attach(copy, at) : this.objectOf(copy);
  }

  /** The object of a copy, also when it is not in the graph now: then one that stands alone, to tell of it. */
  objectOf(copy: Copy): TopologyObject {
    const known = this.objects.get(copy.key);
    if (known !== undefined) return known;
    const object = new TopologyObject(copy.key, copy.safi, copy.nlri);
    this.#named.name(object, false);
    return object;
  }

  #attach(copy: Copy, at: number): TopologyObject {
    let object = this.objects.get(copy.key);
    if (object === undefined) {
      object = new TopologyObject(copy.key, copy.safi, copy.nlri);
      this.objects.set(copy.key, object);
      this.#named.join(object);
      this.#move(object, true);
      this.#reshape(object);
    }
    if (object.copies.length === 0) {
      // Not by a push, which reserves place for sixteen more.
      object.copies = [copy];
    } else {
      const place = object.copies.findIndex((other) => other.rib.peerId > copy.rib.peerId);
      object.copies.splice(place < 0 ? object.copies.length : place, 0, copy);
    }
    this.#touchWithNeighbors(object);
    this.#compare(object, at, copy.rib.peerId);
    return object;
  }

  /** A copy that is not new: what it differs from, it has differed from since the later of the two came. */
  #reattach(copy: Copy): void {
    let at = copy.receivedAt;
    for (const other of this.objects.get(copy.key)?.copies ?? []) at = Math.max(at, other.receivedAt);
    this.#attach(copy, at);
  }

  #detach(copy: Copy, at = copy.rib.lastAt): void {
    const object = this.objects.get(copy.key);
    if (object === undefined) return;
    object.copies = object.copies.filter((other) => other !== copy);
    this.#touchWithNeighbors(object);
    this.#compare(object, at, copy.rib.peerId);
    if (object.copies.length > 0) return;
    this.objects.delete(object.key);
    this.#named.leave(object);
    this.differing.delete(object);
    object.differsSince = 0;
    this.#move(object, false);
    this.#reshape(object);
  }

  #recompare(rib: AdjRibIn, at: number): void {
    for (const copy of rib.copies.values()) {
      const object = this.objects.get(copy.key);
      if (object !== undefined && object.copies.length > 1) this.#compare(object, at, rib.peerId);
    }
  }

  /** Notes since when live copies have differed, or that they do no longer. */
  #compare(object: TopologyObject, at: number, peerId: number): void {
    if (object.copies.length < 2 && object.differsSince === 0) return;
    let first: Copy | undefined;
    let differ = false;
    for (const copy of object.copies) {
      if (!this.isLive(copy)) continue;
      if (first === undefined) first = copy;
      else if (!sameOctets(first.attribute, copy.attribute)) differ = true;
    }
    if (differ === (object.differsSince !== 0)) return;
    if (differ) {
      object.differsSince = at;
      this.differing.add(object);
      this.#touch(object);
      return;
    }
    const { differsSince } = object;
    object.differsSince = 0;
    this.differing.delete(object);
    this.#touch(object);
    if (at - differsSince <= CONFLICT_AFTER_MILLISECONDS) return;
    this.#listener?.changed({
      at,
      action: 'conflict-cleared',
      object,
      peerId,
      before: null,
      after: null,
      differedSince: differsSince,
    });
  }
}

/**
 * Which two half-links are one link. BGP-LS has one NLRI for each direction (RFC 9552 §5.2.2), and nothing in it names
 * the other: they are found by addresses, by link identifiers, or by being the only two left.
 */
import { ProtocolId } from '../../protocols/bgp/ls/code-point.ts';
import type { TopologyObject } from './graph-object.ts';
import { type HalfLink, readHalfLink } from './half-link.ts';

export type PairedBy = 'addresses' | 'identifiers' | 'single-candidate' | 'nodes';

export interface Pairing {
  readonly reverse: TopologyObject | null;
  readonly pairedBy: PairedBy | null;
  /** Two or more half-links could be the reverse one; none is chosen. */
  readonly ambiguous: boolean;
}

export const UNPAIRED: Pairing = { reverse: null, pairedBy: null, ambiguous: false };
const AMBIGUOUS: Pairing = { reverse: null, pairedBy: null, ambiguous: true };

/** All half-links between two nodes, both ways. Pairs are made anew when one of them changed and somebody asks. */
export class LinkGroup {
  /** Few: a router has a handful of links to another. */
  readonly links: TopologyObject[] = [];
  #isPaired = false;

  /** EPE links (RFC 9086) are one-way by nature, whoever else says the same of himself. */
  static takes(protocolId: number): boolean {
    return protocolId !== ProtocolId.bgp;
  }

  get size(): number {
    return this.links.length;
  }

  add(link: TopologyObject): void {
    this.links.push(link);
    this.touch();
  }

  remove(link: TopologyObject): void {
    this.links.splice(this.links.indexOf(link), 1);
    link.pairing = UNPAIRED;
    this.touch();
  }

  /** Something that pairing depends on may have changed. */
  touch(): void {
    this.#isPaired = false;
  }

  /**
   * Gives each link its pairing, if that may have become another. `attributeOf` gives the attribute of the copy that is
   * shown: some routers put the identifiers there.
   */
  pair(attributeOf: (link: TopologyObject) => Uint8Array | null): void {
    if (this.#isPaired) return;
    this.#isPaired = true;
    for (const link of this.links) link.pairing = UNPAIRED;
    pairLinks(this.links, attributeOf);
  }
}

interface Rule {
  readonly pairedBy: PairedBy;
  readonly fits: (one: HalfLink, other: HalfLink) => boolean;
}

/** In order: who is paired by one rule is not looked at by those that follow. */
const BETWEEN_ROUTERS: readonly Rule[] = [
  { pairedBy: 'addresses', fits: haveEachOthersAddresses },
  { pairedBy: 'identifiers', fits: haveSwappedIdentifiers },
  { pairedBy: 'single-candidate', fits: couldBeOne },
];
const WITH_A_PSEUDONODE: readonly Rule[] = [{ pairedBy: 'nodes', fits: sameTopology }];

/** Pairs half-links that all run between the same two nodes. */
function pairLinks(
  links: readonly TopologyObject[],
  attributeOf: (link: TopologyObject) => Uint8Array | null,
): void {
  let forward: HalfLink[] = [];
  let backward: HalfLink[] = [];
  let from: TopologyObject['localNode'] = null;
  for (const link of links) {
    from ??= link.localNode;
    // A link of a node to itself is its own opposite direction: it is never paired.
    if (link.localNode === link.remoteNode) continue;
    const half = readHalfLink(link, attributeOf(link));
    // Each side tells its own view of what no IGP adjacency confirms.
    if (half.betweenAutonomousSystems) continue;
    (link.localNode === from ? forward : backward).push(half);
  }
  const { localNode, remoteNode } = forward[0]?.object ?? {};
  const rules = localNode?.pseudonode || remoteNode?.pseudonode ? WITH_A_PSEUDONODE : BETWEEN_ROUTERS;
  for (const rule of rules) {
    if (forward.length === 0 || backward.length === 0) return;
    match(forward, backward, rule);
    forward = forward.filter(isLeft);
    backward = backward.filter(isLeft);
  }
}

/** Neither paired nor found to be ambiguous. */
function isLeft({ object }: HalfLink): boolean {
  return object.pairing === UNPAIRED;
}

/** Pairs those that are each other's only candidate; those with more than one are ambiguous, and done with. */
function match(left: readonly HalfLink[], right: readonly HalfLink[], { pairedBy, fits }: Rule): void {
  if (left.length === 1 && right.length === 1) {
    // As most links are: one each way.
    const [one, other] = [left[0] as HalfLink, right[0] as HalfLink];
    if (fits(one, other)) join(one, other, pairedBy);
    return;
  }
  const ofRight = new Map<HalfLink, HalfLink[]>();
  const ofLeft = new Map<HalfLink, HalfLink[]>();
  for (const one of left) {
    for (const other of right) {
      if (!fits(one, other)) continue;
      ofLeft.set(one, [...(ofLeft.get(one) ?? []), other]);
      ofRight.set(other, [...(ofRight.get(other) ?? []), one]);
    }
  }
  for (const [one, candidates] of ofLeft) {
    const other = candidates[0] as HalfLink;
    if (candidates.length > 1 || (ofRight.get(other)?.length ?? 0) > 1) {
      one.object.pairing = AMBIGUOUS;
      for (const candidate of candidates) candidate.object.pairing = AMBIGUOUS;
    }
  }
  for (const [one, candidates] of ofLeft) {
    if (isLeft(one)) join(one, candidates[0] as HalfLink, pairedBy);
  }
}

function join(one: HalfLink, other: HalfLink, pairedBy: PairedBy): void {
  one.object.pairing = { reverse: other.object, pairedBy, ambiguous: false };
  other.object.pairing = { reverse: one.object, pairedBy, ambiguous: false };
}

function sameTopology(one: HalfLink, other: HalfLink): boolean {
  return one.topology === other.topology;
}

/** One's interface address is the other's neighbour address, in at least one family and against none. */
function haveEachOthersAddresses(one: HalfLink, other: HalfLink): boolean {
  if (!sameTopology(one, other) || contradict(one, other)) return false;
  return (
    meet(one.interface4, other.neighbor4) ||
    meet(one.neighbor4, other.interface4) ||
    meet(one.interface6, other.neighbor6) ||
    meet(one.neighbor6, other.interface6)
  );
}

function haveSwappedIdentifiers(one: HalfLink, other: HalfLink): boolean {
  return (
    sameTopology(one, other) &&
    !contradict(one, other) &&
    one.localIdentifier !== 0 &&
    one.remoteIdentifier !== 0 &&
    one.localIdentifier === other.remoteIdentifier &&
    one.remoteIdentifier === other.localIdentifier
  );
}

/** Nothing that both say speaks against it. */
function couldBeOne(one: HalfLink, other: HalfLink): boolean {
  return (
    sameTopology(one, other) &&
    !contradict(one, other) &&
    agree(one.localIdentifier, other.remoteIdentifier) &&
    agree(one.remoteIdentifier, other.localIdentifier)
  );
}

function agree(identifier: number, other: number): boolean {
  return identifier === 0 || other === 0 || identifier === other;
}

/** Both give the addresses of one end, and they are others. */
function contradict(one: HalfLink, other: HalfLink): boolean {
  return (
    differ(one.interface4, other.neighbor4) ||
    differ(one.neighbor4, other.interface4) ||
    differ(one.interface6, other.neighbor6) ||
    differ(one.neighbor6, other.interface6)
  );
}

function meet(some: readonly string[], others: readonly string[]): boolean {
  return some.some((address) => others.includes(address));
}

function differ(some: readonly string[], others: readonly string[]): boolean {
  return some.length > 0 && others.length > 0 && !meet(some, others);
}

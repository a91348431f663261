/**
 * How packets with MPLS labels or SRv6 SIDs go through a simulated network. It computes routes by itself, without the
 * product's code, and spreads over equal costs by chance: a segment list that only usually works is found out.
 */
import type { Random } from '../random.ts';
import { endSid, isIsis } from './link-state-objects.ts';
import {
  BLOCK_SIZE,
  type Domain,
  type End,
  present,
  type Router,
  type SimulatedNetwork,
  works,
} from './simulated-network.ts';

/** One hop from router to router: over a link, or over a LAN from one member to another. */
export interface Hop {
  readonly from: End;
  readonly to: End;
  readonly cost: number;
}

export class Forwarding {
  readonly #hops = new Map<Router, Hop[]>();
  readonly #random: Random;
  readonly #network: SimulatedNetwork;
  readonly #domain: Domain;
  readonly #distancesTo = new Map<Router, Map<Router, number>>();

  constructor(network: SimulatedNetwork, domain: Domain, random: Random) {
    this.#network = network;
    this.#domain = domain;
    this.#random = random;
    for (const link of network.links) {
      if (link.domain !== domain || !works(link)) continue;
      const [one, two] = link.ends;
      this.#add({ from: one, to: two, cost: one.metric });
      this.#add({ from: two, to: one, cost: two.metric });
    }
    for (const lan of network.lans) {
      if (lan.domain !== domain) continue;
      const members = present(lan);
      for (const from of members) {
        for (const to of members) if (to !== from) this.#add({ from, to, cost: from.metric });
      }
    }
  }

  /** The hops that a packet takes; throws where it would be lost. */
  sendLabels(from: Router, stack: readonly number[]): Hop[] {
    const taken: Hop[] = [];
    let at = from;
    for (const label of stack) {
      const local = this.#byAdjacencyLabel(at, label);
      if (local !== undefined) {
        taken.push(local);
        at = local.to.router;
        continue;
      }
      const index = label - at.blockStart;
      if (index < 0 || index >= BLOCK_SIZE) throw new Error(`r${at.number} knows no label ${label}`);
      const target = this.#network.routers.find(({ number }) => number === index);
      if (target === undefined) throw new Error(`nobody has index ${index}`);
      taken.push(...this.#route(at, target));
      at = target;
    }
    return taken;
  }

  sendSids(from: Router, sids: readonly string[]): Hop[] {
    const taken: Hop[] = [];
    let at = from;
    for (const sid of sids) {
      const owner = this.#network.routers.find((router) => endSid(router) === sid);
      if (owner !== undefined) {
        taken.push(...this.#route(at, owner));
        at = owner;
        continue;
      }
      const hop = this.#byEndXSid(at, sid);
      if (hop === undefined) throw new Error(`r${at.number} knows no SID ${sid}`);
      taken.push(hop);
      at = hop.to.router;
    }
    return taken;
  }

  #add(hop: Hop): void {
    const hops = this.#hops.get(hop.from.router);
    if (hops === undefined) this.#hops.set(hop.from.router, [hop]);
    else hops.push(hop);
  }

  /** A label that only this router knows, for one neighbour over one link. */
  #byAdjacencyLabel(at: Router, label: number): Hop | undefined {
    return (this.#hops.get(at) ?? []).find(({ from, to }) =>
      'neighborLabels' in from
        ? (from.neighborLabels as ReadonlyMap<number, number>).get(to.router.number) === label
        : from.adjacencyLabel === label,
    );
  }

  #byEndXSid(at: Router, sid: string): Hop | undefined {
    if (!isIsis(this.#domain)) return undefined;
    return (this.#hops.get(at) ?? []).find(({ from, to }) =>
      'neighborSids' in from
        ? (from.neighborSids as ReadonlyMap<number, string>).get(to.router.number) === sid
        : from.endXSid === sid,
    );
  }

  /** Hop by hop along shortest paths; each router chooses among its equal ones by chance. */
  #route(from: Router, target: Router): Hop[] {
    const distances = this.#distances(target);
    const taken: Hop[] = [];
    let at = from;
    while (at !== target) {
      const distance = distances.get(at);
      const best = (this.#hops.get(at) ?? []).filter(
        (hop) =>
          this.#mayPass(hop.to.router, target) &&
          distances.get(hop.to.router) === (distance ?? Number.NaN) - hop.cost,
      );
      if (best.length === 0) throw new Error(`r${at.number} has no route to r${target.number}`);
      const hop = this.#random.pick(best);
      taken.push(hop);
      at = hop.to.router;
    }
    return taken;
  }

  #mayPass(router: Router, target: Router): boolean {
    return router === target || !router.overload;
  }

  /** Bellman and Ford, backwards from the target: slow and plain. */
  #distances(target: Router): Map<Router, number> {
    const known = this.#distancesTo.get(target);
    if (known !== undefined) return known;
    const distances = new Map<Router, number>([[target, 0]]);
    for (let moved = true; moved; ) {
      moved = false;
      for (const [router, hops] of this.#hops) {
        for (const hop of hops) {
          const beyond = distances.get(hop.to.router);
          if (beyond === undefined || !this.#mayPass(hop.to.router, target)) continue;
          if (beyond + hop.cost < (distances.get(router) ?? Number.POSITIVE_INFINITY)) {
            distances.set(router, beyond + hop.cost);
            moved = true;
          }
        }
      }
    }
    this.#distancesTo.set(target, distances);
    return distances;
  }
}

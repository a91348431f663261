/** The counts of `GET /api/topology`. */
import { NlriType } from '../../protocols/bgp/ls/code-point.ts';
import type { TopologyGraph } from './graph.ts';
import type { GraphPeer } from './graph-peer.ts';
import { type JsonObject, time } from './object-view.ts';

/** The whole topology in numbers; `now` in milliseconds. */
export function summarize(graph: TopologyGraph, version: string, now: number): JsonObject {
  const nodes = { total: 0, advertised: 0, pseudonodes: 0, stale: 0 };
  const links = { total: 0, paired: 0, unpaired: 0, ambiguous: 0, stale: 0 };
  const prefixes = { total: 0, ipv4: 0, ipv6: 0, stale: 0 };
  const sids = { total: 0, stale: 0 };
  const policies = { total: 0, stale: 0 };
  let unknown = 0;
  for (const object of graph.objects.values()) {
    const stale = graph.isStale(object) ? 1 : 0;
    switch (object.kind) {
      case 'node':
        nodes.total += 1;
        nodes.advertised += 1;
        nodes.stale += stale;
        if (object.localNode?.pseudonode) nodes.pseudonodes += 1;
        break;
      case 'link': {
        const { reverse, ambiguous } = graph.pairing(object);
        links.total += 1;
        links.stale += stale;
        if (reverse !== null) links.paired += 1;
        else links.unpaired += 1;
        if (ambiguous) links.ambiguous += 1;
        break;
      }
      case 'prefix':
        prefixes.total += 1;
        prefixes.stale += stale;
        if (object.nlriType === NlriType.ipv4Prefix) prefixes.ipv4 += 1;
        else prefixes.ipv6 += 1;
        break;
      case 'srv6-sid':
        sids.total += 1;
        sids.stale += stale;
        break;
      case 'sr-policy':
        policies.total += 1;
        policies.stale += stale;
        break;
      case 'unknown':
        unknown += 1;
        break;
    }
  }
  for (const node of graph.nodes.values()) {
    if (node.advertised || !node.listed) continue;
    nodes.total += 1;
    if (node.pseudonode) nodes.pseudonodes += 1;
    if ([...node.links].every((link) => graph.isStale(link))) nodes.stale += 1;
  }
  let conflicts = 0;
  for (const object of graph.differing) if (graph.inConflict(object, now)) conflicts += 1;
  return {
    version,
    'as-of': time(now),
    counts: { nodes, links, prefixes, 'srv6-sids': sids, 'sr-policies': policies, unknown },
    conflicts,
    peers: [...graph.peers.values()]
      .filter(({ deleted }) => !deleted)
      .sort((a, b) => a.id - b.id)
      .map((peer) => summarizePeer(peer, now)),
  };
}

/** `state` is what the log and the writer's life say of the session; the peer itself has the FSM's own state. */
function summarizePeer(peer: GraphPeer, now: number): JsonObject {
  const { rib } = peer;
  const established = rib.established && peer.derivedLoss === null;
  return {
    'peer-id': peer.id,
    state: established ? 'established' : 'idle',
    stale: peer.attached && rib.copies.size > 0 && !established,
    'end-of-rib': rib.endOfRibAt === null ? null : time(rib.endOfRibAt),
    nlris: peer.attached ? rib.copies.size : 0,
    // Null before the peer's first session: nothing of it has an age.
    'age-ms': rib.lastAt === 0 ? null : Math.max(0, now - rib.lastAt),
  };
}

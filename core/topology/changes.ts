/** `GET /api/topology/changes`: the objects that are not what they were at an earlier version, as they are now. */
import { CONFLICT_AFTER_MILLISECONDS, type TopologyGraph } from './graph.ts';
import type { TopologyNode, TopologyObject } from './graph-object.ts';
import type { ObjectKind } from './identity.ts';
import type { Journal } from './journal.ts';
import { type JsonObject, viewObject, viewUnadvertisedNode } from './object-view.ts';
import type { TopologyVersion } from './version.ts';

export interface ObjectChange {
  readonly action: 'put' | 'remove';
  readonly kind: ObjectKind;
  readonly id: string;
  /** With `put`. */
  readonly object?: JsonObject;
}

/** The sequence numbers from which the journal must know each peer, to answer for what came after a version. */
export function neededHistory(since: TopologyVersion): Map<number, number> {
  return new Map(since.peers.map(({ peerId, sequence }) => [peerId, sequence]));
}

/**
 * What changed between two versions, the second being that of the graph now; undefined when the journal does not
 * reach back so far. An object may be named that came back to what it was: putting it changes nothing.
 */
export function changesBetween(
  graph: TopologyGraph,
  journal: Journal,
  since: TopologyVersion,
  until: TopologyVersion,
  now: number,
): ObjectChange[] | undefined {
  const touched = new Touched(graph);
  const before = new Map(since.peers.map((position) => [position.peerId, position]));
  for (const { peerId, sequence, beliefs } of until.peers) {
    const position = before.get(peerId);
    before.delete(peerId);
    const from = position?.sequence ?? 0;
    if (from > sequence) return undefined;
    const base = journal.baseOf(peerId);
    if (from < sequence && position !== undefined && (base === undefined || base > from)) return undefined;
    for (const record of journal.after(peerId, from)) {
      for (const { object } of record.changes) touched.add(object);
      if (record.session) touched.addPeer(peerId);
    }
    if (position?.beliefs !== beliefs) touched.addPeer(peerId);
  }
  // Peers that are gone since: as long as their logs are there, what they told can be named.
  for (const [peerId, { sequence }] of before) {
    const base = journal.baseOf(peerId);
    if (base === undefined || base > sequence) return undefined;
    for (const { changes } of journal.after(peerId, sequence)) {
      for (const { object } of changes) touched.add(object);
    }
    touched.addPeer(peerId);
  }
  for (const object of graph.differing) {
    const at = object.differsSince + CONFLICT_AFTER_MILLISECONDS;
    if (at > since.timedAt && at <= until.timedAt) touched.add(object);
  }
  return touched.list(now);
}

/** Objects by id, with the neighbours whose own view depends on them. */
class Touched {
  readonly #graph: TopologyGraph;
  readonly #objects = new Map<string, TopologyObject>();
  readonly #nodes = new Map<string, TopologyNode>();

  constructor(graph: TopologyGraph) {
    this.#graph = graph;
  }

  add(object: TopologyObject): void {
    if (this.#objects.has(object.key)) return;
    this.#objects.set(object.key, object);
    for (const node of [object.localNode, object.remoteNode]) {
      if (node !== null) this.#nodes.set(node.key, node);
    }
    // A change of one half-link can pair, unpair or confuse every other one between the same nodes.
    for (const link of object.group?.links ?? []) this.add(link);
  }

  addPeer(peerId: number): void {
    for (const copy of this.#graph.peers.get(peerId)?.rib.copies.values() ?? []) {
      this.add(this.#graph.objectOf(copy));
    }
  }

  list(now: number): ObjectChange[] {
    const changes = new Map<string, ObjectChange>();
    for (const [key, touched] of this.#objects) {
      const { kind, id } = touched;
      const object = this.#graph.objects.get(key);
      const view = object === undefined ? undefined : viewObject(this.#graph, object, now);
      changes.set(
        id,
        view === undefined ? { action: 'remove', kind, id } : { action: 'put', kind, id, object: view },
      );
    }
    for (const [key, touched] of this.#nodes) {
      const node = this.#graph.nodes.get(key);
      if (node?.advertised) continue;
      const { id } = touched;
      if (node?.listed) {
        changes.set(id, { action: 'put', kind: 'node', id, object: viewUnadvertisedNode(this.#graph, node) });
      } else changes.set(id, { action: 'remove', kind: 'node', id });
    }
    return [...changes.values()];
  }
}

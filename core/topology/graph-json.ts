/** `GET /api/topology/graph?format=json`: nodes and links as the lists have them. */
import { CONFLICT_AFTER_MILLISECONDS, type TopologyGraph } from './graph.ts';
import type { IndexShare, TopologyIndex } from './object-index.ts';
import { stringifyExactly } from './object-view.ts';
import { listObjects, type ObjectQuery, viewEntry } from './query.ts';

/** The body as text: objects are written out one after another, since all of them at once are large. */
export function formatGraphJson(
  graph: TopologyGraph,
  index: TopologyIndex,
  version: string,
  query: ObjectQuery,
  now: number,
): string {
  const list = (kind: 'node' | 'link') => {
    const { objects } = listObjects(graph, index, kind, query, now, stringifyExactly);
    return objects.join(',');
  };
  return `${graphJsonStart(version)}${list('node')}${NODES_END}${list('link')}${LINKS_END}`;
}

/** What stands before the nodes, between nodes and links, and behind the links. */
export function graphJsonStart(version: string): string {
  return `{"version":${JSON.stringify(version)},"nodes":[`;
}

export const NODES_END = '],"links":[';
export const LINKS_END = ']}';

const EVERYTHING: ObjectQuery = { stale: 'include', raw: false };

/** A part of the whole graph's body, and whether it has to be written anew. */
export interface GraphFragment {
  readonly kind: 'node' | 'link';
  /** Its place among those of its kind. */
  readonly number: number;
  /** Another one than at the last call: the text may be another. */
  readonly version: number;
  /** The objects, joined by commas; `''` when there are none. */
  text(): string;
}

/** The whole graph in parts of which a change touches few, so that the others can be kept as they were written. */
export class GraphFragments {
  readonly #graph: TopologyGraph;
  readonly #index: TopologyIndex;
  readonly #versions = new Map<IndexShare, number>();
  #generation = 0;
  #calls = 0;
  #settledUntil = 0;

  constructor(graph: TopologyGraph, index: TopologyIndex) {
    this.#graph = graph;
    this.#index = index;
  }

  /** All parts in order, as they are at `now`, in milliseconds; their texts are to be read before the graph changes. */
  parts(now: number): GraphFragment[] {
    const { flagsTouchedAt, generation } = this.#graph;
    const before = this.#generation;
    this.#generation = generation;
    this.#calls += 1;
    const inConflictNow = this.#newConflicts(now);
    return (['node', 'link'] as const).flatMap((kind) =>
      this.#index.shares(kind).map((share, number) => {
        const touched =
          flagsTouchedAt > before ||
          share.movedAt > before ||
          share.entries.some(
            ({ object, node }) =>
              (object ?? node)!.touchedAt > before || (object !== null && inConflictNow.has(object)),
          );
        if (touched) this.#versions.set(share, this.#calls);
        return {
          kind,
          number,
          version: this.#versions.get(share) ?? 0,
          text: () => this.#write(share, now),
        };
      }),
    );
  }

  /** Objects that came into conflict by time alone since the last call. */
  #newConflicts(now: number): ReadonlySet<unknown> {
    const since = this.#settledUntil;
    this.#settledUntil = now;
    const objects = new Set<unknown>();
    for (const object of this.#graph.differing) {
      const at = object.differsSince + CONFLICT_AFTER_MILLISECONDS;
      if (at >= since && at < now) objects.add(object);
    }
    return objects;
  }

  #write(share: IndexShare, now: number): string {
    const views = share.entries
      .map((entry) => viewEntry(this.#graph, entry, EVERYTHING, now))
      .filter((view) => view !== undefined);
    // A share at once, without its brackets: a string for each object, and their joining, are as many octets again.
    return stringifyExactly(views).slice(1, -1);
  }
}

/**
 * The objects of a graph by kind and id. It follows the graph: what came or went since the last look is sorted in, so
 * that one flap in a network of 10,000 routers does not cost the sorting of all.
 */
import type { TopologyGraph } from './graph.ts';
import type { TopologyNode, TopologyObject } from './graph-object.ts';
import type { ObjectKind } from './identity.ts';

/** An advertised object, or a node that only links name. */
export interface IndexEntry {
  readonly id: string;
  readonly object: TopologyObject | null;
  readonly node: TopologyNode | null;
}

/** The entries of a kind whose ids begin alike: one of 64 shares, equal in size since ids are hashes. */
export class IndexShare {
  #entries: IndexEntry[] = [];
  #sorted = true;
  /** The graph's generation when an entry last came or went. */
  movedAt = 0;

  /** In the order of their ids. */
  get entries(): readonly IndexEntry[] {
    if (!this.#sorted) this.#entries.sort((a, b) => (a.id < b.id ? -1 : 1));
    this.#sorted = true;
    return this.#entries;
  }

  add(entry: IndexEntry, generation: number): void {
    this.#entries.push(entry);
    this.#sorted = false;
    this.movedAt = generation;
  }

  remove(gone: ReadonlySet<IndexEntry>, generation: number): void {
    this.#entries = this.#entries.filter((entry) => !gone.has(entry));
    this.movedAt = generation;
  }
}

/** The characters of base64url in the order in which strings sort. */
const DIGITS = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';

interface KindIndex {
  readonly shares: readonly IndexShare[];
  readonly byId: Map<string, IndexEntry>;
  /** All entries in order; made when asked for, dropped when one comes or goes. */
  entries: readonly IndexEntry[] | undefined;
}

export class TopologyIndex {
  readonly #graph: TopologyGraph;
  readonly #kinds = new Map<ObjectKind, KindIndex>();
  readonly #entryOf = new Map<TopologyObject | TopologyNode, IndexEntry>();

  constructor(graph: TopologyGraph) {
    this.#graph = graph;
  }

  /** All of a kind, in the order of their ids. */
  entries(kind: ObjectKind): readonly IndexEntry[] {
    const index = this.#kind(kind);
    index.entries ??= index.shares.flatMap(({ entries }) => entries);
    return index.entries;
  }

  /** The same in shares, which follow each other in the order of ids. */
  shares(kind: ObjectKind): readonly IndexShare[] {
    return this.#kind(kind).shares;
  }

  find(kind: ObjectKind, id: string): IndexEntry | undefined {
    return this.#kind(kind).byId.get(id);
  }

  #kind(kind: ObjectKind): KindIndex {
    const index = this.#indexOf(kind);
    this.#follow(kind, index);
    return index;
  }

  #indexOf(kind: ObjectKind): KindIndex {
    let index = this.#kinds.get(kind);
    if (index === undefined) {
      const shares = Array.from(DIGITS, () => new IndexShare());
      index = { shares, byId: new Map(), entries: undefined };
      this.#kinds.set(kind, index);
    }
    return index;
  }

  /** Takes in what came to the graph and what left it. */
  #follow(kind: ObjectKind, index: KindIndex): void {
    const gone = new Map<IndexShare, Set<IndexEntry>>();
    for (const moved of this.#graph.takeMoved(kind)) {
      const isNode = !('kind' in moved);
      const present = isNode ? this.#graph.listsAlone(moved) : this.#graph.objects.get(moved.key) === moved;
      const known = this.#entryOf.get(moved);
      if (present === (known !== undefined)) continue;
      if (known === undefined) this.#add(index, moved);
      else {
        this.#entryOf.delete(moved);
        moved.indexed = false;
        if (index.byId.get(known.id) === known) index.byId.delete(known.id);
        index.entries = undefined;
        const share = shareOf(index, known.id);
        const others = gone.get(share);
        if (others === undefined) gone.set(share, new Set([known]));
        else others.add(known);
      }
    }
    for (const [share, entries] of gone) share.remove(entries, this.#graph.generation);
  }

  #add(index: KindIndex, moved: TopologyObject | TopologyNode): void {
    const { id } = moved;
    const entry: IndexEntry =
      'kind' in moved ? { id, object: moved, node: moved.localNode } : { id, object: null, node: moved };
    this.#entryOf.set(moved, entry);
    moved.indexed = true;
    index.byId.set(id, entry);
    index.entries = undefined;
    shareOf(index, id).add(entry, this.#graph.generation);
  }
}

function shareOf({ shares }: KindIndex, id: string): IndexShare {
  return shares[DIGITS.indexOf(id[2] as string)] as IndexShare;
}

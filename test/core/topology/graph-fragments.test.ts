import { describe, expect, it } from 'vitest';
import { TopologyGraph } from '../../../core/topology/graph.ts';
import {
  formatGraphJson,
  GraphFragments,
  graphJsonStart,
  LINKS_END,
  NODES_END,
} from '../../../core/topology/graph-json.ts';
import { TopologyIndex } from '../../../core/topology/object-index.ts';
import { linkStateObjects } from '../../support/network/link-state-objects.ts';
import { SimulatedNetwork } from '../../support/network/simulated-network.ts';
import { Random, testSeed } from '../../support/random.ts';

const seed = testSeed('graph fragments');
const EVERYTHING = { stale: 'include', raw: false } as const;

/** Keeps fragments by their versions, as the function does, and joins them. */
class KeptGraph {
  readonly #kept = new Map<string, { version: number; text: string }>();
  written = 0;

  join(fragments: GraphFragments, now: number): string {
    const lists = { node: [] as string[], link: [] as string[] };
    for (const { kind, number, version, text } of fragments.parts(now)) {
      const name = `${kind} ${number}`;
      let kept = this.#kept.get(name);
      if (kept?.version !== version) {
        kept = { version, text: text() };
        this.#kept.set(name, kept);
        this.written += 1;
      }
      if (kept.text !== '') lists[kind].push(kept.text);
    }
    return `${graphJsonStart('v')}${lists.node.join(',')}${NODES_END}${lists.link.join(',')}${LINKS_END}`;
  }
}

describe('the whole graph in kept fragments', () => {
  it('is after every change what it would be when written anew, and so is the index', () => {
    const random = new Random(seed);
    const network = new SimulatedNetwork(
      {
        routers: 12,
        igp: 'isis',
        identifier: 1n,
        number: 1,
        chords: 3,
        parallel: 0.3,
        unnumbered: 0.4,
        lansPerHundred: 10,
      },
      random,
    );
    const graph = new TopologyGraph();
    const index = new TopologyIndex(graph);
    const fragments = new GraphFragments(graph, index);
    const kept = new KeptGraph();
    let now = 1_000;
    const preferences = new Map([
      [1, 100],
      [2, 100],
    ]);
    const losses = new Map<number, { at: number; purgeAt: number } | null>();
    const told = new Map([1, 2].map((peerId) => [peerId, new Map<string, Uint8Array>()]));
    /** The peer says what the network is now, or only some of it. */
    const tell = (peerId: number, share: number) => {
      const { rib } = graph.peer(peerId);
      const before = told.get(peerId) as Map<string, Uint8Array>;
      const objects = linkStateObjects(network);
      for (const [key, { nlri, attribute }] of objects) {
        if (!random.chance(share)) continue;
        before.set(key, nlri);
        rib.apply({
          kind: 'put',
          at: now,
          safi: 71,
          nlri,
          attribute: random.chance(0.02) ? null : attribute,
        });
      }
      for (const [key, nlri] of before) {
        if (objects.has(key) || !random.chance(share)) continue;
        before.delete(key);
        rib.apply({ kind: 'remove', at: now, safi: 71, nlri });
      }
    };
    const steps: (() => unknown)[] = [
      () => tell(1, 1),
      () => tell(2, 1),
      () => tell(random.chance(0.5) ? 1 : 2, 0.1),
      () => network.change() && tell(1, 1),
      () => (now += 40_000),
      () =>
        graph.peer(1 + random.below(2)).rib.apply({ kind: 'session-lost', at: now, purgeAt: now + 9_000 }),
      () => graph.peer(1 + random.below(2)).rib.apply({ kind: 'end-of-rib', at: now }),
      () =>
        graph.peer(1 + random.below(2)).rib.apply({ kind: 'session-established', at: now, sweepBy: now + 9 }),
      () => preferences.set(1 + random.below(2), 1 + random.below(3)),
      () => losses.set(1 + random.below(2), random.chance(0.5) ? null : { at: now, purgeAt: now + 9_000 }),
      () => {
        const peerId = 1 + random.below(2);
        graph.forget(peerId);
        told.set(peerId, new Map());
      },
    ];
    for (let step = 0; step < 120; step += 1) {
      random.pick(steps)();
      now += random.below(500);
      for (const peer of graph.peers.values()) {
        const gone = random.chance(0.05);
        const derivedLoss = losses.get(peer.id) ?? null;
        graph.setCircumstances(
          peer,
          { preference: preferences.get(peer.id) as number, derivedLoss, gone },
          now,
        );
      }
      if (random.chance(0.3)) continue;
      const anew = new TopologyIndex(copyOfMoved(graph));
      expect(kept.join(fragments, now)).toBe(formatGraphJson(graph, index, 'v', EVERYTHING, now));
      for (const kind of ['node', 'link', 'prefix', 'srv6-sid'] as const) {
        const entries = index.entries(kind);
        expect(entries.map(({ id }) => id)).toEqual(anew.entries(kind).map(({ id }) => id));
        expect(entries.every((entry) => index.find(kind, entry.id) === entry)).toBe(true);
      }
    }
  });

  it('writes one metric’s change with a few of its fragments, and nothing when nothing changed', () => {
    const random = new Random(seed);
    const network = new SimulatedNetwork(
      {
        routers: 200,
        igp: 'isis',
        identifier: 1n,
        number: 1,
        chords: 3,
        parallel: 0,
        unnumbered: 0,
        lansPerHundred: 0,
      },
      random,
    );
    const graph = new TopologyGraph();
    const fragments = new GraphFragments(graph, new TopologyIndex(graph));
    const { rib } = graph.peer(1);
    const tell = () => {
      for (const { nlri, attribute } of linkStateObjects(network).values()) {
        rib.apply({ kind: 'put', at: 1, safi: 71, nlri, attribute });
      }
    };
    tell();
    const kept = new KeptGraph();
    kept.join(fragments, 10);
    kept.written = 0;
    kept.join(fragments, 20);
    expect(kept.written).toBe(0);
    (network.links[0] as (typeof network.links)[number]).ends[0].metric += 1;
    tell();
    kept.join(fragments, 30);
    // Both half-links and both routers.
    expect(kept.written).toBeLessThanOrEqual(4);
    expect(kept.written).toBeGreaterThan(0);
  });
});

/** A graph as an index sees it that has just been made: everything came, nothing has left. */
function copyOfMoved(graph: TopologyGraph): TopologyGraph {
  const objects = [...graph.objects.values()].map((object) => ({ ...view(object), indexed: false }));
  const nodes = [...graph.nodes.values()].filter((node) => graph.listsAlone(node));
  const alone = nodes.map((node) => ({ key: node.key, id: node.id, indexed: false }));
  const present = new Map(objects.map((object) => [object.key, object]));
  return {
    generation: 1,
    takeMoved: (wanted: string) => [
      ...objects.filter(({ kind }) => kind === wanted),
      ...(wanted === 'node' ? alone : []),
    ],
    listsAlone: () => true,
    objects: present,
  } as unknown as TopologyGraph;
}

function view({ key, kind, id, localNode }: { key: string; kind: string; id: string; localNode: unknown }) {
  return { key, kind, id, localNode };
}

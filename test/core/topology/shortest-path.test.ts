import { describe, expect, it } from 'vitest';
import { edgesTo, type ShortestPaths, shortestPathsBy } from '../../../core/topology/shortest-path.ts';
import { BucketPaths, fitsBuckets } from '../../../core/topology/shortest-path-buckets.ts';
import { HeapPaths } from '../../../core/topology/shortest-path-heap.ts';
import { Random, testSeed } from '../../support/random.ts';

const random = new Random(testSeed('shortest paths'));

function graphOf(nodes: number, edges: number, cost: () => number) {
  const list = Array.from({ length: edges }, () => ({ from: random.below(nodes), to: random.below(nodes) }));
  list.sort((a, b) => a.from - b.from);
  const offsets = new Int32Array(nodes + 1);
  for (const { from } of list) offsets[from + 1] = (offsets[from + 1] as number) + 1;
  for (let node = 0; node < nodes; node += 1) {
    offsets[node + 1] = (offsets[node + 1] as number) + (offsets[node] as number);
  }
  const rows = {
    offsets,
    from: Int32Array.from(list, ({ from }) => from),
    to: Int32Array.from(list, ({ to }) => to),
  };
  return { rows, costs: Float64Array.from(list, cost) };
}

/** Bellman and Ford: slow and plain. */
function distancesFrom(
  source: number,
  { rows, costs }: ReturnType<typeof graphOf>,
  closed: Uint8Array,
): number[] {
  const distances = Array.from(closed, () => Number.POSITIVE_INFINITY);
  distances[source] = 0;
  for (let moved = true; moved; ) {
    moved = false;
    rows.to.forEach((to, edge) => {
      const from = rows.from[edge] as number;
      if (closed[from] === 1 && from !== source) return;
      const candidate = (distances[from] as number) + (costs[edge] as number);
      if (candidate >= (distances[to] as number)) return;
      distances[to] = candidate;
      moved = true;
    });
  }
  return distances;
}

/** The distances found, and what the edges of each found path cost together, are these. */
function expectPathsOf(finder: ShortestPaths, graph: ReturnType<typeof graphOf>, distances: number[]): void {
  expect(distances.map((_, node) => finder.distanceTo(node))).toEqual(distances);
  const sums = distances.map((_, node) => {
    const edges = edgesTo(graph.rows, finder, node);
    return edges?.reduce((sum, edge) => sum + (graph.costs[edge] as number), 0) ?? Number.POSITIVE_INFINITY;
  });
  expect(sums).toEqual(distances);
}

describe('shortest paths', () => {
  const costsOf = {
    'that are small': () => random.below(30),
    'that are nothing, or all the buckets': () => (random.chance(0.5) ? 0 : 16_383),
    'of which some are no edges': () => (random.chance(0.3) ? Number.POSITIVE_INFINITY : random.below(5)),
  };
  for (const [what, cost] of Object.entries(costsOf)) {
    it(`are the same by buckets, by heap and by Bellman and Ford, for costs ${what}`, () => {
      for (let round = 0; round < 30; round += 1) {
        const nodes = 1 + random.below(40);
        const graph = graphOf(nodes, random.below(5 * nodes), cost);
        expect(fitsBuckets(graph.rows, graph.costs)).toBe(true);
        const closed = Uint8Array.from({ length: nodes }, () => (random.chance(0.1) ? 1 : 0));
        const finders = [new BucketPaths(graph.rows, graph.costs), new HeapPaths(graph.rows, graph.costs)];
        for (let source = 0; source < nodes; source += 3) {
          const distances = distancesFrom(source, graph, closed);
          const target = random.below(nodes);
          for (const finder of finders) {
            // A run that ended early leaves nothing behind.
            finder.run(random.below(nodes), closed, random.below(nodes));
            finder.run(source, closed, target);
            expect(finder.distanceTo(target)).toBe(distances[target]);
            finder.run(source, closed);
            expectPathsOf(finder, graph, distances);
          }
        }
      }
    });
  }

  it('go without an edge that is taken out, until it is put back', () => {
    const graph = graphOf(20, 80, () => 1 + random.below(9));
    const closed = new Uint8Array(20);
    for (const finder of [new BucketPaths(graph.rows, graph.costs), new HeapPaths(graph.rows, graph.costs)]) {
      const edge = random.below(80);
      finder.setUsable(edge, false);
      const costs = graph.costs.slice();
      costs[edge] = Number.POSITIVE_INFINITY;
      finder.run(0, closed);
      expectPathsOf(finder, { ...graph, costs }, distancesFrom(0, { ...graph, costs }, closed));
      finder.setUsable(edge, true);
      finder.run(0, closed);
      expectPathsOf(finder, graph, distancesFrom(0, graph, closed));
    }
  });

  it('are exact for costs that no bucket takes: large ones, and fractions', () => {
    for (const cost of [() => random.bits(), () => random.below(100) / 8]) {
      const graph = graphOf(20, 80, cost);
      graph.costs[0] = 16_384.5;
      expect(fitsBuckets(graph.rows, graph.costs)).toBe(false);
      const finder = shortestPathsBy(graph.rows, graph.costs);
      finder.run(0, new Uint8Array(20));
      expectPathsOf(finder, graph, distancesFrom(0, graph, new Uint8Array(20)));
    }
  });
});

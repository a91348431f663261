/** The k shortest paths without loops, parallel links told apart: Yen's algorithm (Management Science 17(11), 1971). */
import { type EdgeRows, edgesTo, shortestPathsBy } from './shortest-path.ts';

export interface EdgePath {
  readonly cost: number;
  readonly edges: readonly number[];
}

/**
 * Up to `k` paths, cheapest first; of equal ones, the one with fewer edges, then with lower edge numbers, so that an
 * answer is the same each time.
 */
export function shortestPaths(
  rows: EdgeRows,
  source: number,
  target: number,
  k: number,
  costs: Float64Array,
  closed: Uint8Array,
): EdgePath[] {
  if (source === target) return [{ cost: 0, edges: [] }];
  const finder = shortestPathsBy(rows, costs);
  const find = (start: number): EdgePath | undefined => {
    finder.run(start, closed, target);
    const edges = edgesTo(rows, finder, target);
    return edges === undefined ? undefined : { cost: finder.distanceTo(target), edges };
  };
  const first = find(source);
  if (first === undefined) return [];
  const found: EdgePath[] = [first];
  const candidates: EdgePath[] = [];
  const known = new Set([first.edges.join()]);
  while (found.length < k) {
    const last = found.at(-1) as EdgePath;
    let rootCost = 0;
    for (let spur = 0; spur < last.edges.length; spur += 1) {
      const root = last.edges.slice(0, spur);
      const removed = new Set<number>();
      for (const path of found) {
        if (startsWith(path.edges, root)) removed.add(path.edges[spur] as number);
      }
      // Nodes of the root must not be met again: their edges are gone for this search.
      for (const edge of root) {
        const node = rows.from[edge] as number;
        for (let each = rows.offsets[node] as number; each < (rows.offsets[node + 1] as number); each += 1) {
          removed.add(each);
        }
      }
      for (const edge of removed) finder.setUsable(edge, false);
      const branch = find(rows.from[last.edges[spur] as number] as number);
      for (const edge of removed) finder.setUsable(edge, true);
      if (branch !== undefined) {
        const edges = [...root, ...branch.edges];
        const key = edges.join();
        if (!known.has(key)) {
          known.add(key);
          candidates.push({ cost: rootCost + branch.cost, edges });
        }
      }
      rootCost += costs[last.edges[spur] as number] as number;
    }
    if (candidates.length === 0) break;
    candidates.sort(inOrder);
    found.push(candidates.shift() as EdgePath);
  }
  return found;
}

function startsWith(edges: readonly number[], root: readonly number[]): boolean {
  return edges.length > root.length && root.every((edge, index) => edges[index] === edge);
}

function inOrder(a: EdgePath, b: EdgePath): number {
  if (a.cost !== b.cost) return a.cost - b.cost;
  if (a.edges.length !== b.edges.length) return a.edges.length - b.edges.length;
  const index = a.edges.findIndex((edge, at) => edge !== b.edges[at]);
  return index < 0 ? 0 : (a.edges[index] as number) - (b.edges[index] as number);
}

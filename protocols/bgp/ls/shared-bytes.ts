/** Byte strings that several entries refer to, each kept once for as long as one does. */
import { ByteStore } from './byte-store.ts';
import { WordColumns } from './column.ts';

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

  get retainedBytes(): number {
    return this.store.retainedBytes + this.references.retainedBytes;
  }
}

/** The decoder's end of the mapping engine: a stream's updates go into rows, without an object for each. */
import type { GnmiRows } from '../../core/mapping/gnmi-rows.ts';
import type { PathElement } from '../../core/mapping/path.ts';
import type { InternedPaths } from '../../core/mapping/path-numbers.ts';
import { VALUE } from '../../core/mapping/value.ts';
import { decodeLeafList } from '../../protocols/gnmi/notification.ts';
import { type PathElem, withoutModule } from '../../protocols/gnmi/path.ts';
import type { PathArena } from '../../protocols/gnmi/path-arena.ts';
import { type NotificationSink, ValueKind } from '../../protocols/gnmi/subscribe-response.ts';
import { jsonOfLeafList } from './value-json.ts';

/** How each kind of gnmi.TypedValue reaches the mapping; a leaf-list comes as its JSON array. */
const KINDS = new Int8Array(16).fill(VALUE.unsupported);
KINDS[ValueKind.string] = VALUE.string;
KINDS[ValueKind.ascii] = VALUE.string;
KINDS[ValueKind.int] = VALUE.int;
KINDS[ValueKind.uint] = VALUE.uint;
KINDS[ValueKind.bool] = VALUE.bool;
KINDS[ValueKind.bytes] = VALUE.bytes;
KINDS[ValueKind.float] = VALUE.float;
KINDS[ValueKind.double] = VALUE.double;
KINDS[ValueKind.decimal] = VALUE.decimal;
KINDS[ValueKind.json] = VALUE.json;
KINDS[ValueKind.jsonIetf] = VALUE.json;

/** The arena's paths as the mapping reads them: no module prefixes, keys as pairs of names. */
export class ArenaPaths implements InternedPaths {
  readonly #arena: PathArena;

  constructor(arena: PathArena) {
    this.#arena = arena;
  }

  prefix(id: number): readonly PathElement[] {
    return this.#arena.stem(id).elem.map(elementOf);
  }

  leaf(id: number): readonly PathElement[] {
    return this.#arena.leaf(id).map(elementOf);
  }
}

export interface RowsSinkOptions {
  readonly rows: GnmiRows;
  readonly arena: PathArena;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** A Notification is complete; `duplicates` values of it were coalesced away by the target, as it told. */
  readonly onNotification?: (duplicates: number) => void;
  /** In place of the rows' own reading of sync_response. */
  readonly onSync?: () => void;
}

/** Feeds one stream's rows. It looks at the clocks when it is told to, for all notifications of a read together. */
export class RowsSink implements NotificationSink {
  readonly #rows: GnmiRows;
  readonly #arena: PathArena;
  readonly #options: RowsSinkOptions;
  #generation: number;
  #wallClock = 0;
  #now = 0;

  constructor(options: RowsSinkOptions) {
    this.#generation = options.arena.generation;
    this.#rows = options.rows;
    this.#arena = options.arena;
    this.#options = options;
    this.lookAtClocks();
  }

  /** When what is being read came, in milliseconds since the epoch. */
  get receivedAt(): number {
    return this.#wallClock;
  }

  /** What comes from here on, until the next time, came now. */
  lookAtClocks(): void {
    this.#wallClock = this.#options.wallClock();
    this.#now = this.#options.now();
  }

  begin(_bytes: Uint8Array, timestampHi: number, timestampLo: number): void {
    if (this.#generation !== this.#arena.generation) {
      this.#generation = this.#arena.generation;
      this.#rows.forgetPathNumbers(this.#generation);
    }
    this.#rows.notification(timestampHi, timestampLo, this.#wallClock, this.#now);
  }

  /** Huawei sends an empty delete beside updates; it is not the removal of everything. */
  delete(stemId: number, leafId: number): void {
    if (this.#arena.isRoot(stemId, leafId)) return;
    this.#rows.delete(this.#arena.path(stemId, leafId).elem.map(elementOf));
  }

  update(
    stemId: number,
    leafId: number,
    kind: number,
    hi: number,
    lo: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    if (kind === ValueKind.leafList) {
      const json = new TextEncoder().encode(jsonOfLeafList(decodeLeafList(bytes, start, end)));
      this.#rows.update(stemId, leafId, VALUE.json, 0, 0, json, 0, json.length);
      return;
    }
    // An update without a value says nothing (Huawei, beside deletes).
    if (kind === ValueKind.none) return;
    this.#rows.update(stemId, leafId, KINDS[kind] as number, hi, lo, bytes, start, end);
  }

  end(duplicates: number): void {
    this.#options.onNotification?.(duplicates);
  }

  sync(): void {
    const { onSync } = this.#options;
    if (onSync === undefined) this.#rows.sync();
    else onSync();
  }

  /** The RPC's status says the same and ends the stream. */
  error(): void {}
}

function elementOf({ name, keys }: PathElem): PathElement {
  return {
    name: withoutModule(name),
    keys: keys.map(([key, value]) => ({ name: withoutModule(key), value })),
  };
}

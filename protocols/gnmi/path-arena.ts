/**
 * The paths of a stream, known by two small integers each. A path is cut behind its last element with keys:
 * the *stem* (prefix, and elements up to and including that one) says which row, the *leaf* (the rest) which
 * column. Devices name a few hundred leaves and some thousands of stems, and send them in the same order
 * each cycle: kept apart, both tables stay small whatever the fleet's size; kept as whole paths, they did not
 * (docs/decisions/0100).
 */
import { ByteTable, doubled } from './byte-table.ts';
import { formatPath, joinPaths, type Path, type PathElem, ROOT_PATH } from './path.ts';
import { decodePath, plainPathBytes } from './path-message.ts';
import { readLength, type Varint } from './wire.ts';

/** Past this, the arena starts afresh before the next message: ids are then given anew. */
const DEFAULT_MAXIMUM_BYTES = 48 * 1024 * 1024;
/** What one path costs beside its bytes, here or with those who map it, measured roughly. */
const PATH_OBJECT_BYTES = 400;

const utf8 = new TextEncoder();

/** Where one stream stands in an arena that many share: what it sent last, from which the next is guessed. */
export class PathCursor {
  stemEntry = -1;
  leafEntry = -1;
  generation = 0;
}

export class PathArena {
  readonly #maximumBytes: number;
  #generation = 0;
  #firstStemId = 0;
  #firstLeafId = 0;
  #prefixes = new ByteTable();
  #prefixPaths: Path[] = [];
  #prefixIdsByText = new Map<string, number>();
  #prefixCanonical: number[] = [];
  /** Most Notifications have no prefix; −1 before the first of them. */
  #emptyPrefixId = -1;
  /** Stem bytes as sent → entry; several entries may be one stem, since a map's keys come in any order. */
  #stems = new ByteTable();
  #stemIds = new Int32Array(64);
  #nextStemEntry = new Int32Array(64).fill(-1);
  /** By a stem's number in this generation: its canonical text, and the entry that it is decoded from when asked for. */
  #stemTexts = new ByteTable();
  #entryOfStem: number[] = [];
  #leaves = new ByteTable();
  #nextLeaf = new Int32Array(64).fill(-1);
  #leafElems: (readonly PathElem[])[] = [];
  #leafIdsByText = new Map<string, number>();
  #leafCanonical = new Int32Array(64);
  /** Paths in an unusual form, whole: entry → stem entry and leaf entry. */
  #odd = new ByteTable();
  #oddStemEntries: number[] = [];
  #oddLeafEntries: number[] = [];
  readonly #varint: Varint = { hi: 0, lo: 0, next: 0 };
  #stemEnd = 0;

  constructor(maximumBytes: number = DEFAULT_MAXIMUM_BYTES) {
    this.#maximumBytes = maximumBytes;
  }

  /**
   * Counts the fresh starts. No id is ever given to another path, but one of an earlier generation leads to no
   * path any more: whoever keeps things by id may drop them when this moves.
   */
  get generation(): number {
    return this.#generation;
  }

  get stems(): number {
    return this.#entryOfStem.length;
  }

  get leaves(): number {
    return this.#leafElems.length;
  }

  /** The absolute path of a row: prefix and elements through the last with keys. Keys are sorted by name. */
  stem(stemId: number): Path {
    const entry = this.#entryOfStem[stemId - this.#firstStemId];
    if (entry === undefined) return ROOT_PATH;
    const prefix = this.#prefixPaths[this.#stems.saltOf(entry)] ?? ROOT_PATH;
    return joinPaths(prefix, decodePath(this.#stems.bytesOf(entry)) ?? ROOT_PATH);
  }

  /** The elements behind the stem, none of which has keys. */
  leaf(leafId: number): readonly PathElem[] {
    return this.#leafElems[leafId - this.#firstLeafId] ?? [];
  }

  /** The whole absolute path. */
  path(stemId: number, leafId: number): Path {
    const stem = this.stem(stemId);
    return { ...stem, elem: [...stem.elem, ...this.leaf(leafId)] };
  }

  /** A path of no element at all: Huawei sends an empty delete beside updates, which removes nothing. */
  isRoot(stemId: number, leafId: number): boolean {
    return this.stem(stemId).elem.length === 0 && this.leaf(leafId).length === 0;
  }

  /** Starts afresh when full. Only between messages: within one, ids must not change their meaning. */
  makeRoom(): void {
    const used =
      this.#prefixes.bytes +
      this.#stems.bytes +
      this.#stemTexts.bytes +
      this.#leaves.bytes +
      this.#odd.bytes +
      (this.#entryOfStem.length + this.#leafElems.length + this.#prefixPaths.length) * PATH_OBJECT_BYTES;
    if (used > this.#maximumBytes) this.clear();
  }

  /** Forgets everything and begins the next generation. */
  clear(): void {
    this.#generation += 1;
    this.#firstStemId += this.#entryOfStem.length;
    this.#firstLeafId += this.#leafElems.length;
    this.#prefixes = new ByteTable();
    this.#prefixPaths = [];
    this.#prefixIdsByText = new Map();
    this.#prefixCanonical = [];
    this.#emptyPrefixId = -1;
    this.#stems = new ByteTable();
    this.#nextStemEntry.fill(-1);
    this.#stemTexts = new ByteTable();
    this.#entryOfStem = [];
    this.#leaves = new ByteTable();
    this.#nextLeaf.fill(-1);
    this.#leafElems = [];
    this.#leafIdsByText = new Map();
    this.#odd = new ByteTable();
    this.#oddStemEntries = [];
    this.#oddLeafEntries = [];
  }

  stemId(stemEntry: number): number {
    return this.#stemIds[stemEntry] as number;
  }

  leafId(leafEntry: number): number {
    return this.#leafCanonical[leafEntry] as number;
  }

  /** The id of a Notification's prefix (a Path message); -1 when it is no Path. An absent prefix is an empty one. */
  prefixId(bytes: Uint8Array, start: number, end: number): number {
    if (start === end && this.#emptyPrefixId !== -1) return this.#emptyPrefixId;
    const found = this.#prefixes.find(bytes, start, end, 0);
    if (found !== -1) return this.#prefixCanonical[found] as number;
    const path = decodePath(bytes.subarray(start, end));
    if (path === undefined) return -1;
    const entry = this.#prefixes.add(bytes, start, end, 0);
    const text = canonicalText(path);
    let id = this.#prefixIdsByText.get(text);
    if (id === undefined) {
      id = this.#prefixPaths.length;
      this.#prefixPaths.push(path);
      this.#prefixIdsByText.set(text, id);
    }
    this.#prefixCanonical[entry] = id;
    if (start === end) this.#emptyPrefixId = id;
    return id;
  }

  /**
   * Finds the entries of the Path message in `bytes` and leaves them in the cursor, trying first what followed
   * the last time. False when it is no Path message.
   */
  resolve(
    cursor: PathCursor,
    bytes: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    prefixId: number,
  ): boolean {
    const length = end - start;
    let stemEntry = cursor.stemEntry;
    if (!this.#stemFits(stemEntry, view, start, length, prefixId)) {
      if (stemEntry !== -1) stemEntry = this.#nextStemEntry[stemEntry] as number;
      if (!this.#stemFits(stemEntry, view, start, length, prefixId)) {
        return this.#resolveBySearch(cursor, bytes, start, end, prefixId);
      }
      cursor.stemEntry = stemEntry;
    }
    const rest = start + this.#stems.lengthOf(stemEntry);
    const predicted = cursor.leafEntry === -1 ? -1 : (this.#nextLeaf[cursor.leafEntry] as number);
    if (
      predicted !== -1 &&
      this.#leaves.lengthOf(predicted) === end - rest &&
      this.#leaves.matchesAt(predicted, view, rest)
    ) {
      cursor.leafEntry = predicted;
      return true;
    }
    return this.#resolveBySearch(cursor, bytes, start, end, prefixId);
  }

  #stemFits(entry: number, view: DataView, start: number, length: number, prefixId: number): boolean {
    return (
      entry !== -1 &&
      this.#stems.saltOf(entry) === prefixId &&
      this.#stems.lengthOf(entry) <= length &&
      this.#stems.matchesAt(entry, view, start)
    );
  }

  #resolveBySearch(
    cursor: PathCursor,
    bytes: Uint8Array,
    start: number,
    end: number,
    prefixId: number,
  ): boolean {
    const lastStem = cursor.stemEntry;
    const lastLeaf = cursor.leafEntry;
    if (!this.#cut(bytes, start, end)) return this.#resolveOdd(cursor, bytes, start, end, prefixId);
    const rest = this.#stemEnd;
    let stemEntry = this.#stems.find(bytes, start, rest, prefixId);
    if (stemEntry === -1) stemEntry = this.#addStem(bytes, start, rest, prefixId);
    let leafEntry = this.#leaves.find(bytes, rest, end, 0);
    if (leafEntry === -1) leafEntry = this.#addLeaf(bytes, rest, end);
    if (stemEntry === -1 || leafEntry === -1) return false;
    cursor.stemEntry = stemEntry;
    cursor.leafEntry = leafEntry;
    if (lastStem !== -1 && lastStem !== stemEntry) this.#nextStemEntry[lastStem] = stemEntry;
    if (lastLeaf !== -1) this.#nextLeaf[lastLeaf] = leafEntry;
    return true;
  }

  /** Finds where the stem ends, without reading names. False for a path that is not `origin? elem*`, plainly. */
  #cut(bytes: Uint8Array, start: number, end: number): boolean {
    const varint = this.#varint;
    let at = start;
    let stemEnd = start;
    if (at < end && bytes[at] === 0x12) {
      const length = readLength(bytes, at + 1, end, varint);
      if (length === -1) return false;
      at = varint.next + length;
      stemEnd = at;
    }
    while (at < end) {
      if (bytes[at] !== 0x1a) return false;
      const length = readLength(bytes, at + 1, end, varint);
      if (length === -1) return false;
      const elemEnd = varint.next + length;
      let inner = varint.next;
      let named = false;
      let keyed = false;
      while (inner < elemEnd) {
        const tag = bytes[inner] as number;
        if (tag === 0x0a && !named) named = true;
        else if (tag === 0x12) keyed = true;
        else return false;
        const innerLength = readLength(bytes, inner + 1, elemEnd, varint);
        if (innerLength === -1) return false;
        inner = varint.next + innerLength;
      }
      at = elemEnd;
      if (keyed) stemEnd = elemEnd;
    }
    this.#stemEnd = stemEnd;
    return true;
  }

  #addStem(bytes: Uint8Array, start: number, end: number, prefixId: number): number {
    const relative = decodePath(bytes.subarray(start, end));
    if (relative === undefined) return -1;
    const entry = this.#stems.add(bytes, start, end, prefixId);
    if (entry >= this.#stemIds.length) {
      this.#stemIds = doubled(this.#stemIds);
      const from = this.#nextStemEntry.length;
      this.#nextStemEntry = doubled(this.#nextStemEntry).fill(-1, from);
    }
    const path = joinPaths(this.#prefixPaths[prefixId] ?? ROOT_PATH, relative);
    const text = utf8.encode(canonicalText(path));
    const stem = this.#stemTexts.add(text, 0, text.length, 0);
    if (stem === this.#entryOfStem.length) this.#entryOfStem.push(entry);
    this.#stemIds[entry] = this.#firstStemId + stem;
    return entry;
  }

  #addLeaf(bytes: Uint8Array, start: number, end: number): number {
    const elems = decodePath(bytes.subarray(start, end))?.elem;
    if (elems === undefined) return -1;
    const entry = this.#leaves.add(bytes, start, end, 0);
    if (entry >= this.#leafCanonical.length) {
      this.#leafCanonical = doubled(this.#leafCanonical);
      const from = this.#nextLeaf.length;
      this.#nextLeaf = doubled(this.#nextLeaf).fill(-1, from);
    }
    const text = canonicalText({ ...ROOT_PATH, elem: elems });
    let id = this.#leafIdsByText.get(text);
    if (id === undefined) {
      id = this.#firstLeafId + this.#leafElems.length;
      this.#leafElems.push(elems);
      this.#leafIdsByText.set(text, id);
    }
    this.#leafCanonical[entry] = id;
    return entry;
  }

  /** Deprecated string elements, a target within a path, unknown fields: put into the plain form once, then known. */
  #resolveOdd(cursor: PathCursor, bytes: Uint8Array, start: number, end: number, prefixId: number): boolean {
    let entry = this.#odd.find(bytes, start, end, prefixId);
    if (entry === -1) {
      const plain = plainPathBytes(bytes.subarray(start, end));
      if (plain === undefined || !this.#cut(plain, 0, plain.length)) return false;
      const rest = this.#stemEnd;
      let stemEntry = this.#stems.find(plain, 0, rest, prefixId);
      if (stemEntry === -1) stemEntry = this.#addStem(plain, 0, rest, prefixId);
      let leafEntry = this.#leaves.find(plain, rest, plain.length, 0);
      if (leafEntry === -1) leafEntry = this.#addLeaf(plain, rest, plain.length);
      if (stemEntry === -1 || leafEntry === -1) return false;
      entry = this.#odd.add(bytes, start, end, prefixId);
      this.#oddStemEntries[entry] = stemEntry;
      this.#oddLeafEntries[entry] = leafEntry;
    }
    cursor.stemEntry = this.#oddStemEntries[entry] as number;
    cursor.leafEntry = this.#oddLeafEntries[entry] as number;
    return true;
  }
}

/** Equal for equal paths only; the count keeps an element without a name from looking like the root. */
function canonicalText(path: Path): string {
  return `${path.elem.length} ${path.target}\n${formatPath(path)}`;
}

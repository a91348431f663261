/**
 * Where a table's NLRIs stand, with their attributes, under ids. What is kept of an NLRI is one record: when it was told, its
 * bytes and those of its attribute, so that finding it and comparing what is told again wait for memory in one place.
 * See docs/decisions/0052.
 *
 * `find` takes an NLRI in hand, and the calls that name no id are about that one.
 */

import { copyOctets, sameOctets, type WritableOctets } from '../octet-words.ts';
import { ByteStore } from './byte-store.ts';
import { LINK_STATE_SAFI, LINK_STATE_VPN_SAFI, type LinkStateSafi } from './code-point.ts';
import { HashIndex } from './hash-index.ts';
import { hashKeys, hashOctets } from './octet-hash.ts';
import { IdPool, SharedBytes } from './shared-bytes.ts';

/** Where something would begin that is not there. */
export const NONE = -1;

/*
 * A record, offsets in octets, words of 32 bits in the order of most processors:
 *
 *     0  the length of the NLRI, its family, and where its attribute is
 *     4  of which refresh it was told last
 *     8  when it was told last, the lower 32 bits of a number of milliseconds
 *    12  the same of when its bytes last became others
 *    16  the 16 bits above each of both
 *    20  the NLRI, and behind it its attribute, or the id of one that it shares
 */
const ROUND = 4;
const RECEIVED_AT = 8;
const CHANGED_AT = 12;
const HIGH_HALVES = 16;
const NLRI = 20;

const LENGTH = 0x1ffff;
const VPN = 0x20000;
/** Length and family: what an NLRI is known by beside its bytes. */
const KEY = LENGTH | VPN;
const NO_ATTRIBUTE = 0;
const BEHIND = 0x40000;
const SHARED = 0x80000;
const ATTRIBUTE = BEHIND | SHARED;

const ID_OCTETS = 4;
/** So long may NLRI and attribute be together; what one message brings is shorter. */
const LONGEST_TOGETHER = 0xffff;
const HIGH_WORD = 2 ** 32;

export class NlriStore {
  private readonly keys: Int32Array;
  private readonly ids = new IdPool();
  private readonly index = new HashIndex();
  private readonly records = new ByteStore();
  /** Those of UPDATEs with several NLRIs. */
  private readonly attributes = new SharedBytes();
  /** The copy of the attribute that an earlier NLRI of the UPDATE in hand made, held once for those behind it. */
  private shared = NONE;

  /** The NLRI in hand: its length and family, its hash, its id, and where its record is when it has one. */
  private key = 0;
  private hash = 0;
  private id = NONE;
  private record: WritableOctets | undefined;
  private at = 0;

  /** @param seed any 32 bits that a peer does not know: it cannot choose NLRIs that collide. */
  constructor(seed: number) {
    this.keys = hashKeys(seed);
  }

  /** All ids in use are below this. */
  get bound(): number {
    return this.ids.bound;
  }

  /** What is kept, without what arrays hold in reserve. */
  get liveBytes(): number {
    return this.records.liveBytes + this.attributes.store.liveBytes;
  }

  /** Octets of all arrays, in use or in reserve. */
  get retainedBytes(): number {
    return this.index.retainedBytes + this.records.retainedBytes + this.attributes.retainedBytes;
  }

  /** Takes the NLRI `octets[start, end)`, type and length included, in hand. Returns its id, or NONE when it is not kept. */
  find(octets: Uint8Array, start: number, end: number, safi: LinkStateSafi): number {
    const key = safi === LINK_STATE_VPN_SAFI ? (end - start) | VPN : end - start;
    const hash = hashOctets(octets, start, end, this.keys);
    this.key = key;
    this.hash = hash;
    const { index, records } = this;
    for (let id = index.first(hash); id >= 0; id = index.next(hash)) {
      const record = records.locate(id);
      const at = records.offset;
      if ((record.view.getInt32(at, true) & KEY) !== key) continue;
      if (!sameOctets(octets, start, end, record, at + NLRI)) continue;
      this.record = record;
      this.at = at;
      this.id = id;
      return id;
    }
    this.record = undefined;
    this.id = NONE;
    return NONE;
  }

  /**
   * Keeps the NLRI in hand, anew or still, with the attribute `octets[attributeStart, attributeEnd)`, NONE for none: to be
   * followed by `touch`. The attribute of an NLRI that came alone stands behind it, NLRIs that came together share
   * one copy.
   * @returns its id.
   */
  put(
    octets: Uint8Array,
    start: number,
    attributeStart: number,
    attributeEnd: number,
    isAlone: boolean,
  ): number {
    const { key } = this;
    const length = key & LENGTH;
    const attributeLength = attributeEnd - attributeStart;
    let kind = NO_ATTRIBUTE;
    let more = 0;
    if (attributeStart !== NONE) {
      const isBehind = isAlone && length + attributeLength <= LONGEST_TOGETHER;
      kind = isBehind ? BEHIND : SHARED;
      more = isBehind ? attributeLength : ID_OCTETS;
    }
    const sharedBefore = this.sharedAttribute();
    const { record: recordBefore, at: atBefore } = this;
    const record = this.reserve(NLRI + length + more);
    const { at } = this;
    const { view } = record;
    view.setInt32(at, key | kind, true);
    const hasMoved = record !== recordBefore || at !== atBefore;
    if (hasMoved) copyOctets(octets, start, start + length, record, at + NLRI);
    const behind = at + NLRI + length;
    if (kind === BEHIND) copyOctets(octets, attributeStart, attributeEnd, record, behind);
    else if (kind === SHARED) view.setInt32(behind, this.share(octets, attributeStart, attributeEnd), true);
    if (sharedBefore !== NONE) this.attributes.release(sharedBefore);
    return this.id;
  }

  /** To be called behind each UPDATE: what its NLRIs shared is no longer held for more of them. */
  endUpdate(): void {
    if (this.shared >= 0) this.attributes.release(this.shared);
    this.shared = NONE;
  }

  /** Whether this is the attribute that is kept of the NLRI in hand; `start` is NONE when there is none. */
  hasAttribute(octets: Uint8Array, start: number, end: number): boolean {
    const { record, at } = this;
    if (record === undefined) return false;
    const first = record.view.getInt32(at, true);
    const kind = first & ATTRIBUTE;
    if (start === NONE || kind === NO_ATTRIBUTE) return start === NONE && kind === NO_ATTRIBUTE;
    const behind = at + NLRI + (first & LENGTH);
    if (kind === SHARED) {
      return this.attributes.store.equals(record.view.getInt32(behind, true), octets, start, end);
    }
    const kept = at + this.records.lengthOf(record, at) - behind;
    return kept === end - start && sameOctets(octets, start, end, record, behind);
  }

  /** Removes the NLRI in hand, which is kept. */
  remove(): void {
    const { id } = this;
    const shared = this.sharedAttribute();
    if (shared !== NONE) this.attributes.release(shared);
    this.index.remove(this.hash, id);
    this.records.remove(id);
    this.ids.giveBack(id);
    this.record = undefined;
    this.id = NONE;
  }

  /** Takes note of when the NLRI in hand was told, and in which round of refreshing. */
  touch(now: number, round: number, hasChanged: boolean): void {
    const { record, at } = this;
    if (record === undefined) return;
    const { view } = record;
    const high = Math.floor(now / HIGH_WORD);
    view.setInt32(at + ROUND, round, true);
    view.setInt32(at + RECEIVED_AT, now, true);
    view.setInt16(at + HIGH_HALVES, high, true);
    if (!hasChanged) return;
    view.setInt32(at + CHANGED_AT, now, true);
    view.setInt16(at + HIGH_HALVES + 2, high, true);
  }

  isFree(id: number): boolean {
    return !this.records.has(id);
  }

  roundOf(id: number): number {
    return this.records.locate(id).view.getUint32(this.records.offset + ROUND, true);
  }

  safiOf(id: number): LinkStateSafi {
    const { view } = this.records.locate(id);
    return view.getInt32(this.records.offset, true) & VPN ? LINK_STATE_VPN_SAFI : LINK_STATE_SAFI;
  }

  receivedAt(id: number): number {
    return this.timeOf(id, RECEIVED_AT, HIGH_HALVES);
  }

  changedAt(id: number): number {
    return this.timeOf(id, CHANGED_AT, HIGH_HALVES + 2);
  }

  /** A copy of an NLRI: type, length and body. */
  nlriOf(id: number): Uint8Array {
    const { view, bytes } = this.records.locate(id);
    const at = this.records.offset;
    const start = at + NLRI;
    return bytes.slice(start, start + (view.getInt32(at, true) & LENGTH));
  }

  /** A copy of an NLRI's attribute. */
  attributeOf(id: number): Uint8Array | undefined {
    const { view, bytes } = this.records.locate(id);
    const { offset: at, length } = this.records;
    const first = view.getInt32(at, true);
    const behind = at + NLRI + (first & LENGTH);
    switch (first & ATTRIBUTE) {
      case BEHIND:
        return bytes.slice(behind, at + length);
      case SHARED:
        return this.attributes.store.copyOf(view.getInt32(behind, true));
      default:
        return undefined;
    }
  }

  private timeOf(id: number, low: number, high: number): number {
    const { view } = this.records.locate(id);
    const at = this.records.offset;
    return view.getUint16(at + high, true) * HIGH_WORD + view.getUint32(at + low, true);
  }

  /** Room for the record of the NLRI in hand, which gets an id if it has none. */
  private reserve(length: number): WritableOctets {
    const { records } = this;
    let record: WritableOctets;
    if (this.id !== NONE) record = records.resize(this.id, length);
    else {
      this.id = this.ids.take();
      this.index.insert(this.hash, this.id);
      record = records.reserve(this.id, length);
    }
    this.record = record;
    this.at = records.offset;
    return record;
  }

  /** The id of the attribute that the NLRI in hand shares, or NONE. */
  private sharedAttribute(): number {
    const { record, at } = this;
    if (record === undefined) return NONE;
    const first = record.view.getInt32(at, true);
    return (first & ATTRIBUTE) === SHARED ? record.view.getInt32(at + NLRI + (first & LENGTH), true) : NONE;
  }

  /** The id of the copy that the NLRIs of an UPDATE share, held once more. */
  private share(octets: Uint8Array, start: number, end: number): number {
    if (this.shared < 0) this.shared = this.attributes.add(octets, start, end);
    this.attributes.hold(this.shared);
    return this.shared;
  }
}

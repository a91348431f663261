/**
 * Byte strings by id, kept in large segments rather than one object each: a million small arrays would cost more in
 * headers and collection than in contents. A segment is only appended to; when half of all that was written is no
 * longer wanted, what is left of the emptiest segment moves to the end, one segment at a time, so that memory stays
 * within twice the contents and no step copies more than one segment.
 */

import { copyOctets, sameOctets, type WritableOctets, writableOctets } from '../octet-words.ts';
import { WordColumns } from './column.ts';

/** 128 KiB: the smallest that holds an NLRI and an attribute of the longest message. */
const SEGMENT_BITS = 17;
const SEGMENT = 1 << SEGMENT_BITS;
/** Before each byte string: its id and its length, 32 bits each. */
const HEADER = 8;
/** Positions are kept plus one: this is that of an id that holds nothing. */
const NOWHERE = 0;
/** With less waste than this there is nothing to gain from moving. */
const TOLERATED_WASTE = 4 * SEGMENT;

interface Segment extends WritableOctets {
  used: number;
  live: number;
}

export class ByteStore {
  private readonly segments: (Segment | undefined)[] = [];
  private readonly freeSegments: number[] = [];
  private current: Segment | undefined;
  private currentIndex = -1;
  private readonly positions = new WordColumns(1);
  private used = 0;
  private live = 0;

  /** Keeps a copy of `bytes[start, end)`, at most 131,064 octets, under an id that is free or new. */
  put(id: number, bytes: Uint8Array, start: number, end: number): void {
    copyOctets(bytes, start, end, this.reserve(id, end - start), this.offset);
  }

  /**
   * Room for a byte string of some length, at most 131,064 octets, under an id that is free or new: in the array that it
   * returns, from `offset` on.
   */
  reserve(id: number, length: number): WritableOctets {
    if (this.used - this.live > TOLERATED_WASTE && this.used > 2 * this.live) this.compact();
    return this.append(id, length);
  }

  /** The same for an id that may have a byte string: it keeps its place when it has the same length, else it moves. */
  resize(id: number, length: number): WritableOctets {
    if (this.has(id)) {
      const kept = this.locate(id);
      if (this.length === length) return kept;
      this.remove(id);
    }
    return this.reserve(id, length);
  }

  /** Whether something stands under an id. */
  has(id: number): boolean {
    return this.positions.has(id) && this.positions.get(id) !== NOWHERE;
  }

  remove(id: number): void {
    this.locate(id);
    const index = (this.positions.get(id) - 1) >>> SEGMENT_BITS;
    const segment = this.segments[index] as Segment;
    const size = this.length + HEADER;
    segment.live -= size;
    this.live -= size;
    this.positions.set(id, NOWHERE);
    if (segment.live === 0 && segment !== this.current) this.drop(index);
  }

  /** Whether what stands under an id is `bytes[start, end)`. */
  equals(id: number, bytes: Uint8Array, start: number, end: number): boolean {
    const kept = this.locate(id);
    return this.length === end - start && sameOctets(bytes, start, end, kept, this.offset);
  }

  /** A copy of what stands under an id. */
  copyOf(id: number): Uint8Array {
    const kept = this.locate(id);
    return kept.bytes.slice(this.offset, this.offset + this.length);
  }

  /** What the strings and their headers take, without what segments hold in reserve. */
  get liveBytes(): number {
    return this.live;
  }

  get retainedBytes(): number {
    return (
      this.positions.retainedBytes +
      this.segments.reduce((sum, segment) => sum + (segment?.bytes.length ?? 0), 0)
    );
  }

  /** What `locate` and `reserve` found, beside the array: an object for each call would be the cost of the call. */
  offset = 0;
  length = 0;

  /** The array in which the byte string of an id stands, from `offset` on, `length` octets. */
  locate(id: number): WritableOctets {
    const position = this.positions.get(id) - 1;
    const segment = this.segments[position >>> SEGMENT_BITS] as Segment;
    const at = position & (SEGMENT - 1);
    this.offset = at + HEADER;
    this.length = segment.view.getInt32(at + 4);
    return segment;
  }

  /** The length of the byte string that stands at `offset` of an array which `locate` or `reserve` returned. */
  lengthOf({ view }: WritableOctets, offset: number): number {
    return view.getInt32(offset - 4);
  }

  private append(id: number, length: number): WritableOctets {
    const size = HEADER + length;
    let segment = this.current;
    if (segment === undefined || segment.used + size > SEGMENT) segment = this.newSegment();
    const at = segment.used;
    segment.view.setInt32(at, id);
    segment.view.setInt32(at + 4, length);
    segment.used += size;
    segment.live += size;
    this.used += size;
    this.live += size;
    this.positions.set(id, this.currentIndex * SEGMENT + at + 1);
    this.offset = at + HEADER;
    this.length = length;
    return segment;
  }

  private newSegment(): Segment {
    const filled = this.currentIndex;
    const segment = { ...writableOctets(SEGMENT), used: 0, live: 0 };
    this.currentIndex = this.freeSegments.pop() ?? this.segments.length;
    this.segments[this.currentIndex] = segment;
    this.current = segment;
    if (filled >= 0 && this.segments[filled]?.live === 0) this.drop(filled);
    return segment;
  }

  private drop(index: number): void {
    const segment = this.segments[index] as Segment;
    this.used -= segment.used;
    this.segments[index] = undefined;
    this.freeSegments.push(index);
  }

  /** Moves what is left of the segment with the least left, which is at most half of it. */
  private compact(): void {
    let emptiest = -1;
    for (let index = 0; index < this.segments.length; index += 1) {
      const segment = this.segments[index];
      if (segment === undefined || index === this.currentIndex) continue;
      if (emptiest < 0 || segment.live < (this.segments[emptiest] as Segment).live) emptiest = index;
    }
    if (emptiest < 0) return;
    const { bytes, view, used } = this.segments[emptiest] as Segment;
    let at = 0;
    while (at < used) {
      const id = view.getUint32(at);
      const size = HEADER + view.getInt32(at + 4);
      // A string that was removed or replaced is no longer what its id points at.
      if (this.positions.get(id) === emptiest * SEGMENT + at + 1) {
        this.live -= size;
        copyOctets(bytes, at + HEADER, at + size, this.append(id, size - HEADER), this.offset);
      }
      at += size;
    }
    this.drop(emptiest);
  }
}

/**
 * The part of the Basic Encoding Rules that SNMP uses (RFC 3417 §8): definite lengths, primitive values.
 *
 * Both ends are bounded. A `BerReader` cannot leave its range: the first thing that does not fit sets `failure`,
 * after which every read gives zeros, so that a decoder reads straight on and asks once at its end.
 */

/** Tags of the universal and application types (RFC 2578, RFC 3416) and of the exceptions of RFC 3416 §3. */
export const Tag = {
  integer: 0x02,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  sequence: 0x30,
  ipAddress: 0x40,
  counter32: 0x41,
  gauge32: 0x42,
  timeTicks: 0x43,
  opaque: 0x44,
  counter64: 0x46,
  noSuchObject: 0x80,
  noSuchInstance: 0x81,
  endOfMibView: 0x82,
} as const;

/** The largest length field that any UDP message can need, and a bound for what we believe. */
const MAX_LENGTH = 0xffff;

export class BerReader {
  readonly bytes: Uint8Array;
  offset: number;
  end: number;
  /** Why reading stopped, undefined while all went well. */
  failure: string | undefined;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.offset = start;
    this.end = end;
  }

  fail(reason: string): void {
    this.failure ??= reason;
    this.offset = this.end;
  }

  get atEnd(): boolean {
    return this.offset >= this.end;
  }

  /** The next tag, not taken; 0 at the end. */
  peekTag(): number {
    return this.offset < this.end ? (this.bytes[this.offset] as number) : 0;
  }

  /** Takes tag and length; gives the length of the content, which then lies at `offset` and within the range. */
  readHeader(expectedTag: number): number {
    const tag = this.peekTag();
    if (tag !== expectedTag || this.atEnd) {
      this.fail(`tag ${hex(expectedTag)} expected, ${this.atEnd ? 'the end' : hex(tag)} found`);
      return 0;
    }
    this.offset += 1;
    return this.readLength();
  }

  /** Takes a length of X.690 §8.1.3, definite form; 0 and a failure when the content would not fit. */
  readLength(): number {
    const { bytes } = this;
    if (this.offset >= this.end) {
      this.fail('no length');
      return 0;
    }
    let length = bytes[this.offset++] as number;
    if (length >= 0x80) {
      const count = length & 0x7f;
      if (count === 0 || count > 4 || this.end - this.offset < count) {
        this.fail(count === 0 ? 'indefinite length' : 'length of a length');
        return 0;
      }
      length = 0;
      for (let at = 0; at < count; at += 1) length = length * 256 + (bytes[this.offset++] as number);
    }
    if (length > this.end - this.offset || length > MAX_LENGTH) {
      this.fail('length runs past the end');
      return 0;
    }
    return length;
  }

  /** A reader of the content of the next constructed value, which this one skips. */
  readConstructed(tag: number): BerReader {
    const length = this.readHeader(tag);
    const inner = new BerReader(this.bytes, this.offset, this.offset + length);
    inner.failure = this.failure;
    this.offset += length;
    return inner;
  }

  /** An INTEGER of at most 32 bits, two's complement. */
  readInteger(): number {
    const length = this.readHeader(Tag.integer);
    if (this.failure !== undefined) return 0;
    if (length < 1 || length > 4) {
      this.fail(`INTEGER of ${length} bytes`);
      return 0;
    }
    let value = (this.bytes[this.offset] as number) >= 0x80 ? -1 : 0;
    for (let at = 0; at < length; at += 1) value = (value << 8) | (this.bytes[this.offset++] as number);
    return value;
  }

  /** Content of a primitive value as a view on the same memory. */
  readBytes(tag: number): Uint8Array {
    const length = this.readHeader(tag);
    const start = this.offset;
    this.offset += length;
    return this.bytes.subarray(start, this.offset);
  }
}

/**
 * Writes from the end of a buffer towards its start, so that every length is known when it is written.
 * The buffer grows when needed; what is written is what `finish` gives.
 */
export class BerWriter {
  private bytes: Uint8Array;
  private at: number;

  constructor(capacity = 512) {
    this.bytes = new Uint8Array(capacity);
    this.at = capacity;
  }

  /** Bytes written so far; a mark for `wrap`. */
  get length(): number {
    return this.bytes.length - this.at;
  }

  finish(): Uint8Array {
    return this.bytes.slice(this.at);
  }

  /** Forgets what was written, so that one writer serves many messages. */
  reset(): void {
    this.at = this.bytes.length;
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[--this.at] = value;
  }

  raw(content: Uint8Array): void {
    this.reserve(content.length);
    this.at -= content.length;
    this.bytes.set(content, this.at);
  }

  header(tag: number, length: number): void {
    if (length < 0x80) {
      this.byte(length);
    } else {
      let rest = length;
      let count = 0;
      while (rest > 0) {
        this.byte(rest & 0xff);
        rest >>>= 8;
        count += 1;
      }
      this.byte(0x80 | count);
    }
    this.byte(tag);
  }

  /** Puts tag and length before all that was written since the mark `since`. */
  wrap(tag: number, since: number): void {
    this.header(tag, this.length - since);
  }

  primitive(tag: number, content: Uint8Array): void {
    this.raw(content);
    this.header(tag, content.length);
  }

  /** A signed 32-bit INTEGER in its shortest form. */
  integer(value: number, tag: number = Tag.integer): void {
    let rest = value | 0;
    let count = 0;
    do {
      this.byte(rest & 0xff);
      rest >>= 8;
      count += 1;
    } while (!((rest === 0 || rest === -1) && rest < 0 === this.topBit()));
    this.header(tag, count);
  }

  /** An unsigned integer of up to 64 bits in its shortest form, with the leading zero that keeps it positive. */
  unsigned(value: bigint, tag: number): void {
    let rest = value;
    let count = 0;
    do {
      this.byte(Number(rest & 0xffn));
      rest >>= 8n;
      count += 1;
    } while (rest > 0n || this.topBit());
    this.header(tag, count);
  }

  private topBit(): boolean {
    return (this.bytes[this.at] as number) >= 0x80;
  }

  private reserve(count: number): void {
    if (this.at >= count) return;
    const used = this.length;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, used + count));
    grown.set(this.bytes.subarray(this.at), grown.length - used);
    this.bytes = grown;
    this.at = grown.length - used;
  }
}

function hex(tag: number): string {
  return `0x${tag.toString(16).padStart(2, '0')}`;
}

/** A copy in memory of its own: `slice` of a Buffer, which datagrams are, would share the datagram's. */
export function copyBytes(bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes, start, end);
}

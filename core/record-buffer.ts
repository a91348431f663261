/** Octets of known content, as little-endian words: they are written four at a time, the last word reaching beyond them. */
export interface Fragment {
  readonly words: Int32Array;
  readonly length: number;
}

/** What a word may reach beyond what it is written for. */
const WORD_SLACK = 4;
/** A buffer that one large batch has grown past this is not kept for the next. */
const KEPT_BYTES = 1_048_576;
const FIRST_BYTES = 65_536;

/**
 * A growing buffer that is written from front to end and used again. Call `reserve` for what is to come; the other
 * methods do not look.
 */
export class RecordBuffer {
  /** Where the next octet goes. */
  at = 0;
  bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  view = viewOf(this.bytes);

  /** Begins again. What was written before is overwritten, unless it was large: that is left to whoever still has it. */
  rewind(): void {
    this.at = 0;
    if (this.bytes.length <= KEPT_BYTES) return;
    this.bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
    this.view = viewOf(this.bytes);
  }

  /** Makes room for so many octets more. */
  reserve(octets: number): void {
    const needed = this.at + octets + WORD_SLACK;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(needed * 2);
    this.bytes.copy(larger, 0, 0, this.at);
    this.bytes = larger;
    this.view = viewOf(larger);
  }

  fragment({ words, length }: Fragment): void {
    const { at, view } = this;
    for (let word = 0; word < words.length; word += 1) {
      view.setInt32(at + 4 * word, words[word] as number, true);
    }
    this.at = at + length;
  }

  copy(source: Uint8Array): void {
    this.bytes.set(source, this.at);
    this.at += source.length;
  }

  /** Writes again what stands at [start, end), which lies before `at`. */
  repeat(start: number, end: number): void {
    const { at, view } = this;
    const shift = at - start;
    for (let from = start; from < end; from += 4) {
      view.setInt32(from + shift, view.getInt32(from, true), true);
    }
    this.at = at + end - start;
  }
}

export function fragmentOf(octets: Uint8Array | string): Fragment {
  const bytes = Buffer.from(octets);
  const padded = Buffer.alloc(Math.ceil(bytes.length / 4) * 4);
  bytes.copy(padded);
  const words = Int32Array.from({ length: padded.length / 4 }, (_, word) => padded.readInt32LE(4 * word));
  return { words, length: bytes.length };
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

import { describe, expect, it } from 'vitest';
import { ByteTable } from '../../../protocols/gnmi/byte-table.ts';
import { Random, testSeed } from '../../support/random.ts';

function matches(kept: Uint8Array, other: Uint8Array, at = 0): boolean {
  const table = new ByteTable();
  const id = table.add(kept, 0, kept.length, 0);
  const placed = new Uint8Array(at + other.length);
  placed.set(other, at);
  return table.matchesAt(id, new DataView(placed.buffer), at);
}

describe('a byte string that is kept', () => {
  it('is told from one that a double would take for the same, and known where a double is none', () => {
    const zero = new Uint8Array(8);
    const negativeZero = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0x80);
    const notANumber = Uint8Array.of(1, 2, 3, 4, 5, 6, 0xf8, 0x7f);
    const another = Uint8Array.of(1, 2, 3, 4, 9, 6, 0xf8, 0x7f);
    const all = [zero, negativeZero, notANumber, another];
    for (const left of all) {
      for (const right of all) expect(matches(left, right), `${left} ${right}`).toBe(left === right);
    }
  });

  it('is found equal where it stands, and unequal when any of its bytes is another', () => {
    const random = new Random(testSeed('byte table'));
    for (let length = 0; length < 40; length += 1) {
      const kept = random.bytes(length);
      const at = random.below(20);
      expect(matches(kept, kept, at), `${length}`).toBe(true);
      for (let place = 0; place < length; place += 1) {
        const other = Uint8Array.from(kept);
        other[place] = (other[place] as number) ^ (1 << random.below(8));
        expect(matches(kept, other, at), `${length}, ${place}`).toBe(false);
      }
    }
  });
});

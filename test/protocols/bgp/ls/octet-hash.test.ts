import { describe, expect, it } from 'vitest';
import { hashKeys, hashOctets } from '../../../../protocols/bgp/ls/octet-hash.ts';
import { Random, testSeed } from '../../../support/random.ts';

const seed = testSeed('hash of octets');

describe('the hash of octets', () => {
  it('is of the octets alone, wherever they stand', () => {
    const random = new Random(seed);
    const keys = hashKeys(random.bits());
    for (const length of [0, 1, 3, 7, 8, 9, 93, 511, 512, 513, 4_000, 65_539]) {
      const octets = Uint8Array.from(random.bytes(length));
      const hash = hashOctets(octets, 0, length, keys);
      for (const offset of [1, 2, 5]) {
        const moved = new Uint8Array(offset + length + 3).fill(0xa5);
        moved.set(octets, offset);
        expect(hashOctets(moved, offset, offset + length, keys)).toBe(hash);
      }
    }
  });

  it('is another when any one bit is, or when zeros are added, within a block of keys and behind it', () => {
    const random = new Random(seed);
    const keys = hashKeys(random.bits());
    for (const length of [1, 6, 8, 93, 520, 1_100]) {
      const octets = Uint8Array.from(random.bytes(length));
      const hash = hashOctets(octets, 0, length, keys);
      for (let bit = 0; bit < 8 * length; bit += 1) {
        const other = Uint8Array.from(octets);
        other[bit >> 3] = (other[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(hashOctets(other, 0, length, keys)).not.toBe(hash);
      }
      const longer = new Uint8Array(length + 1);
      longer.set(octets);
      expect(hashOctets(longer, 0, length + 1, keys)).not.toBe(hash);
    }
  });

  it('spreads strings that cancel in a chain of multiplications, whatever its seed', () => {
    // In h = (h ^ word) * odd; h ^= h >>> 15 the highest bit of a word and bits 31 and 16 of the next undo each other.
    const pairs = 12;
    const random = new Random(seed);
    const start = Uint8Array.from(random.bytes(8 * pairs));
    const chained = new Set<number>();
    const hashes = new Set<number>();
    const keys = hashKeys(random.bits());
    for (let choice = 0; choice < 1 << pairs; choice += 1) {
      const octets = Uint8Array.from(start);
      const view = new DataView(octets.buffer);
      for (let pair = 0; pair < pairs; pair += 1) {
        if ((choice & (1 << pair)) === 0) continue;
        view.setInt32(8 * pair, view.getInt32(8 * pair, true) ^ 0x80000000, true);
        view.setInt32(8 * pair + 4, view.getInt32(8 * pair + 4, true) ^ 0x80010000, true);
      }
      chained.add(chain(view, 7));
      hashes.add(hashOctets(octets, 0, octets.length, keys));
    }
    expect(chained.size).toBe(1);
    expect(hashes.size).toBeGreaterThan((1 << pairs) - 10);
  });

  it('makes any two strings equal for few seeds: fewer than 8 of 2^16', () => {
    const random = new Random(seed);
    const seeds = 1 << 16;
    const one = Uint8Array.from(random.bytes(16));
    const others = [15, 8, 0].map((at) => {
      const other = Uint8Array.from(one);
      other[at] = (other[at] as number) ^ 0x80;
      return other;
    });
    const equal = others.map(() => 0);
    for (let each = 0; each < seeds; each += 1) {
      const keys = hashKeys(each);
      const hash = hashOctets(one, 0, 16, keys);
      others.forEach((other, index) => {
        if (hashOctets(other, 0, 16, keys) === hash) equal[index] = (equal[index] as number) + 1;
      });
    }
    for (const count of equal) expect(count).toBeLessThan(8);
  });
});

/** What anybody can compute collisions of: the chain that the hash is not. */
function chain(view: DataView, first: number): number {
  let hash = first;
  for (let at = 0; at < view.byteLength; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

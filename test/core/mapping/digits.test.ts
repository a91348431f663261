import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  nanosecondsToMilliseconds,
  readDigits,
  writeInt64,
  writeUint64,
} from '../../../core/mapping/digits.ts';
import { halves } from '../../support/mapping/stream.ts';
import { testSeed } from '../../support/random.ts';

const parameters = { seed: testSeed('digits'), numRuns: 20_000 };

function written(write: typeof writeUint64, value: bigint): string {
  const target = Buffer.alloc(32, '#');
  const { hi, lo } = halves(value);
  const view = new DataView(target.buffer, target.byteOffset, target.length);
  return target.toString('latin1', 3, write(view, 3, hi, lo));
}

describe('64-bit integers without BigInt', () => {
  const interesting = [
    0n,
    9n,
    10n,
    999_999_999n,
    10n ** 9n,
    2n ** 32n,
    2n ** 53n + 1n,
    10n ** 18n,
    10n ** 19n,
  ];

  it('writes every unsigned value digit for digit', () => {
    for (const value of [...interesting, 2n ** 64n - 1n])
      expect(written(writeUint64, value)).toBe(String(value));
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(63), (value, shift) => {
        const smaller = value >> BigInt(shift);
        expect(written(writeUint64, smaller)).toBe(String(smaller));
      }),
      parameters,
    );
  });

  it('writes every signed value digit for digit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.nat(62), (value, shift) => {
        const smaller = value >> BigInt(shift);
        expect(written(writeInt64, smaller)).toBe(String(smaller));
      }),
      parameters,
    );
  });

  it('reads digits up to 2^64−1 and refuses more', () => {
    const into = { hi: 0, lo: 0 };
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 65n }), (value) => {
        const text = Buffer.from(String(value));
        const isRead = readDigits(text, 0, text.length, into);
        expect(isRead).toBe(value < 2n ** 64n);
        if (isRead) expect(into).toEqual(halves(value));
      }),
      parameters,
    );
  });

  it('divides nanoseconds exactly', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.boolean(), (value, atEdge) => {
        const nanoseconds = atEdge ? (value / 1_000_000n) * 1_000_000n : value;
        const { hi, lo } = halves(nanoseconds);
        expect(nanosecondsToMilliseconds(hi, lo)).toBe(Number(nanoseconds / 1_000_000n));
      }),
      parameters,
    );
  });
});

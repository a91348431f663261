import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { gzipPiece, joinPieces } from '../../functions/gzip-pieces.ts';
import { Random, testSeed } from '../support/random.ts';

describe('gzip out of pieces', () => {
  it('unpacks to the pieces’ texts, one after another, whatever their sizes', async () => {
    const random = new Random(testSeed('gzip pieces'));
    for (const count of [0, 1, 2, 7, 60]) {
      const texts = Array.from({ length: count }, () => {
        const length = random.chance(0.2) ? 0 : random.below(random.chance(0.1) ? 300_000 : 2_000);
        return Buffer.from(random.bytes(Math.min(length, 4_000)))
          .toString('latin1')
          .padEnd(length, 'ab…');
      });
      const pieces = await Promise.all(texts.map((text) => gzipPiece(text)));
      // The checksum in the trailer is looked at here.
      expect(gunzipSync(joinPieces(pieces)).toString()).toBe(texts.join(''));
    }
  });
});

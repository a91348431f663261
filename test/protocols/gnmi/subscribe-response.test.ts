import { isDeepStrictEqual } from 'node:util';
import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { decodeSubscribeResponse, type SubscribeResponse } from '../../../protocols/gnmi/notification.ts';
import { SubscribeResponseSchema } from '../../../protocols/gnmi/schema.ts';
import { decodeFully } from './full-decoder.ts';
import { bend, Chance, randomResponse, seedOfRun } from './random-message.ts';

/** Node's comparison is fast, vitest's explains. */
function expectSame(bytes: Uint8Array, expected: SubscribeResponse): void {
  const decoded = decodeSubscribeResponse(bytes);
  if (isDeepStrictEqual(decoded, expected)) return;
  expect(decoded, Buffer.from(bytes).toString('hex')).toEqual(expected);
}

describe('the decoder of SubscribeResponse', () => {
  it('reads random messages as the full protobuf decoder does', () => {
    const seed = seedOfRun();
    console.log(`GRATICULE_SEED=${seed}`);
    const chance = new Chance(seed);
    for (let round = 0; round < 2_000; round += 1) {
      const bytes = toBinary(
        SubscribeResponseSchema,
        create(SubscribeResponseSchema, randomResponse(chance)),
      );
      expectSame(bytes, decodeFully(bytes));
    }
  });

  it('reads bent messages as the full protobuf decoder does, or finds them malformed too', () => {
    const seed = seedOfRun();
    console.log(`GRATICULE_SEED=${seed}`);
    const chance = new Chance(seed);
    let readable = 0;
    for (let round = 0; round < 6_000; round += 1) {
      const whole = toBinary(
        SubscribeResponseSchema,
        create(SubscribeResponseSchema, randomResponse(chance)),
      );
      const bytes = bend(chance, whole);
      const expected = decodeFully(bytes);
      if (expected.kind !== 'malformed') readable += 1;
      expectSame(bytes, expected);
    }
    expect(readable).toBeGreaterThan(500);
  });
});

import { deepStrictEqual } from 'node:assert/strict';
import { create, toBinary } from '@bufbuild/protobuf';
import { decodeSubscribeResponse } from '../../../protocols/gnmi/notification.ts';
import { SubscribeResponseSchema } from '../../../protocols/gnmi/schema.ts';
import type { TestCase } from '../../harness.ts';
import { decodeFully } from '../../protocols/gnmi/full-decoder.ts';
import { bend, Chance, randomResponse } from '../../protocols/gnmi/random-message.ts';

export const testCase: TestCase = {
  title: 'the gNMI decoder reads half a million random and bent messages as the full protobuf decoder does',
  inCi: true,
  async run({ check, log, scale, seed }) {
    const rounds = Math.round(250_000 * scale);
    for (const [name, bent] of [
      ['random', false],
      ['bent', true],
    ] as const) {
      await check(`${rounds} ${name} messages`, () => {
        const chance = new Chance(seed);
        let malformed = 0;
        for (let round = 0; round < rounds; round += 1) {
          const whole = toBinary(
            SubscribeResponseSchema,
            create(SubscribeResponseSchema, randomResponse(chance)),
          );
          const bytes = bent ? bend(chance, whole) : whole;
          const expected = decodeFully(bytes);
          if (expected.kind === 'malformed') malformed += 1;
          deepStrictEqual(decodeSubscribeResponse(bytes), expected, Buffer.from(bytes).toString('hex'));
        }
        log(`${name}: ${rounds - malformed} readable, ${malformed} malformed`);
      });
    }
  },
};

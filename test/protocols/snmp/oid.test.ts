import { describe, expect, it } from 'vitest';
import {
  compareArcBytes,
  compareOids,
  decodeArcs,
  decodeOid,
  encodeArcs,
  encodeOid,
  formatArcs,
  formatOid,
  parseOid,
  validArcBytes,
} from '../../../protocols/snmp/oid.ts';
import { Random, testSeed } from '../../support/random.ts';
import { randomOid } from '../../support/snmp-agent/random-pdu.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));

describe('an object identifier', () => {
  it('has the bytes of X.690 §8.19.5 and of the agents that we recorded', () => {
    expect(hex(encodeOid([2, 999, 3]))).toBe('883703');
    expect(hex(encodeOid([1, 3, 6, 1, 2, 1, 1, 3, 0]))).toBe('2b06010201010300');
    expect(hex(encodeOid([1, 3, 6, 1, 4, 1, 8072, 3, 2, 10]))).toBe('2b06010401bf0803020a');
    expect(decodeOid(bytes('883703'))).toEqual([2, 999, 3]);
    expect(encodeArcs([4294967295])).toEqual(bytes('8fffffff7f'));
  });

  it('is read with or without its leading dot, and refused when it is none', () => {
    expect(parseOid('.1.3.6')).toEqual([1, 3, 6]);
    expect(parseOid('1.3.6.1.4.4294967295')).toEqual([1, 3, 6, 1, 4, 4294967295]);
    expect(formatOid([1, 3, 6])).toBe('1.3.6');
    for (const text of [
      '',
      '.',
      '1',
      '1.',
      '1..3',
      '3.1',
      '1.40',
      '1.3.06',
      '1.3.4294967296',
      '1.3.x',
      '1.-3',
    ]) {
      expect(parseOid(text), text).toBeUndefined();
    }
  });

  it('is not made from bytes that end within an arc, pad one, or overflow it', () => {
    for (const text of ['', '80', '2b80', '2b8001', '2b9080808000', '2b818080808000']) {
      expect(decodeOid(bytes(text)), text).toBeUndefined();
    }
    expect(decodeOid(new Uint8Array(200).fill(1))).toBeUndefined();
  });

  it('keeps its arcs and its order through its bytes', () => {
    const random = new Random(testSeed('oid'));
    for (let round = 0; round < 5_000; round += 1) {
      const left = randomOid(random).slice(2);
      const right = random.chance(0.5) ? randomOid(random).slice(2) : [...left.slice(0, -1), random.bits()];
      const [leftBytes, rightBytes] = [encodeArcs(left), encodeArcs(right)];
      expect(decodeArcs(leftBytes)).toEqual(left);
      expect(validArcBytes(leftBytes, 0, leftBytes.length)).toBe(true);
      expect(formatArcs(leftBytes)).toBe(formatOid(left));
      const order = compareArcBytes(leftBytes, 0, leftBytes.length, rightBytes, 0, rightBytes.length);
      expect(Math.sign(order), `${left} and ${right}`).toBe(Math.sign(compareOids(left, right)));
    }
  });

  it('is checked as bytes exactly where it could be decoded', () => {
    const random = new Random(testSeed('arc bytes'));
    for (let round = 0; round < 20_000; round += 1) {
      const some = random
        .bytes(random.below(8))
        .map((byte) => (random.chance(0.5) ? byte | 0x80 : byte & 0x7f));
      expect(validArcBytes(some, 0, some.length), hex(some)).toBe(decodeArcs(some) !== undefined);
    }
  });
});

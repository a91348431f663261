import { describe, expect, it } from 'vitest';
import { ATTRIBUTE_ROWS, decodeAttribute, encodeAttribute } from '../../../../protocols/bgp/ls/attribute.ts';
import type { LinkStateAttributes } from '../../../../protocols/bgp/ls/attributes.ts';
import { decodeNlri, encodeNlri } from '../../../../protocols/bgp/ls/nlri.ts';
import { attributeValue, randomNlri } from '../../../support/link-state-values.ts';
import { Random, testSeed } from '../../../support/random.ts';

const seed = testSeed('link-state round trips');
const PROTOCOLS = [1, 2, 3, 4, 6, 7, 9];
const NLRI_TYPES = [1, 2, 3, 4, 5, 6, 7, 0, 1101, 65000];
const VALUES_PER_ROW = 40;

describe('every TLV row', () => {
  it.each(ATTRIBUTE_ROWS.map((row) => [row.code, row.name] as const))(
    '%i %s decodes what it encodes, and encodes what it decodes',
    (code, name) => {
      const random = new Random(seed ^ code);
      for (let count = 0; count < VALUES_PER_ROW; count += 1) {
        const context = { protocolId: random.pick(PROTOCOLS), nlriType: 1 + random.below(7) };
        const attributes: LinkStateAttributes = { [name]: attributeValue(name, random, context) };
        const bytes = encodeAttribute(attributes, context);
        expect((bytes[0]! << 8) | bytes[1]!).toBe(code);
        const decoded = decodeAttribute(bytes, context);
        expect(decoded.problems).toEqual([]);
        expect(decoded.unknownTlvs).toEqual([]);
        expect(decoded.attributes).toEqual(attributes);
        expect(encodeAttribute(decoded.attributes, context)).toEqual(bytes);
      }
    },
  );
});

describe('whole objects', () => {
  it('of every NLRI type decode as they were encoded, and encode to the same bytes', () => {
    const random = new Random(seed);
    for (let count = 0; count < 800; count += 1) {
      const safi = random.chance(0.5) ? 71 : 72;
      const nlri = randomNlri(random, random.pick(NLRI_TYPES), safi);
      const bytes = encodeNlri(nlri);
      const decoded = decodeNlri(bytes, safi);
      expect(decoded.problems).toEqual([]);
      expect(decoded).toMatchObject(nlri);
      expect(encodeNlri(decoded)).toEqual(bytes);
    }
  });

  it('with any members and TLVs of unknown types keep them all', () => {
    const random = new Random(seed);
    for (let count = 0; count < 400; count += 1) {
      const context = { protocolId: random.pick(PROTOCOLS), nlriType: 1 + random.below(7) };
      const attributes: Record<string, unknown> = {};
      for (let members = random.below(12); members > 0; members -= 1) {
        const { name } = random.pick(ATTRIBUTE_ROWS);
        attributes[name] = attributeValue(name, random, context);
      }
      const unknown = Array.from({ length: random.below(3) }, () => ({
        type: 60000 + random.below(5536),
        value: Buffer.from(random.bytes(random.below(20))).toString('hex'),
      })).sort((a, b) => a.type - b.type);
      const bytes = encodeAttribute(attributes, context, unknown);
      const decoded = decodeAttribute(bytes, context);
      expect(decoded.problems).toEqual([]);
      expect(decoded.attributes).toEqual(attributes);
      expect(decoded.unknownTlvs).toEqual(unknown);
      expect(encodeAttribute(decoded.attributes, context, decoded.unknownTlvs)).toEqual(bytes);
    }
  });

  it('with a bandwidth that is no finite number say null and keep its bits', () => {
    const context = { protocolId: 2, nlriType: 2 };
    for (const bits of ['7f800000', 'ff800000', '7fc00001']) {
      const bytes = Uint8Array.from(Buffer.from(`04410004${bits}`, 'hex'));
      const { attributes } = decodeAttribute(bytes, context);
      expect(attributes).toEqual({
        'maximum-link-bandwidth-bytes-per-second': null,
        'maximum-link-bandwidth-bytes-per-second-raw': bits,
      });
      expect(encodeAttribute(attributes, context)).toEqual(bytes);
    }
  });
});

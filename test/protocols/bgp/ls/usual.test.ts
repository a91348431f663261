import { describe, expect, it } from 'vitest';
import { decodeAttribute, encodeAttribute } from '../../../../protocols/bgp/ls/attribute.ts';
import { type DecodedNlri, decodeNlri, encodeNlri } from '../../../../protocols/bgp/ls/nlri.ts';
import { mutate } from '../../../support/link-state-mutations.ts';
import { attributeValue, randomNlri } from '../../../support/link-state-values.ts';
import { Random, testSeed } from '../../../support/random.ts';

const seed = testSeed('usual TLVs');

const LINK_TLVS = [
  ...['ipv4-router-ids', 'ipv6-router-ids', 'remote-ipv4-router-ids', 'remote-ipv6-router-ids'],
  ...['administrative-group', 'maximum-link-bandwidth-bytes-per-second'],
  ...['max-reservable-link-bandwidth-bytes-per-second', 'unreserved-bandwidth-bytes-per-second'],
  ...['te-default-metric', 'igp-metric', 'shared-risk-link-groups', 'adjacency-sids', 'srv6-end-x-sids'],
  ...['unidirectional-link-delay-microseconds', 'min-max-unidirectional-link-delay-microseconds'],
];
const PREFIX_TLVS = [
  'prefix-metric',
  'prefix-sids',
  'srv6-locator',
  'prefix-attribute-flags',
  'source-router-identifier',
];
const NODE_TLVS = [
  ...['multi-topology-ids', 'node-msds', 'node-name', 'isis-area-identifiers', 'ipv4-router-ids'],
  ...['ipv6-router-ids', 'node-flag-bits', 'sr-capabilities', 'sr-algorithms', 'sr-local-block'],
];
const SID_TLVS = ['endpoint-behavior', 'sid-structure'];
/** By the type of NLRI: TLVs that are usual for it, and some that are not, to stand before, among and behind them. */
const USUAL: readonly (readonly [nlriType: number, names: readonly string[], others: readonly string[]])[] = [
  [1, NODE_TLVS, ['opaque-node-attributes', 's-bfd-discriminators', 'route-tags']],
  [2, LINK_TLVS, ['link-msds', 'link-name', 'application-specific-link-attributes']],
  [3, PREFIX_TLVS, ['igp-flags', 'route-tags', 'opaque-prefix-attributes']],
  [4, PREFIX_TLVS, ['igp-flags', 'route-tags', 'opaque-prefix-attributes']],
  [6, SID_TLVS, ['igp-metric', 'route-tags']],
];
/** A type of NLRI whose attributes go through the rows alone; no row of the attribute asks for the type. */
const ROWS_ALONE = 0;

describe('TLVs that are read in place because nearly every object has them', () => {
  it.each(USUAL)(
    'are read as the rows read them, and so when octets are wrong: NLRI type %i',
    (nlriType, names, others) => {
      const random = new Random(seed ^ nlriType);
      for (let made = 0; made < 300; made += 1) {
        const protocolId = random.pick([1, 2, 3, 4, 6, 7]);
        const attributes: Record<string, unknown> = {};
        for (const name of [...names, ...others]) {
          if (!random.chance(others.includes(name) ? 0.15 : 0.6)) continue;
          const value = attributeValue(name, random, { protocolId, nlriType });
          const isOneOfMany = Array.isArray(value) && !name.startsWith('unreserved') && random.chance(0.8);
          attributes[name] = isOneOfMany ? value.slice(0, 1) : value;
        }
        const bytes = encodeAttribute(attributes, { protocolId, nlriType });
        for (const each of [bytes, ...Array.from({ length: 20 }, () => mutate(random, bytes))]) {
          const { steps: _, ...usual } = decodeAttribute(each, { protocolId, nlriType });
          const { steps: __, ...byRows } = decodeAttribute(each, { protocolId, nlriType: ROWS_ALONE });
          expect(usual, Buffer.from(each).toString('hex')).toStrictEqual(byRows);
          expect(Object.keys(usual.attributes)).toEqual(Object.keys(byRows.attributes));
        }
      }
    },
  );
});

/** The same NLRI as SAFI 72 has it, with a route distinguisher, which is never read in place. */
function asVpn(bytes: Uint8Array): Uint8Array {
  const length = bytes.length - 4 + 8;
  return Uint8Array.of(bytes[0]!, bytes[1]!, length >> 8, length, ...new Uint8Array(8), ...bytes.subarray(4));
}

/** What does not depend on the SAFI. */
function essence({ safi, routeDistinguisher, steps, problems, ...rest }: DecodedNlri, octetsBefore: number) {
  const moved = problems.map((problem) => ({
    ...problem,
    offset: Math.max(problem.offset - octetsBefore, 0),
  }));
  return { ...rest, problems: moved };
}

describe('NLRIs whose nodes were decoded lately', () => {
  it('are decoded in one walk to what the scan and the rows make of them, and so when octets are wrong', () => {
    const random = new Random(seed);
    let sound = 0;
    for (let made = 0; made < 600; made += 1) {
      const bytes = encodeNlri(randomNlri(random, random.pick([1, 2, 2, 3, 4, 6]), 71));
      decodeNlri(bytes, 71);
      for (const each of [bytes, ...Array.from({ length: 20 }, () => mutate(random, bytes))]) {
        if (each.length < 4) continue;
        each[2] = (each.length - 4) >> 8;
        each[3] = each.length - 4;
        const byWalk = decodeNlri(each, 71);
        const byRows = decodeNlri(asVpn(each), 72);
        expect(essence(byWalk, 0), Buffer.from(each).toString('hex')).toStrictEqual(essence(byRows, 8));
        if (byWalk.problems.length === 0) sound += 1;
      }
    }
    expect(sound).toBeGreaterThan(1000);
  });

  it('keep their names in a network of more nodes than are remembered, told twice', () => {
    const name = (node: number) =>
      `0000.${node
        .toString(16)
        .padStart(8, '0')
        .replace(/(.{4})/, '$1.')}`;
    for (let round = 0; round < 2; round += 1) {
      for (let node = 1; node <= 12_000; node += 1) {
        const bytes = Uint8Array.from(
          Buffer.from(`000100170200000000000000000100000a02030006${name(node).replaceAll('.', '')}`, 'hex'),
        );
        expect(decodeNlri(bytes, 71).localNode).toEqual({ 'igp-router-id': name(node) });
      }
    }
  });

  it('say again that the sub-TLVs of a node are not in order', () => {
    const bytes = encodeNlri({
      type: 'node',
      safi: 71,
      protocol: 'isis-level-2',
      identifier: 0n,
      localNode: { 'autonomous-system': 65000, 'bgp-ls-identifier': 1 },
    });
    const first = bytes.slice(17, 25);
    bytes.set(bytes.subarray(25, 33), 17);
    bytes.set(first, 25);
    for (const _ of [1, 2, 3]) {
      expect(decodeNlri(bytes, 71).problems.map(({ code }) => code)).toEqual(['out-of-order']);
    }
  });
});

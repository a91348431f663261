import { describe, expect, it } from 'vitest';
import { CompactAdjRibIn } from '../../../core/topology/compact-adj-rib-in.ts';
import { encodeNlri } from '../../../protocols/bgp/ls/nlri.ts';

const nlri = (number: number) =>
  encodeNlri({
    type: 'node',
    safi: 71,
    protocol: 'isis-level-2',
    identifier: 0n,
    localNode: { 'igp-router-id': `0000.0000.${String(number).padStart(4, '0')}` },
    descriptor: {},
  });

describe('an Adj-RIB-In that a snapshot is taken of', () => {
  it('may be purged and filled anew meanwhile: what is gone is left out', () => {
    const rib = new CompactAdjRibIn(7);
    rib.apply({ kind: 'session-established', at: 1, sweepBy: 2 });
    for (const number of [1, 2, 3]) {
      rib.apply({ kind: 'put', at: 1, safi: 71, nlri: nlri(number), attribute: null });
    }
    const contents = rib.contents();
    expect(contents.next().value?.nlri).toEqual(nlri(1));
    rib.apply({ kind: 'purge', at: 2, reason: 'disabled' });
    expect([...contents]).toEqual([]);
    rib.apply({ kind: 'put', at: 3, safi: 71, nlri: nlri(4), attribute: null });
    expect([...rib.contents()].map((copy) => copy.nlri)).toEqual([nlri(4)]);
  });
});

import { describe, expect, it } from 'vitest';
import type { LinkStateSafi } from '../../../../protocols/bgp/ls/code-point.ts';
import { encodeNlri } from '../../../../protocols/bgp/ls/nlri.ts';
import { type LinkStateChange, LinkStateTable } from '../../../../protocols/bgp/ls/table.ts';
import { announcement, withdrawal } from '../../../support/link-state-update.ts';
import { Random, testSeed } from '../../../support/random.ts';

const seed = testSeed('link-state table');

function node(router: number, safi: LinkStateSafi = 71): Uint8Array {
  return encodeNlri({
    type: 'node',
    safi,
    protocol: 'isis-level-2',
    identifier: 0n,
    localNode: { 'igp-router-id': `0000.0000.${router.toString(16).padStart(4, '0')}` },
  });
}

function joined(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function hex(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '-' : Buffer.from(bytes).toString('hex');
}

/** Collects what a table reports, as text: the report itself is good only during the call. */
function recorder() {
  const heard: string[] = [];
  return {
    heard,
    report: (change: LinkStateChange) =>
      heard.push(
        `${change.action} ${change.safi} ${change.type} ${hex(change.nlri)} ${hex(change.attribute)}`,
      ),
  };
}

const METRIC_10 = Uint8Array.of(4, 71, 0, 3, 0, 0, 10);
const METRIC_20 = Uint8Array.of(4, 71, 0, 3, 0, 0, 20);
const LONGER = Uint8Array.of(...METRIC_10, 4, 68, 0, 4, 0, 0, 0, 1);

describe('the link-state table', () => {
  it('reports an NLRI as added, unchanged, changed and removed, with its exact bytes', () => {
    const table = new LinkStateTable();
    const { heard, report } = recorder();
    const nlri = node(1);
    for (const linkStateAttribute of [METRIC_10, METRIC_10, METRIC_20, LONGER]) {
      table.applyUpdate(announcement(71, nlri, linkStateAttribute), 1, report);
    }
    table.applyUpdate(withdrawal(71, nlri), 5, report);
    table.applyUpdate(withdrawal(71, nlri), 6, report);
    expect(heard).toEqual([
      `added 71 node ${hex(nlri)} ${hex(METRIC_10)}`,
      `unchanged 71 node ${hex(nlri)} ${hex(METRIC_10)}`,
      `changed 71 node ${hex(nlri)} ${hex(METRIC_20)}`,
      `changed 71 node ${hex(nlri)} ${hex(LONGER)}`,
      `removed 71 node ${hex(nlri)} -`,
    ]);
    expect(table.size).toBe(0);
  });

  it('keeps when an NLRI was last told and when it last changed', () => {
    const table = new LinkStateTable();
    table.applyUpdate(announcement(71, node(1), METRIC_10), 1000);
    table.applyUpdate(announcement(71, node(1), METRIC_10), 1_763_700_000_000);
    expect([...table.entries()]).toEqual([
      {
        safi: 71,
        type: 'node',
        nlri: node(1),
        attribute: METRIC_10,
        receivedAt: 1_763_700_000_000,
        changedAt: 1000,
      },
    ]);
  });

  it('keeps the two families apart, and a route distinguisher apart from another', () => {
    const table = new LinkStateTable();
    table.applyUpdate(announcement(71, node(1)), 1);
    table.applyUpdate(announcement(72, node(1, 72)), 1);
    table.applyUpdate(withdrawal(71, node(1)), 1);
    expect([...table.entries()].map(({ safi, nlri }) => [safi, hex(nlri)])).toEqual([[72, hex(node(1, 72))]]);
  });

  it('keeps an object whose attribute is malformed, without the attribute: RFC 9552 §8.2.2', () => {
    const table = new LinkStateTable();
    const { heard, report } = recorder();
    const nlri = node(1);
    const truncated = METRIC_10.subarray(0, 6);
    const outcome = table.applyUpdate(announcement(71, nlri, truncated), 1, report);
    expect(heard).toEqual([`added 71 node ${hex(nlri)} -`]);
    expect(outcome.action).toBe('attribute-discard');
    expect(table.attributeDiscards).toBe(1);
  });

  it('discards a malformed NLRI and keeps its neighbours', () => {
    const table = new LinkStateTable();
    const bad = node(2);
    bad[14 + 2] = 0xff; // the length of its Local Node Descriptors
    const outcome = table.applyUpdate(announcement(71, joined(node(1), bad, node(3))), 1);
    expect(outcome.action).toBe('nlri-discard');
    expect(outcome.problems.map(({ code }) => code)).toEqual(['tlv-overruns']);
    expect(table.withheld).toEqual({ malformed: 1, 'max-nlri': 0 });
    expect(table.size).toBe(2);
  });

  it('asks for AFI/SAFI disable when a length hides where the next NLRI begins', () => {
    const table = new LinkStateTable();
    const cut = joined(node(1), node(2)).subarray(0, -1);
    expect(table.applyUpdate(announcement(71, cut), 1)).toEqual({
      action: 'afi-safi-disable',
      problems: [
        { code: 'nlri-overruns-field', action: 'afi-safi-disable', offset: node(1).length, safi: 71 },
      ],
    });
    expect(table.size).toBe(1);
  });

  it('withholds NLRIs beyond max-nlri, still changes those it has, and takes others after a withdrawal', () => {
    const table = new LinkStateTable({ maxNlri: 2 });
    table.applyUpdate(announcement(71, joined(node(1), node(2), node(3))), 1);
    expect(table.withheld['max-nlri']).toBe(1);
    table.applyUpdate(announcement(71, node(1), METRIC_10), 2);
    expect(table.get(71, node(1))?.attribute).toEqual(METRIC_10);
    const both = { ...withdrawal(71, joined(node(2), node(3))) };
    const middle = (both.unreach?.start ?? 0) + node(2).length;
    const reach = { safi: 71 as const, start: middle, end: middle + node(3).length };
    table.applyUpdate(
      { ...both, unreach: { safi: 71, start: middle - node(2).length, end: middle }, reach },
      3,
    );
    expect([...table.entries()].map(({ nlri }) => hex(nlri)).sort()).toEqual(
      [hex(node(1)), hex(node(3))].sort(),
    );
  });

  it('keeps and counts an NLRI whose TLVs are out of order: RFC 9552 §5.1 asks only a propagator to refuse it', () => {
    const table = new LinkStateTable();
    // Sub-TLV 515 before 512, within the Local Node Descriptors.
    const value = [2, 3, 0, 4, 10, 0, 0, 1, 2, 0, 0, 4, 0, 0, 253, 232];
    const body = [3, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, value.length, ...value];
    const nlri = Uint8Array.of(0, 1, 0, body.length, ...body);
    table.applyUpdate(announcement(71, nlri), 1);
    expect(table.outOfOrderCount).toBe(1);
    expect(table.get(71, nlri)?.nlri).toEqual(nlri);
  });

  it('counts by type, an unknown type too', () => {
    const table = new LinkStateTable();
    const unknown = encodeNlri({ type: 'unknown', nlriType: 65000, value: '00000009ff' });
    table.applyUpdate(announcement(71, joined(node(1), node(2), unknown)), 1);
    expect(table.nlris).toMatchObject({ node: 2, link: 0, unknown: 1 });
    expect(table.get(71, unknown)?.type).toBe('unknown');
  });

  it('shares one copy of an attribute among the NLRIs of an UPDATE, so that memory stays near what was sent', () => {
    const table = new LinkStateTable();
    const attribute = new Uint8Array(60_000);
    new DataView(attribute.buffer).setUint32(0, (65_000 << 16) | 59_996);
    const nlris = joined(...Array.from({ length: 150 }, (_, router) => node(router + 1)));
    table.applyUpdate(announcement(71, nlris, attribute), 1);
    expect(table.size).toBe(150);
    expect(table.retainedBytes).toBeLessThan(4_000_000);
    for (const { attribute: kept } of table.entries()) expect(kept?.length).toBe(60_000);
  });

  it('sweeps what a refresh did not tell again, in that family only', () => {
    const table = new LinkStateTable();
    const { heard, report } = recorder();
    table.applyUpdate(announcement(71, joined(node(1), node(2))), 1);
    table.applyUpdate(announcement(72, node(1, 72)), 1);
    table.beginRefresh(71);
    table.applyUpdate(announcement(71, node(2)), 2);
    table.sweep(71, report);
    expect(heard).toEqual([`removed 71 node ${hex(node(1))} -`]);
    expect(table.size).toBe(2);
  });

  it('is, after any sequence of updates, what a plain map would be, and gives memory back', () => {
    const random = new Random(seed);
    const table = new LinkStateTable({ hashSeed: random.bits() });
    const model = new Map<string, string>();
    const nodes = Array.from({ length: 3001 }, (_, router) => node(router, router % 5 === 0 ? 72 : 71));
    const nlriOf = (router: number) => nodes[router] as Uint8Array;
    for (let step = 0; step < 20_000; step += 1) {
      const routers = Array.from({ length: 1 + random.below(3) }, () => 1 + random.below(3000));
      const safi = routers.every((router) => router % 5 === 0) ? 72 : 71;
      const chosen = routers.filter((router) => (router % 5 === 0) === (safi === 72));
      const nlri = joined(...chosen.map(nlriOf));
      if (random.chance(0.3)) {
        table.applyUpdate(withdrawal(safi, nlri), step);
        for (const router of chosen) model.delete(hex(nlriOf(router)));
        continue;
      }
      const length = random.below(40);
      const attribute = random.chance(0.1)
        ? undefined
        : Uint8Array.of(0xff, 0xff, 0, length, ...random.bytes(length));
      table.applyUpdate(announcement(safi, nlri, attribute), step);
      for (const router of chosen) model.set(hex(nlriOf(router)), hex(attribute));
    }
    const kept = new Map([...table.entries()].map((entry) => [hex(entry.nlri), hex(entry.attribute)]));
    expect(kept).toEqual(model);
    expect(table.size).toBe(model.size);
    const full = table.retainedBytes;
    for (const entry of [...table.entries()]) {
      table.applyUpdate(withdrawal(entry.safi, entry.nlri), 0);
    }
    expect(table.size).toBe(0);
    expect([...table.entries()]).toEqual([]);
    expect(table.retainedBytes).toBeLessThanOrEqual(full);
  });
});

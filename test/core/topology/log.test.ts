import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AdjRibIn } from '../../../core/topology/adj-rib-in.ts';
import type { AppliedLog } from '../../../core/topology/applied-log.ts';
import { CompactAdjRibIn } from '../../../core/topology/compact-adj-rib-in.ts';
import { decodeBatch, decodeBatchToKeep, encodeBatch, type LogEntry } from '../../../core/topology/log.ts';
import { CorruptRecord } from '../../../core/topology/octets.ts';
import { decodeSnapshot, encodeSnapshot } from '../../../core/topology/snapshot.ts';
import { formatVersion, parseVersion } from '../../../core/topology/version.ts';
import { testSeed } from '../../support/random.ts';

const seed = testSeed('topology log');

/** Stands for no attribute: longer than any in these tests. */
const NONE = new Uint8Array(100);
const octets = fc.uint8Array({ minLength: 4, maxLength: 40 });
/** Few, so that what is said again is often the same. */
const attribute = fc.option(
  fc.constantFrom(
    Uint8Array.of(4, 2, 0, 1),
    Uint8Array.of(4, 2, 0, 2),
    new Uint8Array(40),
    new Uint8Array(0),
  ),
);
const safi = fc.constantFrom(71 as const, 72 as const);
const at = fc.integer({ min: 0, max: 1_000 });
const entry: fc.Arbitrary<LogEntry> = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), at, safi, nlri: octets, attribute }),
  fc.record({ kind: fc.constant('confirm' as const), at, safi, nlri: octets }),
  fc.record({ kind: fc.constant('remove' as const), at, safi, nlri: octets }),
  fc.record({ kind: fc.constant('session-established' as const), at, sweepBy: at }),
  fc.record({ kind: fc.constant('end-of-rib' as const), at }),
  fc.record({ kind: fc.constant('session-lost' as const), at, purgeAt: at }),
  fc.record({
    kind: fc.constant('purge' as const),
    at,
    reason: fc.constantFrom('deleted', 'disabled', 'max-nlri', 'expired', 'sweep-timeout'),
  }),
);
/** Nodes, links between them, and octets that no decoder takes: the same few come again and again. */
const NLRIS = [0, 1, 2, 3].flatMap((near) => {
  const descriptors = (tlv: number, node: number) => [1, tlv, 0, 8, 2, 3, 0, 4, 0, 0, 0, node];
  const nlri = (type: number, ...tlvs: number[]) =>
    Uint8Array.of(0, type, 0, 9 + tlvs.length, 2, 0, 0, 0, 0, 0, 0, 0, 7, ...tlvs);
  const far = (near + 1) % 4;
  return [
    nlri(1, ...descriptors(0, near)),
    nlri(2, ...descriptors(0, near), ...descriptors(1, far)),
    // Out of order, and a link of a node to itself.
    nlri(2, ...descriptors(1, near), ...descriptors(0, far)),
    nlri(2, ...descriptors(0, near), ...descriptors(1, near)),
    Uint8Array.of(0, 1, 0, near),
    Uint8Array.of(0x48, near),
  ];
});

/** A log as a worker writes it: time does not go back, and three of the NLRIs come again and again. */
const log = fc.tuple(fc.array(entry, { maxLength: 60, size: 'max' }), fc.nat()).map(([entries, first]) => {
  let now = 1_700_000_000_000;
  return entries.map((each): LogEntry => {
    now += each.at;
    if (!('nlri' in each)) return { ...each, at: now };
    const chosen = first + 7 * ((each.nlri[0] as number) % 3);
    return { ...each, at: now, nlri: NLRIS[chosen % NLRIS.length] as Uint8Array };
  });
});

const KINDS = [
  ['that readers keep', () => new AdjRibIn(1)],
  ['that workers keep', () => new CompactAdjRibIn(seed)],
] as const satisfies [string, () => AppliedLog][];

const stateOf = (rib: AppliedLog) => ({
  session: rib.session,
  established: rib.established,
  establishedAt: rib.establishedAt,
  endOfRibAt: rib.endOfRibAt,
  lostAt: rib.lostAt,
  purgeAt: rib.purgeAt,
  lastAt: rib.lastAt,
  losses: [...rib.losses],
  size: rib.size,
  copies: copiesOf(rib),
});

/** By their identity; stale ones are those that the state of the session makes so. */
function copiesOf(rib: AppliedLog) {
  const hex = (octets: Uint8Array | null) => octets && Buffer.from(octets).toString('hex');
  return [...rib.contents()]
    .map(({ safi, nlri, attribute, firstSeen, receivedAt, changedAt, session }) => ({
      key: `${safi} ${hex(nlri)}`,
      attribute: hex(attribute),
      firstSeen,
      receivedAt,
      changedAt,
      stale: !rib.established || session < rib.session,
      session,
    }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

describe('a topology log', () => {
  it('reads back as it was written', () => {
    fc.assert(
      fc.property(log, (entries) => {
        expect(decodeBatch(encodeBatch(entries))).toEqual(entries);
      }),
      { seed },
    );
  });

  it('reads back without memory of the batch, for those who keep what they read', () => {
    fc.assert(
      fc.property(log, (entries) => {
        const batch = encodeBatch(entries);
        const kept = decodeBatchToKeep(batch);
        batch.fill(0xff);
        expect(kept).toEqual(entries);
      }),
      { seed },
    );
    const large: LogEntry[] = [9_000, 20_000, 3, 0, 16_384].map((octets, each) => {
      const nlri = new Uint8Array(octets).fill(each);
      return { kind: 'put', at: each, safi: 71, nlri, attribute: nlri.subarray(octets >> 1) };
    });
    expect(decodeBatchToKeep(encodeBatch(large))).toEqual(large);
  });

  it('is refused when it is cut short or of another format, and never read as something else', () => {
    const batch = encodeBatch([
      { kind: 'put', at: 5, safi: 71, nlri: Uint8Array.of(0, 1, 0, 0), attribute: Uint8Array.of(1, 2, 3) },
    ]);
    for (let length = 1; length < batch.length; length += 1) {
      if (length === 1) expect(decodeBatch(batch.subarray(0, length))).toEqual([]);
      else expect(() => decodeBatch(batch.subarray(0, length))).toThrow(CorruptRecord);
    }
    expect(() => decodeBatch(Uint8Array.of(2))).toThrow('log format 2');
  });

  it('comes to the same in both forms in which it is kept', () => {
    fc.assert(
      fc.property(log, (entries) => {
        const rib = new AdjRibIn(1);
        const compact = new CompactAdjRibIn(seed);
        for (const each of entries) {
          if (each.kind === 'put') {
            const copy = rib.find(each.safi, each.nlri);
            const known =
              copy !== undefined && Buffer.compare(copy.attribute ?? NONE, each.attribute ?? NONE) === 0;
            const said = known ? (rib.isStale(copy) ? 'stale' : 'same') : 'other';
            for (const form of [rib, compact]) {
              expect(form.compare(each.safi, each.nlri, each.attribute)).toBe(said);
              expect(form.has(each.safi, each.nlri)).toBe(copy !== undefined);
            }
          }
          rib.apply(each);
          compact.apply(each);
          expect(stateOf(compact)).toEqual(stateOf(rib));
        }
      }),
      { seed },
    );
  });

  it('goes on in one form where it was copied from the other', () => {
    fc.assert(
      fc.property(log, fc.nat(60), (entries, cut) => {
        const whole = new AdjRibIn(1);
        for (const each of entries) whole.apply(each);
        const first = new AdjRibIn(1);
        for (const each of entries.slice(0, cut)) first.apply(each);
        const second = first.copyTo(new CompactAdjRibIn(seed));
        expect(stateOf(second)).toEqual(stateOf(first));
        for (const each of entries.slice(cut)) second.apply(each);
        expect(stateOf(second)).toEqual(stateOf(whole));
      }),
      { seed },
    );
  });

  it('keeps attributes of any length in the form that workers keep', () => {
    const compact = new CompactAdjRibIn(seed);
    const nlri = NLRIS[0] as Uint8Array;
    for (const length of [0, 5_000, 70_000, 3, 70_001, 0]) {
      const attribute = new Uint8Array(length).fill(length);
      compact.apply({ kind: 'put', at: 1, safi: 71, nlri, attribute });
      expect([...compact.contents()]).toMatchObject([{ nlri, attribute }]);
    }
  });

  it.each(KINDS)(
    'gives the same state by a snapshot at any point and the rest as by all of it, %s',
    (_, empty) => {
      fc.assert(
        fc.property(log, fc.nat(60), (entries, cut) => {
          const whole = empty();
          for (const each of entries) whole.apply(each);
          const first = empty();
          for (const each of entries.slice(0, cut)) first.apply(each);
          const second = decodeSnapshot(encodeSnapshot(first, 64), empty());
          for (const each of entries.slice(cut)) second.apply(each);
          expect(stateOf(second)).toEqual(stateOf(whole));
        }),
        { seed },
      );
    },
  );

  it.each(KINDS)('gives the same objects when a snapshot was taken while entries went on, %s', (_, empty) => {
    fc.assert(
      fc.property(log, fc.nat(60), (entries, cut) => {
        const rib = empty();
        let applied = 0;
        const apply = (until: number) => {
          while (applied < Math.min(until, entries.length)) rib.apply(entries[applied++] as LogEntry);
        };
        apply(cut);
        const parts: Uint8Array[] = [];
        for (const part of encodeSnapshot(rib, 8)) {
          parts.push(part);
          apply(applied + 2);
        }
        apply(entries.length);
        const restored = decodeSnapshot(parts, empty());
        for (const each of entries.slice(cut)) restored.apply(each);
        const objects = (of: AppliedLog) =>
          copiesOf(of).map(({ key, attribute, stale, changedAt }) => ({ key, attribute, stale, changedAt }));
        expect(objects(restored)).toEqual(objects(rib));
      }),
      { seed },
    );
  });

  it('is an opaque cursor that reads back', () => {
    const version = {
      timedAt: 1_700_000_000_000,
      peers: [
        { peerId: 1, sequence: 12, beliefs: 100 },
        { peerId: 900, sequence: 0, beliefs: 65_636 },
      ],
    };
    expect(formatVersion(version)).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(parseVersion(formatVersion(version))).toEqual(version);
    for (const text of ['', 'x', '####', 'AAAA', 'A'.repeat(9000)])
      expect(parseVersion(text)).toBeUndefined();
  });
});

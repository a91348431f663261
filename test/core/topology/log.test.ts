import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AdjRibIn } from '../../../core/topology/adj-rib-in.ts';
import { decodeBatch, decodeBatchToKeep, encodeBatch, type LogEntry } from '../../../core/topology/log.ts';
import { CorruptRecord } from '../../../core/topology/octets.ts';
import { decodeSnapshot, encodeSnapshot } from '../../../core/topology/snapshot.ts';
import { formatVersion, parseVersion } from '../../../core/topology/version.ts';
import { testSeed } from '../../support/random.ts';

const seed = testSeed('topology log');

const octets = fc.uint8Array({ minLength: 4, maxLength: 40 });
const safi = fc.constantFrom(71 as const, 72 as const);
const at = fc.integer({ min: 0, max: 1_000 });
const entry: fc.Arbitrary<LogEntry> = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), at, safi, nlri: octets, attribute: fc.option(octets) }),
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
/** A log as a worker writes it: time does not go back, and few objects come again and again. */
const log = fc.array(entry, { maxLength: 60 }).map((entries) => {
  let now = 1_700_000_000_000;
  return entries.map((each): LogEntry => {
    now += each.at;
    if (!('nlri' in each)) return { ...each, at: now };
    return { ...each, at: now, nlri: Uint8Array.of(0, 1, 0, (each.nlri[0] as number) % 4) };
  });
});

const stateOf = (rib: AdjRibIn) => ({
  session: rib.session,
  established: rib.established,
  establishedAt: rib.establishedAt,
  endOfRibAt: rib.endOfRibAt,
  lostAt: rib.lostAt,
  purgeAt: rib.purgeAt,
  copies: [...rib.copies.values()]
    .map((copy) => ({ ...copy, rib: undefined, stale: rib.isStale(copy), staleSince: rib.staleSince(copy) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1)),
});

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

  it('gives the same state by a snapshot at any point and the rest as by all of it', () => {
    fc.assert(
      fc.property(log, fc.nat(60), (entries, cut) => {
        const whole = new AdjRibIn(1);
        for (const each of entries) whole.apply(each);
        const first = new AdjRibIn(1);
        for (const each of entries.slice(0, cut)) first.apply(each);
        const second = decodeSnapshot(1, encodeSnapshot(first, 64));
        for (const each of entries.slice(cut)) second.apply(each);
        expect(stateOf(second)).toEqual(stateOf(whole));
      }),
      { seed },
    );
  });

  it('gives the same objects when a snapshot was taken while entries went on', () => {
    fc.assert(
      fc.property(log, fc.nat(60), (entries, cut) => {
        const rib = new AdjRibIn(1);
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
        const restored = decodeSnapshot(1, parts);
        for (const each of entries.slice(cut)) restored.apply(each);
        const objects = (of: AdjRibIn) =>
          stateOf(of).copies.map(({ key, attribute, stale, changedAt }) => ({
            key,
            attribute,
            stale,
            changedAt,
          }));
        expect(objects(restored)).toEqual(objects(rib));
      }),
      { seed },
    );
  });
});

describe('a topology version', () => {
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

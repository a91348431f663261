import { describe, expect, it } from 'vitest';
import { Random, testSeed } from '../../support/random.ts';
import { compareCommunity, compareV3, SHARED_USERS } from '../../support/snmp-agent/net-snmp-oracle.ts';

// The same at 10⁵ PDUs is a soak case: `npm run soak -- snmp-codec`.
describe('beside npm net-snmp', () => {
  it('reads what it writes and writes what it reads, values of every kind', () => {
    const { pdus, differences } = compareCommunity(new Random(testSeed('net-snmp, v2c')), 1_000);
    expect(differences.slice(0, 3)).toEqual([]);
    expect(pdus).toBe(2_000);
  });

  it('agrees on the digests and ciphers of every user that both sides know', () => {
    const random = new Random(testSeed('net-snmp, v3'));
    const found = SHARED_USERS.map((user) => compareV3(random, user, 15));
    expect(found.flatMap(({ differences }) => differences).slice(0, 3)).toEqual([]);
    // The first request of each is discovery and its Report.
    for (const { pdus } of found) expect(pdus).toBe(32);
  });
});

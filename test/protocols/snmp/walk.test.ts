import { describe, expect, it } from 'vitest';
import type { Oid } from '../../../protocols/snmp/oid.ts';
import { Random, testSeed } from '../../support/random.ts';
import { type AgentFaults, SimulatedAgent } from '../../support/snmp-agent/agent.ts';
import { ObjectStore } from '../../support/snmp-agent/object-store.ts';
import { Clock, communitySession, runWalk, type WalkedRow } from '../../support/snmp-agent/run-walk.ts';
import { IF_X_COLUMNS, interfaceObjects } from '../../support/snmp-agent/tables.ts';

const TABLE = [{ kind: 'table', columns: IF_X_COLUMNS }] as const;
const ENTRY: Oid = [1, 3, 6, 1, 4, 1, 99, 1, 1];

function agentWith(objects: ObjectStore, faults: AgentFaults = {}): SimulatedAgent {
  const agent = new SimulatedAgent({ objects, startedAt: 0 });
  agent.faults = faults;
  return agent;
}

function walkInterfaces(interfaces: number, faults: AgentFaults = {}, version: 'v1' | 'v2c' = 'v2c') {
  const agent = agentWith(interfaceObjects('leaf1', interfaces), faults);
  const result = runWalk({ agent, session: communitySession(version), groups: TABLE });
  return { ...result, agent };
}

const expectedRow = (row: number): WalkedRow => ({
  group: 0,
  index: `${row}`,
  values: [
    `octet-string eth${row}`,
    ...[6, 7, 8, 9, 10, 11, 12, 13].map(
      (column) => `counter64 ${(BigInt(row) << 40n) + BigInt(column) * 9_007_199_254_740_993n}`,
    ),
  ],
});

describe('a walk of a table', () => {
  it('gives every row whole, in order, with all 64 bits, and no answer longer than the path takes', () => {
    const { rows, outcome, largestAnswer } = walkInterfaces(500);
    expect(outcome.fault).toBeUndefined();
    expect(rows).toEqual(Array.from({ length: 500 }, (_, at) => expectedRow(at + 1)));
    expect(outcome.values).toBe(4_500);
    expect(outcome.anomalies).toEqual({});
    expect(largestAnswer).toBeLessThanOrEqual(1_400);
    expect(outcome.requests).toBeLessThanOrEqual(130);
  });

  it('of no rows is complete and says that no column gave anything', () => {
    const { rows, outcome } = walkInterfaces(0);
    expect(rows).toEqual([]);
    expect(outcome.fault).toBeUndefined();
    expect(outcome.valueCounts).toEqual([IF_X_COLUMNS.map(() => 0)]);
    expect(outcome.requests).toBe(1);
  });

  it('reads several groups, scalars among them, and names the instances that are not there', () => {
    const agent = agentWith(interfaceObjects('leaf1', 3));
    const { rows, outcome } = runWalk({
      agent,
      session: communitySession('v2c'),
      groups: [
        {
          kind: 'scalars',
          instances: [
            [1, 3, 6, 1, 2, 1, 1, 5, 0],
            [1, 3, 6, 1, 2, 1, 1, 99, 0],
          ],
        },
        { kind: 'table', columns: IF_X_COLUMNS.slice(0, 2) },
      ],
    });
    expect(rows[0]).toEqual({ group: 0, index: '', values: ['octet-string leaf1', ''] });
    expect(rows.slice(1).map(({ index }) => index)).toEqual(['1', '2', '3']);
    expect(outcome.valueCounts).toEqual([
      [1, 0],
      [3, 3],
    ]);
  });

  it('keeps to the path’s size when some of the columns are not there', () => {
    const absent = [21, 22, 23, 24, 25, 26].map((column): Oid => [1, 3, 6, 1, 2, 1, 31, 1, 1, 1, column]);
    const agent = agentWith(interfaceObjects('leaf1', 300));
    const columns = [...absent, ...IF_X_COLUMNS.slice(0, 4)];
    const { rows, outcome, largestAnswer } = runWalk({
      agent,
      session: communitySession('v2c'),
      groups: [{ kind: 'table', columns }],
    });
    expect(outcome.fault).toBeUndefined();
    expect(rows).toHaveLength(300);
    expect(rows[299]?.values).toEqual([...absent.map(() => ''), ...expectedRow(300).values.slice(0, 4)]);
    expect(largestAnswer).toBeLessThanOrEqual(1_400);
    expect(largestAnswer).toBeGreaterThan(1_000);
  });

  it('goes by GetNext in v1, whose end of a table is another object and whose end of the MIB an error', () => {
    const objects = new ObjectStore();
    objects.setColumn(
      [...ENTRY, 1],
      [1, 2, 3].map((value) => ({ kind: 'integer', value })),
    );
    objects.setColumn(
      [...ENTRY, 2],
      [7, 8, 9].map((value) => ({ kind: 'gauge32', value })),
    );
    const agent = agentWith(objects);
    const { rows, outcome } = runWalk({
      agent,
      session: communitySession('v1'),
      groups: [
        {
          kind: 'table',
          columns: [
            [...ENTRY, 1],
            [...ENTRY, 2],
          ],
        },
      ],
    });
    expect(outcome.fault).toBeUndefined();
    expect(rows.map(({ values }) => values)).toEqual([
      ['integer 1', 'gauge32 7'],
      ['integer 2', 'gauge32 8'],
      ['integer 3', 'gauge32 9'],
    ]);
    expect(Object.keys(agent.requests)).toEqual(['get-next-request']);
  });

  it('joins columns that have holes, by index, whatever fits into an answer', () => {
    const random = new Random(testSeed('sparse tables'));
    for (let round = 0; round < 150; round += 1) {
      const objects = new ObjectStore();
      const columns = 1 + random.below(5);
      const size = random.below(60);
      const expected = new Map<number, string[]>();
      for (let column = 0; column < columns; column += 1) {
        const density = random.pick([0, 0.2, 0.9, 1]);
        for (let row = 1; row <= size; row += 1) {
          if (!random.chance(density)) continue;
          objects.set([...ENTRY, column + 1, row * 50], { kind: 'integer', value: row - 30 });
          if (!expected.has(row * 50))
            expected.set(
              row * 50,
              Array.from({ length: columns }, () => ''),
            );
          (expected.get(row * 50) as string[])[column] = `integer ${row - 30}`;
        }
      }
      objects.set([...ENTRY, 9, 0], { kind: 'integer', value: 0 });
      const faults: AgentFaults = random.chance(0.5) ? { maxMessageBytes: 120 + random.below(300) } : {};
      const { rows, outcome } = runWalk({
        agent: agentWith(objects, faults),
        session: communitySession(random.pick(['v1', 'v2c'])),
        groups: [{ kind: 'table', columns: Array.from({ length: columns }, (_, at) => [...ENTRY, at + 1]) }],
      });
      expect(outcome.fault).toBeUndefined();
      expect(rows.map(({ index, values }) => [Number(index), values])).toEqual(
        [...expected].sort(([left], [right]) => left - right),
      );
    }
  });

  it('reads a value that fits into an answer of its agent only without sysUpTime beside it', () => {
    const objects = new ObjectStore();
    const column = [...ENTRY, 1];
    const long = 'x'.repeat(400);
    objects.setColumn(column, [{ kind: 'octet-string', value: Buffer.from(long) }]);
    const walk = (maxMessageBytes: number) =>
      runWalk({
        agent: agentWith(objects, { maxMessageBytes }),
        session: communitySession('v2c'),
        groups: [{ kind: 'table', columns: [column] }],
      });
    const limits = Array.from({ length: 60 }, (_, more) => 430 + more);
    const least = limits.find((limit) => walk(limit).outcome.fault === undefined) as number;
    expect(walk(least - 1).outcome.fault?.code).toBe('too-large');
    const { rows, largestAnswer } = walk(least);
    expect(rows.map(({ values }) => values)).toEqual([[`octet-string ${long}`]]);
    // Its message: 400 octets, their headers and name, the PDU's and the community's; sysUpTime would be 16 more.
    expect(largestAnswer).toBeLessThan(460);
  });

  it('reads a table of more columns than one answer holds', () => {
    const objects = new ObjectStore();
    const columns = Array.from({ length: 90 }, (_, at) => [...ENTRY, at + 1]);
    for (const column of columns)
      objects.setColumn(
        column,
        [1, 2, 3, 4].map((value) => ({ kind: 'integer', value })),
      );
    const { rows, outcome, largestAnswer } = runWalk({
      agent: agentWith(objects),
      session: communitySession('v2c'),
      groups: [{ kind: 'table', columns }],
    });
    expect(outcome.fault).toBeUndefined();
    expect(rows).toHaveLength(4);
    expect(rows.every(({ values }) => values.every((value) => value !== ''))).toBe(true);
    expect(largestAnswer).toBeLessThanOrEqual(1_472);
  });
});

describe('an agent that misbehaves costs only itself:', () => {
  it('tooBig at any size is met by asking for less', () => {
    for (const tooBigAbove of [1, 2, 3, 8, 9, 10, 17, 40]) {
      const { rows, outcome } = walkInterfaces(12, { tooBigAbove: tooBigAbove + 1 });
      expect(outcome.fault, `above ${tooBigAbove}`).toBeUndefined();
      expect(rows).toEqual(Array.from({ length: 12 }, (_, at) => expectedRow(at + 1)));
    }
  });

  it('tooBig for a single value is too-large, and names the column', () => {
    const { outcome } = walkInterfaces(12, { tooBigAbove: 0 });
    expect(outcome.fault?.code).toBe('too-large');
    expect(outcome.fault?.detail).toContain('1.3.6.1.2.1.31.1.1.1.1');
    expect(outcome.requests).toBeLessThan(20);
  });

  it('an OID that does not increase ends the walk at once', () => {
    const { outcome } = walkInterfaces(40, { loopsAt: IF_X_COLUMNS[0] as Oid });
    expect(outcome.fault?.code).toBe('snmp-oid-not-increasing');
    expect(outcome.requests).toBeLessThan(5);
  });

  it('a table without end is cut by the limit of rows', () => {
    const agent = agentWith(new ObjectStore(), { endlessAt: ENTRY });
    const { outcome } = runWalk({
      agent,
      session: communitySession('v2c'),
      groups: [{ kind: 'table', columns: [ENTRY] }],
      limits: { maxRows: 1_000 },
    });
    expect(outcome.fault?.code).toBe('too-large');
    expect(outcome.rows).toBeLessThan(1_100);
  });

  it('a table without end is cut by the deadline', () => {
    const agent = agentWith(new ObjectStore(), { endlessAt: ENTRY });
    const { outcome, tookMilliseconds } = runWalk({
      agent,
      session: communitySession('v2c'),
      groups: [{ kind: 'table', columns: [ENTRY] }],
      budgetMilliseconds: 500,
      beforeRequest: (request) => {
        if (request === 100) agent.faults = { frozen: true };
      },
    });
    expect(outcome.fault?.code).toBe('timeout');
    expect(tookMilliseconds).toBeLessThanOrEqual(502);
  });

  it('silence is snmp-no-response after the retries, silence in the middle a timeout', () => {
    const silent = walkInterfaces(5, { frozen: true });
    expect(silent.outcome.fault?.code).toBe('snmp-no-response');
    expect(silent.outcome.requests).toBe(3);
    expect(silent.outcome.anomalies).toEqual({ retransmission: 2 });
    const agent = agentWith(interfaceObjects('leaf1', 100));
    const { outcome } = runWalk({
      agent,
      session: communitySession('v2c'),
      groups: TABLE,
      beforeRequest: (request) => {
        if (request === 5) agent.faults = { frozen: true };
      },
    });
    expect(outcome.fault?.code).toBe('timeout');
  });

  it('an answer lost once is asked for again', () => {
    const agent = agentWith(interfaceObjects('leaf1', 20));
    const { outcome, rows } = runWalk({
      agent,
      session: communitySession('v2c'),
      groups: TABLE,
      beforeRequest: (request) => {
        agent.faults = request === 2 ? { frozen: true } : {};
      },
    });
    expect(outcome.fault).toBeUndefined();
    expect(rows).toHaveLength(20);
    expect(outcome.anomalies).toEqual({ retransmission: 1 });
  });

  it('duplicate answers are counted and change nothing', () => {
    const { outcome, rows } = walkInterfaces(20, { copies: 3 });
    expect(rows).toEqual(Array.from({ length: 20 }, (_, at) => expectedRow(at + 1)));
    expect(outcome.anomalies['late-or-duplicate']).toBeGreaterThan(0);
  });

  it('bytes that are no SNMP are protocol-error', () => {
    const { outcome } = walkInterfaces(5, { garbage: true });
    expect(outcome.fault?.code).toBe('protocol-error');
    expect(outcome.anomalies.malformed).toBe(3);
  });

  it('authorizationError is permission', () => {
    expect(walkInterfaces(5, { forbidden: true }).outcome.fault?.code).toBe('permission');
  });

  it('an agent without GetBulk is walked by GetNext', () => {
    const { outcome, rows } = walkInterfaces(5, { noBulk: true });
    expect(outcome.fault).toBeUndefined();
    expect(rows).toHaveLength(5);
    expect(outcome.anomalies['bulk-refused']).toBe(1);
  });

  it('a column that answers genErr from the start is left out, in the middle it ends the walk', () => {
    const first = walkInterfaces(5, { genErrAt: IF_X_COLUMNS[2] as Oid });
    expect(first.outcome.fault).toBeUndefined();
    expect(first.rows.map(({ values }) => values[2])).toEqual(['', '', '', '', '']);
    expect(first.rows[4]?.values[3]).toBe(expectedRow(5).values[3]);
    const middle = walkInterfaces(50, { genErrAt: [...(IF_X_COLUMNS[2] as Oid), 5] });
    expect(middle.outcome.fault?.code).toBe('protocol-error');
  });

  it('integers of nine bytes are unreadable values, each counted, in rows that are whole otherwise', () => {
    const agent = agentWith(interfaceObjects('leaf1', 4), { longIntegers: true });
    const IF_ENTRY: Oid = [1, 3, 6, 1, 2, 1, 2, 2, 1];
    const { rows, outcome } = runWalk({
      agent,
      session: communitySession('v2c'),
      groups: [
        {
          kind: 'table',
          columns: [
            [...IF_ENTRY, 1],
            [...IF_ENTRY, 2],
          ],
        },
      ],
    });
    expect(rows[0]?.values[0]).toMatch(/^unreadable/);
    expect(rows[0]?.values[1]).toBe('octet-string ethernet-1/1');
    expect(outcome.anomalies['unreadable-value']).toBeGreaterThanOrEqual(4);
  });

  it('Counter64 in v1 is taken and counted', () => {
    const { rows, outcome } = walkInterfaces(3, { counter64InV1: true }, 'v1');
    expect(rows).toEqual([1, 2, 3].map(expectedRow));
    expect(outcome.anomalies['counter64-in-v1']).toBeGreaterThanOrEqual(24);
  });

  it('Counter64 columns that a v1 agent hides are left out, the others read', () => {
    const { rows, outcome } = walkInterfaces(3, {}, 'v1');
    expect(outcome.fault).toBeUndefined();
    expect(rows.map(({ values }) => values[0])).toEqual([
      'octet-string eth1',
      'octet-string eth2',
      'octet-string eth3',
    ]);
  });

  it('a restart within the walk discards the cycle', () => {
    const clock = new Clock();
    const agent = agentWith(interfaceObjects('leaf1', 200));
    const { outcome } = runWalk({
      agent,
      session: communitySession('v2c'),
      groups: TABLE,
      clock,
      beforeRequest: (request) => {
        if (request === 3) agent.restart(clock.now);
      },
    });
    expect(outcome.fault?.code).toBe('snmp-agent-restarted');
  });
});

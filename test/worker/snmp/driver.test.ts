import { Socket } from 'node:dgram';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { formatArcs } from '../../../protocols/snmp/oid.ts';
import type { SnmpSession } from '../../../protocols/snmp/session.ts';
import { compileWalkPlan, DEFAULT_WALK_LIMITS } from '../../../protocols/snmp/walk-plan.ts';
import { SnmpDriver, type SnmpTarget, walkOnce } from '../../../worker/snmp/driver.ts';
import { testSnmp } from '../../../worker/snmp/live-test.ts';
import type { AgentUser } from '../../support/snmp-agent/agent.ts';
import { communitySession, v3Session } from '../../support/snmp-agent/run-walk.ts';
import { IF_X_COLUMNS, interfaceObjects } from '../../support/snmp-agent/tables.ts';
import { UdpAgent, type UdpAgentOptions } from '../../support/snmp-agent/udp-agent.ts';

const PLAN = compileWalkPlan([{ kind: 'table', columns: IF_X_COLUMNS }]);
const LIMITS = { ...DEFAULT_WALK_LIMITS, timeoutMilliseconds: 2_000, retries: 1 };
/** For agents that will not answer: waiting shows nothing. */
const IMPATIENT = { ...LIMITS, timeoutMilliseconds: 120 };
const MON: AgentUser = {
  name: 'mon',
  auth: { protocol: 'sha-256', password: 'authpass1' },
  priv: { protocol: 'aes-128', password: 'privpass1' },
};

const open: { stop?(): void; close?(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) {
    one.stop?.();
    one.close?.();
  }
});

async function startAgent(
  options: Partial<UdpAgentOptions> & { interfaces?: number } = {},
): Promise<UdpAgent> {
  const agent = await new UdpAgent({
    objects: interfaceObjects('leaf1', options.interfaces ?? 40),
    users: [MON],
    ...options,
  }).start();
  open.push(agent);
  return agent;
}

function newDriver(): SnmpDriver {
  const driver = new SnmpDriver();
  open.push(driver);
  return driver;
}

function targetOf(
  agent: UdpAgent,
  session: SnmpSession = communitySession('v2c'),
  unconnected = false,
): SnmpTarget {
  return { address: agent.address, port: agent.port, unconnected, session };
}

async function poll(driver: SnmpDriver, target: SnmpTarget, limits = LIMITS) {
  const indexes: string[] = [];
  const outcome = await walkOnce(driver, {
    target,
    plan: PLAN,
    limits,
    budgetMilliseconds: 10_000,
    row: (_group, row) => indexes.push(formatArcs(row.indexBytes, row.indexStart, row.indexEnd)),
  });
  return { outcome, indexes };
}

describe('the driver', () => {
  it('walks many devices at once through one socket, each row to its own walk', async () => {
    const agents = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        startAgent({ address: `127.0.2.${at + 1}`, interfaces: 10 + at }),
      ),
    );
    const driver = newDriver();
    const results = await Promise.all(agents.map((agent) => poll(driver, targetOf(agent))));
    results.forEach(({ outcome, indexes }, at) => {
      expect(outcome.fault).toBeUndefined();
      expect(indexes).toHaveLength(10 + at);
    });
    expect(driver.counters.strays).toBe(0);
  });

  it('speaks v1, v2c and v3, over IPv4 and IPv6', async () => {
    const driver = newDriver();
    const [four, six] = [await startAgent(), await startAgent({ address: '::1' })];
    for (const agent of [four, six]) {
      for (const session of [communitySession('v2c'), v3Session(MON)]) {
        const { outcome, indexes } = await poll(driver, targetOf(agent, session));
        expect(outcome.fault).toBeUndefined();
        expect(indexes).toHaveLength(40);
      }
    }
    expect((await poll(driver, targetOf(four, communitySession('v1')))).outcome.fault).toBeUndefined();
  });

  it('gives a dead device its time and the others theirs', async () => {
    const driver = newDriver();
    const [alive, dead] = [await startAgent(), await startAgent()];
    dead.agent.faults = { frozen: true };
    const [first, second] = await Promise.all([
      poll(driver, targetOf(dead), IMPATIENT),
      poll(driver, targetOf(alive)),
    ]);
    expect(first.outcome.fault?.code).toBe('snmp-no-response');
    expect(first.outcome.requests).toBe(2);
    expect(second.outcome.fault).toBeUndefined();
  });

  it('takes answers from another address only where it is told to', async () => {
    const driver = newDriver();
    const agent = await startAgent();
    await agent.answerFrom('127.0.3.9');
    const strict = await poll(driver, targetOf(agent), IMPATIENT);
    expect(strict.outcome.fault?.code).toBe('snmp-no-response');
    expect(strict.outcome.anomalies['wrong-source']).toBe(2);
    expect(
      (await poll(driver, targetOf(agent, communitySession('v2c'), true))).outcome.fault,
    ).toBeUndefined();
  });

  it('counts duplicate answers, late ones too', async () => {
    const driver = newDriver();
    const agent = await startAgent();
    agent.agent.faults = { copies: 2 };
    const { outcome, indexes } = await poll(driver, targetOf(agent));
    expect(outcome.fault).toBeUndefined();
    expect(indexes).toHaveLength(40);
    expect(outcome.anomalies['late-or-duplicate']).toBeGreaterThan(0);
  });

  it('asks one device one thing at a time', async () => {
    const driver = newDriver();
    const agent = await startAgent();
    const target = targetOf(agent);
    const results = await Promise.all([poll(driver, target), poll(driver, target), poll(driver, target)]);
    for (const { outcome } of results) expect(outcome.anomalies).toEqual({});
  });

  it('names what the network itself refuses', async () => {
    const target: SnmpTarget = {
      address: '255.255.255.255',
      port: 161,
      unconnected: false,
      session: communitySession('v2c'),
    };
    const { outcome } = await poll(newDriver(), target);
    expect(outcome.fault?.code).toBe('unreachable');
  });

  it('tells a host without sockets from devices that are silent, and asks again once there are', async () => {
    const agent = await startAgent();
    const driver = newDriver();
    const refused = vi.spyOn(Socket.prototype, 'bind').mockImplementation(function (this: Socket) {
      const error = Object.assign(new Error('bind EMFILE 0.0.0.0'), { code: 'EMFILE', syscall: 'bind' });
      queueMicrotask(() => this.emit('error', error));
      return this;
    });
    const patient = { ...LIMITS, timeoutMilliseconds: 60_000 };
    const [one, other] = await Promise.all([
      poll(driver, targetOf(agent), patient),
      poll(driver, targetOf(agent), patient),
    ]);
    for (const { outcome } of [one, other]) {
      expect(outcome.fault?.code).toBe('unreachable');
      expect(outcome.fault?.detail).toContain('bind EMFILE');
    }
    refused.mockRestore();
    expect((await poll(driver, targetOf(agent))).outcome.fault).toBeUndefined();
  });
});

describe('the live test', () => {
  const GROUPS = [{ kind: 'table', columns: IF_X_COLUMNS }] as const;

  it('gives rows, raw updates with exact digits, and what matched nothing', async () => {
    const agent = await startAgent({ interfaces: 2 });
    const result = await testSnmp(
      newDriver(),
      targetOf(agent),
      [...GROUPS, { kind: 'scalars', instances: [[1, 3, 6, 1, 2, 1, 1, 77, 0]] }],
      3_000,
      LIMITS,
    );
    expect(result.fault).toBeUndefined();
    expect(result.rows.map(({ index }) => index)).toEqual(['1', '2']);
    expect(result.rawUpdates[0]).toMatchObject({
      oid: '1.3.6.1.2.1.31.1.1.1.1.1',
      type: 'octet-string',
      value: 'eth1',
    });
    expect(result.rawUpdates[1]).toMatchObject({
      type: 'counter64',
      value: `${(1n << 40n) + 6n * 9_007_199_254_740_993n}`,
    });
    expect(result.unmatched).toEqual(['1.3.6.1.2.1.1.77.0']);
  });

  it('tells scalars that are not there from a table without rows', async () => {
    const agent = await startAgent({ interfaces: 0 });
    const scalars = [{ kind: 'scalars', instances: [[1, 3, 6, 1, 2, 1, 1, 77, 0]] }] as const;
    expect((await testSnmp(newDriver(), targetOf(agent), scalars, 3_000, LIMITS)).fault?.code).toBe(
      'snmp-no-such-object',
    );
    expect((await testSnmp(newDriver(), targetOf(agent), GROUPS, 3_000, LIMITS)).fault).toBeUndefined();
  });

  it('finds out that silence is a wrong privacy password', async () => {
    const agent = await startAgent();
    agent.agent.faults = { silentDecryption: true };
    const session = v3Session({ ...MON, priv: { protocol: 'aes-128', password: 'wrongpass' } });
    const { fault } = await testSnmp(newDriver(), targetOf(agent, session), GROUPS, 3_000, IMPATIENT);
    expect(fault?.code).toBe('snmp-decryption');
  });

  it('says nothing answered when nothing did', async () => {
    const agent = await startAgent();
    agent.agent.faults = { frozen: true };
    const { fault } = await testSnmp(newDriver(), targetOf(agent), GROUPS, 3_000, IMPATIENT);
    expect(fault?.code).toBe('snmp-no-response');
  });
});

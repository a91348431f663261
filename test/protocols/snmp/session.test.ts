import { describe, expect, it } from 'vitest';
import {
  AUTH_PROTOCOLS,
  type AuthProtocol,
  PRIV_PROTOCOLS,
  type PrivProtocol,
} from '../../../protocols/snmp/usm-key.ts';
import { Random, testSeed } from '../../support/random.ts';
import { type AgentUser, SimulatedAgent } from '../../support/snmp-agent/agent.ts';
import { mutate } from '../../support/snmp-agent/random-pdu.ts';
import { Clock, communitySession, runWalk, v3Session } from '../../support/snmp-agent/run-walk.ts';
import { IF_X_COLUMNS, interfaceObjects } from '../../support/snmp-agent/tables.ts';

const GROUPS = [{ kind: 'table', columns: IF_X_COLUMNS }] as const;
const MON: AgentUser = {
  name: 'mon',
  auth: { protocol: 'sha-256', password: 'authpass1' },
  priv: { protocol: 'aes-128', password: 'privpass1' },
};

function agentFor(...users: AgentUser[]): SimulatedAgent {
  return new SimulatedAgent({ objects: interfaceObjects('leaf1', 30), users, startedAt: 0 });
}

function walk(user: AgentUser, agent = agentFor(MON)) {
  return { ...runWalk({ agent, session: v3Session(user), groups: GROUPS }), agent };
}

const combinations = (Object.keys(AUTH_PROTOCOLS) as AuthProtocol[]).flatMap((auth) =>
  (Object.keys(PRIV_PROTOCOLS) as PrivProtocol[]).map((priv) => [auth, priv] as const),
);

describe('an SNMPv3 session', () => {
  it.each(combinations)('with %s and %s finds the engine and walks', (auth, priv) => {
    const user: AgentUser = {
      name: 'mon',
      auth: { protocol: auth, password: 'authpass1' },
      priv: { protocol: priv, password: 'privpass1' },
    };
    const { outcome, rows } = walk(user, agentFor(user));
    expect(outcome.fault).toBeUndefined();
    expect(rows).toHaveLength(30);
    expect(outcome.anomalies).toEqual({});
  });

  it('walks without privacy and without authentication for users who have none', () => {
    for (const user of [{ name: 'mon', ...(MON.auth && { auth: MON.auth }) }, { name: 'mon' }]) {
      expect(walk(user, agentFor(user)).outcome.fault).toBeUndefined();
    }
  });

  it('asks for the engine once, not in each cycle', () => {
    const agent = agentFor(MON);
    const session = v3Session(MON);
    const clock = new Clock();
    const first = runWalk({ agent, session, groups: GROUPS, clock });
    clock.now += 600_000;
    const second = runWalk({ agent, session, groups: GROUPS, clock });
    expect(second.outcome.requests).toBe(first.outcome.requests - 1);
  });

  it('names each wrong secret and each refusal', () => {
    const wrong = (change: Partial<AgentUser>) => walk({ ...MON, ...change }).outcome.fault?.code;
    expect(wrong({ name: 'nobody' })).toBe('snmp-unknown-user');
    expect(wrong({ auth: { protocol: 'sha-256', password: 'wrongpass' } })).toBe('snmp-wrong-digest');
    expect(wrong({ auth: { protocol: 'sha-1', password: 'authpass1' } })).toBe('snmp-wrong-digest');
    expect(wrong({ priv: { protocol: 'aes-128', password: 'wrongpass' } })).toBe('snmp-decryption');
    expect(wrong({ priv: { protocol: 'des', password: 'privpass1' } })).toBe('snmp-decryption');
    const authOnly: AgentUser = { name: 'mon', ...(MON.auth && { auth: MON.auth }) };
    expect(walk(MON, agentFor(authOnly)).outcome.fault?.code).toBe('authentication');
    expect(walk(authOnly, agentFor(MON)).outcome.fault?.code).toBe('permission');
  });

  it('names answers whose digest is not the user’s', () => {
    const agent = agentFor(MON);
    agent.faults = { wrongDigest: true };
    const { outcome } = walk(MON, agent);
    expect(outcome.fault?.code).toBe('snmp-wrong-digest');
    expect(outcome.anomalies['wrong-digest']).toBe(3);
  });

  it('says what silence after discovery may mean', () => {
    const agent = agentFor(MON);
    agent.faults = { silentDecryption: true };
    const { outcome } = walk({ ...MON, priv: { protocol: 'aes-128', password: 'wrongpass' } }, agent);
    expect(outcome.fault?.code).toBe('timeout');
    expect(outcome.fault?.detail).toContain('privacy password');
  });

  it('follows an agent’s clock forward, within the cycle', () => {
    const agent = agentFor(MON);
    const { outcome, rows } = runWalk({
      agent,
      session: v3Session(MON),
      groups: GROUPS,
      beforeRequest: (request) => {
        if (request === 4) agent.clockOffsetSeconds = 5_000;
      },
    });
    expect(outcome.fault).toBeUndefined();
    expect(rows).toHaveLength(30);
    expect(outcome.anomalies['time-resync']).toBe(1);
  });

  it('names a clock that went back, and finds the engine anew in the next cycle', () => {
    const agent = agentFor(MON);
    const session = v3Session(MON);
    const clock = new Clock();
    const { outcome } = runWalk({
      agent,
      session,
      groups: GROUPS,
      clock,
      beforeRequest: (request) => {
        if (request === 4) agent.clockOffsetSeconds = -600;
      },
    });
    expect(outcome.fault?.code).toBe('snmp-not-in-time-window');
    expect(outcome.fault?.detail).toContain('went back');
    expect(runWalk({ agent, session, groups: GROUPS, clock }).outcome.fault).toBeUndefined();
  });

  it('names an engine that was swapped, and accepts it in the next cycle unless its id is configured', () => {
    const other = Uint8Array.of(0x80, 0, 0x1f, 0x88, 4, 9, 9, 9, 9);
    const agent = agentFor(MON);
    for (const configured of [new Uint8Array(0), agent.engineId]) {
      agent.swapEngine(agentFor(MON).engineId);
      const session = v3Session(MON, configured);
      const clock = new Clock();
      const swapped = runWalk({
        agent,
        session,
        groups: GROUPS,
        clock,
        beforeRequest: (request) => {
          if (request === 3) agent.swapEngine(other);
        },
      });
      expect(swapped.outcome.fault?.code).toBe('snmp-engine-changed');
      expect(swapped.outcome.fault?.detail).toContain('80001f880409090909');
      const next = runWalk({ agent, session, groups: GROUPS, clock });
      expect(next.outcome.fault?.code).toBe(configured.length > 0 ? 'snmp-engine-changed' : undefined);
    }
  });

  it('discards a cycle in which the engine restarted, and goes on with the next', () => {
    const agent = agentFor(MON);
    const session = v3Session(MON);
    const clock = new Clock();
    const { outcome } = runWalk({
      agent,
      session,
      groups: GROUPS,
      clock,
      beforeRequest: (request) => {
        if (request === 4) agent.restart(clock.now);
      },
    });
    expect(outcome.fault?.code).toBe('snmp-agent-restarted');
    expect(runWalk({ agent, session, groups: GROUPS, clock }).outcome.fault).toBeUndefined();
  });

  it('resynchronises silently when the engine restarted between two cycles', () => {
    const agent = agentFor(MON);
    const session = v3Session(MON);
    const clock = new Clock();
    runWalk({ agent, session, groups: GROUPS, clock });
    agent.restart(clock.now);
    const { outcome } = runWalk({ agent, session, groups: GROUPS, clock });
    expect(outcome.fault).toBeUndefined();
    expect(outcome.anomalies).toEqual({ 'time-resync': 1 });
  });
});

describe('damaged answers', () => {
  it('never throw, never run on, and end in an outcome', () => {
    const random = new Random(testSeed('damaged answers'));
    const codes = new Map<string, number>();
    for (let round = 0; round < 150; round += 1) {
      const agent = agentFor(MON);
      const whole = agent.handle.bind(agent);
      agent.handle = (datagram, now) =>
        whole(datagram, now).map((answer) => (random.chance(0.3) ? mutate(random, answer) : answer));
      const session = random.chance(0.5) ? v3Session(MON) : communitySession('v2c');
      const { outcome } = runWalk({ agent, session, groups: GROUPS, limits: { retries: 5 } });
      const code = outcome.fault?.code ?? 'complete';
      codes.set(code, (codes.get(code) ?? 0) + 1);
      expect(outcome.requests).toBeLessThan(200);
    }
    expect(codes.get('complete')).toBeGreaterThan(0);
  });
});

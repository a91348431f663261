import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { SnmpFaultCode } from '../../../protocols/snmp/fault.ts';
import { MIB_MODULES } from '../../../protocols/snmp/mib.ts';
import { formatOid, type Oid, parseOid } from '../../../protocols/snmp/oid.ts';
import { SnmpSession } from '../../../protocols/snmp/session.ts';
import type { WalkOutcome } from '../../../protocols/snmp/walk.ts';
import { compileWalkPlan, DEFAULT_WALK_LIMITS, type WalkGroup } from '../../../protocols/snmp/walk-plan.ts';
import { SnmpDriver, type SnmpTarget } from '../../../worker/snmp/driver.ts';
import { testSnmp } from '../../../worker/snmp/live-test.ts';
import type { CaseContext, TestCase } from '../../harness.ts';
import { communitySession, v3Session } from '../../support/snmp-agent/run-walk.ts';
import { asNetSnmpPrints, compareWalks } from '../snmp/comparison.ts';
import { compareModule, modulesDirectory } from '../snmp/mib-text.ts';
import { AUTH_PASSWORD, bulkwalk, PRIV_PASSWORD, Snmpd, type SnmpdUser, USERS } from '../snmp/net-snmp.ts';
import { SIMULATED_CONTEXT, SIMULATED_USERS, startSnmpsim, tableLines } from '../snmp/snmpsim.ts';

const SNMPD_PORT = 17_161;
const SNMPSIM_PORT = 17_162;
const LIMITS = { ...DEFAULT_WALK_LIMITS, timeoutMilliseconds: 1_000, retries: 1 };
const SYSTEM: readonly WalkGroup[] = [
  {
    kind: 'scalars',
    instances: [
      [1, 3, 6, 1, 2, 1, 1, 2, 0],
      [1, 3, 6, 1, 2, 1, 1, 6, 0],
    ],
  },
  {
    kind: 'table',
    columns: [
      [1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 1],
      [1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 6],
    ],
  },
];

const at = (port: number, session: SnmpSession): SnmpTarget => ({
  address: '127.0.0.1',
  port,
  unconnected: false,
  session,
});

function v3(user: SnmpdUser, change: { auth?: string; priv?: string; name?: string } = {}): SnmpSession {
  return v3Session({
    name: change.name ?? user.name,
    auth: { protocol: user.auth, password: change.auth ?? AUTH_PASSWORD },
    ...(user.priv === undefined
      ? {}
      : { priv: { protocol: user.priv, password: change.priv ?? PRIV_PASSWORD } }),
  });
}

/** The curated tables of a module that the agent may have, one group each. */
function groupsOf(module: string): WalkGroup[] {
  const found = MIB_MODULES.find(({ name }) => name === module);
  assert.ok(found, module);
  return found.tables.map((table) => ({
    kind: 'table',
    columns: table.columns
      .filter(([, name]) => !(table.notAccessible ?? []).includes(name))
      .map(([arc]): Oid => [...(parseOid(table.oid) ?? []), arc]),
  }));
}

async function agreement(
  context: CaseContext,
  driver: SnmpDriver,
  port: number,
  module: string,
): Promise<void> {
  await context.check(`${module} on port ${port} agrees value by value with snmpbulkwalk`, async () => {
    let failures: readonly string[] = [];
    // Values that are neither counters nor at rest (memory in use, processes) may move between two walks: once more.
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const groups = groupsOf(module);
      const columns = groups.flatMap((group) => (group.kind === 'table' ? group.columns.map(formatOid) : []));
      const entries = [...new Set(columns.map((column) => column.slice(0, column.lastIndexOf('.'))))];
      const read = async () =>
        (await Promise.all(entries.map((entry) => bulkwalk(`127.0.0.1:${port}`, entry, ['-t', '5']))))
          .flat()
          .filter(({ oid }) => columns.some((column) => oid.startsWith(`${column}.`)));
      const before = await read();
      const ours = new Map<string, string>();
      for (const group of groups) {
        const { rows, outcome } = await testSnmp(driver, at(port, communitySession('v2c')), [group], 20_000, {
          ...LIMITS,
          timeoutMilliseconds: 5_000,
        });
        assert.equal(outcome.fault, undefined, outcome.fault?.detail);
        for (const { index, values } of rows) {
          values.forEach((value, column) => {
            if (value === undefined || group.kind !== 'table') return;
            ours.set(`${formatOid(group.columns[column] as Oid)}.${index}`, asNetSnmpPrints(value));
          });
        }
      }
      const { compared, differences } = compareWalks(ours, before, await read());
      failures = differences;
      if (differences.length === 0) {
        context.log(`${module}: ${compared} values compared, ours ${ours.size}`);
        assert.ok(compared > 0, 'nothing was compared');
        return;
      }
    }
    assert.fail(`${failures.length} differ:\n${failures.slice(0, 10).join('\n')}`);
  });
}

async function againstSnmpd(context: CaseContext, driver: SnmpDriver): Promise<void> {
  const snmpd = new Snmpd(context.scratchDirectory, SNMPD_PORT);
  await snmpd.start();
  const fault = async (session: SnmpSession): Promise<SnmpFaultCode | undefined> => {
    const result = await testSnmp(driver, at(SNMPD_PORT, session), SYSTEM, 12_000, LIMITS);
    if (result.fault === undefined) {
      assert.equal(result.rawUpdates[0]?.value, '1.3.6.1.4.1.8072.3.2.10');
      assert.equal(result.rawUpdates[1]?.value, 'interop');
      assert.ok(result.rows.length > 1, 'the interface table is empty');
    }
    return result.fault?.code;
  };
  try {
    for (const version of ['v1', 'v2c'] as const) {
      await context.check(`${version} reads snmpd, and a wrong community is met with silence`, async () => {
        assert.equal(await fault(communitySession(version)), undefined);
        assert.equal(await fault(communitySession(version, 'wrong')), 'snmp-no-response');
      });
    }
    // All at once: most of the time goes into waiting for what snmpd does not answer.
    const verdicts = await Promise.all(
      USERS.map((user) =>
        Promise.all([
          fault(v3(user)),
          fault(v3(user, { auth: 'wrongpass' })),
          user.priv === undefined ? undefined : fault(v3(user, { priv: 'wrongpass' })),
        ]),
      ),
    );
    for (const [number, user] of USERS.entries()) {
      const sentence = `v3 ${user.auth} ${user.priv ?? 'without privacy'}: right and wrong secrets are told apart`;
      await context.check(sentence, () => {
        const wrongPriv = user.priv === undefined ? undefined : 'snmp-decryption';
        assert.deepEqual(verdicts[number], [undefined, 'snmp-wrong-digest', wrongPriv]);
      });
    }
    const [user] = USERS.filter(({ priv }) => priv === 'aes-128') as [SnmpdUser];
    await context.check(
      'an unknown user, a level that the user lacks, and a wrong engine id are named',
      async () => {
        assert.equal(await fault(v3(user, { name: 'nobody' })), 'snmp-unknown-user');
        const authOnly = USERS.find(({ auth, priv }) => auth === 'sha-1' && priv === undefined) as SnmpdUser;
        assert.equal(await fault(v3({ ...authOnly, priv: 'aes-128' })), 'authentication');
        assert.equal(await fault(v3({ name: user.name, auth: user.auth })), 'permission');
        const settings = v3(user).settings;
        assert.ok(settings.version === 'v3');
        const elsewhere = new SnmpSession({ ...settings, engineId: Uint8Array.of(0x80, 0, 0, 0, 1, 2, 3) });
        assert.equal(await fault(elsewhere), 'snmp-engine-changed');
      },
    );
    for (const module of ['IF-MIB', 'IP-MIB', 'HOST-RESOURCES-MIB', 'UCD-SNMP-MIB']) {
      await agreement(context, driver, SNMPD_PORT, module);
    }
    await context.check('scalars that snmpd does not have are snmp-no-such-object', async () => {
      const group: WalkGroup = { kind: 'scalars', instances: [[1, 3, 6, 1, 2, 1, 99, 99, 0]] };
      const result = await testSnmp(driver, at(SNMPD_PORT, communitySession('v2c')), [group], 5_000, LIMITS);
      assert.equal(result.fault?.code, 'snmp-no-such-object');
    });
    await lifeOfAnAgent(context, driver, snmpd, user);
  } finally {
    await snmpd.stop();
  }
}

/** Frozen, killed and restarted, between cycles and within one. */
async function lifeOfAnAgent(
  context: CaseContext,
  driver: SnmpDriver,
  snmpd: Snmpd,
  user: SnmpdUser,
): Promise<void> {
  const community = at(SNMPD_PORT, communitySession('v2c'));
  const secured = at(SNMPD_PORT, v3(user));
  const code = async (target: SnmpTarget) =>
    (await testSnmp(driver, target, SYSTEM, 6_000, LIMITS)).fault?.code;
  await context.check('a frozen agent is silent, and read again once it thaws', async () => {
    assert.equal(await code(secured), undefined);
    snmpd.signal('SIGSTOP');
    assert.equal(await code(community), 'snmp-no-response');
    assert.equal(await code(secured), 'snmp-no-response');
    snmpd.signal('SIGCONT');
    await delay(300);
    assert.equal(await code(community), undefined);
    assert.equal(await code(secured), undefined);
  });
  await context.check(
    'a restart between two cycles is followed: engine boots up, clock learnt anew',
    async () => {
      await snmpd.stop('SIGTERM');
      assert.equal(await code(community), 'snmp-no-response');
      await snmpd.start();
      const { fault, outcome } = await testSnmp(driver, secured, SYSTEM, 6_000, LIMITS);
      assert.equal(fault, undefined);
      assert.equal(outcome.anomalies['time-resync'], 1);
    },
  );
  // Killed, snmpd does not count a boot: sysUpTime alone tells, where the clock is not back by a whole time window.
  for (const [name, target, signal, expected] of [
    ['sysUpTime back', community, 'SIGKILL', ['snmp-agent-restarted']],
    ['engine boots up', secured, 'SIGTERM', ['snmp-agent-restarted']],
    ['neither boots nor clock tell', secured, 'SIGKILL', ['snmp-agent-restarted']],
  ] as const) {
    await context.check(`a restart within a walk discards the cycle: ${name}`, async () => {
      await delay(1_500);
      let restarted: Promise<void> | undefined;
      const outcome = await new Promise<WalkOutcome>((resolve) => {
        driver.walk({
          target,
          plan: compileWalkPlan([...SYSTEM, ...groupsOf('HOST-RESOURCES-MIB')]),
          // Asked often, so that the new agent is met while its clock is still behind the old one's.
          limits: { ...LIMITS, maxRepetitions: 1, timeoutMilliseconds: 150, retries: 80 },
          budgetMilliseconds: 15_000,
          row: () => {
            restarted ??= snmpd.stop(signal).then(() => snmpd.start());
            restarted.catch(() => {});
          },
          done: resolve,
        });
      });
      await restarted;
      const found: string | undefined = outcome.fault?.code;
      assert.ok(
        expected.some((one) => one === found),
        `${found}: ${outcome.fault?.detail}`,
      );
      assert.equal(await code(target), undefined);
    });
  }
}

async function againstSnmpsim(context: CaseContext, driver: SnmpDriver): Promise<void> {
  const stop = await startSnmpsim(context.scratchDirectory, SNMPSIM_PORT, tableLines(200));
  try {
    for (const module of ['IF-MIB', 'ENTITY-MIB', 'ENTITY-SENSOR-MIB', 'IP-MIB', 'HOST-RESOURCES-MIB']) {
      await agreement(context, driver, SNMPSIM_PORT, module);
    }
    await simulatedUsers(context, driver);
  } finally {
    await stop();
  }
}

async function simulatedUsers(context: CaseContext, driver: SnmpDriver): Promise<void> {
  const limits = { ...LIMITS, timeoutMilliseconds: 5_000 };
  const [group] = groupsOf('ENTITY-MIB');
  const read = async (session: SnmpSession) => {
    const { rawUpdates, fault } = await testSnmp(
      driver,
      at(SNMPSIM_PORT, session),
      [group as WalkGroup],
      20_000,
      limits,
    );
    assert.equal(fault, undefined, fault?.detail);
    return rawUpdates.map(({ oid, type, value }) => `${oid} ${type} ${value}`);
  };
  const expected = await read(communitySession('v2c', SIMULATED_CONTEXT));
  for (const { user } of SIMULATED_USERS) {
    await context.check(`snmpsim tells ${user.name} over v3 what it tells over v2c`, async () => {
      assert.ok(expected.length > 100);
      assert.deepEqual(await read(v3Session(user, undefined, SIMULATED_CONTEXT)), expected);
    });
  }
}

async function namesAgainstSources(context: CaseContext): Promise<void> {
  const directory = modulesDirectory();
  // The system group and LLDP-MIB are not in the package; `npm test` holds them against other texts.
  for (const module of MIB_MODULES.filter(({ name }) => name !== 'SNMPv2-MIB' && name !== 'LLDP-MIB')) {
    await context.check(`${module.name}: every OID, syntax and index is that of pysnmp-mibs 0.1.6`, () => {
      const { compared, differences } = compareModule(module, directory);
      context.log(`${module.name}: ${compared} objects compared`);
      assert.deepEqual(differences, []);
      assert.ok(compared > 5);
    });
  }
}

export const testCase: TestCase = {
  title:
    'SNMP against snmpd and snmpsim: versions, secrets, restarts, and values equal to those of snmpbulkwalk',
  inCi: true,
  async run(context) {
    const driver = new SnmpDriver();
    try {
      await againstSnmpd(context, driver);
      await againstSnmpsim(context, driver);
      await namesAgainstSources(context);
    } finally {
      driver.close();
    }
  },
};

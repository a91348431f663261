import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SNMP_FAULT_CODES, type SnmpFaultCode } from '../../protocols/snmp/fault.ts';
import { type Receiver, startReceiver } from '../support/receiver/receiver.ts';
import type { AgentFaults, AgentUser } from '../support/snmp-agent/agent.ts';
import { interfaceObjects } from '../support/snmp-agent/tables.ts';
import { UdpAgent, type UdpAgentOptions } from '../support/snmp-agent/udp-agent.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { until } from '../support/until.ts';

const MON: AgentUser = {
  name: 'mon',
  auth: { protocol: 'sha-256', password: 'authpass1' },
  priv: { protocol: 'aes-128', password: 'privpass1' },
};
const SIGNS_ONLY: AgentUser = { name: 'signs-only', auth: { protocol: 'sha-256', password: 'authpass1' } };
const V3 = {
  version: 'v3',
  user: 'mon',
  'auth-protocol': 'sha-256',
  'auth-password': 'authpass1',
  'priv-protocol': 'aes-128',
  'priv-password': 'privpass1',
};
/** For agents that will not answer: waiting shows nothing. */
const IMPATIENT = { 'timeout-ms': 200, retries: 0 };
const INTERFACES = 3;

let stack: Stack;
let receiver: Receiver;
let modelId: number;
let mappingId: number;
const agents: UdpAgent[] = [];

beforeAll(async () => {
  [stack, receiver] = await Promise.all([startStack(), startReceiver()]);
  await call('PUT', '/api/v1/outputs/webhook', {
    enabled: true,
    config: { url: receiver.url('/records', '127.0.0.1') },
  });
  ({ modelId, mappingId } = await createModel('interfaces', {
    name: ['string', 'IF-MIB::ifName'],
    'in-octets': ['counter64', 'IF-MIB::ifHCInOctets'],
    up: ['boolean', '1.3.6.1.2.1.2.2.1.8'],
  }));
}, 60_000);

afterAll(async () => {
  for (const agent of agents) agent.stop();
  await Promise.all([stack?.stop(), receiver?.stop()]);
}, 30_000);

async function call(method: string, path: string, body?: unknown) {
  const answer = await stack.send({
    method,
    path,
    headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies member by member.
  return (answer.text === '' ? undefined : JSON.parse(answer.text)) as any;
}

/** An active model with one mapping of SNMP paths. */
async function createModel(name: string, fields: Record<string, readonly [type: string, path: string]>) {
  const { id } = await call('POST', '/api/v1/models', { name });
  for (const [field, [type]] of Object.entries(fields)) {
    await call('POST', `/api/v1/models/${id}/fields`, { name: field, type });
  }
  const mapping = await call('POST', `/api/v1/models/${id}/mappings`, {
    protocol: 'snmp',
    netos: '*',
    field_mappings: Object.fromEntries(Object.entries(fields).map(([field, [, path]]) => [field, path])),
  });
  await call('PUT', `/api/v1/models/${id}`, { active: true });
  return { modelId: id as number, mappingId: mapping.id as number };
}

async function startAgent(
  faults: AgentFaults = {},
  options: Partial<UdpAgentOptions> = {},
): Promise<UdpAgent> {
  const objects = interfaceObjects('leaf', INTERFACES);
  const agent = await new UdpAgent({ objects, users: [MON, SIGNS_ONLY], ...options }).start();
  agent.agent.faults = faults;
  agents.push(agent);
  return agent;
}

let devices = 0;

/** Without SNMP settings it has some of gNMI. */
async function createDevice(snmp: object | undefined, address = '127.0.0.1', labels = {}): Promise<number> {
  devices += 1;
  const name = `device${devices}`;
  const { id } = await call('POST', '/api/v1/devices', {
    name,
    address,
    netos: 'eos',
    labels,
    enabled: true,
    ...(snmp === undefined ? { gnmi: { tls: 'off' } } : { snmp: { community: 'public', ...snmp } }),
  });
  return id;
}

async function subscribe(name: string, labels: Record<string, string>): Promise<number> {
  const { id } = await call('POST', '/api/v1/subscriptions', {
    name,
    enabled: true,
    'model-name': 'interfaces',
    'model-version': 'latest',
    devices: { ids: [], labels },
    mode: 'poll',
    'interval-ms': 1_000,
  });
  return id;
}

const recordsOf = (deviceId: number) =>
  receiver.requests
    .map(({ body }) => body.toString())
    .filter((text) => text.includes(`"device-id":${deviceId},`));

describe('SNMP collection', () => {
  it('goes from the API over v2c and v3 to the webhook, every digit of a Counter64 kept', async () => {
    const [plain, secured] = [await startAgent(), await startAgent()];
    const labels = { role: 'collected' };
    const ids = [
      await createDevice({ port: plain.port }, '127.0.0.1', labels),
      await createDevice({ port: secured.port, ...V3 }, '127.0.0.1', labels),
    ];
    const subscription = await subscribe('if-1s', labels);
    for (const id of ids) {
      const records = await until(
        `two cycles of device ${id}`,
        () => recordsOf(id),
        (seen) => seen.length >= 2 * INTERFACES,
      );
      // 2⁴⁰ + 6 × (2⁵³ + 1): beyond what a double holds.
      const first = records.find((text) => text.includes('"key":"1"')) as string;
      expect(first).toContain('"data":{"name":"eth1","in-octets":54044295040073734,"up":true}');
      expect(JSON.parse(first)).toMatchObject({
        'model-name': 'interfaces',
        path: '1.3.6.1.2.1.2.2.1.1',
        'data-hash': expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      });
    }
    const { status } = await until(
      'status of both',
      () => call('GET', `/api/v1/subscriptions/${subscription}`),
      (seen) => seen.status.every(({ rows }: { rows: number }) => rows === INTERFACES),
    );
    const snapshot = await stack.send({
      method: 'GET',
      path: `/api/v1/models/${modelId}/snapshot`,
      headers: { authorization: `Bearer ${stack.token}` },
    });
    expect(snapshot.text).toContain('"data":{"name":"eth1","in-octets":54044295040073734,"up":true}');
    expect(JSON.parse(snapshot.text).rows).toHaveLength(2 * INTERFACES);
    expect(status).toMatchObject([
      { state: 'polling', protocol: 'snmp', encoding: 'v2c', 'last-error': null, 'unmatched-paths': [] },
      { state: 'polling', protocol: 'snmp', encoding: 'v3 authPriv', 'cycle-incomplete': 0, drops: 0 },
    ]);
  });

  it('sends nothing of a table that is cut short, counts it, and names what is wrong', async () => {
    const agent = await startAgent({ loopsAt: [1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 6] });
    const labels = { role: 'broken' };
    const id = await createDevice({ port: agent.port }, '127.0.0.1', labels);
    const subscription = await subscribe('broken-1s', labels);
    const [status] = (
      await until(
        'the fault',
        () => call('GET', `/api/v1/subscriptions/${subscription}`),
        (seen) => (seen.status[0]?.['last-error'] ?? null) !== null,
      )
    ).status;
    expect(status).toMatchObject({ state: 'backoff', 'last-error': { code: 'snmp-oid-not-increasing' } });
    expect(recordsOf(id)).toEqual([]);
    agent.agent.faults = {};
    await until(
      'records',
      () => recordsOf(id),
      (seen) => seen.length >= INTERFACES,
    );
  });
});

describe('a live test over SNMP', () => {
  const test = (deviceId: number, model = { modelId, mappingId }) =>
    call('POST', `/api/v1/models/${model.modelId}/test`, {
      'device-id': deviceId,
      'mapping-id': model.mappingId,
    });

  it('shows records, raw values and where each field came from', async () => {
    const agent = await startAgent();
    const result = await test(await createDevice({ port: agent.port }));
    expect(result).toMatchObject({ outcome: 'ok', error: null, 'model-name': 'interfaces' });
    expect(result['parsed-results']).toHaveLength(INTERFACES);
    expect(result['raw-updates']).toContainEqual(
      expect.objectContaining({
        path: '1.3.6.1.2.1.31.1.1.1.6.1',
        type: 'counter64',
        value: '54044295040073734',
      }),
    );
    expect(result.explanation).toMatchObject({
      protocol: 'snmp',
      rpc: 'get-bulk',
      encoding: 'v2c',
      sync: true,
      updates: 3 * INTERFACES,
      'unmatched-paths': [],
    });
    expect(result.explanation.fields[1]).toMatchObject({
      field: 'in-octets',
      alternative: 1,
      updates: INTERFACES,
    });
  });

  it('explains an answer without rows by the paths that matched nothing', async () => {
    const agent = await startAgent();
    const sensors = await createModel('sensors', {
      value: ['int32', 'ENTITY-SENSOR-MIB::entPhySensorValue'],
      unit: ['string', 'ENTITY-SENSOR-MIB::entPhySensorUnit'],
    });
    const result = await test(await createDevice({ port: agent.port }), sensors);
    expect(result).toMatchObject({ outcome: 'empty', error: null, 'parsed-results': [], 'raw-updates': [] });
    expect(result.explanation).toMatchObject({
      sync: true,
      updates: 0,
      'unmatched-paths': ['ENTITY-SENSOR-MIB::entPhySensorUnit', 'ENTITY-SENSOR-MIB::entPhySensorValue'],
      'skipped-paths': [{ field: 'unit', path: 'ENTITY-SENSOR-MIB::entPhySensorUnit', code: 'unparsable' }],
    });
  });

  it('falls back to v1 where nothing newer is answered', async () => {
    const agent = await startAgent({ onlyV1: true });
    const result = await test(await createDevice({ port: agent.port, ...IMPATIENT }));
    expect(result).toMatchObject({ outcome: 'ok', error: null });
    expect(result.explanation).toMatchObject({
      rpc: 'get-next',
      encoding: 'v1',
      'unmatched-paths': ['IF-MIB::ifHCInOctets'],
    });
  });

  it('gives each way of failing its own code, and no code is left untried', async () => {
    const scalar = await createModel('absent', { name: ['string', '1.3.6.1.4.1.99999.1.0'] });
    const odd = await createModel('odd', { name: ['string', 'NO-SUCH-MIB::thing'] });
    const cases: ReadonlyArray<
      readonly [code: SnmpFaultCode, detail: RegExp, faults: AgentFaults, snmp: object]
    > = [
      ['snmp-no-response', /away.*closed.*community/, {}, { community: 'wrong', ...IMPATIENT }],
      ['snmp-no-response', /away.*closed.*community/, { frozen: true }, IMPATIENT],
      ['snmp-unknown-user', /no user/, {}, { ...V3, user: 'nobody' }],
      ['snmp-wrong-digest', /authentication password/, {}, { ...V3, 'auth-password': 'not this one' }],
      ['snmp-decryption', /privacy password/, {}, { ...V3, 'priv-password': 'not this one' }],
      [
        'snmp-decryption',
        /privacy/,
        { silentDecryption: true },
        { ...V3, 'priv-password': 'not this either', ...IMPATIENT, 'priv-protocol': 'aes-128' },
      ],
      ['snmp-engine-changed', /engine id/, {}, { ...V3, 'engine-id': '8000000001020304' }],
      ['snmp-oid-not-increasing', /./, { loopsAt: [1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 6] }, {}],
      ['permission', /authorizationError/, { forbidden: true }, {}],
      ['protocol-error', /./, { garbage: true }, IMPATIENT],
      ['timeout', /after 1 rows/, { diesAfter: 1 }, { ...IMPATIENT, 'max-repetitions': 1 }],
      ['snmp-agent-restarted', /sysUpTime/, { restartsAfter: 2 }, { 'max-repetitions': 1 }],
      ['snmp-agent-restarted', /boots/, { restartsAfter: 4 }, { ...V3, 'max-repetitions': 1 }],
      ['snmp-not-in-time-window', /clock/, { refusesClock: true }, V3],
      ['authentication', /security level/, {}, { ...V3, user: 'signs-only' }],
      ['too-large', /single value/, { tooBigAbove: 0 }, {}],
    ];
    const results = await Promise.all(
      cases.map(async ([, , faults, snmp]) => {
        const agent = await startAgent(faults);
        return test(await createDevice({ port: agent.port, ...snmp }));
      }),
    );
    expect(results.map(({ outcome, error }) => [outcome, error?.code])).toEqual(
      cases.map(([code]) => ['failed', code]),
    );
    for (const [index, [, detail]] of cases.entries()) expect(results[index].error.detail).toMatch(detail);

    const agent = await startAgent();
    const healthy = await createDevice({ port: agent.port });
    const others: Partial<Record<SnmpFaultCode, Awaited<ReturnType<typeof test>>>> = {
      'snmp-no-such-object': await test(healthy, scalar),
      'invalid-path': await test(healthy, odd),
      dns: await test(await createDevice({}, 'no-such-host.invalid')),
      // Without permission to broadcast the kernel refuses to send here.
      unreachable: await test(await createDevice({}, '127.255.255.255')),
      'no-settings': await test(await createDevice(undefined)),
    };
    for (const [code, { error }] of Object.entries(others)) expect(error).toMatchObject({ code });
    // The local run may dial what a deployed worker may not: test/worker/snmp/collection.test.ts has that.
    const tried = new Set<string>([
      'blocked-address',
      ...cases.map(([code]) => code),
      ...Object.keys(others),
    ]);
    expect(SNMP_FAULT_CODES.filter((code) => !tried.has(code))).toEqual([]);
  });
});

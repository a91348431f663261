import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExactNumber, parseExactJson } from '../../core/exact-json.ts';
import { dataHash } from '../../core/record.ts';
import { contractClient } from '../support/contract-client.ts';
import { type Certificates, makeCertificates } from '../support/gnmi-target/certificates.ts';
import { addInterfaces } from '../support/gnmi-target/interfaces.ts';
import { GnmiTarget } from '../support/gnmi-target/target.ts';
import { type Receiver, startReceiver } from '../support/receiver/receiver.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies member by member.
type Body = any;

const AT = '/interfaces/interface[name=*]/state';
const MODEL = {
  format: 'graticule-model/1',
  name: 'interfaces',
  version: '1.0.0',
  description: '',
  fields: [
    { name: 'name', type: 'string' },
    { name: 'in-octets', type: 'counter64' },
    { name: 'oper-status', type: 'string' },
    { name: 'speed', type: 'uint64' },
  ],
  mappings: [
    {
      protocol: 'gnmi',
      netos: 'srlinux',
      field_mappings: {
        name: '/interfaces/interface[name=*]/name',
        'in-octets': `${AT}/counters/in-octets`,
        'oper-status': `${AT}/oper-status`,
        speed: `${AT}/sped`,
      },
    },
    { protocol: 'gnmi', netos: 'eos', field_mappings: { 'in-octets': '/nowhere/in-octets' } },
    { protocol: 'gnmi', netos: 'junos', field_mappings: { 'in-octets': `native:${AT}/counters/in-octets` } },
  ],
};
const PASSWORD = 'only-the-device-knows';

let stack: Stack;
let receiver: Receiver;
let target: GnmiTarget;
let certificates: Certificates;
let model: Body;

async function call(method: string, path: string, body?: unknown): Promise<Body> {
  const api = contractClient(stack.send, stack.token);
  const answer = await api.send({ method, path, ...(body === undefined ? {} : { body }) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.json;
}

beforeAll(async () => {
  certificates = makeCertificates();
  target = await GnmiTarget.start({
    tls: { ...certificates.server, clientCa: certificates.ca },
    habits: { username: 'admin', password: PASSWORD },
  });
  addInterfaces(target.tree, 2);
  receiver = await startReceiver();
  stack = await startStack();
  model = await call('POST', '/api/v1/models/import', MODEL);
  await call('PUT', `/api/v1/models/${model.id}`, { active: true });
});

afterAll(async () => {
  await stack?.stop();
  await target?.stop();
  await receiver?.stop();
});

const deviceBody = (name: string, gnmi: Record<string, unknown> = {}) => ({
  name,
  address: '127.0.0.1',
  netos: 'srlinux',
  enabled: true,
  gnmi: {
    port: target.port,
    tls: 'verify',
    ca: certificates.ca,
    'client-certificate': certificates.client.certificate,
    'client-key': certificates.client.key,
    username: 'admin',
    password: PASSWORD,
    ...gnmi,
  },
});

describe('gNMI from the API to the receiver, over the running product', () => {
  it('a device, a model and a subscription make records arrive, digit for digit, and their status says so', async () => {
    await call('PUT', '/api/v1/outputs/webhook', {
      enabled: true,
      config: { url: receiver.url('/status/204', '127.0.0.1') },
    });
    const device = await call('POST', '/api/v1/devices', deviceBody('leaf1'));
    const subscription = await call('POST', '/api/v1/subscriptions', {
      name: 'if-1s',
      enabled: true,
      'model-name': 'interfaces',
      'model-version': 'latest',
      mode: 'sample',
      'interval-ms': 1_000,
      devices: { ids: [device.id] },
    });
    await until(
      'three cycles at the receiver',
      () => receiver.requests.length,
      (count) => count >= 6,
    );
    const record = parseExactJson(receiver.requests[0]?.body.toString() ?? '') as Map<string, Body>;
    expect([...record.keys()]).toEqual([
      'device',
      'device-id',
      'model-name',
      'path',
      'key',
      'timestamp',
      'data-hash',
      'data',
    ]);
    expect(record.get('path')).toBe('/interfaces/interface[name=ethernet-1/1]');
    expect(record.get('key')).toBe('ethernet-1/1');
    const data = record.get('data') as Map<string, Body>;
    expect((data.get('in-octets') as ExactNumber).source).toBe('18446744073709551000');
    expect(data.get('name')).toBe('ethernet-1/1');
    expect(record.get('data-hash')).toBe(dataHash(data));

    const seen = await until(
      'streaming, with a first success',
      () => call('GET', `/api/v1/subscriptions/${subscription.id}`),
      ({ status }) => status[0]?.rows === 2,
    );
    expect(seen.status[0]).toMatchObject({
      state: 'streaming',
      reason: '',
      protocol: 'gnmi',
      'model-version': '1.0.0',
      encoding: 'json_ietf',
      'last-error': null,
      drops: 0,
      'coercion-errors': 0,
      'unmatched-paths': [`${AT}/sped`],
    });
    const shown = await call('GET', `/api/v1/devices/${device.id}`);
    expect(shown.status).toMatchObject({
      worker: 'w-1',
      reason: '',
      gnmi: { state: 'connected', 'last-error': null },
      snmp: null,
    });
    expect(shown.gnmi).toMatchObject({ password: '********', 'client-key': '********' });
    expect(stack.output()).not.toContain(PASSWORD);

    // The wrong password, while the stream runs: in force at once, said with its code, and records stop.
    await call('PUT', `/api/v1/devices/${device.id}`, deviceBody('leaf1', { password: 'guess' }));
    const refused = await until(
      'authentication',
      () => call('GET', `/api/v1/subscriptions/${subscription.id}`),
      ({ status }) => status[0]?.['last-error']?.code === 'authentication',
    );
    expect(['backoff', 'connecting']).toContain(refused.status[0].state);
    await until(
      'the old connection is closed',
      () => target.connections,
      (count) => count <= 1,
    );
    await call('PUT', `/api/v1/subscriptions/${subscription.id}`, { ...seen, enabled: false });
    const idle = await until(
      'idle',
      () => call('GET', `/api/v1/subscriptions/${subscription.id}`),
      ({ status }) => status[0]?.state === 'idle',
    );
    expect(idle).toMatchObject({ reason: 'disabled' });
  });

  it('a live test answers with rows, raw updates and what explains them', async () => {
    const device = await call('POST', '/api/v1/devices', deviceBody('tested'));
    const mapping = (netos: string) => model.mappings.find((each: Body) => each.netos === netos).id;
    const test = (deviceId: number, netos = 'srlinux') =>
      call('POST', `/api/v1/models/${model.id}/test`, {
        'device-id': deviceId,
        'mapping-id': mapping(netos),
      });
    const ok = await test(device.id);
    expect(ok).toMatchObject({
      device: 'tested',
      'model-version': '1.0.0',
      outcome: 'ok',
      error: null,
      explanation: {
        protocol: 'gnmi',
        rpc: 'subscribe-once',
        encoding: 'json_ietf',
        sync: true,
        truncated: false,
        'unmatched-paths': [`${AT}/sped`],
      },
    });
    expect(ok['parsed-results'].map(({ key }: Body) => key)).toEqual(['ethernet-1/1', 'ethernet-1/2']);
    expect(ok['raw-updates'][0]).toMatchObject({ type: 'json_ietf' });

    const empty = await test(device.id, 'eos');
    expect(empty).toMatchObject({
      outcome: 'empty',
      error: null,
      'parsed-results': [],
      'raw-updates': [],
      explanation: { sync: true, updates: 0, 'unmatched-paths': ['/nowhere/in-octets'] },
    });

    const fault = async (name: string, gnmi: Record<string, unknown>, netos?: string) => {
      const { id } = await call('POST', '/api/v1/devices', deviceBody(name, gnmi));
      const answer = await test(id, netos);
      expect(answer).toMatchObject({ outcome: 'failed', 'parsed-results': [] });
      expect(answer.error.detail).not.toBe('');
      return answer.error.code;
    };
    expect(await fault('password', { password: 'guess' })).toBe('authentication');
    expect(await fault('closed', { port: 1 })).toBe('connection-refused');
    expect(await fault('unknown-ca', { ca: '' })).toBe('tls-untrusted');
    expect(await fault('name', { 'server-name': 'other.example' })).toBe('tls-name-mismatch');
    target.habits.refusedOrigin = 'native';
    expect(await fault('origin', {}, 'junos')).toBe('unknown-origin');
    target.habits.encodings = ['ascii'];
    expect(await fault('encoding', {})).toBe('encoding-unsupported');
  });
});

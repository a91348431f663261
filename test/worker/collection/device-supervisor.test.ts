import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StreamPlan } from '../../../core/collection-plan.ts';
import type { LiveTestFindings } from '../../../core/live-test.ts';
import { DeviceSupervisor } from '../../../worker/collection/device-supervisor.ts';
import { JobLoop } from '../../../worker/collection/jobs.ts';
import { type Emulators, runAs, startEmulators } from '../../support/stack.ts';
import { type FakeWorker, startFakeWorker } from '../../support/topology-worker.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies member by member.
type Body = any;

let emulators: Emulators;
let worker: FakeWorker;
const opened: StreamPlan[] = [];
const stopped: StreamPlan[] = [];
let supervisor: DeviceSupervisor;

beforeAll(async () => {
  emulators = await startEmulators({ as: 'worker' });
  worker = await startFakeWorker('w-1');
  supervisor = new DeviceSupervisor(
    {
      workerId: 'w-1',
      mayAct: () => true,
      isAlive: (id) => id === 'w-1',
      candidates: () => [{ id: 'w-1' }],
      observe: async () => {},
    },
    {
      monotonic: () => performance.now(),
      collect: () => undefined,
      open: {
        gnmi: (plan) => {
          opened.push(plan);
          return {
            figures: () => FIGURES,
            latest: () => ({ bytes: new Uint8Array(0), ends: [] }),
            stop: async () => {
              stopped.push(plan);
            },
          };
        },
      },
    },
  );
});

afterAll(() => emulators.stop());

const FIGURES = {
  state: 'streaming',
  encoding: 'proto',
  lastSuccess: '2026-11-21T03:00:00.000Z',
  lastError: null,
  updates: 10,
  rows: 2,
  drops: 0,
  coercionErrors: 0,
  cycleIncomplete: 0,
  clockSkew: 0,
  unmatchedPaths: ['/interface/mtu'],
} as const;

async function call(method: string, path: string, body?: unknown): Promise<{ status: number; json: Body }> {
  await worker.beat(Date.now());
  const answer = await emulators.send({
    method,
    path,
    headers: { authorization: `Bearer ${emulators.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.status, answer.text).toBeLessThan(300);
  return { status: answer.status, json: answer.text === '' ? undefined : JSON.parse(answer.text) };
}

const round = () =>
  runAs('worker', async () => {
    await supervisor.round();
    await supervisor.publishUrgent();
  });

describe('from what is configured to the streams of a worker', () => {
  it('opens what the API asks for, tells its status, and on edits touches only the streams concerned', async () => {
    const model = (await call('POST', '/api/v1/models', { name: 'interfaces' })).json;
    const field = (await call('POST', `/api/v1/models/${model.id}/fields`, { name: 'in', type: 'counter64' }))
      .json;
    const mappingBody = { protocol: 'gnmi', netos: '*', field_mappings: { in: '/interface/in' } };
    const mapping = (await call('POST', `/api/v1/models/${model.id}/mappings`, mappingBody)).json;
    await call('PUT', `/api/v1/models/${model.id}`, { active: true });
    const device = { address: '192.0.2.1', netos: 'eos', enabled: true, gnmi: {} };
    const first = (await call('POST', '/api/v1/devices', { ...device, name: 'leaf1' })).json;
    const second = (await call('POST', '/api/v1/devices', { ...device, name: 'leaf2' })).json;
    const subscribe = (name: string, ids: number[]) =>
      call('POST', '/api/v1/subscriptions', {
        name,
        enabled: true,
        'model-name': 'interfaces',
        'model-version': 'latest',
        mode: 'sample',
        'interval-ms': 1_000,
        devices: { ids },
      });
    const subscription = (await subscribe('both', [first.id, second.id])).json;
    await round();
    expect(opened.map((plan) => plan.device.configuration.name)).toEqual(['leaf1', 'leaf2']);
    const seen = (await call('GET', `/api/v1/subscriptions/${subscription.id}`)).json;
    expect(seen.reason).toBe('');
    expect(seen.status[0]).toMatchObject({
      device: 'leaf1',
      state: 'streaming',
      protocol: 'gnmi',
      'mapping-id': mapping.id,
      'model-version': '1.0.0',
      encoding: 'proto',
      'unmatched-paths': ['/interface/mtu'],
    });
    const shown = (await call('GET', `/api/v1/devices/${first.id}`)).json.status;
    expect(shown).toMatchObject({ worker: 'w-1', reason: '', gnmi: { state: 'connected' }, snmp: null });

    await call('PUT', `/api/v1/devices/${second.id}`, { ...second, address: '192.0.2.2' });
    await round();
    expect(opened.slice(2).map((plan) => plan.device.configuration.address)).toEqual(['192.0.2.2']);
    await call('PUT', `/api/v1/devices/${first.id}`, { ...first, labels: { site: 'ber' } });
    await call('PUT', `/api/v1/models/${model.id}`, { description: 'of interfaces' });
    await round();
    expect(opened.length).toBe(3);
    await call('PUT', `/api/v1/models/${model.id}/fields/${field.id}`, {
      name: 'in-octets',
      type: 'counter64',
    });
    await round();
    expect(opened.length).toBe(5);

    const next = (await call('POST', `/api/v1/models/${model.id}/new-version`)).json;
    await round();
    expect(opened.length).toBe(5);
    await call('PUT', `/api/v1/models/${next.id}`, { active: true });
    await round();
    expect(opened.slice(5).map((plan) => plan.model.version)).toEqual(['1.1.0', '1.1.0']);

    await call('DELETE', `/api/v1/subscriptions/${subscription.id}`);
    await call('DELETE', `/api/v1/devices/${second.id}`);
    await round();
    expect(stopped.length).toBe(opened.length);
  });
});

describe('live tests', () => {
  it('go through the queue to a worker and come back digit for digit, or say what no worker speaks', async () => {
    const findings: LiveTestFindings = {
      error: null,
      parsedResults: [
        '{"path":"/interface[name=a]","key":"a","timestamp":"","data":{"in":18446744073709551615}}',
      ],
      rawUpdates: [
        { timestamp: '', path: '/interface[name=a]/in', type: 'uint', value: '18446744073709551615' },
      ],
      explanation: {
        protocol: 'gnmi',
        rpc: 'subscribe-once',
        encoding: 'proto',
        sync: true,
        updates: 1,
        ms: 5,
        fields: [],
        'unmatched-paths': [],
      },
    };
    const jobs = new JobLoop({
      testers: { gnmi: async () => findings },
      now: () => new Date(),
      mayAct: () => true,
    });
    runAs('worker', () => jobs.start());
    try {
      const model = (await call('POST', '/api/v1/models', { name: 'tested' })).json;
      const path = `/api/v1/models/${model.id}`;
      const mapping = async (protocol: string) =>
        (await call('POST', `${path}/mappings`, { protocol, netos: '*', field_mappings: {} })).json;
      const device = { name: 'tested', address: '192.0.2.9', netos: 'eos', gnmi: {}, snmp: {} };
      const { id } = (await call('POST', '/api/v1/devices', device)).json;
      const test = async (mappingId: number) => {
        await worker.beat(Date.now());
        const answer = await emulators.send({
          method: 'POST',
          path: `${path}/test`,
          headers: { authorization: `Bearer ${emulators.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ 'device-id': id, 'mapping-id': mappingId }),
        });
        expect(answer.status, answer.text).toBe(200);
        return answer;
      };
      const ok = await test((await mapping('gnmi')).id);
      expect(ok.text).toContain('"data":{"in":18446744073709551615}');
      expect(JSON.parse(ok.text)).toMatchObject({
        device: 'tested',
        'model-name': 'tested',
        'model-version': '1.0.0',
        outcome: 'ok',
        error: null,
        explanation: { rpc: 'subscribe-once', truncated: false },
      });
      const unspoken = JSON.parse((await test((await mapping('snmp')).id)).text);
      expect(unspoken).toMatchObject({
        outcome: 'failed',
        error: { code: 'unimplemented', detail: 'this worker does not speak snmp yet' },
        'parsed-results': [],
      });
    } finally {
      await jobs.stop(3_000);
    }
  });
});

import { expect } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { type ContractCase, get, post, put, remove } from './contract-case.ts';
import { createdDevice } from './device-cases.ts';
import { activate, addField, addMapping, createdModel, freshName, refusalsOf } from './model-cases.ts';

const SUBSCRIPTIONS = '/api/v1/subscriptions';

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies member by member.
type Body = any;

async function subscription(api: ApiClient, members: Record<string, unknown> = {}): Promise<Body> {
  return {
    name: freshName('subscription'),
    'model-name': members['model-name'] ?? (await createdModel(api)).name,
    'model-version': 'latest',
    mode: 'sample',
    'interval-ms': 10_000,
    ...members,
  };
}

async function created(api: ApiClient, members: Record<string, unknown> = {}): Promise<Body> {
  const answer = await post(api, SUBSCRIPTIONS, await subscription(api, members));
  expect(answer.status, answer.text).toBe(201);
  return answer.json;
}

const BOUNDS: ReadonlyArray<{ member: string; legal: unknown[]; illegal: [unknown, string][] }> = [
  {
    member: 'mode',
    legal: ['sample', 'poll'],
    illegal: [
      ['stream', 'invalid-format'],
      [1, 'wrong-type'],
    ],
  },
  {
    member: 'interval-ms',
    legal: [1_000, 86_400_000],
    illegal: [
      [0, 'out-of-range'],
      [999, 'out-of-range'],
      [86_400_001, 'out-of-range'],
      ['10s', 'wrong-type'],
    ],
  },
  {
    member: 'heartbeat-ms',
    legal: [0, 1_000, 86_400_000],
    illegal: [
      [1, 'out-of-range'],
      [-1, 'out-of-range'],
    ],
  },
  { member: 'protocol', legal: ['', 'gnmi', 'snmp'], illegal: [['netconf', 'invalid-format']] },
  {
    member: 'model-version',
    legal: ['latest', '1.0.0'],
    illegal: [
      ['1.0', 'invalid-format'],
      ['newest', 'invalid-format'],
    ],
  },
  { member: 'enabled', legal: [true, false], illegal: [['yes', 'wrong-type']] },
];

export const subscriptionCases: readonly ContractCase[] = [
  {
    sentence: 'a subscription comes back with zero values for what was left out and the reason why it idles',
    run: async (api) => {
      const asked = await subscription(api);
      const answer = await post(api, SUBSCRIPTIONS, asked);
      expect(answer.status, answer.text).toBe(201);
      expect(answer.json).toEqual({
        id: expect.any(Number),
        description: '',
        enabled: false,
        devices: { ids: [], labels: {} },
        protocol: '',
        'heartbeat-ms': 0,
        'model-id': null,
        reason: 'disabled',
        status: [],
        ...asked,
      });
      expect(answer.headers['location']).toBe(`${SUBSCRIPTIONS}/${answer.json.id}`);
    },
  },
  ...BOUNDS.map(
    ({ member, legal, illegal }): ContractCase => ({
      sentence: `a subscription's ${member} is taken within its bounds and refused beyond them`,
      run: async (api) => {
        const { name } = await createdModel(api);
        for (const value of legal) {
          const body = await subscription(api, { 'model-name': name, [member]: value });
          const answer = await post(api, SUBSCRIPTIONS, body);
          expect(answer.status, `${value} ${answer.text}`).toBe(201);
          expect(answer.json[member]).toBe(value);
        }
        for (const [value, code] of illegal) {
          const body = await subscription(api, { 'model-name': name, [member]: value });
          expect(refusalsOf(await post(api, SUBSCRIPTIONS, body)), String(value)).toEqual([
            `/${member} ${code}`,
          ]);
        }
      },
    }),
  ),
  {
    sentence: 'on-change needs no interval, and SNMP cannot do it',
    run: async (api) => {
      await created(api, { mode: 'on-change', 'interval-ms': 0 });
      const body = await subscription(api, { mode: 'on-change', protocol: 'snmp' });
      expect(refusalsOf(await post(api, SUBSCRIPTIONS, body))).toEqual(['/mode invalid-format']);
    },
  },
  {
    sentence: 'models and devices that are not there are named: 400 unknown-reference',
    run: async (api) => {
      const model = await createdModel(api);
      const known = await createdDevice(api);
      const body = await subscription(api, {
        'model-name': model.name,
        'model-version': '9.9.9',
        devices: { ids: [known.id, 999_999_999] },
      });
      expect(refusalsOf(await post(api, SUBSCRIPTIONS, body))).toEqual([
        '/model-version unknown-reference',
        '/devices/ids/1 unknown-reference',
      ]);
      const nameless = await subscription(api, { 'model-name': freshName() });
      expect(refusalsOf(await post(api, SUBSCRIPTIONS, nameless))).toEqual(['/model-name unknown-reference']);
    },
  },
  {
    sentence: 'latest is the active version activated last, and falls back when that is deactivated',
    run: async (api) => {
      const first = await createdModel(api);
      const second = (await post(api, `/api/v1/models/${first.id}/new-version`, undefined)).json;
      const { id } = await created(api, { 'model-name': first.name, enabled: true });
      const follows = async () => {
        const { json } = await get(api, `${SUBSCRIPTIONS}/${id}`);
        return [json['model-id'], json.reason === 'no-active-version'];
      };
      expect(await follows()).toEqual([null, true]);
      await activate(api, first.id);
      expect(await follows()).toEqual([first.id, false]);
      await activate(api, second.id);
      expect(await follows()).toEqual([second.id, false]);
      // Activating what is active is no activation; going back takes a deactivation first.
      await activate(api, first.id);
      expect(await follows()).toEqual([second.id, false]);
      await activate(api, first.id, false);
      await activate(api, first.id);
      expect(await follows()).toEqual([first.id, false]);
      await activate(api, first.id, false);
      expect(await follows()).toEqual([second.id, false]);
      await activate(api, second.id, false);
      expect(await follows()).toEqual([null, true]);
    },
  },
  {
    sentence: 'a pinned version stays the same model through renames and activations of others',
    run: async (api) => {
      const model = await createdModel(api);
      const { id } = await created(api, {
        'model-name': model.name,
        'model-version': '1.0.0',
        enabled: true,
      });
      expect((await get(api, `${SUBSCRIPTIONS}/${id}`)).json).toMatchObject({
        'model-id': model.id,
        reason: 'model-inactive',
      });
      const name = freshName();
      await put(api, `/api/v1/models/${model.id}`, { name });
      const other = await createdModel(api, { name: model.name });
      await activate(api, other.id);
      const seen = await get(api, `${SUBSCRIPTIONS}/${id}`);
      expect(seen.json).toMatchObject({ 'model-id': model.id, 'model-name': name });
      const same = await put(api, `${SUBSCRIPTIONS}/${id}`, seen.json, {
        'if-match': seen.headers['etag'] ?? '',
      });
      expect([same.status, same.headers['etag']]).toEqual([200, seen.headers['etag']]);
    },
  },
  {
    sentence: 'devices are those named and those with all labels, each with its status or why there is none',
    run: async (api) => {
      const role = freshName('role').replaceAll(' ', '-');
      const named = await createdDevice(api, { netos: 'eos' });
      const labelled = await createdDevice(api, { labels: { role, site: 'ber' }, snmp: {} });
      await createdDevice(api, { labels: { site: 'ber' } });
      const model = await createdModel(api);
      await addField(api, model.id, 'in');
      const mapping = await addMapping(api, model.id, { netos: 'srlinux' });
      await activate(api, model.id);
      const made = await created(api, {
        'model-name': model.name,
        enabled: true,
        devices: { ids: [named.id], labels: { role, site: 'ber' } },
      });
      expect(made['model-id']).toBe(model.id);
      expect(made.status.map((entry: Body) => entry['device-id'])).toEqual([named.id, labelled.id]);
      expect(made.status[0].device).toBe(named.name);
      if (made.reason === '') {
        expect(made.status[0].reason).toBe(
          'looked for a mapping for gnmi and eos or * and snmp settings of the device',
        );
      }
      expect(mapping.warnings).toEqual([]);
    },
  },
  {
    sentence: 'a subscription whose labels no device has says no-devices, and no more once one has them',
    run: async (api) => {
      const role = freshName('role').replaceAll(' ', '-');
      const model = await createdModel(api);
      await activate(api, model.id);
      const members = { 'model-name': model.name, enabled: true, devices: { labels: { role } } };
      const made = await created(api, members);
      expect([made.reason, made.status]).toEqual(['no-devices', []]);
      await createdDevice(api, { labels: { role } });
      const seen = await get(api, `${SUBSCRIPTIONS}/${made.id}`);
      expect([seen.json.reason, seen.json.status.length]).toEqual(['no-mapping', 1]);
    },
  },
  {
    sentence: 'what a subscription uses cannot be deleted: 409 with its id',
    run: async (api) => {
      const model = await createdModel(api);
      const device = await createdDevice(api);
      const pinned = await created(api, {
        'model-name': model.name,
        'model-version': '1.0.0',
        devices: { ids: [device.id] },
      });
      for (const path of [`/api/v1/models/${model.id}`, `/api/v1/devices/${device.id}`]) {
        const answer = await remove(api, path);
        expect([answer.status, answer.json?.['conflicting-id']], path).toEqual([409, pinned.id]);
      }
      expect((await remove(api, `${SUBSCRIPTIONS}/${pinned.id}`)).status).toBe(204);
      expect((await remove(api, `/api/v1/models/${model.id}`)).status).toBe(204);
      expect((await remove(api, `/api/v1/devices/${device.id}`)).status).toBe(204);
      const tracked = await createdModel(api);
      const tracker = await created(api, { 'model-name': tracked.name });
      expect((await remove(api, `/api/v1/models/${tracked.id}`)).json['conflicting-id']).toBe(tracker.id);
    },
  },
  {
    sentence: 'a subscription racing the removal of its model or device never leaves one without the other',
    run: async (api) => {
      for (let round = 0; round < 4; round += 1) {
        const model = await createdModel(api);
        const device = await createdDevice(api);
        const body = await subscription(api, {
          'model-name': model.name,
          'model-version': '1.0.0',
          devices: { ids: [device.id] },
        });
        const [made, ...gone] = await Promise.all([
          post(api, SUBSCRIPTIONS, body),
          remove(api, `/api/v1/models/${model.id}`),
          remove(api, `/api/v1/devices/${device.id}`),
        ]);
        const statuses = gone.map(({ status }) => status);
        if (made.status === 201) expect(statuses).toEqual([409, 409]);
        else {
          expect(refusalsOf(made).join()).toContain('unknown-reference');
          expect(statuses).toContain(204);
        }
      }
    },
  },
  {
    sentence: 'GET, then PUT of the same with its ETag, is 200 and changes nothing; stale is 412',
    run: async (api) => {
      const labels = { site: 'ber', a: 'b' };
      const made = await created(api, {
        devices: { ids: [], labels },
        description: 'x',
        'heartbeat-ms': 60_000,
      });
      const path = `${SUBSCRIPTIONS}/${made.id}`;
      const seen = await get(api, path);
      const same = await put(api, path, seen.json, { 'if-match': seen.headers['etag'] ?? '' });
      expect([same.status, same.headers['etag']]).toEqual([200, '"1"']);
      expect(same.json).toEqual(seen.json);
      expect((await put(api, path, { ...seen.json, enabled: true })).headers['etag']).toBe('"2"');
      expect((await put(api, path, seen.json, { 'if-match': '"1"' })).status).toBe(412);
      expect(refusalsOf(await put(api, path, { name: 'x' })).toSorted()).toEqual([
        '/mode required',
        '/model-name required',
        '/model-version required',
      ]);
      expect((await remove(api, path)).status).toBe(204);
      expect((await get(api, path)).status).toBe(404);
    },
  },
  {
    sentence: 'a live test needs a device and a mapping that are there',
    run: async (api) => {
      const model = await createdModel(api);
      const path = `/api/v1/models/${model.id}/test`;
      expect(refusalsOf(await post(api, path, { 'device-id': 999_999_999, 'mapping-id': 1 }))).toEqual([
        '/device-id unknown-reference',
        '/mapping-id unknown-reference',
      ]);
      expect(refusalsOf(await post(api, path, { 'device-id': 'x' }))).toEqual([
        '/device-id wrong-type',
        '/mapping-id required',
      ]);
      expect(
        (await post(api, '/api/v1/models/999999999/test', { 'device-id': 1, 'mapping-id': 1 })).status,
      ).toBe(404);
    },
  },
];

import { expect } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { type ContractCase, freshAddress, get, post, put, remove } from './contract-case.ts';
import { freshName, refusalsOf } from './model-cases.ts';

const DEVICES = '/api/v1/devices';

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies member by member.
type Body = any;

export function device(members: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: freshName('device'), address: freshAddress(), netos: 'srlinux', gnmi: {}, ...members };
}

export async function createdDevice(api: ApiClient, members: Record<string, unknown> = {}): Promise<Body> {
  const answer = await post(api, DEVICES, device(members));
  expect(answer.status, answer.text).toBe(201);
  return answer.json;
}

const GNMI_ZEROS = {
  port: 0,
  tls: '',
  ca: '',
  'client-certificate': '',
  'client-key': '',
  'server-name': '',
  username: '',
  password: '',
  target: '',
};

const SNMP_V3 = {
  version: 'v3',
  user: 'mon',
  'auth-protocol': 'sha-256',
  'auth-password': 'authpass1',
  'priv-protocol': 'aes-128',
  'priv-password': 'privpass1',
};

/** The last legal and the first illegal of what each member takes. */
const BOUNDS: ReadonlyArray<{ at: string; legal: unknown[]; illegal: [unknown, string][] }> = [
  {
    at: '/netos',
    legal: ['a', 'x'.repeat(64), 'ios-xe_17.3'],
    illegal: [
      ['', 'invalid-format'],
      ['*', 'invalid-format'],
      ['EOS', 'invalid-format'],
      ['x'.repeat(65), 'invalid-format'],
      [7, 'wrong-type'],
    ],
  },
  {
    at: '/address',
    legal: ['router-1.example.net', '2001:DB8::1', '198.51.100.7', 'localhost'],
    illegal: [
      ['', 'invalid-format'],
      ['a b', 'invalid-format'],
      ['256.1.1.1', 'invalid-format'],
      ['2130706433', 'invalid-format'],
      ['0x7f.1', 'invalid-format'],
      ['http://x', 'invalid-format'],
      ['169.254.169.254', 'address-not-allowed'],
      ['::ffff:169.254.169.254', 'address-not-allowed'],
      ['64:ff9b::a9fe:a9fe', 'address-not-allowed'],
      ['fd00:ec2::254', 'address-not-allowed'],
      ['fe80::1', 'address-not-allowed'],
      ['2001:db8::1%eth0', 'address-not-allowed'],
      ['224.0.0.1', 'address-not-allowed'],
      ['0.0.0.0', 'address-not-allowed'],
    ],
  },
  {
    at: '/labels',
    legal: [{}, { site: 'ber', 'a/b.c': '' }],
    illegal: [
      [[], 'wrong-type'],
      [null, 'wrong-type'],
    ],
  },
  {
    at: '/gnmi/port',
    legal: [0, 1, 65_535],
    illegal: [
      [-1, 'out-of-range'],
      [65_536, 'out-of-range'],
      ['1', 'wrong-type'],
    ],
  },
  {
    at: '/gnmi/tls',
    legal: ['', 'verify', 'skip-verify', 'off'],
    illegal: [
      ['on', 'invalid-format'],
      [true, 'wrong-type'],
    ],
  },
  {
    at: '/gnmi/ca',
    legal: ['', '-----BEGIN CERTIFICATE-----\n'],
    illegal: [['/etc/ca.pem', 'invalid-format']],
  },
  {
    at: '/snmp/max-repetitions',
    legal: [0, 1, 127],
    illegal: [
      [128, 'out-of-range'],
      [-1, 'out-of-range'],
    ],
  },
  {
    at: '/snmp/timeout-ms',
    legal: [0, 100, 20_000],
    illegal: [
      [99, 'out-of-range'],
      [20_001, 'out-of-range'],
    ],
  },
  {
    at: '/snmp/retries',
    legal: [0, 10],
    illegal: [
      [11, 'out-of-range'],
      [-1, 'out-of-range'],
      [1.5, 'wrong-type'],
    ],
  },
  { at: '/snmp/version', legal: ['', 'v1', 'v2c'], illegal: [['2c', 'invalid-format']] },
  {
    at: '/snmp/engine-id',
    legal: ['', '8000000001', '8000000001AF'],
    illegal: [
      ['80', 'invalid-format'],
      ['zz', 'invalid-format'],
    ],
  },
  { at: '/snmp/auth-protocol', legal: ['', 'md5', 'sha-512'], illegal: [['sha', 'invalid-format']] },
  { at: '/snmp/priv-protocol', legal: ['', 'des', 'aes-256-reeder'], illegal: [['aes', 'invalid-format']] },
];

function withMember(at: string, value: unknown): Record<string, unknown> {
  const [, first, second] = at.split('/') as [string, string, string?];
  return device(second === undefined ? { [first]: value } : { [first]: { [second]: value } });
}

const boundCases: ContractCase[] = BOUNDS.map(({ at, legal, illegal }) => ({
  sentence: `a device's ${at.slice(1)} is taken within its bounds and refused beyond them`,
  run: async (api) => {
    for (const value of legal) {
      const answer = await post(api, DEVICES, withMember(at, value));
      expect(answer.status, `${at} ${JSON.stringify(value)} ${answer.text}`).toBe(201);
    }
    for (const [value, code] of illegal) {
      expect(refusalsOf(await post(api, DEVICES, withMember(at, value))), String(value)).toEqual([
        `${at} ${code}`,
      ]);
    }
  },
}));

export const deviceCases: readonly ContractCase[] = [
  {
    sentence:
      'a device comes back with zero values for what was left out, and settings that it lacks as null',
    run: async (api) => {
      const asked = device();
      const answer = await post(api, DEVICES, asked);
      expect(answer.status, answer.text).toBe(201);
      expect(answer.json).toEqual({
        id: expect.any(Number),
        ...asked,
        labels: {},
        enabled: false,
        gnmi: GNMI_ZEROS,
        snmp: null,
        status: { worker: '', reason: 'disabled', gnmi: null, snmp: null },
      });
      expect(answer.headers['location']).toBe(`${DEVICES}/${answer.json.id}`);
      expect((await get(api, DEVICES)).json.map((item: Body) => item.id)).toContain(answer.json.id);
    },
  },
  ...boundCases,
  {
    sentence: 'a device speaks gNMI or SNMP: neither is refused, and so is what SNMPv3 lacks',
    run: async (api) => {
      expect(refusalsOf(await post(api, DEVICES, device({ gnmi: null })))).toEqual(['/gnmi required']);
      const bare = device({ snmp: { version: 'v3', 'priv-protocol': 'des', 'priv-password': 'short' } });
      expect(refusalsOf(await post(api, DEVICES, bare)).toSorted()).toEqual([
        '/snmp/auth-protocol required',
        '/snmp/priv-password out-of-range',
        '/snmp/user required',
      ]);
      const keyless = device({ gnmi: { 'client-certificate': '-----BEGIN CERTIFICATE-----' } });
      expect(refusalsOf(await post(api, DEVICES, keyless))).toEqual(['/gnmi/client-key required']);
      expect(refusalsOf(await post(api, DEVICES, device({ snmp: { comunity: 'x' } })))).toEqual([
        '/snmp/comunity unknown-member',
      ]);
    },
  },
  {
    sentence: 'secrets are never read back: the mask stands for what is stored, empty for nothing',
    run: async (api) => {
      const made = await createdDevice(api, { gnmi: { username: 'u', password: 'hunter22' }, snmp: SNMP_V3 });
      expect(made.gnmi).toMatchObject({ username: 'u', password: '********', 'client-key': '' });
      expect(made.snmp).toMatchObject({
        community: '',
        'auth-password': '********',
        'priv-password': '********',
      });
      const { text } = await get(api, `${DEVICES}/${made.id}`);
      for (const secret of ['hunter22', 'authpass1', 'privpass1']) expect(text).not.toContain(secret);
    },
  },
  {
    sentence: 'the mask keeps a stored secret, omitted or empty clears it, the mask for nothing is refused',
    run: async (api) => {
      const made = await createdDevice(api, { gnmi: { username: 'u', password: 'hunter22' } });
      const path = `${DEVICES}/${made.id}`;
      const kept = await put(api, path, { ...made, name: freshName('device') });
      expect(kept.json.gnmi.password).toBe('********');
      const cleared = await put(api, path, { ...made, gnmi: { username: 'u' } });
      expect(cleared.json.gnmi).toMatchObject({ username: 'u', password: '' });
      expect(refusalsOf(await put(api, path, made))).toEqual(['/gnmi/password mask-without-secret']);
      expect(refusalsOf(await post(api, DEVICES, device({ snmp: { community: '********' } })))).toEqual([
        '/snmp/community mask-without-secret',
      ]);
    },
  },
  {
    sentence: 'the mask does not carry a secret to another address',
    run: async (api) => {
      const made = await createdDevice(api, {
        gnmi: { password: 'hunter22' },
        snmp: { community: 'private' },
      });
      const path = `${DEVICES}/${made.id}`;
      expect(refusalsOf(await put(api, path, { ...made, address: freshAddress() }))).toEqual([
        '/gnmi/password secret-for-new-address',
        '/snmp/community secret-for-new-address',
      ]);
      const moved = { ...made, address: freshAddress(), gnmi: { password: 'hunter23' }, snmp: null };
      expect((await put(api, path, moved)).status).toBe(200);
    },
  },
  {
    sentence: 'GET, then PUT of the same with its ETag, is 200 and changes nothing',
    run: async (api) => {
      const labels = { z: '1', a: '2' };
      const made = await createdDevice(api, { gnmi: { password: 'hunter22' }, snmp: SNMP_V3, labels });
      const path = `${DEVICES}/${made.id}`;
      const seen = await get(api, path);
      const same = await put(api, path, seen.json, { 'if-match': seen.headers['etag'] ?? '' });
      expect(same.status, same.text).toBe(200);
      // Its status is live: a worker may have looked at the device between the two.
      expect({ ...same.json, status: null }).toEqual({ ...seen.json, status: null });
      expect(same.headers['etag']).toBe('"1"');
      const changed = await put(api, path, { ...seen.json, enabled: true });
      expect(changed.headers['etag']).toBe('"2"');
      expect((await put(api, path, seen.json, { 'if-match': '"1"' })).status).toBe(412);
    },
  },
  {
    sentence: 'a device name is unique: 409 with the id in the way, also for a rename',
    run: async (api) => {
      const first = await createdDevice(api);
      const second = await createdDevice(api);
      const again = await post(api, DEVICES, device({ name: first.name }));
      expect([again.status, again.json['conflicting-id']]).toEqual([409, first.id]);
      const renamed = await put(api, `${DEVICES}/${second.id}`, { ...second, name: first.name });
      expect([renamed.status, renamed.json['conflicting-id']]).toEqual([409, first.id]);
      expect((await remove(api, `${DEVICES}/${first.id}`)).status).toBe(204);
      expect((await put(api, `${DEVICES}/${second.id}`, { ...second, name: first.name })).status).toBe(200);
      expect((await get(api, `${DEVICES}/${first.id}`)).status).toBe(404);
    },
  },
];

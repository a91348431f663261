import { expect } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { type ContractCase, freshAddress, get, post, put, remove } from './contract-case.ts';

const PEERS = '/api/bgp/peers';

function peer(members: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: 'rr', 'peer-address': freshAddress(), 'user-peer-as': '65001', ...members };
}

async function created(api: ApiClient, members: Record<string, unknown> = {}) {
  const answer = await post(api, PEERS, peer(members));
  expect(answer.status, answer.text).toBe(201);
  return answer.json as Record<string, unknown> & { id: number };
}

/** What a body is refused with: pairs of pointer and code. */
async function refusals(api: ApiClient, body: unknown): Promise<string[]> {
  const answer = await post(api, PEERS, body);
  expect(answer.status, answer.text).toBe(400);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(answer.json.type).toBe('urn:graticule:problem:invalid-body');
  for (const error of answer.json.errors) expect(error.detail).toMatch(/\S/);
  return answer.json.errors.map(
    (error: { pointer: string; code: string }) => `${error.pointer} ${error.code}`,
  );
}

async function tokenOf(api: ApiClient, scope: string, expiresAt: string | null = null): Promise<string> {
  const answer = await post(api, '/api/v1/tokens', { name: `case ${scope}`, scope, 'expires-at': expiresAt });
  expect(answer.status).toBe(201);
  return answer.json.token;
}

const ZERO_VALUES = {
  description: '',
  'hold-time': 0,
  'keepalive-time': 0,
  'connect-retry': 0,
  enabled: false,
  'auth-password': '',
  'peer-port': 0,
  'local-address': '',
  passive: false,
  'ttl-security-hops': 0,
  'local-as': '',
  'max-nlri': 0,
  preference: 0,
};

const CONFIGURED = {
  name: 'frankfurt rr',
  description: 'äöü ✓',
  'peer-address': '2001:db8::1',
  'user-peer-as': '64086.59905',
  'hold-time': 30,
  'keepalive-time': 9,
  'connect-retry': 7,
  enabled: false,
  'auth-password': 's3cret',
  'peer-port': 1790,
  'local-address': '2001:db8::2',
  passive: true,
  'ttl-security-hops': 3,
  'local-as': '0.65001',
  'max-nlri': 1000,
  preference: 50,
};

/** Each bound of each field: the last legal value on either side is taken, the first illegal one refused. */
const BOUNDS: ReadonlyArray<{ member: string; legal: unknown[]; illegal: [unknown, string][] }> = [
  {
    member: 'name',
    legal: ['a', 'x'.repeat(255), '✓'.repeat(255), '<script>'],
    illegal: [
      ['', 'out-of-range'],
      ['x'.repeat(256), 'out-of-range'],
      [' \t ', 'invalid-format'],
      ['a\u0000b', 'invalid-format'],
      ['a\nb', 'invalid-format'],
      [7, 'wrong-type'],
      [null, 'wrong-type'],
    ],
  },
  {
    member: 'description',
    legal: ['', 'x'.repeat(1024), 'two\nlines'],
    illegal: [
      ['x'.repeat(1025), 'out-of-range'],
      [false, 'wrong-type'],
    ],
  },
  {
    member: 'user-peer-as',
    legal: ['1', '65535', '65536', '4294967295', '0.1', '0.65535', '1.0', '65535.65535'],
    illegal: [
      ['0', 'out-of-range'],
      ['0.0', 'out-of-range'],
      ['23456', 'out-of-range'],
      ['0.23456', 'out-of-range'],
      ['4294967296', 'invalid-format'],
      ['65536.0', 'invalid-format'],
      ['1.65536', 'invalid-format'],
      ['065001', 'invalid-format'],
      ['1.01', 'invalid-format'],
      ['-1', 'invalid-format'],
      ['+1', 'invalid-format'],
      ['65001 ', 'invalid-format'],
      ['AS65001', 'invalid-format'],
      ['1.2.3', 'invalid-format'],
      ['', 'invalid-format'],
      [65001, 'wrong-type'],
    ],
  },
  {
    member: 'peer-address',
    legal: ['192.0.2.200', '2001:DB8:0:0::200', '::ffff:198.51.100.200'],
    illegal: [
      ['', 'invalid-format'],
      ['router1', 'invalid-format'],
      ['192.0.2', 'invalid-format'],
      ['192.0.2.256', 'invalid-format'],
      ['192.0.2.01', 'invalid-format'],
      ['192.0.2.1/24', 'invalid-format'],
      ['[2001:db8::1]', 'invalid-format'],
      ['3232235777', 'invalid-format'],
      ['2001:db8::1::2', 'invalid-format'],
      ['fe80::1%eth0', 'address-not-allowed'],
      ['fe80::1', 'address-not-allowed'],
      ['169.254.1.1', 'address-not-allowed'],
      ['169.254.169.254', 'address-not-allowed'],
      ['::ffff:169.254.169.254', 'address-not-allowed'],
      ['64:ff9b::a9fe:a9fe', 'address-not-allowed'],
      ['fd00:ec2::254', 'address-not-allowed'],
      ['224.0.0.5', 'address-not-allowed'],
      ['ff02::5', 'address-not-allowed'],
      ['0.0.0.0', 'address-not-allowed'],
      ['::', 'address-not-allowed'],
      ['255.255.255.255', 'address-not-allowed'],
      [167772161, 'wrong-type'],
    ],
  },
  {
    member: 'hold-time',
    legal: [0, 3, 65535],
    illegal: [
      [1, 'out-of-range'],
      [2, 'out-of-range'],
      [65536, 'out-of-range'],
      [-1, 'out-of-range'],
      [3.5, 'wrong-type'],
      ['90', 'wrong-type'],
    ],
  },
  {
    member: 'keepalive-time',
    legal: [0, 1, 89],
    illegal: [
      [90, 'out-of-range'],
      [21846, 'out-of-range'],
      [-1, 'out-of-range'],
      [true, 'wrong-type'],
    ],
  },
  {
    member: 'connect-retry',
    legal: [0, 1, 65535],
    illegal: [
      [65536, 'out-of-range'],
      [-1, 'out-of-range'],
      ['', 'wrong-type'],
    ],
  },
  {
    member: 'enabled',
    legal: [true, false],
    illegal: [
      [1, 'wrong-type'],
      ['true', 'wrong-type'],
      [null, 'wrong-type'],
    ],
  },
  {
    member: 'auth-password',
    legal: ['', 'x'.repeat(80), 'é'.repeat(40), '*******'],
    illegal: [
      ['x'.repeat(81), 'out-of-range'],
      ['é'.repeat(41), 'out-of-range'],
      [1234, 'wrong-type'],
    ],
  },
  {
    member: 'peer-port',
    legal: [0, 1, 65535],
    illegal: [
      [65536, 'out-of-range'],
      [-1, 'out-of-range'],
    ],
  },
  {
    member: 'local-address',
    legal: ['', '192.0.2.9'],
    illegal: [
      ['2001:db8::9', 'invalid-format'],
      ['eth0', 'invalid-format'],
      ['224.0.0.1', 'address-not-allowed'],
    ],
  },
  { member: 'passive', legal: [true, false], illegal: [['no', 'wrong-type']] },
  {
    member: 'ttl-security-hops',
    legal: [0, 1, 254],
    illegal: [
      [255, 'out-of-range'],
      [-1, 'out-of-range'],
    ],
  },
  {
    member: 'local-as',
    legal: ['', '65001', '1.1'],
    illegal: [
      ['0', 'out-of-range'],
      ['x', 'invalid-format'],
      [1, 'wrong-type'],
    ],
  },
  {
    member: 'max-nlri',
    legal: [0, 1, 10_000_000],
    illegal: [
      [10_000_001, 'out-of-range'],
      [-1, 'out-of-range'],
    ],
  },
  {
    member: 'preference',
    legal: [0, 1, 65535],
    illegal: [
      [65536, 'out-of-range'],
      [-1, 'out-of-range'],
    ],
  },
];

const boundCases: ContractCase[] = BOUNDS.flatMap(({ member, legal, illegal }) => [
  ...legal.map((value) => ({
    sentence: `takes ${member} ${JSON.stringify(value).slice(0, 40)} and gives it back as written`,
    run: async (api: ApiClient) => {
      const answer = await created(api, { [member]: value });
      const shown = member === 'auth-password' && value !== '' ? '********' : value;
      expect(answer[member]).toEqual(shown);
      expect((await remove(api, `${PEERS}/${answer.id}`)).status).toBe(204);
    },
  })),
  ...illegal.map(([value, code]) => ({
    sentence: `refuses ${member} ${JSON.stringify(value).slice(0, 40)} as ${code}`,
    run: async (api: ApiClient) => {
      expect(await refusals(api, peer({ [member]: value }))).toEqual([`/${member} ${code}`]);
    },
  })),
]);

export const peerCases: readonly ContractCase[] = [
  {
    sentence: 'creates a peer with 201, a Location and every member, zeros for what was not given',
    run: async (api) => {
      const body = peer();
      const answer = await post(api, PEERS, body);
      expect(answer.status).toBe(201);
      expect(answer.headers['location']).toBe(`${PEERS}/${answer.json.id}`);
      expect(answer.json).toMatchObject({ ...ZERO_VALUES, ...body });
      expect(Number.isInteger(answer.json.id)).toBe(true);
      expect(answer.json).toMatchObject({
        state: 'idle',
        'messages-sent': 0,
        'messages-received': 0,
        'last-state-change': null,
        'last-error': '',
      });
      expect((await get(api, answer.headers['location'] as string)).json).toMatchObject(body);
    },
  },
  {
    sentence: 'gives every configured member back as written, the password as the mask',
    run: async (api) => {
      const answer = await post(api, PEERS, CONFIGURED);
      expect(answer.status, answer.text).toBe(201);
      expect(answer.json).toMatchObject({ ...CONFIGURED, 'auth-password': '********' });
      await remove(api, `${PEERS}/${answer.json.id}`);
    },
  },
  {
    sentence: 'names every required member that is missing, all at once',
    run: async (api) => {
      expect((await refusals(api, {})).sort()).toEqual([
        '/name required',
        '/peer-address required',
        '/user-peer-as required',
      ]);
    },
  },
  {
    sentence: 'reports several faults of one body together',
    run: async (api) => {
      const found = await refusals(api, peer({ 'hold-time': 1, enabled: 'yes', 'hold-tme': 3 }));
      expect(found.sort()).toEqual([
        '/enabled wrong-type',
        '/hold-time out-of-range',
        '/hold-tme unknown-member',
      ]);
    },
  },
  {
    sentence: 'refuses a misspelt member and suggests the nearest one',
    run: async (api) => {
      const answer = await post(
        api,
        PEERS,
        peer({ hold_time: 30, 'peer-adress': '192.0.2.1', colour: 'red' }),
      );
      expect(answer.json.errors.map((error: { detail: string }) => error.detail)).toEqual([
        'did you mean hold-time?',
        'did you mean peer-address?',
        'colour is not a member here',
      ]);
    },
  },
  {
    sentence: 'ignores operational members in a body, whatever their type',
    run: async (api) => {
      const answer = await created(api, {
        id: 999999,
        state: 'established',
        'messages-sent': 'many',
        'messages-received': [],
        'last-state-change': 7,
        'last-error': null,
        session: 'x',
      });
      expect(answer.id).not.toBe(999999);
      expect(answer['state']).toBe('idle');
      expect(answer['messages-sent']).toBe(0);
    },
  },
  {
    sentence: 'wants keepalive-time below the hold time, also below one that is given',
    run: async (api) => {
      expect(await refusals(api, peer({ 'hold-time': 30, 'keepalive-time': 30 }))).toEqual([
        '/keepalive-time out-of-range',
      ]);
      await created(api, { 'hold-time': 30, 'keepalive-time': 29 });
      await created(api, { 'hold-time': 65535, 'keepalive-time': 21845 });
      expect(await refusals(api, peer({ 'hold-time': 65535, 'keepalive-time': 21846 }))).toEqual([
        '/keepalive-time out-of-range',
      ]);
    },
  },
  {
    sentence: 'gives the same body and ETag back unchanged: PUT of a GET is 200 and changes nothing',
    run: async (api) => {
      const { id } = await created(api, { 'auth-password': 'kept', enabled: false });
      const read = await get(api, `${PEERS}/${id}`);
      const written = await put(api, `${PEERS}/${id}`, read.json, {
        'if-match': read.headers['etag'] as string,
      });
      expect(written.status, written.text).toBe(200);
      expect(written.headers['etag']).toBe(read.headers['etag']);
      const { session: before, ...configured } = read.json;
      const { session: after, ...same } = written.json;
      expect(same).toEqual(configured);
      expect(before).toBeTypeOf('object');
      expect(after).toBeTypeOf('object');
    },
  },
  {
    sentence: 'PUT replaces the whole: an omitted member takes its zero value, the password is cleared',
    run: async (api) => {
      const { id, ...before } = await created(api, {
        description: 'gone',
        'hold-time': 30,
        'auth-password': 'secret',
      });
      expect(before['auth-password']).toBe('********');
      const body = { name: 'renamed', 'peer-address': before['peer-address'], 'user-peer-as': '65001' };
      const answer = await put(api, `${PEERS}/${id}`, body);
      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject({ ...ZERO_VALUES, ...body, id });
      expect((await get(api, `${PEERS}/${id}`)).json).toMatchObject({ ...ZERO_VALUES, ...body, id });
    },
  },
  {
    sentence: 'PUT without a required member is a 400',
    run: async (api) => {
      const { id } = await created(api);
      const answer = await put(api, `${PEERS}/${id}`, { name: 'x' });
      expect(answer.status).toBe(400);
    },
  },
  {
    sentence: 'the mask keeps the stored password; a new value sets it; empty clears it',
    run: async (api) => {
      const { id, ...first } = await created(api, { 'auth-password': 'one' });
      const body = peer({ 'peer-address': first['peer-address'] });
      const kept = await put(api, `${PEERS}/${id}`, { ...body, 'auth-password': '********' });
      expect(kept.json['auth-password']).toBe('********');
      const cleared = await put(api, `${PEERS}/${id}`, { ...body, 'auth-password': '' });
      expect(cleared.json['auth-password']).toBe('');
      const refused = await put(api, `${PEERS}/${id}`, { ...body, 'auth-password': '********' });
      expect(refused.status).toBe(400);
      expect(refused.json.errors).toMatchObject([{ pointer: '/auth-password', code: 'mask-without-secret' }]);
      const set = await put(api, `${PEERS}/${id}`, { ...body, 'auth-password': 'two' });
      expect(set.json['auth-password']).toBe('********');
    },
  },
  {
    sentence: 'the mask keeps a peer’s password also when its address changes',
    run: async (api) => {
      const { id } = await created(api, { 'auth-password': 'one' });
      const answer = await put(api, `${PEERS}/${id}`, peer({ 'auth-password': '********' }));
      expect(answer.status).toBe(200);
      expect(answer.json['auth-password']).toBe('********');
    },
  },
  {
    sentence: 'the mask on create, where nothing is stored, is a 400',
    run: async (api) => {
      expect(await refusals(api, peer({ 'auth-password': '********' }))).toEqual([
        '/auth-password mask-without-secret',
      ]);
    },
  },
  {
    sentence: 'refuses a second peer at the same address in any spelling, and names the first',
    run: async (api) => {
      const host = freshAddress();
      const { id } = await created(api, { 'peer-address': host });
      for (const spelling of [host, `::ffff:${host}`]) {
        const answer = await post(api, PEERS, peer({ 'peer-address': spelling }));
        expect(answer.status).toBe(409);
        expect(answer.json).toMatchObject({ type: 'urn:graticule:problem:conflict', 'conflicting-id': id });
      }
      const ipv6 = await created(api, { 'peer-address': '2001:db8:0:0:0:0:0:77' });
      for (const spelling of ['2001:db8::77', '2001:DB8::0077', '2001:0db8:0000::0:77']) {
        const answer = await post(api, PEERS, peer({ 'peer-address': spelling }));
        expect(answer.status, spelling).toBe(409);
        expect(answer.json['conflicting-id']).toBe(ipv6.id);
      }
      await remove(api, `${PEERS}/${ipv6.id}`);
    },
  },
  {
    sentence:
      'the same address is free for another port or local address, and free again after a move or removal',
    run: async (api) => {
      const host = freshAddress();
      const first = await created(api, { 'peer-address': host });
      await created(api, { 'peer-address': host, 'peer-port': 1790 });
      expect((await post(api, PEERS, peer({ 'peer-address': host, 'peer-port': 179 }))).status).toBe(409);
      await created(api, { 'peer-address': host, 'local-address': '10.255.0.1' });
      const moved = await put(api, `${PEERS}/${first.id}`, peer({ 'peer-address': freshAddress() }));
      expect(moved.status).toBe(200);
      const second = await created(api, { 'peer-address': host });
      const back = await put(api, `${PEERS}/${first.id}`, peer({ 'peer-address': host }));
      expect(back.status).toBe(409);
      expect(back.json['conflicting-id']).toBe(second.id);
      await remove(api, `${PEERS}/${second.id}`);
      expect((await put(api, `${PEERS}/${first.id}`, peer({ 'peer-address': host }))).status).toBe(200);
    },
  },
  {
    sentence: 'DELETE is 204 with an empty body; afterwards the id names nothing',
    run: async (api) => {
      const { id } = await created(api);
      const answer = await remove(api, `${PEERS}/${id}`);
      expect(answer.status).toBe(204);
      expect(answer.text).toBe('');
      expect((await get(api, `${PEERS}/${id}`)).status).toBe(404);
      expect((await remove(api, `${PEERS}/${id}`)).status).toBe(404);
      expect((await put(api, `${PEERS}/${id}`, peer())).status).toBe(404);
    },
  },
  {
    sentence: 'a stale If-Match is a 412 for PUT and DELETE and changes nothing; the current one and * pass',
    run: async (api) => {
      const { id, ...first } = await created(api);
      const body = peer({ 'peer-address': first['peer-address'], description: 'second' });
      const changed = await put(api, `${PEERS}/${id}`, body, { 'if-match': '"1"' });
      expect(changed.status).toBe(200);
      expect(changed.headers['etag']).toBe('"2"');
      for (const tag of ['"1"', 'W/"2"', '2', '"nonsense"']) {
        const stale = await put(
          api,
          `${PEERS}/${id}`,
          { ...body, description: 'third' },
          { 'if-match': tag },
        );
        expect(stale.status, tag).toBe(412);
        expect(stale.json.type).toBe('urn:graticule:problem:stale-etag');
      }
      expect((await remove(api, `${PEERS}/${id}`, { 'if-match': '"1"' })).status).toBe(412);
      expect((await get(api, `${PEERS}/${id}`)).json.description).toBe('second');
      expect(
        (await put(api, `${PEERS}/${id}`, { ...body, description: 'third' }, { 'if-match': '*' })).status,
      ).toBe(200);
      expect((await remove(api, `${PEERS}/${id}`, { 'if-match': '"9", "3"' })).status).toBe(204);
    },
  },
  {
    sentence: 'a body that is not JSON is a 400, and nothing of it is repeated in the answer',
    run: async (api) => {
      const json = { 'content-type': 'application/json' };
      for (const rawBody of ['', '{', '{"auth-password":"hunter2"', 'name=rr', '\u0000', '{"a":1}}']) {
        const answer = await api.send({ method: 'POST', path: PEERS, rawBody, headers: json });
        expect(answer.status, rawBody).toBe(400);
        expect(answer.json.type).toBe('urn:graticule:problem:invalid-json');
        expect(answer.text).not.toContain('hunter2');
      }
      const invalidUtf8 = Uint8Array.from([0x22, 0xff, 0x22]);
      expect(
        (await api.send({ method: 'POST', path: PEERS, rawBody: invalidUtf8, headers: json })).status,
      ).toBe(400);
    },
  },
  {
    sentence: 'a JSON body that is no object is a 400',
    run: async (api) => {
      for (const body of [null, [], 'text', 7, true]) {
        expect((await post(api, PEERS, body)).status, String(body)).toBe(400);
      }
    },
  },
  {
    sentence: '__proto__ and constructor are unknown members like any other',
    run: async (api) => {
      const headers = { 'content-type': 'application/json' };
      const rawBody =
        '{"name":"a","peer-address":"192.0.2.77","user-peer-as":"1","__proto__":{"enabled":true},"constructor":1}';
      const answer = await api.send({ method: 'POST', path: PEERS, rawBody, headers });
      expect(answer.status).toBe(400);
      expect(answer.json.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual([
        '/__proto__',
        '/constructor',
      ]);
    },
  },
  {
    sentence: 'another content type, or none, is a 415; parameters of application/json are fine',
    run: async (api) => {
      const rawBody = JSON.stringify(peer());
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/json-patch+json',
        '',
      ]) {
        const answer = await api.send({
          method: 'POST',
          path: PEERS,
          rawBody,
          headers: { 'content-type': type },
        });
        expect(answer.status, type).toBe(415);
      }
      const headers = { 'content-type': 'Application/JSON; charset=utf-8' };
      expect((await api.send({ method: 'POST', path: PEERS, rawBody, headers })).status).toBe(201);
    },
  },
  {
    sentence: 'a body over 1 MiB is a 413',
    run: async (api) => {
      const answer = await post(api, PEERS, peer({ description: 'x'.repeat(1_048_576) }));
      expect(answer.status).toBe(413);
      expect(answer.json.type).toBe('urn:graticule:problem:body-too-large');
    },
  },
  {
    sentence: 'a method that the path does not take is a 405 with Allow',
    run: async (api) => {
      const patched = await api.send({ method: 'PATCH', path: `${PEERS}/1`, body: {} });
      expect(patched.status).toBe(405);
      expect(patched.headers['allow']?.split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'PUT']);
      expect((await api.send({ method: 'DELETE', path: PEERS })).headers['allow']).toBe('GET, HEAD, POST');
      expect((await api.send({ method: 'GET', path: `${PEERS}/1/reset` })).headers['allow']).toBe('POST');
    },
  },
  {
    sentence: 'an id that no peer can have, and a path that is no route, are 404',
    run: async (api) => {
      for (const id of [
        '0',
        '01',
        '-1',
        '1.5',
        'abc',
        '9999999999999999',
        '999999999999999',
        '1%20',
        '%00',
        'é',
      ]) {
        const answer = await get(api, `${PEERS}/${encodeURI(id)}`);
        expect(answer.status, id).toBe(404);
        expect(answer.json.type).toBe('urn:graticule:problem:not-found');
      }
      for (const path of [
        `${PEERS}/`,
        `${PEERS}/1/`,
        `${PEERS}/1/flap`,
        '/api/bgp',
        '/api',
        '/',
        '/api/bgp/peersX',
      ]) {
        expect((await get(api, path)).status, path).toBe(404);
      }
    },
  },
  {
    sentence: 'no token, a malformed, an unknown and an expired one are 401 with WWW-Authenticate',
    run: async (api) => {
      const expired = await tokenOf(api, 'admin', '2020-01-01T00:00:00Z');
      const calls = [
        api.send({ method: 'GET', path: PEERS, token: null }),
        api.send({ method: 'GET', path: PEERS, token: null, headers: { authorization: 'Basic dTpw' } }),
        api.send({ method: 'GET', path: PEERS, token: null, headers: { authorization: 'Bearer' } }),
        api.send({ method: 'GET', path: PEERS, token: 'grt_unknown' }),
        api.send({ method: 'GET', path: PEERS, token: 'two words' }),
        api.send({ method: 'GET', path: PEERS, token: expired }),
        api.send({ method: 'GET', path: '/no/such/path', token: null }),
        api.send({ method: 'POST', path: PEERS, token: null, rawBody: '{' }),
      ];
      for (const answer of await Promise.all(calls)) {
        expect(answer.status).toBe(401);
        expect(answer.json.type).toBe('urn:graticule:problem:unauthenticated');
        // API Gateway renames the header on its way out.
        const challenge =
          answer.headers['www-authenticate'] ?? answer.headers['x-amzn-remapped-www-authenticate'];
        expect(challenge).toBe('Bearer');
      }
    },
  },
  {
    sentence: 'a read token reads, a write token writes, and less than what is needed is a 403',
    run: async (api) => {
      const [read, write] = await Promise.all([tokenOf(api, 'read'), tokenOf(api, 'write')]);
      expect((await api.send({ method: 'GET', path: PEERS, token: read })).status).toBe(200);
      const refused = await api.send({ method: 'POST', path: PEERS, token: read, rawBody: 'not even JSON' });
      expect(refused.status).toBe(403);
      expect(refused.json.type).toBe('urn:graticule:problem:insufficient-scope');
      const made = await post(api, PEERS, peer(), { token: write });
      expect(made.status).toBe(201);
      expect(
        (await api.send({ method: 'DELETE', path: `${PEERS}/${made.json.id}`, token: read })).status,
      ).toBe(403);
      expect(
        (await api.send({ method: 'DELETE', path: `${PEERS}/${made.json.id}`, token: write })).status,
      ).toBe(204);
      expect((await api.send({ method: 'GET', path: '/api/v1/tokens', token: write })).status).toBe(403);
    },
  },
  {
    sentence: 'a page is cut at limit, goes on after an id, and links to the next',
    run: async (api) => {
      const ids: number[] = [];
      for (let index = 0; index < 3; index += 1) ids.push((await created(api)).id);
      const before = (ids[0] as number) - 1;
      const page = await get(api, `${PEERS}?limit=2&after=${before}`);
      expect(page.status).toBe(200);
      const shown = page.json.map((item: { id: number }) => item.id) as number[];
      expect(shown).toHaveLength(2);
      expect(shown.every((id, index) => id > (shown[index - 1] ?? before))).toBe(true);
      const next = /^<([^>]+)>; rel="next"$/.exec(page.headers['link'] ?? '')?.[1] as string;
      expect(next).toBe(`${PEERS}?limit=2&after=${shown[1]}`);
      expect((await get(api, next)).json[0].id).toBeGreaterThan(shown[1] as number);
      const last = await get(api, `${PEERS}?limit=1000&after=999999999999`);
      expect(last.json).toEqual([]);
      expect(last.headers['link']).toBeUndefined();
    },
  },
  {
    sentence: 'a query that is not understood is a 400',
    run: async (api) => {
      for (const query of [
        'limit=0',
        'limit=1001',
        'limit=x',
        'after=-1',
        'after=1&after=2',
        'state=idle',
        'Limit=1',
      ]) {
        const answer = await get(api, `${PEERS}?${query}`);
        expect(answer.status, query).toBe(400);
        expect(answer.json.type).toBe('urn:graticule:problem:invalid-query');
      }
      const { id } = await created(api);
      expect((await get(api, `${PEERS}/${id}?verbose=1`)).status).toBe(400);
    },
  },
  {
    sentence: 'a write with a query parameter is a 400 and writes nothing',
    run: async (api) => {
      const { id, name } = await created(api);
      const body = { name: `${name} renamed`, 'peer-address': '192.0.2.99', 'user-peer-as': '65000' };
      const before = (await get(api, PEERS)).json.length;
      for (const [method, path] of [
        ['POST', PEERS],
        ['PUT', `${PEERS}/${id}`],
        ['DELETE', `${PEERS}/${id}`],
        ['POST', `${PEERS}/${id}/reset`],
      ] as const) {
        const isWithBody = path !== `${PEERS}/${id}/reset` && method !== 'DELETE';
        const answer = await api.send({
          method,
          path: `${path}?dry-run=true`,
          ...(isWithBody ? { body } : {}),
        });
        expect(answer.status, `${method} ${path}`).toBe(400);
        expect(answer.json).toMatchObject({
          type: 'urn:graticule:problem:invalid-query',
          detail: 'dry-run is no query parameter here; it takes none',
        });
      }
      expect((await get(api, PEERS)).json).toHaveLength(before);
      expect((await get(api, `${PEERS}/${id}`)).json.name).toBe(name);
    },
  },
  {
    sentence: 'HEAD answers as GET without a body',
    run: async (api) => {
      const { id } = await created(api);
      const answer = await api.send({ method: 'HEAD', path: `${PEERS}/${id}` });
      expect(answer.status).toBe(200);
      expect(answer.text).toBe('');
      expect(answer.headers['etag']).toBe('"1"');
    },
  },
  {
    sentence: 'a problem names its path and carries a request id',
    run: async (api) => {
      const answer = await get(api, `${PEERS}/404404`);
      expect(answer.json).toMatchObject({
        status: 404,
        instance: `${PEERS}/404404`,
        title: expect.any(String),
      });
      expect(answer.json['request-id']).toMatch(/\S/);
    },
  },
  {
    sentence: 'reset and refresh of a disabled peer are 409 peer-disabled, of no peer 404',
    run: async (api) => {
      const { id } = await created(api);
      for (const action of ['reset', 'refresh']) {
        const answer = await api.send({ method: 'POST', path: `${PEERS}/${id}/${action}` });
        expect(answer.status).toBe(409);
        expect(answer.json.type).toBe('urn:graticule:problem:peer-disabled');
        expect((await api.send({ method: 'POST', path: `${PEERS}/404404/${action}` })).status).toBe(404);
      }
    },
  },
  {
    sentence: '100 parallel creates give 100 peers with 100 ids',
    run: async (api) => {
      const answers = await Promise.all(Array.from({ length: 100 }, () => post(api, PEERS, peer())));
      expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 201));
      expect(new Set(answers.map((answer) => answer.json.id)).size).toBe(100);
    },
  },
  {
    sentence: 'of 20 parallel creates of one address one wins and 19 are told who did',
    run: async (api) => {
      const body = peer();
      const answers = await Promise.all(Array.from({ length: 20 }, () => post(api, PEERS, body)));
      const winners = answers.filter((answer) => answer.status === 201);
      expect(winners).toHaveLength(1);
      const losers = answers.filter((answer) => answer.status === 409);
      expect(losers).toHaveLength(19);
      for (const loser of losers) expect(loser.json['conflicting-id']).toBe(winners[0]?.json.id);
    },
  },
  {
    sentence: 'of parallel PUTs with one ETag one wins; without an ETag all succeed and the last stays',
    run: async (api) => {
      const { id, ...first } = await created(api);
      const body = (text: string) => peer({ 'peer-address': first['peer-address'], description: text });
      const conditional = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          put(api, `${PEERS}/${id}`, body(`a${index}`), { 'if-match': '"1"' }),
        ),
      );
      expect(conditional.map((answer) => answer.status).sort()).toEqual([200, ...Array(7).fill(412)]);
      const free = await Promise.all(
        Array.from({ length: 4 }, (_, index) => put(api, `${PEERS}/${id}`, body(`b${index}`))),
      );
      expect(free.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
      expect((await get(api, `${PEERS}/${id}`)).json.description).toMatch(/^b\d$/);
    },
  },
  {
    sentence: 'lists 1,000 peers whole, in the order of their ids, in one answer',
    run: async (api) => {
      const made: number[] = [];
      for (let batch = 0; batch < 20; batch += 1) {
        const answers = await Promise.all(Array.from({ length: 50 }, () => post(api, PEERS, peer())));
        for (const answer of answers) {
          expect(answer.status, answer.text).toBe(201);
          made.push(answer.json.id);
        }
      }
      const list = await get(api, PEERS);
      expect(list.status).toBe(200);
      const ids = list.json.map((item: { id: number }) => item.id) as number[];
      expect(ids).toEqual([...ids].sort((a, b) => a - b));
      const listed = new Set(ids);
      expect(made.filter((id) => !listed.has(id))).toEqual([]);
      expect(list.headers['link']).toBeUndefined();
    },
  },
  ...boundCases,
];

import { expect } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { type ContractCase, get, post, put } from './contract-case.ts';

const WEBHOOK = '/api/v1/outputs/webhook';
const METRICS = '/api/v1/outputs/metrics';

const MASK = '********';
const DEFAULTS = {
  url: '',
  method: 'POST',
  headers: {},
  'auth-header': '',
  'batch-mode': false,
  'timeout-ms': 10_000,
};

/** A disabled configuration: no case lets the sender speak to anybody. */
function write(api: ApiClient, config: Record<string, unknown>, headers: Record<string, string> = {}) {
  return put(api, WEBHOOK, { enabled: false, config: { url: 'https://r.example/x', ...config } }, headers);
}

export const outputCases: readonly ContractCase[] = [
  {
    sentence: 'the webhook reads as the defaults before anybody wrote it',
    run: async (api) => {
      const read = await get(api, WEBHOOK);
      expect(read.status).toBe(200);
      if (read.headers['etag'] !== '"0"') return;
      expect(read.json).toEqual({ enabled: false, config: DEFAULTS });
      const written = await put(api, WEBHOOK, read.json, { 'if-match': '"0"' });
      expect(written.status, written.text).toBe(200);
      expect(written.json).toEqual(read.json);
    },
  },
  {
    sentence: 'PUT replaces the webhook whole: what config omits takes its default',
    run: async (api) => {
      const whole = {
        url: 'https://r.example:8443/hook?x=1#y',
        method: 'PATCH',
        headers: { 'X-Key': 'secret of the user', 'content-type': 'application/json' },
        'auth-header': 'Bearer abc',
        'batch-mode': true,
        'timeout-ms': 60_000,
      };
      const set = await write(api, whole);
      expect(set.status, set.text).toBe(200);
      expect(set.json).toEqual({ enabled: false, config: { ...whole, 'auth-header': MASK } });
      expect((await get(api, WEBHOOK)).json).toEqual(set.json);
      const reset = await write(api, {});
      expect(reset.json).toEqual({ enabled: false, config: { ...DEFAULTS, url: 'https://r.example/x' } });
    },
  },
  {
    sentence: 'the same body and ETag given back change nothing; an old ETag is a 412',
    run: async (api) => {
      const set = await write(api, { 'auth-header': 'ApiKey k', headers: { 'X-A': '1' } });
      const again = await put(api, WEBHOOK, set.json, { 'if-match': set.headers['etag'] as string });
      expect(again.status, again.text).toBe(200);
      expect(again.headers['etag']).toBe(set.headers['etag']);
      expect(again.json).toEqual(set.json);
      await write(api, { method: 'PUT' });
      const stale = await put(api, WEBHOOK, set.json, { 'if-match': set.headers['etag'] as string });
      expect(stale.status).toBe(412);
    },
  },
  {
    sentence: 'auth-header: empty or the mask keeps what is stored, null or omitted clears it',
    run: async (api) => {
      const shown = async (config: Record<string, unknown>) =>
        (await write(api, config)).json.config['auth-header'];
      expect(await shown({ 'auth-header': null })).toBe('');
      expect(await shown({ 'auth-header': MASK })).toBe('');
      expect(await shown({ 'auth-header': 'Basic dXNlcjpwdw==' })).toBe(MASK);
      expect(await shown({ 'auth-header': '' })).toBe(MASK);
      expect(await shown({ 'auth-header': MASK })).toBe(MASK);
      expect(await shown({})).toBe('');
      expect(await shown({ 'auth-header': 'ApiKey k' })).toBe(MASK);
      expect(await shown({ 'auth-header': null })).toBe('');
      expect((await get(api, WEBHOOK)).text).not.toContain('ApiKey');
    },
  },
  {
    sentence: 'any method is accepted and given back as written',
    run: async (api) => {
      for (const method of ['post', 'REPORT', 'PROPFIND', 'GET', 'CONNECT', '', 'NO GOOD', 'ü']) {
        const set = await write(api, { method });
        expect(set.status, method).toBe(200);
        expect(set.json.config.method).toBe(method);
      }
    },
  },
  {
    sentence: 'refuses what the sender could not send, each with its code',
    run: async (api) => {
      for (const [config, pointer, code] of [
        [{ url: 5 }, '/config/url', 'wrong-type'],
        [{ url: 'ftp://r.example/' }, '/config/url', 'invalid-format'],
        [{ url: 'r.example/x' }, '/config/url', 'invalid-format'],
        [{ url: 'https://user:pw@r.example/' }, '/config/url', 'invalid-format'],
        [{ url: 'https://r.example/a b' }, '/config/url', 'invalid-format'],
        [{ url: `https://r.example/${'x'.repeat(2_048)}` }, '/config/url', 'out-of-range'],
        [{ method: null }, '/config/method', 'wrong-type'],
        [{ 'timeout-ms': 0 }, '/config/timeout-ms', 'out-of-range'],
        [{ 'timeout-ms': 60_001 }, '/config/timeout-ms', 'out-of-range'],
        [{ 'timeout-ms': '10' }, '/config/timeout-ms', 'wrong-type'],
        [{ 'batch-mode': 'yes' }, '/config/batch-mode', 'wrong-type'],
        [{ 'auth-header': 'Token x' }, '/config/auth-header', 'invalid-format'],
        [{ 'auth-header': 'bearer x' }, '/config/auth-header', 'invalid-format'],
        [{ 'auth-header': 'Bearer  x' }, '/config/auth-header', 'invalid-format'],
        [{ 'auth-header': 'Bearer' }, '/config/auth-header', 'invalid-format'],
        [{ 'auth-header': 'Bearer x\r\nX: y' }, '/config/auth-header', 'invalid-format'],
        [{ headers: [] }, '/config/headers', 'wrong-type'],
        [{ headers: { 'X-A': 1 } }, '/config/headers/X-A', 'wrong-type'],
        [{ headers: { 'X A': '1' } }, '/config/headers/X A', 'invalid-format'],
        [{ headers: { 'X-A': 'a\r\nb' } }, '/config/headers/X-A', 'invalid-format'],
        [{ headers: { 'X-A': '1', 'x-a': '2' } }, '/config/headers/x-a', 'duplicate'],
        [{ headers: { 'Content-Type': 'text/plain' } }, '/config/headers/Content-Type', 'invalid-format'],
        [{ 'batch-mod': true }, '/config/batch-mod', 'unknown-member'],
      ] as const) {
        const answer = await write(api, config);
        expect(answer.status, JSON.stringify(config)).toBe(400);
        expect(answer.json.errors, JSON.stringify(config)).toMatchObject([{ pointer, code }]);
      }
      const own =
        'Authorization Host Content-Length Transfer-Encoding Connection Keep-Alive TE Trailer Upgrade Expect Proxy-Authorization';
      for (const name of own.split(' ')) {
        const answer = await write(api, { headers: { [name.toLowerCase()]: 'x' } });
        expect(answer.status, name).toBe(400);
      }
    },
  },
  {
    sentence: 'enabled, config and url are required; url may be empty only while disabled',
    run: async (api) => {
      const nothing = await put(api, WEBHOOK, {});
      expect(nothing.status).toBe(400);
      expect(nothing.json.errors).toMatchObject([
        { pointer: '/enabled', code: 'required' },
        { pointer: '/config', code: 'required' },
      ]);
      const noUrl = await put(api, WEBHOOK, { enabled: false, config: {} });
      expect(noUrl.json.errors).toMatchObject([{ pointer: '/config/url', code: 'required' }]);
      const enabled = await put(api, WEBHOOK, { enabled: true, config: { url: '' } });
      expect(enabled.json.errors).toMatchObject([{ pointer: '/config/url', code: 'required' }]);
      expect((await put(api, WEBHOOK, { enabled: false, config: { url: '' } })).status).toBe(200);
    },
  },
  {
    sentence: 'detect asks the saved URL, or the one that is named, and says why there is no answer',
    run: async (api) => {
      await put(api, WEBHOOK, { enabled: false, config: { url: '' } });
      const unsaved = await api.send({ method: 'POST', path: `${WEBHOOK}/detect` });
      expect(unsaved.status).toBe(409);
      expect(unsaved.json.type).toBe('urn:graticule:problem:no-saved-url');
      const url = 'http://no-such-host.invalid/';
      await put(api, WEBHOOK, { enabled: false, config: { url } });
      for (const answer of [
        await api.send({ method: 'POST', path: `${WEBHOOK}/detect` }),
        await post(api, `${WEBHOOK}/detect`, {}),
        await post(api, `${WEBHOOK}/detect`, { url }),
      ]) {
        expect(answer.status, answer.text).toBe(200);
        expect(answer.json).toEqual({
          url,
          'response-code': null,
          reason: 'dns',
          detail: expect.stringMatching(/\S+ \S+/),
          ms: expect.any(Number),
        });
      }
      for (const inside of [
        'http://169.254.169.254/latest/meta-data/',
        'http://0xa9fea9fe/',
        'http://[fd00:ec2::254]/',
      ]) {
        const blocked = await post(api, `${WEBHOOK}/detect`, { url: inside });
        expect(blocked.json).toMatchObject({ url: inside, 'response-code': null, reason: 'blocked' });
      }
      expect((await post(api, `${WEBHOOK}/detect`, { url: 'nonsense' })).status).toBe(400);
      expect((await post(api, `${WEBHOOK}/detect`, { uri: url })).status).toBe(400);
      const typed = await api.send({ method: 'POST', path: `${WEBHOOK}/detect`, rawBody: '{}' });
      expect(typed.status).toBe(415);
    },
  },
  {
    sentence: 'metrics have every count from the start',
    run: async (api) => {
      const { json, status } = await get(api, METRICS);
      expect(status).toBe(200);
      const count = expect.any(Number);
      expect(json).toEqual({
        since: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        records: {
          collected: count,
          queued: count,
          delivered: count,
          failed: count,
          'failed-by-reason': Object.fromEntries(
            'dns connect tls timeout reset blocked http-4xx http-5xx http-other invalid-method interrupted expired disabled not-queued'
              .split(' ')
              .map((reason) => [reason, count]),
          ),
        },
        requests: { sent: count, delivered: count, failed: count, redirects: count },
        'bytes-sent': count,
        'latency-ms': { p50: null, p90: null, p99: null, max: null },
        queue: { requests: 0, 'oldest-age-seconds': 0 },
        'last-success': null,
        'last-failure': null,
      });
      expect((await get(api, METRICS)).json.since).toBe(json.since);
    },
  },
  {
    sentence: 'GET /api/metrics has the same counts as OpenMetrics',
    run: async (api) => {
      const answer = await get(api, '/api/metrics');
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toMatch(/^application\/openmetrics-text; version=1\.0\.0/);
      expect(answer.text).toMatch(/^graticule_webhook_records_delivered_total \d+$/m);
      expect(answer.text).toMatch(/^graticule_webhook_records_failed_total\{reason="dns"\} \d+$/m);
      expect(answer.text.endsWith('\n# EOF\n')).toBe(true);
    },
  },
  {
    sentence: 'outputs take the scopes of their methods, and no other path',
    run: async (api) => {
      const { json } = await post(api, '/api/v1/tokens', { name: 'outputs', scope: 'read' });
      const as = (method: string, path: string, body?: unknown) =>
        api.send({ method, path, token: json.token, ...(body === undefined ? {} : { body }) });
      expect((await as('GET', WEBHOOK)).status).toBe(200);
      expect((await as('GET', METRICS)).status).toBe(200);
      expect((await as('PUT', WEBHOOK, {})).status).toBe(403);
      expect((await as('POST', `${WEBHOOK}/detect`)).status).toBe(403);
      expect((await as('DELETE', WEBHOOK)).status).toBe(405);
      expect((await get(api, '/api/v1/outputs/kafka')).status).toBe(404);
    },
  },
];

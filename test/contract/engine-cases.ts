import { expect } from 'vitest';
import { type ContractCase, freshAddress, get, post, put } from './contract-case.ts';

const ENGINE = '/api/engine';

export const engineCases: readonly ContractCase[] = [
  {
    sentence: 'shows the settings that are in force and the product’s version',
    run: async (api) => {
      const answer = await get(api, ENGINE);
      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject({ version: '1.0.0', workers: expect.any(Array) });
      expect(answer.json['router-id']).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
    },
  },
  {
    sentence: 'gives the same body and ETag back unchanged',
    run: async (api) => {
      const read = await get(api, ENGINE);
      const written = await put(api, ENGINE, read.json, { 'if-match': read.headers['etag'] as string });
      expect(written.status, written.text).toBe(200);
      expect(written.headers['etag']).toBe(read.headers['etag']);
    },
  },
  {
    sentence:
      'PUT replaces the settings; zeros stand for the defaults and an empty router-id keeps the stored one',
    run: async (api) => {
      const before = (await get(api, ENGINE)).json;
      const set = await put(api, ENGINE, {
        'local-as': '65010',
        'router-id': '10.9.8.7',
        'stale-time': 60,
        'max-nlri': 9,
      });
      expect(set.json).toMatchObject({
        'local-as': '65010',
        'router-id': '10.9.8.7',
        'stale-time': 60,
        'max-nlri': 9,
      });
      const zeros = await put(api, ENGINE, {});
      expect(zeros.json).toMatchObject({
        'local-as': '',
        'router-id': '10.9.8.7',
        'stale-time': 120,
        'max-nlri': 5_000_000,
      });
      const { version: _version, workers: _workers, ...settings } = before;
      expect((await put(api, ENGINE, settings)).status).toBe(200);
    },
  },
  {
    sentence: 'refuses every value out of its bounds',
    run: async (api) => {
      for (const [member, value, code] of [
        ['local-as', '0', 'out-of-range'],
        ['local-as', 'x', 'invalid-format'],
        ['local-as', 65001, 'wrong-type'],
        ['router-id', '0.0.0.0', 'invalid-format'],
        ['router-id', '2001:db8::1', 'invalid-format'],
        ['stale-time', -1, 'out-of-range'],
        ['stale-time', 3601, 'out-of-range'],
        ['max-nlri', 10_000_001, 'out-of-range'],
        ['max-nlri', '5', 'wrong-type'],
        ['stale-tme', 5, 'unknown-member'],
      ] as const) {
        const answer = await put(api, ENGINE, { [member]: value });
        expect(answer.status, `${member} ${value}`).toBe(400);
        expect(answer.json.errors).toMatchObject([{ pointer: `/${member}`, code }]);
      }
    },
  },
  {
    sentence: 'metrics are OpenMetrics text: workers, and each peer’s session under its id and name',
    run: async (api) => {
      const peer = { name: 'for "metrics"', 'peer-address': freshAddress(), 'user-peer-as': '65001' };
      const { id } = (await post(api, '/api/bgp/peers', peer)).json;
      const answer = await get(api, '/api/metrics');
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toMatch(/^application\/openmetrics-text/);
      expect(answer.text).toContain(
        `graticule_bgp_session_up{peer_id="${id}",peer_name="for \\"metrics\\""} 0\n`,
      );
      expect(answer.text).toMatch(/\ngraticule_workers \d+\n/);
      expect(answer.text.endsWith('# EOF\n')).toBe(true);
    },
  },
  {
    sentence: 'health needs no token and tells how many workers run',
    run: async (api) => {
      const answer = await api.send({ method: 'GET', path: '/api/health', token: null });
      expect([200, 503]).toContain(answer.status);
      expect(answer.json).toMatchObject({
        status: answer.status === 200 ? 'ok' : 'starting',
        workers: answer.status === 200 ? expect.any(Number) : 0,
      });
    },
  },
  {
    sentence: 'the OpenAPI document needs no token and names this product’s version',
    run: async (api) => {
      const answer = await api.send({ method: 'GET', path: '/api/openapi.json', token: null });
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.json).toMatchObject({ openapi: '3.1.1', info: { version: '1.0.0' } });
    },
  },
];

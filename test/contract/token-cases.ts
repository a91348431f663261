import { expect } from 'vitest';
import { type ContractCase, get, post, remove } from './contract-case.ts';

const TOKENS = '/api/v1/tokens';

export const tokenCases: readonly ContractCase[] = [
  {
    sentence: 'a token is shown once, on creation, and works at once',
    run: async (api) => {
      const made = await post(api, TOKENS, { name: 'ci', scope: 'write', 'expires-at': null });
      expect(made.status, made.text).toBe(201);
      expect(made.headers['location']).toBe(`${TOKENS}/${made.json.id}`);
      expect(made.json).toMatchObject({ name: 'ci', scope: 'write', 'expires-at': null });
      expect(made.json.token).toMatch(/^grt_[A-Za-z0-9_-]{43}$/);
      const listed = await get(api, TOKENS);
      expect(listed.json.find((token: { id: number }) => token.id === made.json.id)).toEqual({
        id: made.json.id,
        name: 'ci',
        scope: 'write',
        'created-at': made.json['created-at'],
        'expires-at': null,
      });
      expect(listed.text).not.toContain(made.json.token);
      expect((await api.send({ method: 'GET', path: '/api/bgp/peers', token: made.json.token })).status).toBe(
        200,
      );
    },
  },
  {
    sentence: 'a removed token is gone from the list and cannot be removed again',
    run: async (api) => {
      const made = await post(api, TOKENS, { name: 'short', scope: 'read' });
      expect((await remove(api, `${TOKENS}/${made.json.id}`)).status).toBe(204);
      expect((await get(api, TOKENS)).text).not.toContain(`"id":${made.json.id},`);
      expect((await remove(api, `${TOKENS}/${made.json.id}`)).status).toBe(404);
      expect((await api.send({ method: 'GET', path: TOKENS, token: made.json.token })).status).toBe(401);
    },
  },
  {
    sentence: 'the last admin token that has not expired stays: 409 last-admin-token',
    run: async (api) => {
      await post(api, TOKENS, { name: 'old admin', scope: 'admin', 'expires-at': '2020-01-01T00:00:00Z' });
      const admins = (await get(api, TOKENS)).json.filter(
        (token: { scope: string; 'expires-at': string | null }) =>
          token.scope === 'admin' &&
          (token['expires-at'] === null || Date.parse(token['expires-at']) > Date.now()),
      );
      // The bootstrap token is the one that this client uses; any other live admin is left over from another case.
      for (const admin of admins.filter((token: { name: string }) => token.name !== 'bootstrap')) {
        await remove(api, `${TOKENS}/${admin.id}`);
      }
      const bootstrap = admins.find((token: { name: string }) => token.name === 'bootstrap');
      const answer = await remove(api, `${TOKENS}/${bootstrap.id}`);
      expect(answer.status).toBe(409);
      expect(answer.json.type).toBe('urn:graticule:problem:last-admin-token');
    },
  },
  {
    sentence: 'refuses a token without name or scope, with an unknown scope, or with a time that is none',
    run: async (api) => {
      for (const [body, pointers] of [
        [{}, ['/name required', '/scope required']],
        [{ name: 'x', scope: 'root' }, ['/scope invalid-format']],
        [{ name: 'x', scope: 'read', 'expires-at': 'tomorrow' }, ['/expires-at invalid-format']],
        [{ name: 'x', scope: 'read', 'expires-at': 1 }, ['/expires-at wrong-type']],
        [{ name: 'x', scope: 'read', expires: null }, ['/expires unknown-member']],
      ] as const) {
        const answer = await post(api, TOKENS, body);
        expect(answer.status).toBe(400);
        const found = answer.json.errors.map(
          (error: { pointer: string; code: string }) => `${error.pointer} ${error.code}`,
        );
        expect(found.sort()).toEqual(pointers);
      }
    },
  },
  {
    sentence: 'takes an expiry in the future and gives it back in UTC with milliseconds',
    run: async (api) => {
      const made = await post(api, TOKENS, {
        name: 'until',
        scope: 'read',
        'expires-at': '2099-06-01T00:00:00Z',
      });
      expect(made.json['expires-at']).toBe('2099-06-01T00:00:00.000Z');
      expect((await api.send({ method: 'GET', path: '/api/bgp/peers', token: made.json.token })).status).toBe(
        200,
      );
    },
  },
];

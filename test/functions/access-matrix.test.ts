import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUTES, type Scope } from '../../contract/routes.ts';
import { hashToken } from '../../core/token.ts';
import { newToken } from '../../store/setup.ts';
import { createToken } from '../../store/token-store.ts';
import { type ApiAnswer, type Emulators, runAs, startEmulators } from '../support/stack.ts';

const SCOPES: readonly Scope[] = ['read', 'write', 'admin'];

/** What a caller may come with: the Authorization header, and the scope that it stands for. */
interface Caller {
  readonly who: string;
  readonly authorization: string | undefined;
  /** null: nobody. */
  readonly scope: Scope | null;
}

const PAST = '2020-01-01T00:00:00.000Z';
let emulators: Emulators;
const tokens = new Map<string, string>();

async function makeToken(scope: Scope, expiresAt: string | null): Promise<string> {
  const token = newToken();
  await runAs('setup', () =>
    createToken({ name: scope, scope, createdAt: PAST, expiresAt, hash: hashToken(token) }),
  );
  return token;
}

beforeAll(async () => {
  emulators = await startEmulators();
  for (const scope of SCOPES) {
    tokens.set(scope, await makeToken(scope, null));
    tokens.set(`expired ${scope}`, await makeToken(scope, PAST));
  }
});

afterAll(() => emulators.stop());

function callers(): Caller[] {
  const admin = tokens.get('admin') ?? '';
  const nobody = (who: string, authorization: string | undefined): Caller => ({
    who,
    authorization,
    scope: null,
  });
  return [
    nobody('no token', undefined),
    nobody('an empty header', ''),
    nobody('a scheme alone', 'Bearer'),
    nobody('another scheme', `Basic ${Buffer.from(`admin:${admin}`).toString('base64')}`),
    nobody('a token without a scheme', admin),
    nobody('two tokens', `Bearer ${admin} ${admin}`),
    nobody('two tokens in a list', `Bearer ${admin}, Bearer ${admin}`),
    nobody('a token in quotes', `Bearer "${admin}"`),
    nobody('a token that nobody made', `Bearer ${newToken()}`),
    nobody(
      'a token with one character changed',
      `Bearer ${admin.slice(0, -1)}${admin.endsWith('A') ? 'B' : 'A'}`,
    ),
    nobody('the hash of a token', `Bearer ${hashToken(admin)}`),
    nobody('a very long token', `Bearer ${'a'.repeat(8_000)}`),
    ...SCOPES.map((scope) => nobody(`an expired ${scope} token`, `Bearer ${tokens.get(`expired ${scope}`)}`)),
    ...SCOPES.map((scope) => ({
      who: `a ${scope} token`,
      authorization: `Bearer ${tokens.get(scope)}`,
      scope,
    })),
    {
      who: 'a read token, scheme in lower case',
      authorization: `bearer ${tokens.get('read')}`,
      scope: 'read',
    },
  ];
}

/** What is due: whether the caller is let in, and if not, by which refusal. */
function due(needed: Scope | null, caller: Caller): 'let in' | 401 | 403 {
  if (needed === null) return 'let in';
  if (caller.scope === null) return 401;
  return SCOPES.indexOf(caller.scope) >= SCOPES.indexOf(needed) ? 'let in' : 403;
}

function send(method: string, path: string, { authorization }: Caller): Promise<ApiAnswer> {
  return emulators.send({
    method,
    path,
    // No body: whoever is let in is told so by what comes after the check, and changes nothing.
    headers: authorization === undefined ? {} : { authorization },
  });
}

function outcome(answer: ApiAnswer): string | number {
  return answer.status === 401 || answer.status === 403 ? answer.status : 'let in';
}

describe('who may call what', () => {
  let checked = 0;

  afterAll(() => console.log(`access: ${checked} combinations of route and caller`));

  for (const { method, path, scope } of ROUTES) {
    const target = path.replace(/\{[^}]+\}/g, '999');
    it(`${method} ${path} is for ${scope ?? 'everybody'}`, async () => {
      for (const asked of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
        for (const caller of callers()) {
          const answer = await send(asked, target, caller);
          const said = `${asked} with ${caller.who}`;
          expect(outcome(answer), said).toBe(due(scope, caller));
          expect(answer.status, said).not.toBe(500);
          // API Gateway renames the header on its way out; the local one gives it under both names.
          for (const name of ['www-authenticate', 'x-amzn-remapped-www-authenticate']) {
            expect(answer.headers[name], said).toBe(answer.status === 401 ? 'Bearer' : undefined);
          }
          if (asked !== 'HEAD' && (answer.status === 401 || answer.status === 403)) {
            const type = answer.status === 401 ? 'unauthenticated' : 'insufficient-scope';
            expect(JSON.parse(answer.text).type, said).toBe(`urn:graticule:problem:${type}`);
          }
          checked += 1;
        }
      }
    });
  }

  it('an unknown path, and a method that a path has not, tell nothing to who has no token', async () => {
    for (const [method, path, known] of [
      ['GET', '/api/nothing', 404],
      ['GET', '/', 404],
      ['PATCH', '/api/bgp/peers', 405],
      ['DELETE', '/api/engine', 405],
    ] as const) {
      for (const caller of callers()) {
        const { status } = await send(method, path, caller);
        expect(status, `${method} ${path} with ${caller.who}`).toBe(caller.scope === null ? 401 : known);
        checked += 1;
      }
    }
  });

  it('changed nothing: whoever was let in sent no body', async () => {
    const answer = await send(
      'GET',
      '/api/v1/tokens',
      callers().find(({ who }) => who === 'a admin token') as Caller,
    );
    expect(JSON.parse(answer.text)).toHaveLength(7);
  });
});

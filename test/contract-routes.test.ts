import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PREFIXES, ROUTES } from '../contract/routes.ts';
import { PRODUCT_VERSION } from '../contract/version.ts';
import { matchRoute, parseId } from '../core/route-match.ts';

describe('the contract', () => {
  it('has the version of package.json', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(PRODUCT_VERSION).toBe(version);
  });

  it('sends each route to the function that its prefix names', () => {
    for (const route of ROUTES) {
      const prefix = PREFIXES.find(
        ({ prefix }) => route.path === prefix || route.path.startsWith(`${prefix}/`),
      );
      expect(prefix?.function ?? 'engine', route.path).toBe(route.function);
    }
  });
});

describe('matching a route', () => {
  it('finds parameters, knows HEAD as GET, and tells the methods of a path', () => {
    expect(matchRoute(ROUTES, 'HEAD', '/api/bgp/peers/7')).toMatchObject({
      kind: 'route',
      parameters: { peerId: '7' },
    });
    expect(matchRoute(ROUTES, 'PATCH', '/api/bgp/peers')).toEqual({
      kind: 'other-methods',
      allow: ['GET', 'HEAD', 'POST'],
      isOpen: false,
    });
    expect(matchRoute(ROUTES, 'POST', '/api/health')).toMatchObject({ kind: 'other-methods', isOpen: true });
    expect(matchRoute(ROUTES, 'GET', '/api/bgp/peers/')).toEqual({ kind: 'none' });
  });

  it('leaves a path that is spelt out to its own methods', () => {
    expect(matchRoute(ROUTES, 'PUT', '/api/v1/models/import')).toMatchObject({ allow: ['POST'] });
    expect(matchRoute(ROUTES, 'DELETE', '/api/v1/models/2/fields/order')).toMatchObject({ allow: ['PUT'] });
  });

  it('takes ids of one to fifteen digits and nothing else', () => {
    expect(parseId('1')).toBe(1);
    expect(parseId('999999999999999')).toBe(999999999999999);
    for (const text of ['0', '01', '', '1.0', '-1', '1e3', '1000000000000000', undefined]) {
      expect(parseId(text)).toBeUndefined();
    }
  });
});

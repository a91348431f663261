import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../contract/routes.ts';
import { PRODUCT_VERSION } from '../../contract/version.ts';
import { OPENAPI_GZIP_BASE64 } from '../../functions/openapi-document.ts';
import { routeOf } from '../../local/gateway-event.ts';
import { loadHandlers } from '../../local/handlers.ts';
import { openApiDocument } from '../../openapi/document.ts';
import { OPERATIONS } from '../../openapi/operations.ts';
import { requireDeclaredAnswer } from '../support/answer-conformance.ts';
import { answerOf } from '../support/api-client.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into member by member.
const kept: any = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));

const documented = Object.entries(kept.paths).flatMap(([path, item]) =>
  Object.entries(item as object).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    operation,
  })),
);

describe('the OpenAPI document', () => {
  it('is what core declares and the story was answered, in docs and where the engine serves it from', () => {
    const examples = JSON.parse(readFileSync('openapi/examples.json', 'utf8'));
    const made = JSON.parse(JSON.stringify(openApiDocument(examples)));
    const stale = 'run `npm run openapi` and commit docs/openapi.json with functions/openapi-document.ts';
    expect(kept, stale).toEqual(made);
    const served = gunzipSync(Buffer.from(OPENAPI_GZIP_BASE64, 'base64')).toString('utf8');
    expect(JSON.parse(served), stale).toEqual(made);
    expect(kept.info.version).toBe(PRODUCT_VERSION);
  });

  it('has the routes of the contract and no others, behind the functions that the gateway sends them to', async () => {
    const routes = ROUTES.map(({ method, path }) => `${method} ${path}`).sort();
    expect(documented.map(({ name }) => name).sort()).toEqual(routes);
    expect(Object.keys(OPERATIONS).sort()).toEqual(routes);
    for (const { name, path, operation } of documented) {
      const concrete = path.replaceAll(/\{\w+\}/g, '1');
      expect(operation.tags, name).toEqual([routeOf(concrete).function]);
    }
    // A handler refuses to be imported when its operations are not the contract's.
    await loadHandlers();
  });

  it('names the scope of each operation', () => {
    for (const { method, path, scope } of ROUTES) {
      const { security } = kept.paths[path][method.toLowerCase()];
      expect(security, `${method} ${path}`).toEqual(scope === null ? [] : [{ bearer: [scope] }]);
    }
  });

  it('shows no path parameter that its own schema refuses', () => {
    for (const { name, operation } of documented) {
      for (const { in: place, example, schema } of operation.parameters ?? []) {
        if (place !== 'path' || schema.pattern === undefined || example === undefined) continue;
        expect(example, name).toMatch(new RegExp(schema.pattern));
      }
    }
  });

  it('forbids unknown members in every request body', () => {
    const names = new Set(
      Object.values(OPERATIONS).flatMap(({ request }) => (request === undefined ? [] : [request.name])),
    );
    expect(names.size).toBeGreaterThan(10);
    for (const name of names) expect(kept.components.schemas[name].additionalProperties, name).toBe(false);
  });

  it('refers only to what it has, and calls every operation by a name of its own', () => {
    const text = JSON.stringify(kept);
    for (const [, kind, name] of text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      expect(kept.components[kind as string][name as string], name).toBeDefined();
    }
    const ids = documented.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ROUTES.length);
  });
});

describe('holding an answer against its declaration', () => {
  const health = (body: unknown, status = 200) =>
    answerOf(status, { 'content-type': 'application/json' }, JSON.stringify(body));
  const ok = { status: 'ok', workers: 1, abilities: null };

  it('finds a member too many, one too few, another type, an undocumented problem', () => {
    requireDeclaredAnswer('GET', '/api/health', health(ok));
    for (const body of [
      { ...ok, more: 1 },
      { status: 'ok', workers: 1 },
      { ...ok, workers: '1' },
    ]) {
      expect(() => requireDeclaredAnswer('GET', '/api/health', health(body))).toThrow();
    }
    const problem = {
      type: 'urn:graticule:problem:conflict',
      title: '',
      status: 409,
      detail: '',
      instance: '/api/health',
      'request-id': '',
    };
    const type = { 'content-type': 'application/problem+json' };
    const answer = answerOf(409, type, JSON.stringify(problem));
    expect(() => requireDeclaredAnswer('GET', '/api/health', answer)).toThrow('not documented');
    expect(() => requireDeclaredAnswer('POST', '/api/bgp/peers', answer)).not.toThrow();
  });
});

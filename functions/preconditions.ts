import { Problem } from '../core/problem.ts';
import { parseId } from '../core/route-match.ts';
import type { ApiRequest } from './http.ts';

/** The strong entity tag of a configuration's revision (RFC 9110 §8.8.3). */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}

/** Refuses with 412 a request whose If-Match (RFC 9110 §13.1.1) does not name the revision. */
export function requireMatch(request: ApiRequest, revision: number): void {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return;
  const tags = header.split(',').map((tag) => tag.trim());
  if (!tags.includes(entityTag(revision))) {
    throw new Problem('stale-etag', `the resource is at ${entityTag(revision)}; If-Match says ${header}`);
  }
}

/**
 * A write that lost to another one is tried again on what that one left, unless the caller named a revision:
 * without If-Match the last writer wins.
 */
export async function retryUnlessConditional<Result>(
  request: ApiRequest,
  attempt: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const isStale = error instanceof Problem && error.type === 'stale-etag';
      if (!isStale || request.headers['if-match'] !== undefined) throw error;
      if (tries === 8) {
        throw new Problem('busy', 'too many changes to the same thing at once; try again', {
          retryAfterSeconds: 1,
        });
      }
    }
  }
}

/** The resource's id in the path; what is no id names nothing: 404. */
export function idParameter(request: ApiRequest, parameter: string): number {
  const id = parseId(request.parameters[parameter]);
  if (id === undefined) throw new Problem('not-found', `${request.parameters[parameter]} is no id`);
  return id;
}

/** A page of a list that is ordered by id. */
export interface Page {
  readonly limit?: number;
  readonly after?: number;
}

/** Reads `limit` and `after` and refuses every other query parameter. */
export function readPage(request: ApiRequest): Page {
  refuseUnknownParameters(request, ['limit', 'after']);
  const limit = integerParameter(request, 'limit', 1, 1_000);
  const after = integerParameter(request, 'after', 0, 999_999_999_999_999);
  return { ...(limit === undefined ? {} : { limit }), ...(after === undefined ? {} : { after }) };
}

/** Refuses query parameters that the operation does not know: a misspelt filter must not read as "everything". */
export function refuseUnknownParameters(request: Pick<ApiRequest, 'query'>, known: readonly string[]): void {
  const unknown = [...request.query.keys()].filter((key) => !known.includes(key));
  if (unknown.length > 0) {
    const list = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`;
    throw new Problem('invalid-query', `${unknown.join(', ')} is no query parameter here; ${list}`);
  }
  for (const key of known) {
    if (request.query.getAll(key).length > 1)
      throw new Problem('invalid-query', `${key} is given more than once`);
  }
}

/** `Link` to the page after one that was cut at `limit` (RFC 8288); nothing after the last page. */
export function nextPageLink(
  request: ApiRequest,
  page: Page,
  ids: readonly (number | string)[],
): Record<string, string> {
  if (page.limit === undefined || ids.length < page.limit) return {};
  const query = new URLSearchParams(request.query);
  query.set('after', String(ids.at(-1)));
  return { link: `<${request.path}?${query}>; rel="next"` };
}

function integerParameter(
  request: ApiRequest,
  name: string,
  minimum: number,
  maximum: number,
): number | undefined {
  const text = request.query.get(name);
  if (text === null) return undefined;
  const value = /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= minimum && value <= maximum)) {
    throw new Problem('invalid-query', `${name} is a number from ${minimum} to ${maximum}`);
  }
  return value;
}

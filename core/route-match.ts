import type { Route } from '../contract/routes.ts';

export type RouteMatch =
  | { readonly kind: 'route'; readonly route: Route; readonly parameters: Readonly<Record<string, string>> }
  /** The path exists, but not with this method. `isOpen`: nothing on this path asks for a token. */
  | { readonly kind: 'other-methods'; readonly allow: readonly string[]; readonly isOpen: boolean }
  | { readonly kind: 'none' };

/**
 * Finds the route for a method and a decoded path. HEAD is GET. A path that a route spells out is that route's alone:
 * `/models/import` is no `/models/{modelId}`.
 */
export function matchRoute(routes: readonly Route[], method: string, path: string): RouteMatch {
  const wanted = method === 'HEAD' ? 'GET' : method;
  let found: { readonly path: string; readonly parameters: Record<string, string> } | undefined;
  for (const route of routes) {
    const parameters = matchPath(route.path, path);
    if (parameters === undefined) continue;
    const isPlainer =
      found === undefined || Object.keys(parameters).length < Object.keys(found.parameters).length;
    if (isPlainer) found = { path: route.path, parameters };
  }
  if (found === undefined) return { kind: 'none' };
  const { path: pattern, parameters } = found;
  const here = routes.filter((route) => route.path === pattern);
  const route = here.find((candidate) => candidate.method === wanted);
  if (route !== undefined) return { kind: 'route', route, parameters };
  const allow = here.flatMap((other) => [other.method, ...(other.method === 'GET' ? ['HEAD'] : [])]);
  return { kind: 'other-methods', allow, isOpen: here.every(({ scope }) => scope === null) };
}

function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const expected = pattern.split('/');
  const given = path.split('/');
  if (expected.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, segment] of expected.entries()) {
    const value = given[index] as string;
    if (segment.startsWith('{')) {
      if (value === '') return undefined;
      parameters[segment.slice(1, -1)] = value;
    } else if (segment !== value) {
      return undefined;
    }
  }
  return parameters;
}

/** The integer id of a path segment: 1 to fifteen digits without leading zeros; anything else names nothing. */
export function parseId(segment: string | undefined): number | undefined {
  return /^[1-9][0-9]{0,14}$/.test(segment ?? '') ? Number(segment) : undefined;
}

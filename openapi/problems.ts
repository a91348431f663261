/** Which problems an operation can answer with, and how the document says so. */
import type { Route } from '../contract/routes.ts';
import { PROBLEMS, type ProblemType } from '../core/problem.ts';
import type { Example } from './example.ts';
import type { OperationDocument } from './operation.ts';
import { type JsonSchema, reference } from './schema.ts';

const PROBLEM_TYPES = Object.keys(PROBLEMS) as ProblemType[];

/** What follows from the route and the declaration, with what the declaration adds, in the order of `PROBLEMS`. */
export function problemsOf(route: Route, operation: OperationDocument): ProblemType[] {
  const found = new Set<ProblemType>(['too-many-requests', 'internal', ...(operation.problems ?? [])]);
  if (route.scope !== null) found.add('unauthenticated');
  if (route.scope === 'write' || route.scope === 'admin') found.add('insufficient-scope');
  if (route.scope !== null) found.add('invalid-query');
  if (route.path.includes('{')) found.add('not-found');
  if (operation.isConditional) found.add('stale-etag');
  if (route.method !== 'GET') found.add('busy');
  if (operation.request !== undefined) {
    for (const type of [
      'invalid-json',
      'invalid-body',
      'body-too-large',
      'unsupported-media-type',
    ] as const) {
      found.add(type);
    }
  }
  return PROBLEM_TYPES.filter((type) => found.has(type));
}

/** What API Gateway answers by itself, with the status that it has then. */
const GATEWAY_STATUSES: Readonly<Record<number, string>> = {
  400: 'a target that is no URL',
  413: 'a body over 10 MB',
  429: 'throttled',
  431: 'headers over 10,240 bytes',
  500: 'the function failed',
  503: 'no answer within 30 seconds',
};

export const TOPOLOGY_VERSION = {
  description: 'What the answer shows, as a cursor for `changes?since=`',
  schema: { type: 'string' },
};

/** Whether a refusal has the version too: those to callers whose token is good, if it is the function that refuses. */
export function hasTopologyVersion(route: Route, status: number): boolean {
  return route.function === 'topology' && [400, 404, 410].includes(status);
}

/** References by status; the responses themselves are added to `components`. */
export function problemResponses(
  route: Route,
  types: readonly ProblemType[],
  examples: readonly Example[],
  components: Record<string, JsonSchema>,
): Record<string, JsonSchema> {
  const byStatus = new Map<number, ProblemType[]>([[431, []]]);
  for (const type of types) {
    const { status } = PROBLEMS[type];
    byStatus.set(status, [...(byStatus.get(status) ?? []), type]);
  }
  const statuses = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    statuses.map(([status, ofStatus]) => {
      const isVersioned = hasTopologyVersion(route, status);
      const response = problemResponse(status, ofStatus, isVersioned);
      const shown = examples.filter((example) => example.status === status);
      if (shown.length > 0) return [status, withExamples(response, shown)];
      const joined = ofStatus.length === 0 ? 'headers-too-large' : ofStatus.join('.');
      const name = isVersioned ? `topology.${joined}` : joined;
      components[name] = response;
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

function problemResponse(status: number, types: readonly ProblemType[], isVersioned: boolean): JsonSchema {
  const byGateway = GATEWAY_STATUSES[status];
  const urns = types.map((type) => `urn:graticule:problem:${type}`);
  return {
    description: [
      ...types.map((type) => `\`${type}\`: ${PROBLEMS[type].title}.`),
      ...(byGateway === undefined ? [] : [`From API Gateway itself: ${byGateway}.`]),
    ].join(' '),
    ...(isVersioned ? { headers: { 'Topology-Version': TOPOLOGY_VERSION } } : headers(status)),
    content: {
      ...(types.length === 0
        ? {}
        : {
            'application/problem+json': {
              schema: { allOf: [reference('Problem'), { properties: { type: { enum: urns } } }] },
            },
          }),
      ...(byGateway === undefined ? {} : { 'application/json': { schema: reference('GatewayMessage') } }),
    },
  };
}

function headers(status: number): JsonSchema {
  if (status === 401) {
    const challenge = { description: '`Bearer` (RFC 6750)', schema: { type: 'string' } };
    return {
      headers: {
        'WWW-Authenticate': challenge,
        'x-amzn-Remapped-WWW-Authenticate': { ...challenge, description: 'As API Gateway renames it' },
      },
    };
  }
  if (status !== 503) return {};
  const schema = { type: 'string', pattern: '^[0-9]+$' };
  return { headers: { 'Retry-After': { description: 'Seconds', schema } } };
}

function withExamples(response: JsonSchema, examples: readonly Example[]): JsonSchema {
  const content = response['content'] as Record<string, JsonSchema>;
  const named = examples.map(({ name, title, answer }) => [name, { summary: title, value: answer }]);
  return {
    ...response,
    content: {
      ...content,
      'application/problem+json': {
        ...content['application/problem+json'],
        examples: Object.fromEntries(named),
      },
    },
  };
}

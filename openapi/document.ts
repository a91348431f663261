/** The OpenAPI 3.1 document: routes from the contract, bodies from core's declarations, examples from the story. */
import { ROUTES, type Route } from '../contract/routes.ts';
import { PRODUCT_VERSION } from '../contract/version.ts';
import { gatewayMessageAnswer, problemAnswer } from '../core/problem-answer.ts';
import type { Example } from './example.ts';
import type {
  AnswerDocument,
  HeaderName,
  NamedRequest,
  NamedSchema,
  OperationDocument,
} from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { problemResponses, problemsOf, TOPOLOGY_VERSION } from './problems.ts';
import { answerSchemas, type JsonSchema, reference, requestSchema } from './schema.ts';

const PROBLEM: NamedSchema = { name: 'Problem', schema: problemAnswer };
const GATEWAY_MESSAGE: NamedSchema = { name: 'GatewayMessage', schema: gatewayMessageAnswer };

const HEADERS: Readonly<Record<HeaderName, JsonSchema>> = {
  ETag: {
    description: "The configuration's revision, for `If-Match`",
    required: true,
    schema: { type: 'string', pattern: '^"[0-9]+"$' },
    example: '"1"',
  },
  Location: { description: 'The path of what was made', required: true, schema: { type: 'string' } },
  Link: {
    description: 'The next page (RFC 8288), unless this is the last one',
    schema: { type: 'string' },
    example: '</api/bgp/peers?limit=100&after=100>; rel="next"',
  },
  'Topology-Version': { ...TOPOLOGY_VERSION, required: true },
  'Retry-After': { description: 'Seconds', schema: { type: 'string', pattern: '^[0-9]+$' }, example: '1' },
};

const TAGS = {
  peers: 'BGP peers: routers and route reflectors that tell BGP-LS',
  topology: 'What the peers tell: nodes, links, prefixes, SIDs and policies, paths, changes',
  engine: "The engine's own settings, health and metrics",
  outputs: 'Where records go',
  models: 'What is collected: fields, and how devices name them',
  devices: 'What is collected from',
  subscriptions: 'Which model from which devices, and how often',
  tokens: 'Who may call this API',
} as const;

const DESCRIPTION = `Rebuilds a network's topology from BGP-LS and collects its telemetry over gNMI and SNMP.

**Authorization.** \`Authorization: Bearer <token>\`. Scopes nest: \`admin\` may do what \`write\` may, and \`write\` what \`read\` may; each operation names the one that it needs.

**Writing.** What GET returns, PUT takes: read-only members are ignored. Any other unknown member is a 400 that names it. \`If-Match\` with an ETag makes a write conditional.

**Reading.** Lists are arrays in the order of ids and whole unless \`limit\` is given. \`HEAD\` is \`GET\` without the body. Bodies are gzip'd when that is accepted; one over 4 MB after that is a 303 to a short-lived address.

**Errors** are problem details (RFC 9457). A method that a path does not take is a 405 with \`Allow\`. What API Gateway refuses by itself (throttling, oversized headers or bodies, its 30 seconds) comes as \`{"message": …}\`, and it renames \`WWW-Authenticate\` to \`x-amzn-Remapped-WWW-Authenticate\`.`;

/** The whole document. `examples` come from answers that were really given. */
export function openApiDocument(examples: readonly Example[]): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  const responses: Record<string, JsonSchema> = {};
  for (const route of ROUTES) {
    const operation = OPERATIONS[`${route.method} ${route.path}`];
    if (operation === undefined) {
      throw new Error(`${route.method} ${route.path} has no row in openapi/operations/${route.function}.ts`);
    }
    const item = paths[route.path] ?? {};
    const mine = examples.filter((example) => example.operation === `${route.method} ${route.path}`);
    item[route.method.toLowerCase()] = operationObject(route, operation, mine, responses);
    paths[route.path] = item;
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Graticule',
      version: PRODUCT_VERSION,
      summary: 'BGP-LS topology and gNMI/SNMP telemetry',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8080', description: 'The local run' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: schemas(),
      responses: sorted({ ...responses, 'large-body': LARGE_BODY }),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of `POST /api/v1/tokens`; an operation names the scope that it needs',
        },
      },
    },
  };
}

function schemas(): Record<string, JsonSchema> {
  const answers = [PROBLEM, GATEWAY_MESSAGE];
  const requests = new Map<string, NamedRequest>();
  for (const { answer, otherAnswers = [], request } of Object.values(OPERATIONS)) {
    for (const body of [answer.body, ...otherAnswers.map((other) => other.body)]) {
      if (body !== undefined) answers.push(body);
    }
    if (request !== undefined) requests.set(request.name, request);
  }
  const written = [...requests].map(([name, request]) => [name, requestSchema(request)] as const);
  return sorted({ ...answerSchemas(answers), ...Object.fromEntries(written) });
}

function operationObject(
  route: Route,
  operation: OperationDocument,
  examples: readonly Example[],
  responses: Record<string, JsonSchema>,
): JsonSchema {
  const { request, answer } = operation;
  const scope = route.scope === null ? 'No token is needed.' : `Needs scope \`${route.scope}\`.`;
  return {
    operationId: operation.id,
    summary: operation.summary,
    description: [operation.description, scope].filter((part) => part !== undefined).join('\n\n'),
    tags: [route.function],
    security: route.scope === null ? [] : [{ bearer: [route.scope] }],
    ...parameters(route, operation, examples),
    ...(request === undefined ? {} : { requestBody: requestBody(request, examples) }),
    responses: {
      [answer.status]: success(route, answer, examples),
      ...Object.fromEntries(
        (operation.otherAnswers ?? []).map(({ status, description, body }) => [
          status,
          { description, content: { 'application/json': { schema: reference(body.name) } } },
        ]),
      ),
      ...(isUnbounded(operation) ? { 303: { $ref: '#/components/responses/large-body' } } : {}),
      ...problemResponses(route, problemsOf(route, operation), examples, responses),
    },
  };
}

/** A whole network, or everything that people made, may be more than one answer holds. */
function isUnbounded({ answer, id }: OperationDocument): boolean {
  return answer.isList === true || id === 'getGraph' || id === 'listChanges';
}

const LARGE_BODY: JsonSchema = {
  description: 'The body is over 4 MB: it waits at `Location` for five minutes, without authorization',
  headers: { Location: { description: 'A presigned address', schema: { type: 'string' } } },
};

function parameters(
  route: Route,
  operation: OperationDocument,
  examples: readonly Example[],
): { parameters?: JsonSchema[] } {
  const succeeding = examples.filter(({ status }) => status < 300);
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const list: JsonSchema[] = [
    ...inPath.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: name === 'id' ? topologyId(route.path) : INTEGER_ID,
      ...exampleOf(succeeding.map(({ path }) => path?.[name])),
    })),
    ...Object.entries(operation.query ?? {}).map(([name, { description, schema, required }]) => ({
      name,
      in: 'query',
      description,
      ...(required ? { required } : {}),
      schema,
      ...exampleOf(succeeding.map(({ query }) => query?.[name])),
    })),
  ];
  if (operation.isConditional) {
    list.push({
      name: 'If-Match',
      in: 'header',
      description: 'Only if the resource is still at this ETag; without it the last writer wins',
      schema: { type: 'string' },
      example: '*',
    });
  }
  return list.length === 0 ? {} : { parameters: list };
}

const INTEGER_ID: JsonSchema = { type: 'integer', minimum: 1, maximum: 999_999_999_999_999 };

/** What ids of each topology list begin with. */
const ID_LETTERS: Readonly<Record<string, string>> = {
  nodes: 'n',
  routers: 'r',
  links: 'l',
  prefixes: 'p',
  'srv6-sids': 's',
  'sr-policies': 'c',
  unknown: 'u',
};

function topologyId(path: string): JsonSchema {
  const letter = ID_LETTERS[path.split('/').at(-2) as string];
  if (letter === undefined) throw new Error(`openapi/document.ts does not know the ids of ${path}`);
  return { type: 'string', pattern: `^${letter}\\.[A-Za-z0-9_-]{22}$` };
}

/** The first value that an executed example used, as JSON: numbers where the schema has integers. */
function exampleOf(values: readonly (string | undefined)[]): { example?: unknown } {
  const value = values.find((candidate) => candidate !== undefined);
  if (value === undefined) return {};
  return { example: /^[0-9]{1,15}$/.test(value) ? Number(value) : value };
}

function requestBody(
  request: NonNullable<OperationDocument['request']>,
  examples: readonly Example[],
): JsonSchema {
  const named = examples
    .filter((example) => example.body !== undefined)
    .map(({ name, title, body, status }) => [
      name,
      { summary: status < 300 ? title : `Refused: ${title}`, value: body },
    ]);
  return {
    required: request.isOptional !== true,
    content: {
      'application/json': {
        schema: reference(request.name),
        ...(named.length === 0 ? {} : { examples: Object.fromEntries(named) }),
      },
    },
  };
}

function success(route: Route, answer: AnswerDocument, examples: readonly Example[]): JsonSchema {
  const mine = examples.filter(({ status }) => status === answer.status);
  const json =
    answer.body === undefined
      ? {}
      : {
          'application/json': {
            schema: answer.isList
              ? { type: 'array', items: reference(answer.body.name) }
              : reference(answer.body.name),
            ...answerExamples(mine, 'application/json'),
          },
        };
  const texts = (answer.texts ?? []).map((type) => [
    type,
    {
      schema: /\bjson$/.test(type) ? { type: 'object' } : { type: 'string' },
      ...answerExamples(mine, type),
    },
  ]);
  const content = { ...json, ...Object.fromEntries(texts) };
  const headers = Object.fromEntries((answer.headers ?? []).map((name) => [name, HEADERS[name]]));
  return {
    description: answer.description,
    ...(answer.headers === undefined ? {} : { headers }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
    ...(answer.headers?.includes('Location') ? links(route) : {}),
  };
}

function answerExamples(examples: readonly Example[], contentType: string): JsonSchema {
  const named = examples
    .filter((example) => example.contentType === contentType && example.answer !== undefined)
    .map(({ name, title, answer }) => [name, { summary: title, value: answer }]);
  return named.length === 0 ? {} : { examples: Object.fromEntries(named) };
}

/** From what was made to each operation on it. */
function links(made: Route): JsonSchema {
  const collection = made.path.replace(/\/(import|\{modelId\}\/new-version)$/, '');
  const given = [...made.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const isPart = made.path === collection;
  const targets = ROUTES.filter(({ path }) => path.startsWith(`${collection}/{`));
  const entries = targets.map((target) => {
    const own = /^\/\{(\w+)\}/.exec(target.path.slice(collection.length))?.[1] as string;
    const operationId = OPERATIONS[`${target.method} ${target.path}`]?.id as string;
    const carried = isPart ? given : [];
    return [
      operationId,
      {
        operationId,
        parameters: {
          ...Object.fromEntries(carried.map((name) => [name, `$request.path.${name}`])),
          [own]: '$response.body#/id',
        },
      },
    ] as const;
  });
  // A link fills in every parameter of its target, or it leads nowhere.
  const complete = entries.filter(([, { parameters: filled }], index) => {
    const wanted = [...(targets[index]?.path ?? '').matchAll(/\{(\w+)\}/g)].length;
    return Object.keys(filled).length === wanted;
  });
  return { links: Object.fromEntries(complete) };
}

function sorted<Value>(members: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}

import { EVENT_ID_PATTERN, OBJECT_ID_PATTERN } from '../../core/topology/events.ts';
import {
  linkAnswer,
  nodeAnswer,
  prefixAnswer,
  routerAnswer,
  srPolicyAnswer,
  srv6SidAnswer,
  unknownAnswer,
} from '../../core/topology/object-answer.ts';
import { AVOID_PATTERN } from '../../core/topology/path-query.ts';
import { LIST_PARAMETERS, NODE_ID_PATTERN, PROTOCOL_PATTERN } from '../../core/topology/query.ts';
import { ROUTER_PARAMETERS } from '../../core/topology/router-view.ts';
import {
  changesAnswer,
  eventAnswer,
  graphAnswer,
  pathsAnswer,
  topologySummaryAnswer,
} from '../../core/topology/topology-answer.ts';
import type { NamedSchema, OperationDocument, OperationDocuments, QueryParameter } from '../operation.ts';

const text = { type: 'string' };

const FILTERS: Readonly<Record<string, QueryParameter>> = {
  protocol: {
    description: 'As in `protocol`: `isis-level-2`, `ospfv2`, …',
    schema: { type: 'string', pattern: PROTOCOL_PATTERN },
  },
  identifier: {
    description: 'The NLRI’s Identifier (RFC 9552 §5.2)',
    schema: { type: 'string', pattern: '^[0-9]{1,20}$' },
  },
  as: { description: 'AS number', schema: { type: 'integer', minimum: 0, maximum: 4_294_967_295 } },
  'router-id': { description: 'An IGP, BGP, IPv4 or IPv6 router id of a node', schema: text },
  name: { description: 'The name of a node, or of a link', schema: text },
  area: { description: 'An OSPF area id or an IS-IS area address', schema: text },
  stale: {
    description: 'What to do with objects that no live peer tells',
    schema: { type: 'string', enum: ['include', 'exclude', 'only'], default: 'include' },
  },
  peer: {
    description: 'As this peer alone tells it',
    schema: { type: 'integer', minimum: 1, maximum: 999_999_999_999_999 },
  },
  raw: {
    description: 'Hex of NLRI and attribute with each source',
    schema: { type: 'string', enum: ['true', 'false'], default: 'false' },
  },
  node: {
    description: 'The id of a node: either end of a link, or whose prefix, SID or policy it is',
    schema: { type: 'string', pattern: NODE_ID_PATTERN },
  },
  family: { description: 'Of a prefix', schema: { type: 'string', enum: ['ipv4', 'ipv6'] } },
  prefix: {
    description: 'Exactly this prefix',
    schema: { type: 'string', pattern: '^[0-9a-fA-F:.]+/[0-9]{1,3}$' },
  },
  contains: {
    description: 'The longest prefixes that hold this address or prefix',
    schema: { type: 'string', pattern: '^[0-9a-fA-F:.]+(/[0-9]{1,3})?$' },
  },
  limit: {
    description: 'At most so many; without it the list is whole',
    schema: { type: 'integer', minimum: 1, maximum: 1_000 },
  },
  after: { description: 'Only those with a greater id', schema: text },
};

const only = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, FILTERS[name] as QueryParameter]));

const NODE: NamedSchema = { name: 'Node', schema: nodeAnswer };
const ROUTER: NamedSchema = { name: 'Router', schema: routerAnswer };
const LINK: NamedSchema = { name: 'Link', schema: linkAnswer };
const PREFIX: NamedSchema = { name: 'Prefix', schema: prefixAnswer };
const SRV6_SID: NamedSchema = { name: 'Srv6Sid', schema: srv6SidAnswer };
const SR_POLICY: NamedSchema = { name: 'SrPolicy', schema: srPolicyAnswer };
const UNKNOWN: NamedSchema = { name: 'UnknownObject', schema: unknownAnswer };

function list(body: NamedSchema, things: string, kind: keyof typeof LIST_PARAMETERS): OperationDocument {
  return {
    id: `list${body.name === 'UnknownObject' ? 'Unknown' : body.name === 'SrPolicy' ? 'SrPolicies' : plural(body.name)}`,
    summary: `List the ${things}`,
    query: only(LIST_PARAMETERS[kind]),
    answer: {
      status: 200,
      description: `The ${things} in the order of their ids`,
      body,
      isList: true,
      headers: ['Topology-Version', 'Link'],
    },
  };
}

const plural = (name: string) => (name === 'Prefix' ? 'Prefixes' : `${name}s`);

function one(body: NamedSchema, thing: string): OperationDocument {
  return {
    id: `get${body.name}`,
    summary: `Show ${thing}`,
    query: only(['raw', 'peer']),
    answer: { status: 200, description: 'As it is now', body, headers: ['Topology-Version'] },
  };
}

const mask = (description: string): QueryParameter => ({
  description,
  schema: { type: 'string', pattern: '^(0[xX][0-9a-fA-F]{1,64}|[0-9]{1,77})$' },
});

export const TOPOLOGY_OPERATIONS: OperationDocuments = {
  'GET /api/topology': {
    id: 'getTopology',
    summary: 'Count what is in the topology',
    answer: {
      status: 200,
      description: 'Counts, version and ages',
      body: { name: 'TopologySummary', schema: topologySummaryAnswer },
      headers: ['Topology-Version'],
    },
  },
  'GET /api/topology/graph': {
    id: 'getGraph',
    summary: 'The whole graph',
    query: {
      format: {
        description: 'RFC 8345 is JSON of its own; GraphML and DOT are for drawing',
        schema: { type: 'string', enum: ['json', 'rfc8345', 'graphml', 'dot'], default: 'json' },
      },
      stale: {
        description: 'What to do with objects that no live peer tells',
        schema: { type: 'string', enum: ['include', 'exclude'], default: 'include' },
      },
    },
    answer: {
      status: 200,
      description: 'Nodes and links',
      body: { name: 'Graph', schema: graphAnswer },
      texts: ['application/yang-data+json', 'application/graphml+xml', 'text/vnd.graphviz'],
      headers: ['Topology-Version'],
    },
  },
  'GET /api/topology/paths': {
    id: 'findPaths',
    summary: 'Find paths between two nodes',
    query: {
      from: { description: 'The id of a node', schema: text, required: true },
      to: { description: 'The id of a node', schema: text, required: true },
      metric: {
        description: 'What is added up',
        schema: { type: 'string', enum: ['igp', 'te', 'delay', 'hops'], default: 'igp' },
      },
      k: { description: 'At most so many', schema: { type: 'integer', minimum: 1, maximum: 16, default: 1 } },
      'multi-topology-id': {
        description: 'RFC 5120, RFC 4915',
        schema: { type: 'integer', minimum: 0, maximum: 4095, default: 0 },
      },
      stale: {
        description: 'Whether links that no live peer tells may be used',
        schema: { type: 'string', enum: ['include', 'exclude'], default: 'include' },
      },
      'min-bandwidth-bytes-per-second': {
        description: 'Links with less are left out',
        schema: { type: 'string', pattern: '^[0-9]{1,15}(\\.[0-9]{1,6})?$' },
      },
      'include-any': mask('Links need one of these administrative groups'),
      'include-all': mask('Links need all of these administrative groups'),
      'exclude-any': mask('Links have none of these administrative groups'),
      avoid: {
        description: 'Ids of nodes and links, joined by commas',
        schema: { type: 'string', pattern: AVOID_PATTERN },
      },
    },
    answer: {
      status: 200,
      description: 'The paths, or why there is none',
      body: { name: 'Paths', schema: pathsAnswer },
      headers: ['Topology-Version'],
    },
  },
  'GET /api/topology/changes': {
    id: 'listChanges',
    summary: 'What changed since a version',
    query: {
      since: {
        description: 'A version that an answer gave',
        schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{2,8192}$' },
        required: true,
      },
      wait: {
        description: 'Seconds to wait for a first change',
        schema: { type: 'integer', minimum: 0, maximum: 20, default: 0 },
      },
    },
    answer: {
      status: 200,
      description:
        'Objects as they are now, or removed; `Retry-After` when nothing changed and nobody waited',
      body: { name: 'Changes', schema: changesAnswer },
      headers: ['Topology-Version', 'Retry-After'],
    },
    problems: ['version-expired'],
  },
  'GET /api/topology/events': {
    id: 'listEvents',
    summary: 'What happened, newest first',
    query: {
      limit: {
        description: 'At most so many',
        schema: { type: 'integer', minimum: 1, maximum: 1_000, default: 100 },
      },
      after: {
        description: 'The id of an event: only older ones',
        schema: { type: 'string', pattern: EVENT_ID_PATTERN },
      },
      since: { description: 'Only later ones', schema: { type: 'string', format: 'date-time' } },
      peer: {
        description: 'Only what this peer told',
        schema: { type: 'integer', minimum: 1, maximum: 999_999_999_999_999 },
      },
      id: { description: 'Only of this object', schema: { type: 'string', pattern: OBJECT_ID_PATTERN } },
    },
    answer: {
      status: 200,
      description: 'The events',
      body: { name: 'TopologyEvent', schema: eventAnswer },
      isList: true,
      headers: ['Topology-Version', 'Link'],
    },
  },
  'GET /api/topology/nodes': list(NODE, 'nodes', 'node'),
  'GET /api/topology/nodes/{id}': one(NODE, 'a node'),
  'GET /api/topology/routers': {
    id: 'listRouters',
    summary: 'List the routers: nodes of one router id in one',
    query: only(ROUTER_PARAMETERS),
    answer: {
      status: 200,
      description: 'The routers in the order of their ids; each node is in exactly one',
      body: ROUTER,
      isList: true,
      headers: ['Topology-Version', 'Link'],
    },
  },
  'GET /api/topology/routers/{id}': {
    id: 'getRouter',
    summary: 'Show a router',
    answer: { status: 200, description: 'As it is now', body: ROUTER, headers: ['Topology-Version'] },
  },
  'GET /api/topology/links': list(LINK, 'links, each direction by itself', 'link'),
  'GET /api/topology/links/{id}': one(LINK, 'a link'),
  'GET /api/topology/prefixes': list(PREFIX, 'prefixes', 'prefix'),
  'GET /api/topology/prefixes/{id}': one(PREFIX, 'a prefix'),
  'GET /api/topology/srv6-sids': list(SRV6_SID, 'SRv6 SIDs', 'srv6-sid'),
  'GET /api/topology/srv6-sids/{id}': one(SRV6_SID, 'an SRv6 SID'),
  'GET /api/topology/sr-policies': list(SR_POLICY, 'SR policies', 'sr-policy'),
  'GET /api/topology/sr-policies/{id}': one(SR_POLICY, 'an SR policy'),
  'GET /api/topology/unknown': list(UNKNOWN, 'objects of types without a decoder', 'unknown'),
  'GET /api/topology/unknown/{id}': one(UNKNOWN, 'an object of a type without a decoder'),
};

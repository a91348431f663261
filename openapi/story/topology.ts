import type { StoryStep } from '../example.ts';

const TOPOLOGY = '/api/topology';

interface Summary {
  readonly counts: { readonly nodes: { readonly total: number }; readonly unknown: number };
  readonly peers: readonly { readonly 'end-of-rib': string | null }[];
}

/** `$node-1` and the like are the ids of the simulated network's objects; `$version` is a version seen before. */
export const TOPOLOGY_STEPS: readonly StoryStep[] = [
  {
    name: 'get-topology',
    operation: `GET ${TOPOLOGY}`,
    title: 'Three routers in a ring',
    status: 200,
    // One peer: the log of one that was removed goes a moment later, and the versions that named it with it.
    until: ({ counts, peers }: Summary) =>
      counts.nodes.total === 3 &&
      counts.unknown === 1 &&
      peers.length === 1 &&
      peers[0]?.['end-of-rib'] !== null,
  },
  {
    name: 'list-nodes',
    operation: `GET ${TOPOLOGY}/nodes`,
    title: 'By name',
    query: { name: 'net1-r1' },
    status: 200,
  },
  {
    name: 'list-nodes-refused',
    operation: `GET ${TOPOLOGY}/nodes`,
    title: 'A misspelt filter is no filter',
    query: { nmae: 'net1-r1' },
    status: 400,
  },
  {
    name: 'get-node',
    operation: `GET ${TOPOLOGY}/nodes/{id}`,
    title: 'With the octets that the peer sent',
    path: { id: '$node-1' },
    query: { raw: 'true' },
    status: 200,
  },
  {
    name: 'get-node-gone',
    operation: `GET ${TOPOLOGY}/nodes/{id}`,
    title: 'An id that names nothing',
    path: { id: 'n.AAAAAAAAAAAAAAAAAAAAAA' },
    status: 404,
  },
  {
    name: 'list-routers',
    operation: `GET ${TOPOLOGY}/routers`,
    title: 'All nodes of one router',
    query: { 'router-id': '10.101.0.1' },
    status: 200,
  },
  {
    name: 'get-router',
    operation: `GET ${TOPOLOGY}/routers/{id}`,
    title: 'The same by its id',
    path: { id: '$router-1' },
    status: 200,
  },
  {
    name: 'get-router-gone',
    operation: `GET ${TOPOLOGY}/routers/{id}`,
    title: 'An id that names nothing',
    path: { id: 'r.AAAAAAAAAAAAAAAAAAAAAA' },
    status: 404,
  },
  {
    name: 'list-links',
    operation: `GET ${TOPOLOGY}/links`,
    title: 'A page of those of one node',
    query: { node: '$node-1', limit: '1' },
    status: 200,
  },
  {
    name: 'get-link',
    operation: `GET ${TOPOLOGY}/links/{id}`,
    title: 'One direction, and the id of the other',
    path: { id: '$link-1' },
    status: 200,
  },
  {
    name: 'list-prefixes',
    operation: `GET ${TOPOLOGY}/prefixes`,
    title: 'Where an address is',
    query: { contains: '10.101.0.1' },
    status: 200,
  },
  {
    name: 'get-prefix',
    operation: `GET ${TOPOLOGY}/prefixes/{id}`,
    title: 'A loopback with its prefix SID',
    path: { id: '$prefix-1' },
    status: 200,
  },
  {
    name: 'list-srv6-sids',
    operation: `GET ${TOPOLOGY}/srv6-sids`,
    title: 'Those of one node',
    query: { node: '$node-1' },
    status: 200,
  },
  {
    name: 'get-srv6-sid',
    operation: `GET ${TOPOLOGY}/srv6-sids/{id}`,
    title: 'A SID and its behavior',
    path: { id: '$srv6-sid-1' },
    status: 200,
  },
  { name: 'list-sr-policies', operation: `GET ${TOPOLOGY}/sr-policies`, title: 'All of them', status: 200 },
  {
    name: 'get-sr-policy',
    operation: `GET ${TOPOLOGY}/sr-policies/{id}`,
    title: 'A candidate path',
    path: { id: '$sr-policy-1' },
    status: 200,
  },
  {
    name: 'list-unknown',
    operation: `GET ${TOPOLOGY}/unknown`,
    title: 'What has no decoder keeps its octets',
    status: 200,
  },
  {
    name: 'get-unknown',
    operation: `GET ${TOPOLOGY}/unknown/{id}`,
    title: 'An NLRI of type 65000',
    path: { id: '$unknown-1' },
    status: 200,
  },
  {
    name: 'get-graph',
    operation: `GET ${TOPOLOGY}/graph`,
    title: 'Without what is stale',
    query: { stale: 'exclude' },
    status: 200,
  },
  {
    name: 'draw-graph',
    operation: `GET ${TOPOLOGY}/graph`,
    title: 'For Graphviz',
    query: { format: 'dot' },
    status: 200,
  },
  {
    name: 'find-paths',
    operation: `GET ${TOPOLOGY}/paths`,
    title: 'Two ways around the ring, with the labels that steer a packet along each',
    query: { from: '$node-1', to: '$node-2', metric: 'igp', k: '2' },
    status: 200,
  },
  {
    name: 'find-paths-avoiding',
    operation: `GET ${TOPOLOGY}/paths`,
    title: 'No path is left when both neighbours are avoided',
    query: { from: '$node-1', to: '$node-2', avoid: '$node-3,$link-1' },
    status: 200,
  },
  {
    name: 'find-paths-refused',
    operation: `GET ${TOPOLOGY}/paths`,
    title: 'An end that is not in the topology',
    query: { from: '$node-1', to: 'n.AAAAAAAAAAAAAAAAAAAAAA' },
    status: 400,
  },
  {
    name: 'list-changes',
    operation: `GET ${TOPOLOGY}/changes`,
    title: 'Nothing since that version',
    query: { since: '$version' },
    status: 200,
  },
  {
    name: 'list-changes-refused',
    operation: `GET ${TOPOLOGY}/changes`,
    title: 'A version that no answer gave',
    query: { since: 'yesterday' },
    status: 400,
  },
  {
    name: 'list-events',
    operation: `GET ${TOPOLOGY}/events`,
    title: 'What happened to one object',
    query: { id: '$node-1' },
    status: 200,
  },
];

/** A caller's rights; each contains the one before it. */
export type Scope = 'read' | 'write' | 'admin';

/** The Lambda functions that answer HTTP requests, named as their files in `functions/`. */
export type ApiFunction =
  | 'peers'
  | 'topology'
  | 'models'
  | 'devices'
  | 'subscriptions'
  | 'outputs'
  | 'engine'
  | 'tokens';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `{name}` stands for one path segment. */
  readonly path: string;
  readonly function: ApiFunction;
  /** null: no token is asked for. */
  readonly scope: Scope | null;
}

/** Every operation of the API. The gateway, the handlers, the infrastructure and the OpenAPI document agree on this list. */
export const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/api/bgp/peers', function: 'peers', scope: 'read' },
  { method: 'POST', path: '/api/bgp/peers', function: 'peers', scope: 'write' },
  { method: 'GET', path: '/api/bgp/peers/{peerId}', function: 'peers', scope: 'read' },
  { method: 'PUT', path: '/api/bgp/peers/{peerId}', function: 'peers', scope: 'write' },
  { method: 'DELETE', path: '/api/bgp/peers/{peerId}', function: 'peers', scope: 'write' },
  { method: 'POST', path: '/api/bgp/peers/{peerId}/reset', function: 'peers', scope: 'write' },
  { method: 'POST', path: '/api/bgp/peers/{peerId}/refresh', function: 'peers', scope: 'write' },

  { method: 'GET', path: '/api/topology', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/graph', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/paths', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/changes', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/events', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/nodes', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/nodes/{id}', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/routers', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/routers/{id}', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/links', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/links/{id}', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/prefixes', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/prefixes/{id}', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/srv6-sids', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/srv6-sids/{id}', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/sr-policies', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/sr-policies/{id}', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/unknown', function: 'topology', scope: 'read' },
  { method: 'GET', path: '/api/topology/unknown/{id}', function: 'topology', scope: 'read' },

  { method: 'GET', path: '/api/engine', function: 'engine', scope: 'read' },
  { method: 'PUT', path: '/api/engine', function: 'engine', scope: 'admin' },
  { method: 'GET', path: '/api/metrics', function: 'engine', scope: 'read' },
  { method: 'GET', path: '/api/health', function: 'engine', scope: null },
  { method: 'GET', path: '/api/openapi.json', function: 'engine', scope: null },

  { method: 'GET', path: '/api/v1/outputs/webhook', function: 'outputs', scope: 'read' },
  { method: 'PUT', path: '/api/v1/outputs/webhook', function: 'outputs', scope: 'write' },
  { method: 'POST', path: '/api/v1/outputs/webhook/detect', function: 'outputs', scope: 'write' },
  { method: 'GET', path: '/api/v1/outputs/metrics', function: 'outputs', scope: 'read' },

  { method: 'GET', path: '/api/v1/models', function: 'models', scope: 'read' },
  { method: 'POST', path: '/api/v1/models', function: 'models', scope: 'write' },
  { method: 'POST', path: '/api/v1/models/import', function: 'models', scope: 'write' },
  { method: 'GET', path: '/api/v1/models/{modelId}', function: 'models', scope: 'read' },
  { method: 'PUT', path: '/api/v1/models/{modelId}', function: 'models', scope: 'write' },
  { method: 'DELETE', path: '/api/v1/models/{modelId}', function: 'models', scope: 'write' },
  { method: 'GET', path: '/api/v1/models/{modelId}/export', function: 'models', scope: 'read' },
  { method: 'GET', path: '/api/v1/models/{modelId}/snapshot', function: 'models', scope: 'read' },
  { method: 'POST', path: '/api/v1/models/{modelId}/new-version', function: 'models', scope: 'write' },
  { method: 'POST', path: '/api/v1/models/{modelId}/test', function: 'models', scope: 'write' },
  { method: 'GET', path: '/api/v1/models/{modelId}/fields', function: 'models', scope: 'read' },
  { method: 'POST', path: '/api/v1/models/{modelId}/fields', function: 'models', scope: 'write' },
  { method: 'PUT', path: '/api/v1/models/{modelId}/fields/order', function: 'models', scope: 'write' },
  { method: 'PUT', path: '/api/v1/models/{modelId}/fields/{fieldId}', function: 'models', scope: 'write' },
  { method: 'DELETE', path: '/api/v1/models/{modelId}/fields/{fieldId}', function: 'models', scope: 'write' },
  { method: 'GET', path: '/api/v1/models/{modelId}/mappings', function: 'models', scope: 'read' },
  { method: 'POST', path: '/api/v1/models/{modelId}/mappings', function: 'models', scope: 'write' },
  {
    method: 'PUT',
    path: '/api/v1/models/{modelId}/mappings/{mappingId}',
    function: 'models',
    scope: 'write',
  },
  {
    method: 'DELETE',
    path: '/api/v1/models/{modelId}/mappings/{mappingId}',
    function: 'models',
    scope: 'write',
  },

  { method: 'GET', path: '/api/v1/devices', function: 'devices', scope: 'read' },
  { method: 'POST', path: '/api/v1/devices', function: 'devices', scope: 'write' },
  { method: 'GET', path: '/api/v1/devices/{deviceId}', function: 'devices', scope: 'read' },
  { method: 'PUT', path: '/api/v1/devices/{deviceId}', function: 'devices', scope: 'write' },
  { method: 'DELETE', path: '/api/v1/devices/{deviceId}', function: 'devices', scope: 'write' },

  { method: 'GET', path: '/api/v1/subscriptions', function: 'subscriptions', scope: 'read' },
  { method: 'POST', path: '/api/v1/subscriptions', function: 'subscriptions', scope: 'write' },
  { method: 'GET', path: '/api/v1/subscriptions/{subscriptionId}', function: 'subscriptions', scope: 'read' },
  {
    method: 'PUT',
    path: '/api/v1/subscriptions/{subscriptionId}',
    function: 'subscriptions',
    scope: 'write',
  },
  {
    method: 'DELETE',
    path: '/api/v1/subscriptions/{subscriptionId}',
    function: 'subscriptions',
    scope: 'write',
  },

  { method: 'GET', path: '/api/v1/tokens', function: 'tokens', scope: 'admin' },
  { method: 'POST', path: '/api/v1/tokens', function: 'tokens', scope: 'admin' },
  { method: 'DELETE', path: '/api/v1/tokens/{tokenId}', function: 'tokens', scope: 'admin' },
];

/**
 * The path prefixes that the gateway sends to each function, with everything below them; `default` gets the rest,
 * so that an unknown route is answered with our own body.
 */
export const PREFIXES: ReadonlyArray<{ readonly prefix: string; readonly function: ApiFunction }> = [
  { prefix: '/api/bgp/peers', function: 'peers' },
  { prefix: '/api/topology', function: 'topology' },
  { prefix: '/api/v1/outputs', function: 'outputs' },
  { prefix: '/api/v1/models', function: 'models' },
  { prefix: '/api/v1/devices', function: 'devices' },
  { prefix: '/api/v1/subscriptions', function: 'subscriptions' },
  { prefix: '/api/v1/tokens', function: 'tokens' },
];

export const DEFAULT_FUNCTION: ApiFunction = 'engine';

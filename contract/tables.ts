/**
 * The two DynamoDB tables and the keys of their items. People write Config; the engine writes Runtime.
 * Every item has `pk`, `sk` and a schema version `v`.
 */
export const TABLES = {
  config: { name: 'graticule-config', partitionKey: 'pk', sortKey: 'sk' },
  runtime: { name: 'graticule-runtime', partitionKey: 'pk', sortKey: 'sk', timeToLive: 'expires' },
} as const;

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** Kinds of configuration whose changes workers watch for. */
export type VersionKind = 'peer' | 'engine' | 'command' | 'output' | 'model' | 'device' | 'subscription';

/** Ids are at most fifteen digits; padded, they sort as numbers do. */
export function paddedId(id: number): string {
  return String(id).padStart(15, '0');
}

export const CONFIG_KEYS = {
  peers: 'PEER',
  peer: (id: number): Key => ({ pk: 'PEER', sk: paddedId(id) }),
  /** Held by the one peer with this address, port and local address. */
  peerAddress: (address: string): Key => ({ pk: `PEER-ADDRESS#${address}`, sk: 'GUARD' }),
  models: 'MODEL',
  model: (id: number): Key => ({ pk: 'MODEL', sk: paddedId(id) }),
  /** Held by the one model with this name and version. */
  modelIdentity: (name: string, version: string): Key => ({
    pk: `MODEL-IDENTITY#${version}#${name}`,
    sk: 'GUARD',
  }),
  devices: 'DEVICE',
  device: (id: number): Key => ({ pk: 'DEVICE', sk: paddedId(id) }),
  deviceName: (name: string): Key => ({ pk: `DEVICE-NAME#${name}`, sk: 'GUARD' }),
  subscriptions: 'SUBSCRIPTION',
  subscription: (id: number): Key => ({ pk: 'SUBSCRIPTION', sk: paddedId(id) }),
  /** Changed with every subscription that begins to use this model or device, so that neither goes meanwhile. */
  use: (kind: 'model' | 'device', id: number): Key => ({ pk: `USE#${kind}#${id}`, sk: 'REVISION' }),
  tokens: 'TOKEN',
  /** `hash` is the hex SHA-256 of the bearer token. */
  token: (hash: string): Key => ({ pk: 'TOKEN', sk: hash }),
  /** Changed with every token written or removed, so that two removals cannot both be the last admin's. */
  tokenSet: (): Key => ({ pk: 'TOKEN-SET', sk: 'REVISION' }),
  engine: (): Key => ({ pk: 'ENGINE', sk: 'SETTINGS' }),
  webhook: (): Key => ({ pk: 'OUTPUT', sk: 'webhook' }),
  /** The last id given to a resource of this kind; never goes back. */
  lastId: (kind: string): Key => ({ pk: 'LAST-ID', sk: kind }),
  versions: 'VERSION',
  version: (kind: VersionKind): Key => ({ pk: 'VERSION', sk: kind }),
} as const;

export const RUNTIME_KEYS = {
  workers: 'WORKER',
  worker: (id: string): Key => ({ pk: 'WORKER', sk: id }),
  peerOwners: 'OWNER#peer',
  peerOwner: (id: number): Key => ({ pk: 'OWNER#peer', sk: paddedId(id) }),
  peerStatuses: 'STATUS#peer',
  /** Statuses of up to a hundred peers, as their owner `worker` sees them. */
  peerStatus: (worker: string, chunk: number): Key => ({
    pk: 'STATUS#peer',
    sk: `${worker}#${paddedId(chunk)}`,
  }),
  /** Where the visible part of each peer's topology log ends: one item a peer. */
  topologyHeads: 'TOPOLOGY-HEAD',
  topologyHead: (peer: number): Key => ({ pk: 'TOPOLOGY-HEAD', sk: paddedId(peer) }),
  /**
   * A stretch of a peer's topology log, written in one epoch and beginning with sequence number `first`. A stretch is
   * kept under what one partition takes in a second, so that the first load of a large network is not throttled.
   */
  topologyLog: (peer: number, epoch: number, first: number): string =>
    `TOPOLOGY-LOG#${peer}#${epoch}#${first}`,
  /** Some parts of the snapshot that stands for everything up to a sequence number; in groups for the same reason. */
  topologySnapshot: (peer: number, epoch: number, sequence: number, group: number): string =>
    `TOPOLOGY-SNAPSHOT#${peer}#${epoch}#${sequence}#${group}`,
  /** How far the sender got with one queue message; `id` is the message's own. */
  delivery: (id: string): Key => ({ pk: `DELIVERY#${id}`, sk: 'PROGRESS' }),
  deliveryCounters: 'DELIVERY-COUNTER',
  /** One of the sender's counters, by message id; many, so that senders do not wait for each other. */
  deliveryCounter: (shard: number): Key => ({
    pk: 'DELIVERY-COUNTER',
    sk: `sender#${String(shard).padStart(2, '0')}`,
  }),
  /** What workers collected and what the queue did not take. */
  collectedCounter: (): Key => ({ pk: 'DELIVERY-COUNTER', sk: 'worker' }),
  /** When counting began. */
  countingSince: (): Key => ({ pk: 'DELIVERY-COUNTER', sk: 'since' }),
  deviceOwners: 'OWNER#device',
  deviceOwner: (id: number): Key => ({ pk: 'OWNER#device', sk: paddedId(id) }),
  streamStatuses: 'STATUS#device',
  /** Statuses of up to a hundred devices and their streams, as their owner `worker` sees them. */
  streamStatus: (worker: string, chunk: number): Key => ({
    pk: 'STATUS#device',
    sk: `${worker}#${paddedId(chunk)}`,
  }),
  /** What a live test found. */
  jobResult: (id: string): Key => ({ pk: `JOB#${id}`, sk: 'RESULT' }),
  /** What one worker has of a snapshot; `id` is that of the command that asked for it. */
  snapshotPart: (id: string): Key => ({ pk: `SNAPSHOT#${id}`, sk: 'PART' }),
  commands: (worker: string): string => `COMMAND#${worker}`,
  command: (worker: string, id: string): Key => ({ pk: `COMMAND#${worker}`, sk: id }),
} as const;

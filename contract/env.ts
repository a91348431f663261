/** Names of the environment variables that the runtime reads; infrastructure and the local run set them. */
export const ENV = {
  configTable: 'GRATICULE_CONFIG_TABLE',
  runtimeTable: 'GRATICULE_RUNTIME_TABLE',
  keyringSecret: 'GRATICULE_KEYRING_SECRET',
  /** Holds the bootstrap token in AWS; the local run keeps its own in a file. */
  tokenSecret: 'GRATICULE_TOKEN_SECRET',
  /** URLs of the queues. */
  deliveriesQueue: 'GRATICULE_DELIVERIES_QUEUE',
  undeliveredQueue: 'GRATICULE_UNDELIVERED_QUEUE',
  jobsQueue: 'GRATICULE_JOBS_QUEUE',
  /** Names of the buckets. */
  payloadsBucket: 'GRATICULE_PAYLOADS_BUCKET',
  topologyBucket: 'GRATICULE_TOPOLOGY_BUCKET',
  /** Set by the local run only: loopback addresses may then be dialled. */
  allowLoopback: 'GRATICULE_ALLOW_LOOPBACK',
  /** Name servers, `address:port`, comma-separated, that receivers' names are asked of; empty: the system's way. */
  webhookDnsServers: 'GRATICULE_WEBHOOK_DNS',
  /** Private ranges that the webhook may reach: CIDRs, comma-separated; empty: none. */
  webhookAllow: 'GRATICULE_WEBHOOK_ALLOW',
  /** The worker's stable id in the local run; on Fargate the worker makes its own. */
  workerId: 'GRATICULE_WORKER_ID',
  /** Deploy-time values that seed the engine's settings once. */
  localAs: 'GRATICULE_LOCAL_AS',
  routerId: 'GRATICULE_ROUTER_ID',
  /** Addresses, comma-separated `address:port`, on which the worker accepts BGP; empty: none. */
  bgpListen: 'GRATICULE_BGP_LISTEN',
  /** A folder in which each BGP session's inputs are recorded, for a replay or a pcap file; empty: none. */
  bgpRecord: 'GRATICULE_BGP_RECORD',
  /** The name of the abstract socket on which the worker tells its container's health check; empty: none. */
  healthSocket: 'GRATICULE_HEALTH_SOCKET',
  /** The names of this and the next two are Powertools': operators of Lambda functions know them, the lines are our own. */
  logLevel: 'POWERTOOLS_LOG_LEVEL',
  /** In place of `METRICS_NAMESPACE`, where several stages share an account. */
  metricsNamespace: 'POWERTOOLS_METRICS_NAMESPACE',
  /** `true`: nobody makes metrics of our logs, so none are written. */
  metricsDisabled: 'POWERTOOLS_METRICS_DISABLED',
} as const;

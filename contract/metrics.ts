/** The product's own metrics. Apart from the alarms on them, which no function's bundle needs. */

/** Where the product's own metrics stand in CloudWatch, unless `ENV.metricsNamespace` names another place. */
export const METRICS_NAMESPACE = 'Graticule';

/** The one dimension of the product's own metrics. Never a peer, a device or a worker: each would cost money. */
export const METRICS_DIMENSIONS = { service: 'graticule' } as const;

export interface Metric {
  readonly unit: 'Count' | 'Seconds';
  /**
   * `Sum`: a counter; whoever does the counted thing counts it, once, so that all workers and functions add up.
   * `Maximum`: a gauge; several who report it at once, as two workers may for a moment, do not add up.
   */
  readonly statistic: 'Sum' | 'Maximum';
  /** `always`: reported each minute while a worker lives, zero too. `when-counted`: only when there was something. */
  readonly reported: 'always' | 'when-counted';
  readonly meaning: string;
}

/** The product's own metrics. Those of AWS services that alarms watch are named in the alarms alone. */
export const METRICS = {
  LiveWorkers: {
    unit: 'Count',
    statistic: 'Maximum',
    reported: 'always',
    meaning: 'Workers whose heart beats.',
  },
  SessionsDown: {
    unit: 'Count',
    statistic: 'Maximum',
    reported: 'always',
    meaning: 'Enabled peers without an Established session.',
  },
  SessionsOverLimit: {
    unit: 'Count',
    statistic: 'Maximum',
    reported: 'always',
    meaning: 'Peers that were stopped since they told more NLRIs than max-nlri allows.',
  },
  SessionFlaps: {
    unit: 'Count',
    statistic: 'Sum',
    reported: 'when-counted',
    meaning: 'Sessions lost within ten minutes of an earlier loss of the same peer.',
  },
  TopologyLagSeconds: {
    unit: 'Seconds',
    statistic: 'Maximum',
    reported: 'always',
    meaning: 'Age of the oldest change that a peer told and readers cannot see yet.',
  },
  StreamsLate: {
    unit: 'Count',
    statistic: 'Maximum',
    reported: 'always',
    meaning: 'Streams of devices that delivered nothing for three intervals and a minute, or back off.',
  },
  RecordsDelivered: {
    unit: 'Count',
    statistic: 'Sum',
    reported: 'when-counted',
    meaning: 'Records that the receiver answered below 400.',
  },
  RecordsFailed: {
    unit: 'Count',
    statistic: 'Sum',
    reported: 'when-counted',
    meaning: 'Records dropped after their one attempt, or without one.',
  },
  RequestsSent: {
    unit: 'Count',
    statistic: 'Sum',
    reported: 'when-counted',
    meaning: 'Requests to the receiver.',
  },
  KeyringFaults: {
    unit: 'Count',
    statistic: 'Sum',
    reported: 'when-counted',
    meaning: 'Secrets that could not be encrypted or decrypted.',
  },
  InternalErrors: {
    unit: 'Count',
    statistic: 'Sum',
    reported: 'when-counted',
    meaning: 'Requests answered 500.',
  },
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;

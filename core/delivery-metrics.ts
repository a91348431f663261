import { FAILURE_REASONS } from './delivery-outcome.ts';
import { type Counts, LATENCY_BUCKETS, type LastFailure, latencyBound } from './delivery-tally.ts';
import type { MetricFamily } from './open-metrics.ts';

/** Everything that the counters hold, read at one time. */
export interface DeliveryCounters {
  /** When counting began, ISO 8601. */
  readonly since: string;
  /** The sum over all counters, named as in `DeliveryTally`. */
  readonly counts: Counts;
  readonly lastSuccess: string | null;
  readonly lastFailure: LastFailure | null;
  /** When the newest message that a sender has taken was packed, ms since the epoch; 0: none was. */
  readonly takenPackedAt: number;
}

/**
 * The body of `GET /api/v1/outputs/metrics`.
 *
 * `queued` is known twice: from the worker, at once, and from the sender, for what it has taken. A worker that is killed
 * may take its last word along, a message in the queue has not been taken yet; the greater of the two is right whenever
 * either is, and the sender's is exact once the queue is empty.
 */
export function viewDeliveryMetrics(counters: DeliveryCounters, nowMilliseconds: number) {
  const count = (name: string) => counters.counts[name] ?? 0;
  const failedByReason = Object.fromEntries(
    FAILURE_REASONS.map((reason) => [reason, count(`records.failed.${reason}`)]),
  ) as Record<(typeof FAILURE_REASONS)[number], number>;
  const failed = Object.values(failedByReason).reduce((sum, records) => sum + records, 0);
  const queued = Math.max(count('records.accepted'), count('records.taken'));
  const delivered = count('records.delivered');
  const requestsQueued = Math.max(count('requests.accepted'), count('requests.taken'));
  const requestsDone = count('requests.delivered') + count('requests.failed') - count('requests.not-queued');
  const waiting = Math.max(0, requestsQueued - requestsDone);
  const oldest = counters.takenPackedAt === 0 ? Date.parse(counters.since) : counters.takenPackedAt;
  return {
    since: counters.since,
    records: {
      collected: Math.max(count('records.collected'), queued + failedByReason['not-queued']),
      queued,
      delivered,
      failed,
      'failed-by-reason': failedByReason,
    },
    requests: {
      sent: count('requests.sent'),
      delivered: count('requests.delivered'),
      failed: count('requests.failed'),
      redirects: count('requests.redirects'),
    },
    'bytes-sent': count('bytes.sent'),
    'latency-ms': latencyQuantiles(counters.counts),
    queue: {
      requests: waiting,
      'oldest-age-seconds': waiting === 0 ? 0 : Math.max(0, Math.round((nowMilliseconds - oldest) / 1000)),
    },
    'last-success': counters.lastSuccess,
    'last-failure':
      counters.lastFailure === null
        ? null
        : {
            at: counters.lastFailure.at,
            reason: counters.lastFailure.reason,
            'response-code': counters.lastFailure.responseCode,
            detail: counters.lastFailure.detail,
          },
  };
}

export type DeliveryMetrics = ReturnType<typeof viewDeliveryMetrics>;

/** Quantiles from the histogram, each the upper bound of its bucket (at most 19 % high); null before an answer came. */
function latencyQuantiles(counts: Counts): Record<'p50' | 'p90' | 'p99' | 'max', number | null> {
  const buckets = Array.from({ length: LATENCY_BUCKETS }, (_, index) => counts[`latency.${index}`] ?? 0);
  const total = buckets.reduce((sum, answers) => sum + answers, 0);
  const quantile = (share: number): number | null => {
    if (total === 0) return null;
    let below = 0;
    for (const [index, answers] of buckets.entries()) {
      below += answers;
      if (answers > 0 && below >= total * share) return Number(latencyBound(index).toPrecision(3));
    }
    return null;
  };
  return { p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99), max: quantile(1) };
}

/** The same numbers as OpenMetrics families, for `GET /api/metrics`; aggregates only, no label per device. */
export function deliveryMetricFamilies(metrics: DeliveryMetrics): MetricFamily[] {
  const { records, requests, queue } = metrics;
  const counter = (name: string, help: string, value: number): MetricFamily => ({
    name,
    type: 'counter',
    help,
    samples: [{ labels: {}, value }],
  });
  return [
    counter('graticule_webhook_records_collected', 'Records built for the webhook.', records.collected),
    counter('graticule_webhook_records_queued', 'Records that the queue accepted.', records.queued),
    counter('graticule_webhook_records_delivered', 'Records answered below 400.', records.delivered),
    {
      name: 'graticule_webhook_records_failed',
      type: 'counter',
      help: 'Records dropped after their one attempt, or without one.',
      samples: FAILURE_REASONS.map((reason) => ({
        labels: { reason },
        value: records['failed-by-reason'][reason],
      })),
    },
    {
      name: 'graticule_webhook_requests',
      type: 'counter',
      help: 'Requests by what became of them.',
      samples: [
        { labels: { outcome: 'sent' }, value: requests.sent },
        { labels: { outcome: 'delivered' }, value: requests.delivered },
        { labels: { outcome: 'failed' }, value: requests.failed },
        { labels: { outcome: 'redirect' }, value: requests.redirects },
      ],
    },
    counter('graticule_webhook_sent_bytes', 'Bytes of the bodies sent.', metrics['bytes-sent']),
    {
      name: 'graticule_webhook_queue_requests',
      type: 'gauge',
      help: 'Requests that wait.',
      samples: [{ labels: {}, value: queue.requests }],
    },
    {
      name: 'graticule_webhook_queue_oldest_age_seconds',
      type: 'gauge',
      help: 'Age of the oldest request that waits.',
      samples: [{ labels: {}, value: queue['oldest-age-seconds'] }],
    },
  ];
}

import { METRICS, METRICS_DIMENSIONS, type MetricName } from '../contract/metrics.ts';

export type MetricValues = Readonly<Partial<Record<MetricName, number>>>;

/**
 * One line of CloudWatch's embedded metric format: CloudWatch Logs makes metrics of it, whoever writes it to a log
 * group, without a call of ours. `''` when there is no value. `timestamp`: milliseconds since 1970.
 */
export function formatEmbeddedMetrics(namespace: string, values: MetricValues, timestamp: number): string {
  const names = Object.keys(values) as MetricName[];
  if (names.length === 0) return '';
  return JSON.stringify({
    _aws: {
      Timestamp: timestamp,
      CloudWatchMetrics: [
        {
          Namespace: namespace,
          Dimensions: [Object.keys(METRICS_DIMENSIONS)],
          Metrics: names.map((name) => ({ Name: name, Unit: METRICS[name].unit })),
        },
      ],
    },
    ...METRICS_DIMENSIONS,
    ...values,
  });
}

import { ENV } from '../contract/env.ts';
import { METRICS_NAMESPACE } from '../contract/metrics.ts';
import { formatEmbeddedMetrics, type MetricValues } from '../core/embedded-metrics.ts';

/**
 * Writes one line of metrics to the log, from which CloudWatch makes them. Values that are zero are left out: a metric
 * that says nothing costs as much as one that does.
 */
export function writeMetrics(values: MetricValues): void {
  if (process.env[ENV.metricsDisabled] === 'true') return;
  const counted = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== 0));
  const namespace = process.env[ENV.metricsNamespace] || METRICS_NAMESPACE;
  const line = formatEmbeddedMetrics(namespace, counted, Date.now());
  if (line !== '') process.stdout.write(`${line}\n`);
}

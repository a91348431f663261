import { ENV } from '../contract/env.ts';
import { METRICS, METRICS_NAMESPACE, type MetricName } from '../contract/metrics.ts';
import { formatEmbeddedMetrics, type MetricValues } from '../core/embedded-metrics.ts';

const REPORT_EVERY_MILLISECONDS = 60_000;
/** Soon after the start, so that a worker that was replaced leaves no gap; late enough to have taken its peers. */
const FIRST_REPORT_MILLISECONDS = 5_000;

export interface WorkerMetricsPorts {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  /** Takes one line. */
  write(line: string): void;
  /** What this worker alone can tell. */
  ownGauges(): MetricValues;
  /** What one worker tells for all of them; `{}` from every other. */
  engineGauges(): Promise<MetricValues>;
}

/** Writes the worker's part of the product's metrics into its log, once a minute. */
export class WorkerMetrics {
  readonly #ports: WorkerMetricsPorts;
  readonly #namespace = process.env[ENV.metricsNamespace] || METRICS_NAMESPACE;
  readonly #isDisabled = process.env[ENV.metricsDisabled] === 'true';
  #counts: Partial<Record<MetricName, number>> = {};
  #timer: NodeJS.Timeout | undefined;

  constructor(ports: WorkerMetricsPorts) {
    this.#ports = ports;
  }

  /** Counts something that this worker did or met; the next report tells it. */
  count(name: MetricName, amount = 1): void {
    if (METRICS[name].statistic !== 'Sum') throw new Error(`${name} is no counter`);
    if (amount > 0) this.#counts[name] = (this.#counts[name] ?? 0) + amount;
  }

  start(onError: (error: unknown) => void): void {
    if (this.#isDisabled) return;
    const report = () => {
      this.#timer = setTimeout(report, REPORT_EVERY_MILLISECONDS);
      void this.report().catch(onError);
    };
    this.#timer = setTimeout(report, FIRST_REPORT_MILLISECONDS);
  }

  /** Tells everything. Counts are told even when the rest cannot be read: that is when they matter. */
  async report(): Promise<void> {
    if (this.#isDisabled) return;
    let gauges: MetricValues = {};
    try {
      gauges = await this.#ports.engineGauges();
    } finally {
      const counts = this.#counts;
      this.#counts = {};
      this.#write({ ...gauges, ...this.#ports.ownGauges(), ...counts });
    }
  }

  /** What was counted since the last report; for a worker that ends. */
  stop(): void {
    clearTimeout(this.#timer);
    const counts = this.#counts;
    this.#counts = {};
    if (!this.#isDisabled) this.#write(counts);
  }

  #write(values: MetricValues): void {
    const line = formatEmbeddedMetrics(this.#namespace, values, this.#ports.now());
    if (line !== '') this.#ports.write(line);
  }
}

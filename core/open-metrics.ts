/** One metric of the OpenMetrics 1.0 text format, with its samples. */
export interface MetricFamily {
  /** Without the `_total` that a counter's samples end with. */
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly samples: ReadonlyArray<{
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }>;
}

/** The content type of the format. */
export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** Families as text, without the closing `# EOF`. Label values are data: whatever they hold, they stay one value. */
export function formatMetricFamilies(families: readonly MetricFamily[]): string {
  return families.map(formatFamily).join('');
}

function formatFamily({ name, type, help, samples }: MetricFamily): string {
  const suffix = type === 'counter' ? '_total' : '';
  const lines = samples.map(({ labels, value }) => `${name}${suffix}${formatLabels(labels)} ${value}`);
  return `${[`# TYPE ${name} ${type}`, `# HELP ${name} ${help}`, ...lines].join('\n')}\n`;
}

function formatLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escapeValue(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

import type { MetricName } from '../../contract/metrics.ts';

/** Which test runs the code that emits each metric: the functions in this process, or the worker of a stack. */
export const EMITTED_BY: Readonly<Record<MetricName, 'functions' | 'worker'>> = {
  LiveWorkers: 'worker',
  SessionsDown: 'worker',
  SessionsOverLimit: 'worker',
  SessionFlaps: 'worker',
  TopologyLagSeconds: 'worker',
  StreamsLate: 'worker',
  RecordsDelivered: 'functions',
  RecordsFailed: 'functions',
  RequestsSent: 'functions',
  KeyringFaults: 'functions',
  InternalErrors: 'functions',
};

export function metricsEmittedBy(emitter: 'functions' | 'worker'): MetricName[] {
  return (Object.keys(EMITTED_BY) as MetricName[]).filter((name) => EMITTED_BY[name] === emitter).sort();
}

interface MetricLine {
  readonly _aws: {
    readonly Timestamp: number;
    readonly CloudWatchMetrics: ReadonlyArray<{
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: ReadonlyArray<{ readonly Name: string; readonly Unit: string }>;
    }>;
  };
  readonly [member: string]: unknown;
}

/** The lines of embedded metrics in what a program printed. */
export function metricLines(output: string): MetricLine[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{"_aws"'))
    .map((line) => JSON.parse(line));
}

/** The values as CloudWatch would read them: only members that the line declares. */
export function metricValues(line: MetricLine): Record<string, number> {
  const declared = line._aws.CloudWatchMetrics.flatMap(({ Metrics }) => Metrics);
  return Object.fromEntries(declared.map(({ Name }) => [Name, line[Name] as number]));
}

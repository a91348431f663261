import { METRICS, METRICS_DIMENSIONS, METRICS_NAMESPACE, type MetricName } from './metrics.ts';
import type { QueueName } from './queues.ts';

/** `{ queue }`: that queue's name. `{ every: 'function' }`: each of our functions; the alarm watches their sum. */
export type DimensionValue = string | { readonly queue: QueueName } | { readonly every: 'function' };

/** One CloudWatch alarm, for which `docs/runbook.md` has the article whose heading is `#runbook`. */
export interface Alarm {
  readonly id: string;
  /** What an operator who is woken by it reads first. */
  readonly sentence: string;
  readonly namespace: string;
  readonly metric: string;
  readonly dimensions: Readonly<Record<string, DimensionValue>>;
  readonly statistic: 'Sum' | 'Maximum';
  readonly periodSeconds: number;
  /** It goes off when so many of the last `evaluationPeriods` are over (or under) the threshold. */
  readonly datapointsToAlarm: number;
  readonly evaluationPeriods: number;
  readonly comparison: 'greater-than-threshold' | 'less-than-threshold';
  readonly threshold: number;
  readonly missingData: 'breaching' | 'not-breaching';
  /** Anchor in docs/runbook.md. */
  readonly runbook: string;
}

const MINUTE = { periodSeconds: 60, datapointsToAlarm: 5, evaluationPeriods: 5 } as const;
const OVER = { comparison: 'greater-than-threshold', missingData: 'not-breaching' } as const;

function own(metric: MetricName) {
  return {
    namespace: METRICS_NAMESPACE,
    metric,
    dimensions: METRICS_DIMENSIONS,
    statistic: METRICS[metric].statistic,
  } as const;
}

/** Every alarm of a deployment. Thresholds suit a small network; all are meant to be changed by who knows better. */
export const ALARMS = [
  {
    id: 'no-worker',
    sentence: 'No worker lives: no session is held, nothing is collected.',
    ...own('LiveWorkers'),
    periodSeconds: 60,
    datapointsToAlarm: 3,
    evaluationPeriods: 3,
    comparison: 'less-than-threshold',
    threshold: 1,
    missingData: 'breaching',
    runbook: 'no-worker',
  },
  {
    id: 'session-down',
    sentence: 'A BGP session that should be up has been down for five minutes.',
    ...own('SessionsDown'),
    ...MINUTE,
    ...OVER,
    threshold: 0,
    runbook: 'a-session-does-not-come-up',
  },
  {
    id: 'session-flapping',
    sentence: 'A BGP session comes and goes.',
    ...own('SessionFlaps'),
    periodSeconds: 900,
    datapointsToAlarm: 1,
    evaluationPeriods: 1,
    ...OVER,
    threshold: 2,
    runbook: 'a-session-flaps',
  },
  {
    id: 'nlri-cap',
    sentence: 'A peer told more NLRIs than it may and was stopped.',
    ...own('SessionsOverLimit'),
    periodSeconds: 60,
    datapointsToAlarm: 1,
    evaluationPeriods: 1,
    ...OVER,
    threshold: 0,
    runbook: 'a-peer-tells-too-much',
  },
  {
    id: 'topology-stale',
    sentence: 'What peers tell does not reach the readers of the topology.',
    ...own('TopologyLagSeconds'),
    periodSeconds: 60,
    datapointsToAlarm: 2,
    evaluationPeriods: 2,
    ...OVER,
    threshold: 30,
    runbook: 'the-topology-falls-behind',
  },
  {
    id: 'collector-lag',
    sentence: 'Devices deliver nothing, or too late.',
    ...own('StreamsLate'),
    ...MINUTE,
    ...OVER,
    threshold: 0,
    runbook: 'collection-is-late',
  },
  {
    id: 'delivery-failures',
    sentence: 'The receiver of the webhook does not take records.',
    ...own('RecordsFailed'),
    periodSeconds: 300,
    datapointsToAlarm: 2,
    evaluationPeriods: 2,
    ...OVER,
    threshold: 0,
    runbook: 'records-are-not-delivered',
  },
  {
    id: 'delivery-queue-age',
    sentence: 'Records wait so long that they are about to expire unsent.',
    namespace: 'AWS/SQS',
    metric: 'ApproximateAgeOfOldestMessage',
    dimensions: { QueueName: { queue: 'deliveries' } },
    statistic: 'Maximum',
    periodSeconds: 60,
    datapointsToAlarm: 3,
    evaluationPeriods: 3,
    ...OVER,
    threshold: 120,
    runbook: 'records-wait-in-the-queue',
  },
  {
    id: 'dead-letters',
    sentence: 'Messages lie in the dead-letter queue that could not even be counted.',
    namespace: 'AWS/SQS',
    metric: 'ApproximateNumberOfMessagesVisible',
    dimensions: { QueueName: { queue: 'undelivered' } },
    statistic: 'Maximum',
    periodSeconds: 300,
    datapointsToAlarm: 3,
    evaluationPeriods: 3,
    ...OVER,
    threshold: 0,
    runbook: 'messages-lie-in-the-dead-letter-queue',
  },
  {
    id: 'internal-errors',
    sentence: 'The API answers 500.',
    ...own('InternalErrors'),
    periodSeconds: 300,
    datapointsToAlarm: 1,
    evaluationPeriods: 1,
    ...OVER,
    threshold: 0,
    runbook: 'a-function-fails',
  },
  {
    id: 'lambda-errors',
    sentence: 'A function ends without an answer: it crashed, ran out of memory or of time.',
    namespace: 'AWS/Lambda',
    metric: 'Errors',
    dimensions: { FunctionName: { every: 'function' } },
    statistic: 'Sum',
    periodSeconds: 300,
    datapointsToAlarm: 1,
    evaluationPeriods: 1,
    ...OVER,
    threshold: 0,
    runbook: 'a-function-fails',
  },
  {
    id: 'lambda-throttles',
    sentence: 'AWS runs no more of our functions at once.',
    namespace: 'AWS/Lambda',
    metric: 'Throttles',
    dimensions: { FunctionName: { every: 'function' } },
    statistic: 'Sum',
    periodSeconds: 300,
    datapointsToAlarm: 2,
    evaluationPeriods: 2,
    ...OVER,
    threshold: 0,
    runbook: 'functions-are-throttled',
  },
  {
    id: 'keyring',
    sentence: 'Stored secrets cannot be read.',
    ...own('KeyringFaults'),
    periodSeconds: 300,
    datapointsToAlarm: 1,
    evaluationPeriods: 1,
    ...OVER,
    threshold: 0,
    runbook: 'the-keyring-cannot-be-used',
  },
] as const satisfies readonly Alarm[];

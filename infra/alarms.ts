import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  Alarm as CloudWatchAlarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { ALARMS, type Alarm } from '../contract/alarms.ts';
import { METRICS, METRICS_DIMENSIONS, METRICS_NAMESPACE } from '../contract/metrics.ts';
import type { Queues } from './queues.ts';
import type { Settings } from './settings.ts';

export interface AlarmsOptions {
  readonly settings: Settings;
  readonly queues: Queues;
  /** What alarms on each of our functions watch. */
  readonly functions: readonly IFunction[];
}

/** Every alarm of `contract/alarms.ts`, a dashboard of what they watch, and whom they tell. */
export class Alarms extends Construct {
  readonly alarms: readonly CloudWatchAlarm[];

  constructor(scope: Construct, id: string, options: AlarmsOptions) {
    super(scope, id);
    this.alarms = ALARMS.flatMap((alarm) =>
      watchedBy(alarm, options).map((metric, index) => this.#make(alarm, metric, index)),
    );
    const { alarmEmail, name } = options.settings;
    if (alarmEmail !== '') {
      const topic = new Topic(this, 'Topic', { displayName: name, enforceSSL: true });
      // To insist on TLS is a policy, and one of its own takes the place of the default, by which alarms may publish.
      const anyAlarm = Stack.of(this).formatArn({
        service: 'cloudwatch',
        resource: 'alarm',
        resourceName: '*',
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      });
      topic.addToResourcePolicy(
        new PolicyStatement({
          principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
          actions: ['sns:Publish'],
          resources: [topic.topicArn],
          conditions: { ArnLike: { 'aws:SourceArn': anyAlarm } },
        }),
      );
      topic.addSubscription(new EmailSubscription(alarmEmail));
      for (const alarm of this.alarms) alarm.addAlarmAction(new SnsAction(topic));
    }
    const dashboard = new Dashboard(this, 'Dashboard', { defaultInterval: Duration.hours(3) });
    dashboard.addWidgets(new AlarmStatusWidget({ title: 'Alarms', alarms: [...this.alarms], width: 24 }));
    const graphs = Object.entries(METRICS).map(
      ([metricName, { statistic, meaning }]) =>
        new GraphWidget({
          title: metricName,
          width: 8,
          left: [
            new Metric({
              namespace: name,
              metricName,
              dimensionsMap: METRICS_DIMENSIONS,
              statistic,
              period: Duration.minutes(1),
              label: meaning,
            }),
          ],
        }),
    );
    dashboard.addWidgets(...graphs);
  }

  #make(alarm: Alarm, metric: IMetric, index: number): CloudWatchAlarm {
    const suffix = index === 0 ? '' : `-${index + 1}`;
    return new CloudWatchAlarm(this, `${alarm.id}${suffix}`, {
      alarmDescription: `${alarm.sentence} What to do: docs/runbook.md#${alarm.runbook}`,
      metric,
      threshold: alarm.threshold,
      comparisonOperator:
        alarm.comparison === 'less-than-threshold'
          ? ComparisonOperator.LESS_THAN_THRESHOLD
          : ComparisonOperator.GREATER_THAN_THRESHOLD,
      datapointsToAlarm: alarm.datapointsToAlarm,
      evaluationPeriods: alarm.evaluationPeriods,
      treatMissingData:
        alarm.missingData === 'breaching' ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
  }
}

/** The metric of an alarm, or one for each function. */
function watchedBy(alarm: Alarm, { settings, queues, functions }: AlarmsOptions): IMetric[] {
  const period = Duration.seconds(alarm.periodSeconds);
  const metric = (dimensionsMap: Record<string, string>): Metric =>
    new Metric({
      // The product's own metrics stand under the stack's name, so that two stacks do not add up.
      namespace: alarm.namespace === METRICS_NAMESPACE ? settings.name : alarm.namespace,
      metricName: alarm.metric,
      statistic: alarm.statistic,
      period,
      dimensionsMap,
    });
  const dimensions = Object.entries(alarm.dimensions);
  const every = dimensions.find(([, value]) => typeof value === 'object' && 'every' in value);
  if (every === undefined) {
    return [
      metric(
        Object.fromEntries(
          dimensions.map(([name, value]): [string, string] => [
            name,
            typeof value === 'object' && 'queue' in value
              ? queues.queues[value.queue].queueName
              : String(value),
          ]),
        ),
      ),
    ];
  }
  // One alarm each: it costs what a sum of them would, which has room for ten only, and says which function it is.
  return functions.map(({ functionName }) => metric({ [every[0]]: functionName }));
}

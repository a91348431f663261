import { afterAll, beforeAll, expect, it } from 'vitest';
import { ENV } from '../../contract/env.ts';
import { METRICS, METRICS_DIMENSIONS, METRICS_NAMESPACE } from '../../contract/metrics.ts';
import { freePort } from '../../local/dynamodb-emulator.ts';
import { FarEnds } from '../support/bgp-far-ends.ts';
import { contractClient } from '../support/contract-client.ts';
import { metricLines, metricsEmittedBy, metricValues } from '../support/metric-lines.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { until } from '../support/until.ts';

let stack: Stack;
let farEnds: FarEnds;

beforeAll(async () => {
  farEnds = await FarEnds.open(['127.61.0.1'], await freePort());
  stack = await startStack({ environment: { [ENV.metricsDisabled]: 'false' } });
});

afterAll(async () => {
  await stack.stop();
  await farEnds.close();
});

it('the worker of the running product reports every metric that is its own, flaps once each, and nothing per peer', async () => {
  const api = contractClient(stack.send, stack.token);
  const body = {
    name: 'flapping',
    'peer-address': '127.61.0.1',
    'peer-port': farEnds.port,
    'user-peer-as': '65000',
    enabled: true,
  };
  const { id } = (await api.send({ method: 'POST', path: '/api/bgp/peers', body })).json;
  const connections = () => farEnds.sessions.get('127.61.0.1')?.length ?? 0;
  const established = () => farEnds.established().length === 1;
  await until('established', established, Boolean);
  // Two losses: the first is a loss, the second a flap.
  for (const expected of [2, 3]) {
    await api.send({ method: 'POST', path: `/api/bgp/peers/${id}/reset` });
    await until('connected anew', connections, (count) => count >= expected);
    await until('established again', established, Boolean);
  }
  await until('the first report', () => metricLines(stack.output()).length, Boolean);
  await stack.stop();

  const lines = metricLines(stack.output());
  const values = lines.map(metricValues);
  expect([...new Set(values.flatMap((each) => Object.keys(each)))].sort()).toEqual(
    metricsEmittedBy('worker'),
  );
  expect(values.reduce((sum, { SessionFlaps = 0 }) => sum + SessionFlaps, 0)).toBe(1);
  expect(values[0]).toMatchObject({ LiveWorkers: 1, SessionsOverLimit: 0, StreamsLate: 0 });
  for (const line of lines) {
    const [directive] = line._aws.CloudWatchMetrics;
    expect(directive?.Namespace).toBe(METRICS_NAMESPACE);
    expect(directive?.Dimensions).toEqual([Object.keys(METRICS_DIMENSIONS)]);
    expect(line).toMatchObject(METRICS_DIMENSIONS);
    for (const { Name, Unit } of directive?.Metrics ?? []) {
      expect(METRICS[Name as keyof typeof METRICS].unit).toBe(Unit);
    }
  }
}, 60_000);

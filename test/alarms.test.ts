import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ALARMS, type Alarm } from '../contract/alarms.ts';
import { METRICS, METRICS_DIMENSIONS, METRICS_NAMESPACE } from '../contract/metrics.ts';

const RUNBOOK = readFileSync('docs/runbook.md', 'utf8');

/** The articles by their anchors, as GitHub makes them of headings. */
const ARTICLES = new Map(
  RUNBOOK.split(/^## /m)
    .slice(1)
    .map((article): [string, string] => {
      const heading = article.slice(0, article.indexOf('\n'));
      const anchor = heading.toLowerCase().replace(/[^a-z0-9 -]/g, '');
      return [anchor.replaceAll(' ', '-'), article];
    }),
);

/** Each command of an article with what it printed. */
function commandsOf(article: string): { command: string; output: string }[] {
  const consoles = [...article.matchAll(/```console\n([\s\S]*?)```/g)].map(([, text]) => text ?? '');
  return consoles.flatMap((text) =>
    text
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command = '', ...output] = part.split('\n');
        return { command, output: output.join('\n').trim() };
      }),
  );
}

describe('the alarms', () => {
  const alarms: readonly Alarm[] = ALARMS;

  it('have ids of their own', () => {
    expect(new Set(alarms.map(({ id }) => id)).size).toBe(alarms.length);
  });

  it('watch metrics that the product emits, in its namespace and by its statistic, or those of AWS', () => {
    for (const { id, namespace, metric, dimensions, statistic } of alarms) {
      if (namespace.startsWith('AWS/')) continue;
      expect(namespace, id).toBe(METRICS_NAMESPACE);
      expect(Object.keys(METRICS), id).toContain(metric);
      expect(dimensions, id).toEqual(METRICS_DIMENSIONS);
      expect(statistic, id).toBe(METRICS[metric as keyof typeof METRICS].statistic);
    }
  });

  it('have no dimension for a peer, a device or a worker', () => {
    const names = new Set(alarms.flatMap(({ dimensions }) => Object.keys(dimensions)));
    expect([...names].sort()).toEqual(['FunctionName', 'QueueName', 'service']);
  });

  it('ask CloudWatch for no more than it takes: periods of whole minutes, a day of them at most', () => {
    for (const { id, periodSeconds, datapointsToAlarm, evaluationPeriods } of alarms) {
      expect(periodSeconds % 60, id).toBe(0);
      expect(periodSeconds * evaluationPeriods, id).toBeLessThanOrEqual(86_400);
      expect(datapointsToAlarm, id).toBeLessThanOrEqual(evaluationPeriods);
    }
  });

  for (const { id, runbook } of alarms) {
    it(`${id} has an article: symptom, meaning, three commands with their output, remedy`, () => {
      const article = ARTICLES.get(runbook) ?? '';
      for (const part of ['**Symptom.**', '**Meaning.**', '**Remedy.**']) expect(article).toContain(part);
      expect(article).toContain(`\`${id}\``);
      const commands = commandsOf(article);
      expect(commands.length).toBeGreaterThanOrEqual(3);
      for (const { command, output } of commands) expect(output, command).not.toBe('');
    });
  }
});

import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOfBodies } from './bodies.ts';
import type { Sink, SinkStats } from './programs.ts';
import { lastThreeQuarters, type Rates } from './three-quarters.ts';

/** Milliseconds; all metrics have it. */
const TIMESTAMP = 1_766_286_000_000;

export interface TelegrafRun extends Rates {
  readonly stats: SinkStats;
  /** Of all bodies as they have to arrive. */
  readonly expectedDigest: string;
}

/**
 * Telegraf's HTTP output, a POST a metric, of metrics with the members of the records that ours sends. It sends one
 * request after another: `use_batch_format = false` is a loop over the metrics of a batch.
 */
export async function runTelegraf(
  telegraf: string,
  sink: Sink,
  metrics: number,
  directory: string,
  environment: NodeJS.ProcessEnv,
): Promise<TelegrafRun> {
  const input = join(directory, 'metrics.influx');
  writeFileSync(input, Array.from({ length: metrics }, (_, id) => lineOf(id)).join('\n'));
  const configuration = join(directory, 'telegraf.conf');
  writeFileSync(
    configuration,
    `[agent]\n  metric_batch_size = 1000\n  metric_buffer_limit = ${metrics + 1}\n  omit_hostname = true\n` +
      `[[inputs.file]]\n  files = ["${input}"]\n  data_format = "influx"\n` +
      `[[outputs.http]]\n  url = "${sink.url}"\n  method = "POST"\n  data_format = "json"\n` +
      '  json_timestamp_units = "1ms"\n  use_batch_format = false\n  max_idle_conn = 32\n  max_idle_conn_per_host = 32\n',
  );
  const child = spawn(telegraf, ['--config', configuration, '--once', '--quiet'], {
    stdio: 'ignore',
    env: { ...process.env, ...environment },
  });
  const ended = new Promise((settle) => child.once('exit', settle));
  const rates = await lastThreeQuarters(sink, child, metrics);
  await ended;
  const expectedDigest = digestOfBodies(Array.from({ length: metrics }, (_, id) => bodyOf(id)));
  return { ...rates, stats: await sink.stats(), expectedDigest };
}

function lineOf(id: number): string {
  return (
    `interfaces,device=leaf1,path=/interfaces/interface[name\\=et-${id}],key=${id} in-octets=${id * 7_919}i,` +
    `out-octets=${id * 104_729}i,in-errors=0i,oper-status="UP",data-hash="sha256:${hash('sha256', String(id))}" ${TIMESTAMP}000000`
  );
}

/** What its JSON serializer makes of it: members in the order of their names. */
function bodyOf(id: number): string {
  return `${JSON.stringify({
    fields: {
      'data-hash': `sha256:${hash('sha256', String(id))}`,
      'in-errors': 0,
      'in-octets': id * 7_919,
      'oper-status': 'UP',
      'out-octets': id * 104_729,
    },
    name: 'interfaces',
    tags: { device: 'leaf1', key: String(id), path: `/interfaces/interface[name=et-${id}]` },
    timestamp: TIMESTAMP,
  })}\n`;
}

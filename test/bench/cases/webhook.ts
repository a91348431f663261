import { strict as assert } from 'node:assert';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { DeliveryMetrics } from '../../../core/delivery-metrics.ts';
import { viewDeliveryMetrics } from '../../../core/delivery-metrics.ts';
import { UNCONFIGURED_WEBHOOK } from '../../../core/webhook.ts';
import { guardCalls, startLocalAws, useLocalAws } from '../../../local/aws.ts';
import { currentPrincipal, runAs } from '../../../local/principal.ts';
import { QUEUE_FUNCTIONS_COMMAND } from '../../../local/worker-processes.ts';
import { readDeliveryCounters } from '../../../store/delivery-counters.ts';
import { setUp } from '../../../store/setup.ts';
import { getWebhook, putWebhook } from '../../../store/webhook-store.ts';
import type { TestCase } from '../../harness.ts';
import { makeRecords } from '../../support/receiver/records.ts';
import {
  buildHttpProgram,
  buildTelegraf,
  peakMegabytes,
  processorSeconds,
  type Sink,
  type SinkStats,
  startSink,
} from '../webhook/programs.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

interface ClientResult {
  readonly requests: number;
  readonly failed: number;
  readonly seconds: number;
  readonly 'cpu-seconds': number;
}

export const testCase: TestCase = {
  title: 'the webhook’s sender beside Go’s net/http and Telegraf’s HTTP output',
  inCi: false,
  run: async ({ check, log, scale, scratchDirectory }) => {
    const program = buildHttpProgram(scratchDirectory);
    const telegraf = buildTelegraf();
    const sized = (count: number) => Math.max(100, Math.round(count * scale));

    log('-- the HTTP client alone: 32 connections, one 548-byte body');
    const body = join(scratchDirectory, 'body');
    writeFileSync(body, Buffer.from(makeRecords(1, 1).bytes).toString('latin1').padEnd(548));
    const perCore = await compareClients(program, body, sized(200_000), log, check);

    const aws = await startLocalAws({ dataDirectory: join(scratchDirectory, 'aws') });
    useLocalAws(aws);
    process.env['POWERTOOLS_METRICS_DISABLED'] = 'true';
    guardCalls(currentPrincipal);
    await runAs('setup', () =>
      setUp(
        { apiToken: 'x'.repeat(32), apiTokenIsGiven: true, localAs: '', routerId: '10.0.0.1' },
        new Date(),
      ),
    );

    log('-- queue to receiver, one request per record');
    let first = 1;
    let individually = 0;
    for (const [latency, records] of [
      ['0', sized(300_000)],
      ['1ms', sized(50_000)],
      ['100ms', sized(5_000)],
    ] as const) {
      const sink = await startSink(program, latency);
      const measured = await drain(sink, { first, records, cycle: 500, batchMode: false });
      first += records;
      const { rate, perCore: senderPerCore } = measured;
      if (latency === '0') individually = rate;
      log(
        `receiver latency ${latency}: ${Math.round(rate)} deliveries/s, ${Math.round(senderPerCore)} per core of the sender, peak ${measured.megabytes.toFixed(0)} MB`,
      );
      await check(`every record of ${records} arrived once (latency ${latency})`, () =>
        assert.equal(measured.stats.requests, records),
      );
      sink.stop();
    }

    log('-- queue to receiver, one request per cycle of 500 records');
    const batchSink = await startSink(program, '0');
    const cycles = sized(1_000);
    const batched = await drain(batchSink, { first, records: cycles * 500, cycle: 500, batchMode: true });
    log(`${batched.rate.toFixed(0)} cycles/s, ${batched.stats.bytes} bytes`);
    await check('exactly one request per cycle', () => assert.equal(batched.stats.requests, cycles));
    batchSink.stop();

    log('-- Telegraf 1.37.2, one POST per metric');
    const telegrafSink = await startSink(program, '0');
    const metrics = sized(50_000);
    const posted = await runTelegraf(telegraf, telegrafSink, metrics, scratchDirectory);
    await check('Telegraf posted every metric', () => assert.equal(posted.requests, metrics));
    const telegrafRate = metrics / posted.seconds;
    log(`${Math.round(telegrafRate)} metrics/s, ${Math.round(metrics / posted.processor)} per core`);
    telegrafSink.stop();

    log('-- a receiver ten times too slow');
    await tooSlow(program, first + cycles * 500, sized(20_000), log, check);
    await aws.stop();
    log(
      `ratio: ${perCore.toFixed(2)} × Go net/http per core, ${(individually / telegrafRate).toFixed(1)} × Telegraf individually`,
    );
  },
};

type Check = Parameters<TestCase['run']>[0]['check'];
type Log = (line: string) => void;

/** Three runs of each client in turn against one sink; returns the ratio of the medians, per core. */
async function compareClients(program: string, body: string, requests: number, log: Log, check: Check) {
  const sink = await startSink(program, '0');
  const ours: number[] = [];
  const gos: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const send = join(ROOT, 'test/bench/webhook/send.ts');
    const mine = runClient(process.execPath, [send, sink.url, String(requests), '32', body]);
    const mineSeen = await sink.stats();
    const flags = [
      'client',
      '-url',
      sink.url,
      '-requests',
      String(requests),
      '-connections',
      '32',
      '-body',
      body,
    ];
    const theirs = runClient(program, flags);
    const theirsSeen = await sink.stats();
    await check(`round ${round + 1}: both sent the same ${requests} bodies, none failed`, () => {
      assert.deepEqual([mine.failed, theirs.failed], [0, 0]);
      assert.deepEqual([mineSeen.requests, mineSeen.digest], [theirsSeen.requests, theirsSeen.digest]);
    });
    ours.push(mine.requests / mine['cpu-seconds']);
    gos.push(theirs.requests / theirs['cpu-seconds']);
  }
  sink.stop();
  const show = (rates: number[]) => rates.map((rate) => `${(rate / 1000).toFixed(1)} k`).join(' / ');
  log(`requests/s per core: ours ${show(ours)}, Go net/http ${show(gos)}`);
  return median(ours) / median(gos);
}

function runClient(program: string, parameters: string[]): ClientResult {
  return JSON.parse(
    execFileSync(program, parameters, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
  );
}

interface Load {
  readonly first: number;
  readonly records: number;
  readonly cycle: number;
  readonly batchMode: boolean;
}

interface Drained {
  readonly stats: SinkStats;
  readonly megabytes: number;
  /** Requests a second, and requests a second of the sender's processor time, after the warm-up. */
  readonly rate: number;
  readonly perCore: number;
}

/**
 * Fills the queue, then starts a sender and waits until all of it has arrived. Progress is what the receiver has seen: the
 * counters move once a wave, and would hide at the first reading what they tell at the last.
 */
async function drain(sink: Sink, load: Load): Promise<Drained> {
  await configure(sink.url, load.batchMode);
  await fill(load, 0);
  const wanted = load.batchMode ? Math.ceil(load.records / load.cycle) : load.records;
  const before = await deliveredRequests();
  const sender = startSender();
  const read = async () => {
    const { requests } = await sink.look();
    return { requests, at: performance.now(), processor: processorSeconds(sender) };
  };
  const untilSeen = async (requests: number) => {
    for (;;) {
      const reading = await read();
      if (reading.requests >= requests) return reading;
      await pause(20);
    }
  };
  // A quarter is warm-up: what a sender costs is not what its start costs.
  const from = await untilSeen(wanted / 4);
  const to = await untilSeen(wanted);
  const megabytes = peakMegabytes(sender);
  while ((await deliveredRequests()) - before < wanted) await pause(50);
  await stop(sender);
  const sent = Math.max(1, to.requests - from.requests);
  return {
    stats: await sink.stats(),
    megabytes,
    rate: sent / ((to.at - from.at) / 1000),
    perCore: sent / Math.max(0.01, to.processor - from.processor),
  };
}

/** Offers ten times what the receiver takes; after a while the output is disabled, and every record has an outcome. */
async function tooSlow(program: string, first: number, records: number, log: Log, check: Check) {
  const sink = await startSink(program, '640ms');
  await configure(sink.url, false);
  const before = await metricsNow();
  const sender = startSender();
  const filling = fill({ first, records, cycle: 100, batchMode: false }, 100);
  const generator = await filling;
  const megabytes = peakMegabytes(sender);
  await runAs('outputs', async () => {
    const stored = await getWebhook();
    await putWebhook(stored.revision, { ...stored, revision: stored.revision + 1, enabled: false });
  });
  for (;;) {
    const { records: now, queue } = await metricsNow();
    if (queue.requests === 0 && now.queued - before.records.queued === records) break;
    await pause(200);
  }
  const after = await metricsNow();
  await stop(sender);
  const delivered = after.records.delivered - before.records.delivered;
  const disabled = after.records['failed-by-reason'].disabled - before.records['failed-by-reason'].disabled;
  log(
    `${records} records offered: ${delivered} delivered, ${disabled} dropped and counted; peak memory: sender ${megabytes.toFixed(0)} MB, record port ${generator.toFixed(0)} MB`,
  );
  await check('none was lost silently', () => assert.equal(delivered + disabled, records));
  await check('the sender stayed within 200 MB × 5', () => assert(megabytes < 1_000));
  sink.stop();
}

async function runTelegraf(
  telegraf: string,
  sink: Sink,
  metrics: number,
  directory: string,
): Promise<SinkStats & { processor: number }> {
  const lines = Array.from(
    { length: metrics },
    (_, id) =>
      `interfaces,device=leaf1,path=/interfaces/interface[name\\=et-${id}],key=${id} in-octets=${id * 7_919}i,out-octets=${id * 104_729}i,in-errors=0i,oper-status="UP",data-hash="sha256:${hash('sha256', String(id))}" 1766286000000000000`,
  );
  const input = join(directory, 'metrics.influx');
  writeFileSync(input, lines.join('\n'));
  const configuration = join(directory, 'telegraf.conf');
  writeFileSync(
    configuration,
    `[agent]\n  metric_batch_size = 1000\n  metric_buffer_limit = ${metrics + 1}\n  omit_hostname = true\n` +
      `[[inputs.file]]\n  files = ["${input}"]\n  data_format = "influx"\n` +
      `[[outputs.http]]\n  url = "${sink.url}"\n  method = "POST"\n  data_format = "json"\n  use_batch_format = false\n  max_idle_conn = 32\n  max_idle_conn_per_host = 32\n`,
  );
  const child = spawn(telegraf, ['--config', configuration, '--once', '--quiet'], { stdio: 'ignore' });
  let isRunning = true;
  child.once('exit', () => {
    isRunning = false;
  });
  let processor = 0;
  while (isRunning) {
    await pause(20);
    if (isRunning) processor = processorSeconds(child);
  }
  return { ...(await sink.stats()), processor };
}

async function configure(url: string, batchMode: boolean): Promise<void> {
  await runAs('outputs', async () => {
    const { revision } = await getWebhook();
    const output = { ...UNCONFIGURED_WEBHOOK, enabled: true, url, batchMode, timeoutMilliseconds: 10_000 };
    await putWebhook(revision, { ...output, revision: revision + 1 });
  });
}

/** Runs the record port in a process of its own; resolves with its peak memory in MB. */
async function fill(load: Load, pauseMilliseconds: number): Promise<number> {
  const parameters = [load.first, load.records, load.cycle, pauseMilliseconds].map(String);
  const child = spawn(process.execPath, ['test/support/receiver/generator.ts', ...parameters], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const code = await new Promise((settle) => child.once('close', settle));
  assert.equal(code, 0);
  return Number(output) / 1024;
}

function startSender(): ChildProcess {
  const [node, ...parameters] = QUEUE_FUNCTIONS_COMMAND;
  return spawn(node, parameters, {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((settle) => child.once('exit', settle));
  child.kill('SIGTERM');
  await ended;
  // Its last poll ends at the emulator only now.
  await pause(1_500);
}

async function metricsNow(): Promise<DeliveryMetrics> {
  return runAs('outputs', async () =>
    viewDeliveryMetrics(await readDeliveryCounters(new Date(0).toISOString()), Date.now()),
  );
}

async function deliveredRequests(): Promise<number> {
  const { requests } = await metricsNow();
  return requests.delivered + requests.failed;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((settle) => setTimeout(settle, milliseconds));
}

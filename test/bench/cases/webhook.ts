import { strict as assert } from 'node:assert';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
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
import { cycleBodies, digestOfBodies, recordBodies } from '../webhook/bodies.ts';
import {
  buildHttpProgram,
  buildTelegraf,
  peakMegabytes,
  type Sink,
  type SinkStats,
  startSink,
} from '../webhook/programs.ts';
import { runTelegraf } from '../webhook/telegraf-run.ts';
import { lastThreeQuarters, type Rates } from '../webhook/three-quarters.ts';

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

    const body = join(scratchDirectory, 'body');
    writeFileSync(body, Buffer.from(makeRecords(1, 1).bytes).toString('latin1').padEnd(548));
    log('-- the HTTP client alone: 32 connections, one 548-byte body, each answer the same within a second');
    const perCore = await compareClients(program, body, sized(200_000), [], log, check);
    log('-- the same, each answer with an x-request-id of its own');
    const perCoreOfOther = await compareClients(program, body, sized(200_000), DIFFERENT_ANSWERS, log, check);

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
    const individually: Drained[] = [];
    for (const [latency, records, answers] of [
      ['0', sized(INDIVIDUAL_RECORDS), []],
      ['0', sized(INDIVIDUAL_RECORDS), DIFFERENT_ANSWERS],
      ['1ms', sized(50_000), []],
      ['100ms', sized(5_000), []],
    ] as const) {
      const sink = await startSink(program, latency, answers);
      const measured = await drain(sink, { first, records, cycle: 500, batchMode: false });
      if (latency === '0') individually.push(measured);
      const name = `receiver latency ${latency}${answers.length > 0 ? ', an x-request-id an answer' : ''}`;
      log(`${name}: ${describeRates(measured)}`);
      await check(`every one of ${records} records arrived once, octet by octet (${name})`, () => {
        const expected = digestOfBodies(recordBodies(makeRecords(first, records)));
        assert.deepEqual([measured.stats.requests, measured.stats.digest], [records, expected]);
      });
      first += records;
      sink.stop();
    }

    log('-- queue to receiver, one request per cycle of 500 records');
    const batchSink = await startSink(program, '0');
    const cycles = sized(1_000);
    const batched = await drain(batchSink, { first, records: cycles * 500, cycle: 500, batchMode: true });
    log(`cycles: ${describeRates(batched)}`);
    await check('exactly one request per cycle, with all of its records in order', () => {
      const expected = digestOfBodies(batchBodies(first, cycles, 500));
      assert.deepEqual([batched.stats.requests, batched.stats.digest], [cycles, expected]);
    });
    batchSink.stop();

    log('-- Telegraf 1.37.2, one POST per metric');
    const metrics = sized(INDIVIDUAL_RECORDS);
    const runs: Rates[] = [];
    for (const environment of [{}, { GOMAXPROCS: '1' }]) {
      const sink = await startSink(program, '0');
      const posted = await runTelegraf(telegraf, sink, metrics, scratchDirectory, environment);
      const name = `Telegraf${'GOMAXPROCS' in environment ? ', GOMAXPROCS=1' : ''}`;
      log(`${name}: ${describeRates(posted)}`);
      await check(`${name} posted every metric once, octet by octet`, () =>
        assert.deepEqual([posted.stats.requests, posted.stats.digest], [metrics, posted.expectedDigest]),
      );
      runs.push(posted);
      sink.stop();
    }
    // The better of both, by each measure.
    const posted = {
      rate: Math.max(...runs.map(({ rate }) => rate)),
      perCore: Math.max(...runs.map(({ perCore }) => perCore)),
    };

    log('-- a receiver ten times too slow');
    await tooSlow(program, first + cycles * 500, sized(20_000), log, check);
    await aws.stop();
    const [same, other] = individually as [Drained, Drained];
    const beside = (measured: Drained) =>
      `${(measured.rate / posted.rate).toFixed(1)} × by the clock, ${(measured.perCore / posted.perCore).toFixed(1)} × a core of the sending process`;
    log(
      `beside Telegraf, each answer with an x-request-id (Telegraf's without): ${beside(other)}; ` +
        `Go net/http: ${perCoreOfOther.toFixed(2)} × a core`,
    );
    log(`ratio: ${perCore.toFixed(2)} × Go net/http a core; Telegraf individually: ${beside(same)}`);
  },
};

/** Enough that three quarters take seconds of each; the same of ours and of Telegraf. */
const INDIVIDUAL_RECORDS = 200_000;
/** A sink whose answers all differ, as those of receivers behind gateways do: no connection has seen the like before. */
const DIFFERENT_ANSWERS = ['-request-id'];

type Check = Parameters<TestCase['run']>[0]['check'];
type Log = (line: string) => void;

/**
 * Three runs of each client in turn against one sink; returns the ratio of the medians, per core. Go's client runs with
 * GOMAXPROCS=1 and as it comes; the better of its two medians counts.
 */
async function compareClients(
  program: string,
  body: string,
  requests: number,
  answers: readonly string[],
  log: Log,
  check: Check,
) {
  const sink = await startSink(program, '0', answers);
  const send = join(ROOT, 'test/bench/webhook/send.ts');
  const count = String(requests);
  const go = ['client', '-url', sink.url, '-requests', count, '-connections', '32', '-body', body];
  const clients = [
    { name: 'ours', run: () => runClient(process.execPath, [send, sink.url, count, '32', body]) },
    { name: 'Go net/http', run: () => runClient(program, go) },
    { name: 'Go net/http, GOMAXPROCS=1', run: () => runClient(program, go, { GOMAXPROCS: '1' }) },
  ].map((client) => ({ ...client, rates: [] as number[] }));
  const digest = digestOfBodies(Array<Buffer>(requests).fill(readFileSync(body)));
  for (let round = 0; round < 3; round += 1) {
    for (const { name, run, rates } of clients) {
      const result = run();
      const seen = await sink.stats();
      await check(`round ${round + 1}: ${name} sent the body ${requests} times, none failed`, () =>
        assert.deepEqual([result.failed, seen.requests, seen.digest], [0, requests, digest]),
      );
      rates.push(result.requests / result['cpu-seconds']);
    }
  }
  sink.stop();
  for (const { name, rates } of clients) {
    log(`${name}: ${rates.map((rate) => `${(rate / 1000).toFixed(1)} k`).join(' / ')} requests/s per core`);
  }
  const [ours = 0, ...gos] = clients.map(({ rates }) => median(rates));
  return ours / Math.max(...gos);
}

function runClient(program: string, parameters: string[], environment: NodeJS.ProcessEnv = {}): ClientResult {
  return JSON.parse(
    execFileSync(program, parameters, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...environment },
    }),
  );
}

/** A line of what a sender did, as the receiver saw it. */
function describeRates({ rate, perCore, megabytes, stats }: Drained): string {
  return (
    `${Math.round(rate)} requests/s, ${Math.round(perCore)} per core of the sending process, peak ${megabytes.toFixed(0)} MB; ` +
    `${stats.requests} requests of ${Math.round(stats.bytes / stats.requests)} octets on ${stats.connections} connections`
  );
}

/** Made a hundred cycles at a time: the records of all at once are large. */
function* batchBodies(first: number, cycles: number, cycle: number): Generator<string> {
  for (let done = 0; done < cycles; done += 100) {
    const count = Math.min(100, cycles - done) * cycle;
    yield* cycleBodies(recordBodies(makeRecords(first + done * cycle, count)), cycle);
  }
}

interface Load {
  readonly first: number;
  readonly records: number;
  readonly cycle: number;
  readonly batchMode: boolean;
}

interface Drained extends Rates {
  readonly stats: SinkStats;
}

/** Fills the queue, then starts a sender and waits until all of it has arrived, and has been counted as delivered. */
async function drain(sink: Sink, load: Load): Promise<Drained> {
  await configure(sink.url, load.batchMode);
  await fill(load, 0);
  const wanted = load.batchMode ? Math.ceil(load.records / load.cycle) : load.records;
  const before = await deliveredRequests();
  const sender = startSender();
  const rates = await lastThreeQuarters(sink, sender, wanted);
  while ((await deliveredRequests()) - before < wanted) await pause(50);
  await stop(sender);
  return { ...rates, stats: await sink.stats() };
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
  await check('sender and record port stayed within 200 MB each', () =>
    assert(megabytes <= 200 && generator <= 200, `${megabytes} and ${generator} MB`),
  );
  sink.stop();
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

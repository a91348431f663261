import { strict as assert } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { QUEUES } from '../../../contract/queues.ts';
import type { DeliveryMetrics } from '../../../core/delivery-metrics.ts';
import { guardCalls, startLocalAws, useLocalAws } from '../../../local/aws.ts';
import { freePort } from '../../../local/dynamodb-emulator.ts';
import { localQueueUrl } from '../../../local/local-queues.ts';
import { currentPrincipal, runAs } from '../../../local/principal.ts';
import { newToken, setUp } from '../../../store/setup.ts';
import type { TestCase } from '../../harness.ts';
import { Random } from '../../support/random.ts';
import { startAcceptLog } from '../../support/receiver/accept-log.ts';
import { startReceiver } from '../../support/receiver/receiver.ts';
import { recordIds } from '../../support/receiver/records.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** Shorter than in AWS, or nothing that a killed sender held would come back within the run. */
const VISIBILITY_SECONDS = 9;
const SENDER_TIMEOUT_SECONDS = 7;
const REQUEST_TIMEOUT_MILLISECONDS = 2_000;

const WORKING_AFTER_MILLISECONDS = 1_500;

/** A process that is killed at random and started again at once. */
class Victim {
  kills = 0;
  private child: ChildProcess | undefined;
  private isStopping = false;
  private startedAt = 0;
  private readonly script: string;
  private readonly parameters: () => readonly string[];

  constructor(script: string, parameters: () => readonly string[]) {
    this.script = script;
    this.parameters = parameters;
    this.start();
  }

  /** Kills it, unless it has hardly begun: a process that never gets to work shows nothing. */
  kill(): void {
    if (performance.now() - this.startedAt < WORKING_AFTER_MILLISECONDS) return;
    if (this.child?.kill('SIGKILL')) this.kills += 1;
  }

  /** Ends it for good, politely; resolves once it is gone. */
  async stop(): Promise<void> {
    this.isStopping = true;
    if (this.child === undefined || this.child.exitCode !== null) return;
    const ended = new Promise((settle) => this.child?.once('exit', settle));
    this.child.kill('SIGTERM');
    const force = setTimeout(() => this.child?.kill('SIGKILL'), 8_000);
    await ended;
    clearTimeout(force);
  }

  private start(): void {
    this.startedAt = performance.now();
    const child = spawn(process.execPath, [this.script, ...this.parameters()], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.child = child;
    child.once('exit', () => {
      if (!this.isStopping) this.start();
    });
  }
}

export const testCase: TestCase = {
  title: 'every record is accounted for while worker, sender and gateway are killed at random',
  inCi: true,
  run: async ({ check, log, scale, scratchDirectory, seed }) => {
    const random = new Random(seed);
    const wanted = Math.round(100_000 * scale);
    const milliseconds = 300_000 * scale;
    const aws = await startLocalAws({
      dataDirectory: scratchDirectory,
      visibilitySeconds: VISIBILITY_SECONDS,
    });
    const queues = aws.environment['AWS_ENDPOINT_URL_SQS'] as string;
    const acceptLog = await startAcceptLog(queues);
    useLocalAws(aws);
    process.env['AWS_ENDPOINT_URL_SQS'] = acceptLog.endpoint;
    for (const queue of Object.values(QUEUES)) {
      process.env[queue.environment] = localQueueUrl(acceptLog.endpoint, queue);
    }
    process.env['POWERTOOLS_METRICS_DISABLED'] = 'true';
    process.env['GRATICULE_QUEUE_TIMEOUT_SECONDS'] = String(SENDER_TIMEOUT_SECONDS);
    guardCalls(currentPrincipal);
    const token = newToken();
    await runAs('setup', () =>
      setUp({ apiToken: token, apiTokenIsGiven: true, localAs: '', routerId: '10.0.0.1' }, new Date()),
    );

    const seen: number[] = [];
    const receiver = await startReceiver({
      latencyMilliseconds: 100,
      onRequest: ({ body }) => {
        for (const id of recordIds(body)) seen.push(id);
      },
    });
    const port = await freePort();
    const gateway = new Victim('test/support/receiver/gateway-process.ts', () => [String(port)]);
    const call = (method: string, path: string, body?: unknown) =>
      untilAnswered(`http://127.0.0.1:${port}${path}`, token, method, body);
    const configure = (batchMode: boolean) =>
      call('PUT', '/api/v1/outputs/webhook', {
        enabled: true,
        config: {
          url: receiver.url('/status/200', '127.0.0.1'),
          'batch-mode': batchMode,
          'timeout-ms': REQUEST_TIMEOUT_MILLISECONDS,
        },
      });
    await configure(false);

    let nextRecord = 1;
    const worker = new Victim('test/support/receiver/generator.ts', () => {
      const first = nextRecord;
      nextRecord += 1_000_000;
      return [String(first), '1000000', '25', '40'];
    });
    const sender = new Victim('local/queue-functions.ts', () => []);
    const victims = [worker, sender, gateway];

    const until = performance.now() + milliseconds;
    let isBatchMode = false;
    while (performance.now() < until || (await acceptLog.accepted()).length < wanted) {
      await pause(300 + random.below(2_500));
      random.pick(victims).kill();
      if (!isBatchMode && performance.now() > until - milliseconds / 3) {
        isBatchMode = true;
        await configure(true);
      }
      if (performance.now() > until + 3 * milliseconds) break;
    }
    await worker.stop();
    const accepted = await acceptLog.accepted();
    // What a killed sender held comes back; the emulator's own counts leave out what is about to.
    for (let tries = 0; tries < 120; tries += 1) {
      const { records, queue } = (await call('GET', '/api/v1/outputs/metrics')) as DeliveryMetrics;
      if (records.queued >= accepted.length && queue.requests === 0) break;
      await pause(500);
    }
    await sender.stop();
    const metrics = (await call('GET', '/api/v1/outputs/metrics')) as DeliveryMetrics;
    await gateway.stop();

    const { delivered, failed } = metrics.records;
    const { interrupted, 'not-queued': notQueued } = metrics.records['failed-by-reason'];
    log(
      `${accepted.length} records accepted, ${seen.length} seen; killed: worker ${worker.kills}, sender ${sender.kills}, gateway ${gateway.kills}`,
    );
    log(
      `counters: queued ${metrics.records.queued}, delivered ${delivered}, interrupted ${interrupted}, failed ${failed}, not queued ${notQueued}`,
    );
    await check(`at least ${wanted} records were accepted`, () => assert(accepted.length >= wanted));
    await check('no record was accepted twice, none reached the receiver twice', () => {
      assert.equal(new Set(accepted).size, accepted.length);
      assert.equal(new Set(seen).size, seen.length);
    });
    await check('the receiver saw nothing that the queue had not accepted', () => {
      const truth = new Set(accepted);
      assert.deepEqual(
        seen.filter((id) => !truth.has(id)),
        [],
      );
    });
    await check('delivered + failed after queueing is what the queue accepted', () => {
      assert.equal(delivered + failed - notQueued, accepted.length);
      assert.equal(metrics.records.queued, accepted.length);
    });
    await check('delivered ≤ seen ≤ delivered + interrupted', () => {
      assert(delivered <= seen.length, `${delivered} delivered, ${seen.length} seen`);
      assert(seen.length <= delivered + interrupted, `${seen.length} seen, ${delivered} + ${interrupted}`);
    });
    await check('every reason but interrupted is zero, and the queue is empty', () => {
      assert.equal(failed - notQueued, interrupted);
      assert.equal(metrics.queue.requests, 0);
    });
    await receiver.stop();
    await acceptLog.stop();
    await aws.stop();
  },
};

/** Asks until the gateway lives long enough to answer. */
async function untilAnswered(url: string, token: string, method: string, body: unknown): Promise<unknown> {
  for (;;) {
    try {
      const answer = await fetch(url, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (answer.status === 200) return await answer.json();
    } catch {
      // It was killed, or is not up yet.
    }
    await pause(100);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((settle) => setTimeout(settle, milliseconds));
}

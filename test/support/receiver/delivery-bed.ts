import type { DeliveryMetrics } from '../../../core/delivery-metrics.ts';
import { startLeashed } from '../../../local/leash.ts';
import { startQueueFunctions } from '../../../local/queue-functions.ts';
import { QUEUE_FUNCTIONS_COMMAND } from '../../../local/worker-processes.ts';
import { addCollected } from '../../../store/delivery-counters.ts';
import { sendDelivery } from '../../../store/delivery-queue.ts';
import { RecordPort } from '../../../worker/delivery/record-port.ts';
import { type Emulators, runAs, startEmulators } from '../stack.ts';
import { makeRecords } from './records.ts';

/** Everything from the worker's record port to a receiver's socket, with the API that configures and counts it. */
export interface DeliveryBed {
  readonly emulators: Emulators;
  /** PUT of the webhook. */
  configure(config: Record<string, unknown>, enabled?: boolean): Promise<void>;
  /** Puts cycles of so many records each into the port and waits until the queue has them. */
  collect(...cycles: number[]): Promise<void>;
  metrics(): Promise<DeliveryMetrics>;
  /** Waits until everything queued has its outcome. */
  settled(): Promise<DeliveryMetrics>;
  detect(url?: string): Promise<{ status: number; body: Record<string, unknown> }>;
  /** What the sender printed, where it is a process of its own. */
  output(): string;
  stop(): Promise<void>;
}

export interface DeliveryBedOptions {
  /** `handlers`: the functions run in this process. `processes`: the sender is the process that `npm start` starts. */
  readonly kind: 'handlers' | 'processes';
  readonly environment?: Readonly<Record<string, string>>;
}

let nextRecord = 1;

export async function startDeliveryBed(options: DeliveryBedOptions): Promise<DeliveryBed> {
  const emulators = await startEmulators();
  process.env['POWERTOOLS_METRICS_DISABLED'] = 'true';
  Object.assign(process.env, options.environment);
  let output = '';
  const sender = options.kind === 'handlers' ? await inProcess() : senderProcess();
  async function inProcess() {
    return startQueueFunctions((line) => {
      output += `${line}\n`;
    });
  }
  function senderProcess() {
    const child = startLeashed(QUEUE_FUNCTIONS_COMMAND, {
      environment: { ...process.env, ...options.environment },
      graceSeconds: 5,
      output: 'pipe',
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    return child;
  }
  const authorization = `Bearer ${emulators.token}`;
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await emulators.send({
      method,
      path,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: JSON.parse(answer.text) };
  };
  const metrics = async () => (await call('GET', '/api/v1/outputs/metrics')).body as DeliveryMetrics;
  let configured = { enabled: false, batchMode: false };
  return {
    emulators,
    metrics,
    async configure(config, enabled = true) {
      const { status, body } = await call('PUT', '/api/v1/outputs/webhook', { enabled, config });
      if (status !== 200) throw new Error(`PUT answered ${status}: ${JSON.stringify(body)}`);
      configured = { enabled, batchMode: config['batch-mode'] === true };
      // A sender believes what it has read for a tenth of a second.
      await new Promise((resolve) => setTimeout(resolve, 110));
    },
    async collect(...cycles) {
      await runAs('worker', async () => {
        const port = new RecordPort({ send: sendDelivery, count: addCollected });
        port.configure(configured);
        for (const count of cycles) {
          port.collect(3, makeRecords(nextRecord, count));
          nextRecord += count;
        }
        await port.close();
      });
    },
    async settled() {
      for (let tries = 0; ; tries += 1) {
        const now = await metrics();
        if (now.queue.requests === 0 || tries === 600) return now;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    detect: (url) => call('POST', '/api/v1/outputs/webhook/detect', url === undefined ? undefined : { url }),
    output: () => output,
    async stop() {
      await sender.stop();
      await emulators.stop();
    },
  };
}

import type { Device } from '../../core/device.ts';
import {
  formatLiveTest,
  LIVE_TEST_MILLISECONDS,
  type LiveTestFindings,
  type LiveTestJob,
} from '../../core/live-test.ts';
import { errorFields } from '../../core/log-line.ts';
import type { Mapping, Model, Protocol } from '../../core/model.ts';
import { getDevice } from '../../store/device-store.ts';
import { putJobResult, type ReceivedJob, receiveJobs } from '../../store/job-queue.ts';
import { getModel } from '../../store/model-store.ts';
import { log } from '../log.ts';

/** Tests one mapping against one device within the budget. What goes wrong is a finding, never a throw. */
export type LiveTester = (
  subject: { readonly device: Device; readonly model: Model; readonly mapping: Mapping },
  budgetMilliseconds: number,
) => Promise<LiveTestFindings>;

export interface JobLoopPorts {
  readonly testers: Readonly<Partial<Record<Protocol, LiveTester>>>;
  now(): Date;
  /** False: this worker may not act now, and takes no job. */
  mayAct(): boolean;
}

/** Tests that run at once; more wait in the queue for this worker or another. */
const CONCURRENCY = 4;
/** Pause after a queue that could not be read, or while all places are taken. */
const PAUSE_MILLISECONDS = 500;

/** Takes live tests from the queue and leaves what they find. Any worker may run any test. */
export class JobLoop {
  private readonly ports: JobLoopPorts;
  private readonly active = new Set<Promise<void>>();
  private readonly ending = new AbortController();
  private isRunning = false;
  private loop: Promise<void> = Promise.resolve();

  constructor(ports: JobLoopPorts) {
    this.ports = ports;
  }

  start(): void {
    this.isRunning = true;
    this.loop = this.run();
  }

  /** Takes no more jobs and gives those that run a moment to leave their results. */
  async stop(graceMilliseconds: number): Promise<void> {
    this.isRunning = false;
    this.ending.abort();
    await within(Promise.all([this.loop, ...this.active]), graceMilliseconds);
  }

  private async run(): Promise<void> {
    while (this.isRunning) {
      const places = CONCURRENCY - this.active.size;
      if (places === 0 || !this.ports.mayAct()) {
        await pause(PAUSE_MILLISECONDS);
        continue;
      }
      try {
        for (const received of await receiveJobs(places, this.ending.signal)) this.begin(received);
      } catch (error) {
        if (!this.isRunning) return;
        log('warn', 'jobs not received, will retry', errorFields(error));
        await pause(PAUSE_MILLISECONDS);
      }
    }
  }

  private begin(received: ReceivedJob): void {
    const { job } = received;
    const finished = this.perform(job)
      .then(() => received.done())
      .catch((error: unknown) => log('error', 'live test failed', { job: job.id, ...errorFields(error) }))
      .finally(() => this.active.delete(finished));
    this.active.add(finished);
  }

  private async perform(job: LiveTestJob): Promise<void> {
    const age = this.ports.now().getTime() - Date.parse(job.requestedAt);
    const budget = LIVE_TEST_MILLISECONDS - Math.max(0, age - 2_000);
    // Nobody waits any more.
    if (budget <= 0) return;
    const [model, device] = await Promise.all([getModel(job.modelId), getDevice(job.deviceId)]);
    const mapping = model?.mappings.find(({ id }) => id === job.mappingId);
    if (model === undefined || device === undefined || mapping === undefined) return;
    const findings = await this.test({ device, model, mapping }, budget);
    const subject = {
      deviceId: device.id,
      device: device.configuration.name,
      mappingId: mapping.id,
      modelName: model.name,
      modelVersion: model.version,
    };
    await putJobResult(job.id, formatLiveTest(subject, findings), this.ports.now());
  }

  private async test(subject: Parameters<LiveTester>[0], budget: number): Promise<LiveTestFindings> {
    const { protocol } = subject.mapping;
    const tester = this.ports.testers[protocol];
    if (subject.device.configuration[protocol] === null) {
      return failed(protocol, 'no-settings', `the device has no ${protocol} settings`);
    }
    if (tester === undefined) {
      return failed(protocol, 'unimplemented', `this worker does not speak ${protocol} yet`);
    }
    return tester(subject, budget);
  }
}

function failed(protocol: Protocol, code: 'no-settings' | 'unimplemented', detail: string): LiveTestFindings {
  return {
    error: { code, detail },
    parsedResults: [],
    rawUpdates: [],
    explanation: {
      protocol,
      rpc: '',
      encoding: '',
      sync: false,
      updates: 0,
      ms: 0,
      fields: [],
      'unmatched-paths': [],
    },
  };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function within(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

import { resolve } from 'node:path';
import { ENV } from '../contract/env.ts';
import { WORKER_ENVIRONMENT, WORKER_NODE_OPTIONS } from '../contract/worker.ts';
import { keepRunning } from './kept-process.ts';
import { type LeashedProcess, startLeashed } from './leash.ts';

export interface WorkerProcesses {
  /** SIGTERM to each: they send their Ceases, flush, release, and are killed when that takes too long. */
  stop(): Promise<void>;
}

export interface WorkerProcessesOptions {
  /** Relative to the root of the source tree. */
  readonly program: string;
  readonly count: number;
  /** Accepted by the first worker alone: an address and port have one listener. */
  readonly bgpListen: string;
  /** Inherited by each worker. */
  readonly environment: NodeJS.ProcessEnv;
  /** A line for the person at the terminal. */
  readonly log: (line: string) => void;
}

const ROOT = resolve(import.meta.dirname, '..');

/** Leaves half a second of the five that a stop may take to what ends after the workers. */
const GRACE_SECONDS = 4;

/** Runs the workers, each a process of its own, and starts again whichever ends, at growing distances. */
export function startWorkerProcesses(options: WorkerProcessesOptions): WorkerProcesses {
  const stopping = new AbortController();
  const workers = Array.from({ length: options.count }, (_, index) => {
    const id = `w-${index + 1}`;
    const start = () => startWorker(id, index === 0 ? options.bgpListen : '');
    return keepRunning(`worker ${id}`, start, stopping.signal, options.log);
  });

  function startWorker(id: string, bgpListen: string): LeashedProcess {
    return startLeashed(
      [
        process.execPath,
        ...WORKER_NODE_OPTIONS,
        '--import',
        resolve(import.meta.dirname, 'worker-guard.ts'),
        options.program,
      ],
      {
        environment: {
          ...WORKER_ENVIRONMENT,
          ...options.environment,
          [ENV.workerId]: id,
          [ENV.bgpListen]: bgpListen,
        },
        graceSeconds: GRACE_SECONDS,
        output: 'inherit',
        workingDirectory: ROOT,
      },
    );
  }

  return {
    async stop() {
      stopping.abort();
      await Promise.all(workers);
    },
  };
}

/**
 * The command of the process of the functions that queues invoke. Its hot path makes few objects too: with the same bound
 * as the worker's, a sender at full speed held 230 MB where it had held 305 (`npm run bench -- webhook`).
 */
export const QUEUE_FUNCTIONS_COMMAND: readonly [string, ...string[]] = [
  process.execPath,
  ...WORKER_NODE_OPTIONS,
  'local/queue-functions.ts',
];

/** Runs the functions that queues invoke, in one process, for as long as the product runs. */
export function startQueueFunctionProcess(options: {
  readonly environment: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
}): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const start = () =>
    startLeashed(QUEUE_FUNCTIONS_COMMAND, {
      environment: options.environment,
      graceSeconds: 2,
      output: 'inherit',
      workingDirectory: ROOT,
    });
  const running = keepRunning('the process of the queue functions', start, stopping.signal, options.log);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

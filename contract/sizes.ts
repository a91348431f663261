import type { ApiFunction } from './routes.ts';

/** What each Lambda function and the worker get to run with, and what each API caller may take of it together. */
export const SIZES = {
  /** Beside the memory, Lambda gives processor time: a whole core at 1,769 MB. */
  apiFunctionMegabytes: {
    peers: 512,
    // Reads a snapshot of the whole network at its first request, and keeps it.
    topology: 1_769,
    models: 512,
    devices: 512,
    subscriptions: 512,
    outputs: 512,
    engine: 512,
    tokens: 512,
  } satisfies Record<ApiFunction, number>,
  setupMegabytes: 256,
  setupTimeoutSeconds: 60,
  rotateKeyringMegabytes: 512,
  rotateKeyringTimeoutSeconds: 900,
  rotateKeyringDays: 90,
  /** All requests of all callers together; API Gateway answers 429 above. */
  requestsPerSecond: 100,
  requestBurst: 200,
  /** Of one worker, in units of 1/1,024 vCPU and in MiB (a pair that Fargate has). */
  workerCpuUnits: 256,
  workerMegabytes: 1_024,
  workerCount: 1,
  logRetentionDays: 30,
} as const;

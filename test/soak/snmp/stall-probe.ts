/**
 * Preloaded (`NODE_OPTIONS=--import`) into a worker under test: writes once a second how long its event loop stood
 * still and how much memory it has. SIGUSR2 begins the figures anew.
 */
import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** One line of the probe's file. */
export interface ProbeLine {
  readonly processId: number;
  readonly stallP999Milliseconds: number;
  readonly stallMaxMilliseconds: number;
  readonly memoryBytes: number;
}

const RESOLUTION_MILLISECONDS = 10;

const file = process.env['GRATICULE_STALL_PROBE'];
if (file !== undefined && process.argv[1]?.endsWith('worker/main.ts')) {
  const stalls = monitorEventLoopDelay({ resolution: RESOLUTION_MILLISECONDS });
  stalls.enable();
  process.on('SIGUSR2', () => stalls.reset());
  setInterval(() => {
    const line: ProbeLine = {
      processId: process.pid,
      stallP999Milliseconds: stalls.percentile(99.9) / 1e6 - RESOLUTION_MILLISECONDS,
      stallMaxMilliseconds: stalls.max / 1e6 - RESOLUTION_MILLISECONDS,
      memoryBytes: process.memoryUsage.rss(),
    };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  }, 1_000).unref();
}

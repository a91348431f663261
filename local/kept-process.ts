import type { LeashedProcess } from './leash.ts';

const FIRST_DELAY_MILLISECONDS = 500;
const LONGEST_DELAY_MILLISECONDS = 30_000;

/** A process that ran this long was well: its next crash is a first one. */
const WELL_AFTER_MILLISECONDS = 60_000;

/** Runs a process and starts it again whenever it ends, at growing distances, until the signal stops it. */
export async function keepRunning(
  name: string,
  start: () => LeashedProcess,
  stopping: AbortSignal,
  log: (line: string) => void,
): Promise<void> {
  let delay = FIRST_DELAY_MILLISECONDS;
  while (!stopping.aborted) {
    const startedAt = performance.now();
    const running = start();
    const stop = () => void running.stop();
    stopping.addEventListener('abort', stop);
    const code = await running.ended;
    stopping.removeEventListener('abort', stop);
    if (stopping.aborted) return;
    if (performance.now() - startedAt > WELL_AFTER_MILLISECONDS) delay = FIRST_DELAY_MILLISECONDS;
    log(`${name} ended with ${code}; it starts again in ${delay / 1000} s`);
    await pause(delay, stopping);
    delay = Math.min(delay * 2, LONGEST_DELAY_MILLISECONDS);
  }
}

/** Waits, or less when the signal comes. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal.addEventListener('abort', finish);
  });
}

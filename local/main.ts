/** `npm start`: the whole product on this machine. Exit codes: 0 stopped by a signal, 1 could not go on, 2 bad setting. */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { resolve } from 'node:path';
import type { LocalRun } from './run.ts';

/** A stop takes less than this, whatever hangs. */
const STOP_WITHIN_MILLISECONDS = 4_900;

/** Halves the time of every start but the first: 0.35 s of processor time in place of 0.8 s for the imports alone. */
const COMPILE_CACHE = resolve(import.meta.dirname, '../node_modules/.cache/graticule');

// Everything below the data directory holds secrets or what they protect: the emulators' files too.
process.umask(0o077);

let run: LocalRun | undefined;
let stopping = false;

function stopOnSignal(): void {
  if (stopping) return;
  stopping = true;
  setTimeout(() => process.exit(0), STOP_WITHIN_MILLISECONDS).unref();
  // Before the run stands there is nothing to stop: the emulators end with us.
  if (run === undefined) process.exit(0);
  run.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stopOnSignal);

// npm passes SIGTERM and SIGINT on (the script is an `exec`, so that no shell swallows them), but not its own SIGKILL.
if (process.env['npm_lifecycle_event'] === 'start') {
  const npm = process.ppid;
  setInterval(() => process.ppid === npm || stopOnSignal(), 1_000).unref();
}

enableCompileCache(COMPILE_CACHE);
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;
// Imported now, not above: what is imported before the cache is on is not cached.
const { EnvironmentError } = await import('./environment.ts');
const { startLocalRun } = await import('./run.ts');

try {
  run = await startLocalRun(process.env, (line) => console.log(line));
  // Written at an orderly exit too, but nobody promises one.
  flushCompileCache();
  const fault = await run.failed;
  if (!stopping) {
    console.error(`graticule: ${fault}`);
    await run.stop();
    process.exit(1);
  }
} catch (error) {
  console.error(`graticule: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(error instanceof EnvironmentError ? 2 : 1);
}

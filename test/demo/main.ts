/** `npm run demo`: the product and a simulated world around it, on data of its own. Ends by Ctrl-C, within five seconds. */
import { resolve } from 'node:path';
import { startStack } from '../support/stack.ts';
import { type Demo, loadParts, startDemo } from './demo.ts';

const STOP_WITHIN_MILLISECONDS = 4_900;

const ending = new AbortController();
let demo: Demo | undefined;

function stopOnSignal(): void {
  if (ending.signal.aborted) return;
  ending.abort();
  // What is left then dies with us: everything that runs beside this process is on a leash.
  setTimeout(() => process.exit(0), STOP_WITHIN_MILLISECONDS).unref();
  if (demo !== undefined) void demo.stop().then(() => process.exit(0));
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stopOnSignal);

// As at `npm start`: npm passes signals on, but not its own SIGKILL.
if (process.env['npm_lifecycle_event'] === 'demo') {
  const npm = process.ppid;
  setInterval(() => process.ppid === npm || stopOnSignal(), 1_000).unref();
}

/** The settings of the local run apply, except that the data are the demonstration's own and go with it. */
function productEnvironment(): Record<string, string> {
  const given = Object.entries(process.env).filter(
    ([name, value]) => name.startsWith('GRATICULE_') && name !== 'GRATICULE_DATA_DIR' && value !== undefined,
  ) as [string, string][];
  return { GRATICULE_PORT: '8080', ...Object.fromEntries(given) };
}

try {
  demo = await startDemo(
    {
      parts: await loadParts(resolve(import.meta.dirname, 'parts')),
      startProduct: () => startStack({ environment: productEnvironment() }),
      print: (line) => console.log(line),
    },
    ending.signal,
  );
  // Ctrl-C while it was still starting.
  if (ending.signal.aborted) {
    await demo.stop();
    process.exit(0);
  }
  const sentence = await demo.failed;
  if (!ending.signal.aborted) {
    console.error(`demo: ${sentence}`);
    await demo.stop();
    process.exit(1);
  }
} catch (error) {
  if (ending.signal.aborted) process.exit(0);
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

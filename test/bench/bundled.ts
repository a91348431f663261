/** A collector of a bench as the worker runs: bundled like the worker's image, with the same options of Node and glibc. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { WORKER_ENVIRONMENT, WORKER_NODE_OPTIONS } from '../../contract/worker.ts';
import { BUNDLE_OPTIONS } from '../../infra/bundle.ts';

/** Node that runs TypeScript as it stands holds 17 MB for the stripping of types, which nothing that is deployed does. */
export async function bundleCollector(source: string, scratchDirectory: string): Promise<string> {
  const outfile = join(scratchDirectory, 'collector.mjs');
  await build({ ...BUNDLE_OPTIONS, entryPoints: [source], outfile });
  return outfile;
}

/** The command of a bundle, and the environment that goes with it. */
export function workerCommand(bundle: string): { command: string[]; environment: NodeJS.ProcessEnv } {
  return {
    command: [process.execPath, ...WORKER_NODE_OPTIONS, bundle],
    environment: { ...process.env, ...WORKER_ENVIRONMENT },
  };
}

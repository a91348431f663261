import { rmSync } from 'node:fs';
import { relative } from 'node:path';
import { ENV } from '../contract/env.ts';
import { PRODUCT_VERSION } from '../contract/version.ts';
import { hashToken } from '../core/token.ts';
import { newToken, setUp } from '../store/setup.ts';
import { findToken } from '../store/token-store.ts';
import { listWorkers } from '../store/worker-store.ts';
import { guardCalls, startLocalAws, useLocalAws } from './aws.ts';
import { type DataDirectory, holdDataDirectory } from './data-directory.ts';
import { writeDurably } from './durable-file.ts';
import { dynamodbEmulatorPath } from './dynamodb-emulator.ts';
import { type LocalSettings, readSettings } from './environment.ts';
import { type Gateway, type GatewayOptions, startGateway } from './gateway.ts';
import { loadHandlers } from './handlers.ts';
import { environmentPath } from './open-data.ts';
import { currentPrincipal, runAs } from './principal.ts';
import { startQueueFunctionProcess, startWorkerProcesses } from './worker-processes.ts';

/** The product, running on this machine. */
export interface LocalRun {
  readonly url: string;
  /** Settles, with a sentence, when it cannot go on. */
  readonly failed: Promise<string>;
  /** Workers first (Cease, flush, release), then the gateway, then the emulators. */
  stop(): Promise<void>;
}

/** How long requests under way may take once a stop is asked for. */
const REQUEST_GRACE_MILLISECONDS = 2_000;

/** How long the workers may take before we say that they do not run yet. */
const WORKER_WAIT_MILLISECONDS = 10_000;

/** Starts everything, prints where it is, and resolves once it answers. Throws sentences meant for a person. */
export async function startLocalRun(
  environment: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<LocalRun> {
  const settings = readSettings(environment, dynamodbEmulatorPath() !== undefined);
  const directory = holdDataDirectory(settings.dataDirectory);
  const undo: (() => unknown)[] = [() => directory.release()];
  try {
    process.env[ENV.logLevel] ??= 'WARN';
    process.env[ENV.metricsDisabled] ??= 'true';
    // Imported while the emulators start; nothing in them runs before the gateway does.
    const loading = loadHandlers();
    loading.catch(() => {});
    const aws = await startLocalAws({
      dataDirectory: settings.dataDirectory,
      dynamodbEndpoint: settings.dynamodbEndpoint,
    });
    undo.push(() => aws.stop());
    useLocalAws(aws);
    const environmentFile = environmentPath(settings.dataDirectory);
    writeDurably(environmentFile, `${JSON.stringify(aws.environment)}\n`);
    undo.push(() => rmSync(environmentFile, { force: true }));
    // Children inherit the rest of our environment; this they have no use for.
    delete process.env['GRATICULE_API_TOKEN'];
    guardCalls(currentPrincipal);

    const tokenIsAt = await runAs('setup', () => bootstrap(settings, directory));
    const startedAt = Date.now();
    const workers = startWorkerProcesses({
      program: 'worker/main.ts',
      count: settings.workers,
      bgpListen: settings.bgpListen,
      environment: process.env,
      log,
    });
    undo.push(() => workers.stop());
    await aws.queuesReady;
    const queueFunctions = startQueueFunctionProcess({ environment: process.env, log });
    undo.push(() => queueFunctions.stop());
    const gateway = await listen(settings, await loading, log);
    undo.push(() => gateway.stop(0));
    await workersRegistered(settings, startedAt, log);
    const seconds = ((Date.now() - performance.timeOrigin) / 1000).toFixed(1);
    log(`the admin token is ${tokenIsAt}`);
    log(`graticule ${PRODUCT_VERSION} is ready at ${gateway.url} (${seconds} s)`);
    return {
      url: gateway.url,
      failed: aws.emulatorEnded,
      async stop() {
        // Requests under way and the workers' last words both need the emulators, which end last.
        await Promise.all([workers.stop(), gateway.stop(REQUEST_GRACE_MILLISECONDS), queueFunctions.stop()]);
        await aws.stop();
        rmSync(environmentFile, { force: true });
        directory.release();
      },
    };
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  }
}

/** Seeds an empty stack. Returns where the admin token is, as the end of a sentence. */
async function bootstrap(settings: LocalSettings, directory: DataDirectory): Promise<string> {
  const given = settings.apiToken !== '';
  const kept = directory.readToken();
  const apiToken = given ? settings.apiToken : (kept ?? newToken());
  // On the disk before it is valid: a crash between the two must not leave a stack whose token nobody has.
  const path = given || kept !== undefined ? undefined : directory.keepToken(apiToken);
  await setUp(
    { apiToken, apiTokenIsGiven: given, localAs: settings.localAs, routerId: settings.routerId },
    new Date(),
  );
  if (given) return 'the one in GRATICULE_API_TOKEN';
  if ((await findToken(hashToken(apiToken))) !== undefined) {
    return `in ${asSeenFromHere(path ?? directory.tokenPath)}`;
  }
  if (path !== undefined) directory.removeToken();
  return 'not known here any more (its file or itself was removed); start once with GRATICULE_API_TOKEN to name another';
}

/** A path below the working directory without it: what a person would type. */
function asSeenFromHere(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

async function listen(
  settings: LocalSettings,
  handlers: GatewayOptions['handlers'],
  log: (line: string) => void,
): Promise<Gateway> {
  try {
    return await startGateway({
      host: settings.host,
      port: settings.port,
      handlers,
      onFailure: (name, error) => log(`the function ${name} failed: ${describe(error)}`),
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Error(
        `port ${settings.port} of ${settings.host} is in use by another program; set GRATICULE_PORT to another.`,
      );
    }
    if (code === 'EADDRNOTAVAIL' || code === 'EACCES') {
      throw new Error(
        `cannot listen on ${settings.host} port ${settings.port} (${code}); check GRATICULE_HOST and GRATICULE_PORT.`,
      );
    }
    throw error;
  }
}

/**
 * Waits until every worker of this run has registered. A worker of an earlier run, killed a moment ago, may still look
 * alive by its last beat; it did not start after `startedAt`.
 */
async function workersRegistered(
  settings: LocalSettings,
  startedAt: number,
  log: (line: string) => void,
): Promise<void> {
  const deadline = performance.now() + WORKER_WAIT_MILLISECONDS;
  for (;;) {
    const workers = await runAs('engine', listWorkers);
    const registered = workers.filter((worker) => Date.parse(worker.startedAt) >= startedAt);
    if (registered.length >= settings.workers) return;
    if (performance.now() > deadline) break;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  log('not every worker runs yet; GET /api/health says when one does');
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

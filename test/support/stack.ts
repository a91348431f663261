import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Grants, Principal } from '../../contract/grants.ts';
import type { ApiFunction } from '../../contract/routes.ts';
import { guardCalls, startLocalAws, useLocalAws } from '../../local/aws.ts';
import { freePort } from '../../local/dynamodb-emulator.ts';
import { answerRequest } from '../../local/gateway.ts';
import { lateHandlers } from '../../local/handlers.ts';
import type { Handler } from '../../local/lambda.ts';
import { startLeashed } from '../../local/leash.ts';
import { currentPrincipal, runAs } from '../../local/principal.ts';
import type { QuotaGuard } from '../../local/quota-guard.ts';
import { newToken, setUp } from '../../store/setup.ts';
import { processTree } from './processes.ts';

export { runAs };

/** One request to the API, sent to handlers in this process or over a socket: a test does not see which. */
export interface ApiRequest {
  readonly method: string;
  /** With its query, as it goes over the wire. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface ApiAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly text: string;
}

export type SendRequest = (request: ApiRequest) => Promise<ApiAnswer>;

/** The emulators in this process's service, behind the quota guard, with the handlers called directly. */
export interface Emulators {
  readonly dataDirectory: string;
  readonly guard: QuotaGuard;
  /** Of an `admin`; `''` when the stack was asked to be empty. */
  readonly token: string;
  /** Requests sent so far, by operation, e.g. `POST /api/bgp/peers`; what is no operation by `METHOD -`. */
  requests(): Record<string, number>;
  /** Sends a request through the gateway's own code, without a socket, to the real handlers. */
  readonly send: SendRequest;
  stop(): Promise<void>;
}

export interface EmulatorsOptions {
  /** Kept by the test that names it; else a fresh one that `stop` removes. */
  readonly dataDirectory?: string;
  /** In whose name code runs that is not inside `runAs`; none: its calls are refused. */
  readonly as?: Principal;
  /** Without token, keyring and engine settings. */
  readonly empty?: boolean;
  /** In place of the contract's; read at each call. */
  readonly grants?: Readonly<Record<Principal, Grants>>;
  /** In place of those of `functions/`. */
  readonly handlers?: Readonly<Record<ApiFunction, Handler>>;
}

/**
 * The SDK's clients keep the first endpoints and credentials that they saw, handlers their tokens and keys: one process
 * (in vitest: one test file) has one data directory, which it may start again and again.
 */
let place: { directory: string; ports: { dynamodb: number; secrets: number; queues: number } } | undefined;
let guard: QuotaGuard | undefined;
let fallbackPrincipal: Principal | undefined;

/** Starts the emulators (about 100 ms) and points this process at them: once a test file, unless on the same directory. */
export async function startEmulators(options: EmulatorsOptions = {}): Promise<Emulators> {
  if (place !== undefined && place.directory !== options.dataDirectory) {
    throw new Error('one process has one data directory: start the emulators once a test file, in beforeAll');
  }
  const dataDirectory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), 'graticule-test-'));
  place ??= {
    directory: dataDirectory,
    ports: { dynamodb: await freePort(), secrets: await freePort(), queues: await freePort() },
  };
  const aws = await startLocalAws({ dataDirectory, ports: place.ports });
  await aws.queuesReady;
  useLocalAws(aws);
  fallbackPrincipal = options.as;
  guard ??= guardCalls(() => currentPrincipal() ?? fallbackPrincipal, options.grants);
  const token = options.empty === true ? '' : newToken();
  if (token !== '') {
    await runAs('setup', () =>
      setUp({ apiToken: token, apiTokenIsGiven: true, localAs: '', routerId: '10.0.0.1' }, new Date()),
    );
  }
  guard.reset();
  const requests = new Map<string, number>();
  const handlers = options.handlers ?? lateHandlers();
  return {
    dataDirectory,
    guard,
    token,
    requests: () => Object.fromEntries(requests),
    async send(request) {
      const answer = await answerRequest(
        {
          method: request.method,
          target: request.path,
          headers: Object.entries({ host: 'localhost', ...request.headers }),
          body: Buffer.from(request.body ?? ''),
          sourceAddress: '127.0.0.1',
          port: 0,
          requestId: randomUUID(),
          receivedAt: Date.now(),
        },
        {
          handlers,
          // A failure is a 500 without a word; the test's output has the words.
          onFailure: (name, error) => console.error(`the handler of ${name} failed:`, error),
        },
        (operation) => requests.set(operation, (requests.get(operation) ?? 0) + 1),
      );
      return apiAnswer(answer.status, answer.headers, answer.body);
    },
    async stop() {
      await aws.stop();
      if (options.dataDirectory === undefined) rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

/** The whole product as its user starts it, in processes of its own. */
export interface Stack {
  readonly url: string;
  /** Of an `admin`. */
  readonly token: string;
  readonly dataDirectory: string;
  /** Of the process that was started; its children are its own. */
  readonly processId: number;
  /** Milliseconds from the start of the process to its being ready. */
  readonly readyAfter: number;
  readonly send: SendRequest;
  /** Everything printed so far, both streams. */
  output(): string;
  /** SIGTERM; resolves with the exit code and the milliseconds it took. */
  stop(): Promise<{ code: number; milliseconds: number }>;
  /** SIGKILL to the process and all that it started, in one moment: emulators, workers, the shells between. */
  kill(): Promise<void>;
  /** For a test that ends the process by another way: its exit code, as a shell gives it. Any other end is told. */
  untilEnded(): Promise<number>;
}

export interface StackOptions {
  /** Kept by the test that names it; else a fresh one, removed with the stack. */
  readonly dataDirectory?: string;
  /** Beside GRATICULE_PORT=0 and the data directory. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The first start compiles every file anew; a slow machine may take longer than a user would wait. */
  readonly timeoutMilliseconds?: number;
}

const ROOT = resolve(import.meta.dirname, '../..');

/** Starts `local/main.ts` on a free port and waits until it says that it is ready. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const dataDirectory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), 'graticule-stack-'));
  const begun = performance.now();
  const agent = new Agent({ keepAlive: true });
  const main = startLeashed([process.execPath, 'local/main.ts'], {
    environment: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      GRATICULE_PORT: '0',
      GRATICULE_DATA_DIR: dataDirectory,
      ...options.environment,
    },
    graceSeconds: 10,
    output: 'pipe',
    ownGroup: true,
    workingDirectory: ROOT,
  });
  let output = '';
  const url = await new Promise<string>((settle, refuse) => {
    const limit = options.timeoutMilliseconds ?? 60_000;
    const timer = setTimeout(() => refuse(new Error(`not ready in ${limit} ms:\n${output}`)), limit);
    const take = (text: string) => {
      output += text;
      const ready = /is ready at (http:\S+)/.exec(output);
      if (ready?.[1] === undefined) return;
      clearTimeout(timer);
      settle(ready[1]);
    };
    main.stdout?.setEncoding('utf8').on('data', take);
    main.stderr?.setEncoding('utf8').on('data', take);
    void main.ended.then((code) => {
      clearTimeout(timer);
      refuse(new Error(`ended with ${code} before it was ready:\n${output}`));
    });
  }).catch(async (error: unknown) => {
    await main.stop();
    throw error;
  });
  let endIsExpected = false;
  void main.ended.then((code) => {
    if (!endIsExpected) console.error(`the stack ended by itself with ${code}; it said:\n${output}`);
  });
  const token =
    options.environment?.['GRATICULE_API_TOKEN'] ?? readFileSync(join(dataDirectory, 'token'), 'utf8').trim();
  const processId = Number(readFileSync(join(dataDirectory, 'process-id'), 'utf8'));
  return {
    url,
    token,
    dataDirectory,
    processId,
    readyAfter: performance.now() - begun,
    output: () => output,
    untilEnded() {
      endIsExpected = true;
      return main.ended;
    },
    async kill() {
      endIsExpected = true;
      for (const member of processTree(processId)) {
        try {
          process.kill(member, 'SIGKILL');
        } catch {
          // It ended on its own between the look and the kill.
        }
      }
      await main.ended;
    },
    send: (request) => sendOverSocket(url, agent, request),
    async stop() {
      const asked = performance.now();
      endIsExpected = true;
      agent.destroy();
      const code = await main.stop();
      if (options.dataDirectory === undefined) rmSync(dataDirectory, { recursive: true, force: true });
      return { code, milliseconds: performance.now() - asked };
    },
  };
}

/** Sends what the request says and adds nothing: no content type, no accepted encodings. */
export function sendOverSocket(url: string, agent: Agent, request: ApiRequest): Promise<ApiAnswer> {
  return new Promise((settle, refuse) => {
    const { hostname, port } = new URL(url);
    const body = Buffer.from(request.body ?? '');
    const outgoing = httpRequest(
      {
        host: hostname,
        port,
        agent,
        method: request.method,
        path: request.path,
        headers: { 'content-length': String(body.length), ...request.headers },
      },
      (incoming) => {
        const parts: Buffer[] = [];
        incoming.on('data', (part: Buffer) => parts.push(part));
        incoming.once('error', refuse);
        incoming.once('end', () => {
          const pairs = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
            name,
            String(value),
          ]);
          settle(apiAnswer(incoming.statusCode ?? 0, pairs, Buffer.concat(parts)));
        });
      },
    );
    outgoing.once('error', refuse);
    outgoing.end(body);
  });
}

/** The same form whichever way it came; a compressed body is given as a client would read it. */
function apiAnswer(
  status: number,
  headers: ReadonlyArray<readonly [string, string]>,
  body: Buffer,
): ApiAnswer {
  const byName: Record<string, string> = {};
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    byName[lower] = byName[lower] === undefined ? value : `${byName[lower]}, ${value}`;
  }
  const plain = byName['content-encoding'] === 'gzip' && body.length > 0 ? gunzipSync(body) : body;
  return { status, headers: byName, body: plain, text: plain.toString('utf8') };
}

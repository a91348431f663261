/**
 * The demonstration: the product as `npm start` starts it, and around it a world that is simulated. Each part of that
 * world (a network, a device, a receiver) is one file in `test/demo/parts/` that exports `part`; nothing else registers it.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Stack } from '../support/stack.ts';

export interface DemoPart {
  /** What a person calls it, e.g. `network`. */
  readonly name: string;
  /** Starts it and makes it known to the product; resolves when the product shows it. */
  start(stage: DemoStage): Promise<RunningPart>;
}

/** What a part has of the product and of the terminal. */
export interface DemoStage {
  /** Sends JSON to the API as admin and returns the answer's; throws when it is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of the API, of which a part reads what it needs
  call(method: string, path: string, body?: object): Promise<any>;
  /** Tells the person at the terminal what just happened. */
  happened(what: string): void;
  /** Aborted when the demonstration ends, before `stop`: a part that still starts gives up. */
  readonly ending: AbortSignal;
}

export interface RunningPart {
  /** What is there now, as one sentence. */
  readonly sentence: string;
  /** Requests worth making, printed as curl commands. */
  readonly requests: readonly DemoRequest[];
  /** Ends it within two seconds. */
  stop(): Promise<void>;
}

export interface DemoRequest {
  /** What its answer shows, e.g. `the topology in numbers`. */
  readonly shows: string;
  /** With its query, e.g. `/api/topology`. */
  readonly path: string;
}

export interface DemoOptions {
  readonly parts: readonly DemoPart[];
  startProduct(): Promise<DemoProduct>;
  print(line: string): void;
}

/** Of a stack, what the demonstration uses. */
export type DemoProduct = Pick<
  Stack,
  'url' | 'token' | 'dataDirectory' | 'send' | 'untilEnded' | 'output'
> & {
  stop(): Promise<unknown>;
};

export interface Demo {
  /** Settles, with a sentence, when the product ended by itself. */
  readonly failed: Promise<string>;
  /** The world first, for whose last words the product still listens, then the product. */
  stop(): Promise<void>;
}

/** Starts the product, then every part, one after the other, and prints what there is to see. When one fails, the rest is stopped. */
export async function startDemo(options: DemoOptions, ending: AbortSignal): Promise<Demo> {
  const { print } = options;
  const product = await options.startProduct();
  const running: RunningPart[] = [];
  const stop = async () => {
    await Promise.allSettled(running.map((part) => part.stop()));
    await product.stop();
  };
  const failed = product.untilEnded().then((code) => `the product ended with ${code}:\n${product.output()}`);
  const stage: DemoStage = {
    call: (method, path, body) => callApi(product, method, path, body),
    happened: (what) => print(`${new Date().toISOString().slice(11, 19)}  ${what}`),
    ending,
  };
  try {
    print(`graticule is ready at ${product.url}; the admin token is in ${product.dataDirectory}/token`);
    for (const part of options.parts) {
      if (ending.aborted) break;
      print(`starting: ${part.name}`);
      running.push(
        await Promise.race([
          part.start(stage),
          failed.then((sentence) => {
            throw new Error(sentence);
          }),
        ]),
      );
    }
  } catch (error) {
    await stop();
    throw error;
  }
  for (const { sentence, requests } of running) {
    print(`\n${sentence}`);
    for (const request of requests) print(`\n# ${request.shows}\n${curlCommand(product, request)}`);
  }
  print('\nCtrl-C ends all of it.\n');
  return { failed, stop };
}

/** Every part in a folder, in the order of the files' names. */
export async function loadParts(folder: string): Promise<DemoPart[]> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts'));
  const modules: { part: DemoPart }[] = await Promise.all(
    files.sort().map((name) => import(pathToFileURL(join(folder, name)).href)),
  );
  return modules.map(({ part }) => part);
}

function curlCommand(product: DemoProduct, request: DemoRequest): string {
  return `curl -s -H "Authorization: Bearer $(cat ${product.dataDirectory}/token)" '${product.url}${request.path}'`;
}

async function callApi(product: DemoProduct, method: string, path: string, body?: object) {
  const answer = await product.send({
    method,
    path,
    headers: { authorization: `Bearer ${product.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.text === '' ? undefined : JSON.parse(answer.text);
}

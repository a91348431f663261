import { deepEqual, equal, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ROUTES } from '../../../contract/routes.ts';
import type { CaseContext, TestCase } from '../../harness.ts';
import { pythonEnvironment } from '../../support/install.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { PLAYED_PREFIX, startExampleNetwork } from '../../support/story/example-network.ts';
import { VERSION_PLACEHOLDER } from '../../support/story/placeholders.ts';
import { playStory, STORY_ENVIRONMENT } from '../../support/story/play.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const HOOKS = resolve(import.meta.dirname, '../schemathesis');
const REQUIREMENTS = ['schemathesis==4.32.5', 'openapi-spec-validator==0.9.0'];

/** A hang is a failure; a slow machine is none. */
const LIMIT_MILLISECONDS = 600_000;

interface Told {
  /** Answers by method, path and status. */
  readonly answers: Readonly<Record<string, number>>;
  /** Addresses that were made up and moved to loopback, by member. */
  readonly moved: Readonly<Record<string, number>>;
}

export const testCase: TestCase = {
  title: 'schemathesis finds no answer that the OpenAPI document does not tell of, and no 5xx',
  inCi: true,
  async run(context) {
    const { check, log, scratchDirectory, seed } = context;
    const bin = pythonEnvironment(REQUIREMENTS);
    await check('openapi-spec-validator takes docs/openapi.json for OpenAPI 3.1', async () => {
      const { code, output } = await run(
        join(bin, 'openapi-spec-validator'),
        ['docs/openapi.json'],
        {},
        ROOT,
      );
      ok(code === 0, output);
    });

    const dials = join(scratchDirectory, 'dials');
    const counts = join(scratchDirectory, 'counts.json');
    const network = await startExampleNetwork();
    const guard = resolve(ROOT, 'test/support/loopback-only.ts');
    const stack = await startStack({
      environment: {
        ...STORY_ENVIRONMENT,
        NODE_OPTIONS: `--import=${guard}`,
        GRATICULE_TEST_DIALS: dials,
      },
    });
    try {
      // What the examples name is there: their ids are those of a stack on which the story was played.
      await playStory(stack, network.ids);
      const spares = await createSpares(stack);
      const started = performance.now();
      const { code, output } = await run(
        join(bin, 'st'),
        [
          ...['--config-file', join(HOOKS, 'schemathesis.toml')],
          // From the file: it does not try the path that it read the document from.
          ...['run', join(ROOT, 'docs/openapi.json'), '--url', stack.url],
          ...['--checks', 'all', '--phases', 'examples,coverage,fuzzing,stateful'],
          ...['--seed', String(seed), '--no-color'],
        ],
        {
          PYTHONPATH: HOOKS,
          PYTHONDONTWRITEBYTECODE: '1',
          SCHEMATHESIS_HOOKS: 'hooks',
          GRATICULE_TOKEN: stack.token,
          GRATICULE_PLAYED_PREFIX: PLAYED_PREFIX,
          GRATICULE_VERSION_PLACEHOLDER: VERSION_PLACEHOLDER,
          GRATICULE_SPARES: JSON.stringify(spares),
          GRATICULE_COUNTS: counts,
        },
        scratchDirectory,
      );
      log(`schemathesis ran for ${((performance.now() - started) / 1000).toFixed(0)} s`);
      for (const line of summaryOf(output)) log(line);
      await check('every check of every phase holds', () => ok(code === 0, output));
      await checkAnswers(context, JSON.parse(readFileSync(counts, 'utf8')) as Told);
      await check('nothing was dialled outside of loopback', () =>
        equal(existsSync(dials) ? readFileSync(dials, 'utf8') : '', ''),
      );
    } finally {
      await stack.stop();
      await network.stop();
    }
  },
};

/** Path parameters of something that each DELETE may remove: what its example names is gone at the end of the story. */
async function createSpares(stack: Stack): Promise<Record<string, Record<string, number>>> {
  const create = async (path: string, body: unknown): Promise<number> => {
    const { status, text } = await stack.send({
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    ok(status === 201, text);
    return JSON.parse(text).id;
  };
  const name = 'spare';
  const tokenId = await create('/api/v1/tokens', { name, scope: 'read' });
  const peer = { name, 'peer-address': '127.192.0.1', 'user-peer-as': '65000' };
  const peerId = await create('/api/bgp/peers', peer);
  const removedModel = await create('/api/v1/models', { name });
  const modelId = await create('/api/v1/models', { name: 'spare parts' });
  const fieldId = await create(`/api/v1/models/${modelId}/fields`, { name, type: 'string' });
  const mapping = { protocol: 'gnmi', netos: 'spare', field_mappings: {} };
  const mappingId = await create(`/api/v1/models/${modelId}/mappings`, mapping);
  const deviceId = await create('/api/v1/devices', {
    name,
    address: '127.192.0.1',
    netos: 'spare',
    gnmi: {},
  });
  const subscription = { name, 'model-name': 'spare parts', 'model-version': 'latest', mode: 'on-change' };
  const subscriptionId = await create('/api/v1/subscriptions', subscription);
  return {
    'DELETE /api/v1/tokens/{tokenId}': { tokenId },
    'DELETE /api/bgp/peers/{peerId}': { peerId },
    'DELETE /api/v1/models/{modelId}': { modelId: removedModel },
    'DELETE /api/v1/models/{modelId}/fields/{fieldId}': { modelId, fieldId },
    'DELETE /api/v1/models/{modelId}/mappings/{mappingId}': { modelId, mappingId },
    'DELETE /api/v1/devices/{deviceId}': { deviceId },
    'DELETE /api/v1/subscriptions/{subscriptionId}': { subscriptionId },
  };
}

async function checkAnswers({ check, log }: CaseContext, { answers, moved }: Told): Promise<void> {
  const statuses = (method: string, path: string) =>
    Object.keys(answers)
      .filter((key) => key.startsWith(`${method} ${path} `))
      .map((key) => Number(key.split(' ')[2]));
  const without = (first: number, routes = ROUTES) =>
    routes
      .filter(
        ({ method, path }) => !statuses(method, path).some((status) => Math.floor(status / 100) === first),
      )
      .map(({ method, path }) => `${method} ${path}`);
  const total = Object.values(answers).reduce((sum, count) => sum + count, 0);
  log(`${total} answers of ${ROUTES.length} operations; moved to loopback: ${JSON.stringify(moved)}`);
  await check('every operation gave at least one 2xx', () => deepEqual(without(2), []));
  await check('every operation that asks for a token gave at least one 4xx', () =>
    deepEqual(
      without(
        4,
        ROUTES.filter(({ scope }) => scope !== null),
      ),
      [],
    ),
  );
  await check('no operation gave a 5xx', () => {
    const failed = Object.keys(answers).filter((key) => Number(key.split(' ')[2]) >= 500);
    deepEqual(failed, []);
  });
}

/** What schemathesis says of its phases and cases. */
function summaryOf(output: string): string[] {
  const lines = output.split('\n').map((line) => line.trim());
  return lines.filter((line) =>
    /^(\S+ +)?(Examples|Coverage|Fuzzing|Stateful) \(in|generated|passed|^Filtered|^Seed/.test(line),
  );
}

async function run(
  command: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  workingDirectory: string,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(command, words, {
    cwd: workingDirectory,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MILLISECONDS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

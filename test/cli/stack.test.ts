import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readDeclaration } from '../../cli/declaration.ts';
import { SourceFile } from '../../cli/source-file.ts';
import { type Gateway, startGateway } from '../../local/gateway.ts';
import { lateHandlers } from '../../local/handlers.ts';
import { runCli } from '../support/cli.ts';
import { type Emulators, startEmulators } from '../support/stack.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** What the references of the example name. */
const SECRETS = {
  RR1_TCP_MD5_KEY: 'sesame-open-rr1',
  LEAF_PASSWORD: 'sesame-open-leaf',
  SNMP_COMMUNITY: 'sesame-open-community',
  WEBHOOK_AUTH: 'Bearer sesame-open-webhook',
};

let emulators: Emulators;
let gateway: Gateway;
/** A copy of the clone's examples, so that no state file lands in the clone. */
let copied: string;
let folder: string;

beforeAll(async () => {
  emulators = await startEmulators();
  const handlers = lateHandlers();
  gateway = await startGateway({
    host: '127.0.0.1',
    port: 0,
    handlers,
    onFailure: (name, error) => console.error(`the handler of ${name} failed:`, error),
  });
  copied = mkdtempSync(join(tmpdir(), 'graticule-cli-stack-'));
  for (const part of ['docs/examples', 'core/model-library'])
    cpSync(join(ROOT, part), join(copied, part), { recursive: true });
  folder = join(copied, 'docs/examples/network');
});

afterAll(async () => {
  await gateway.stop(0);
  await emulators.stop();
  rmSync(copied, { recursive: true });
});

const state = () => readFileSync(join(folder, 'graticule.state.json'), 'utf8');

/** Runs in the test's own folder, with the state there. */
function cli(...argv: string[]) {
  return runCli(argv, {
    workingDirectory: folder,
    environment: { ...SECRETS, ...stackSettings() },
  });
}

const stackSettings = () => ({ GRATICULE_URL: gateway.url, GRATICULE_API_TOKEN: emulators.token });

const WRITES = /^(POST|PUT|DELETE) /;

function writes(counts: Record<string, number>): number {
  return Object.entries(counts).reduce((sum, [name, count]) => sum + (WRITES.test(name) ? count : 0), 0);
}

/** Every entity tag that the stack gives, by path. */
async function entityTags(): Promise<Record<string, string | undefined>> {
  const tags: Record<string, string | undefined> = {};
  const get = (path: string) =>
    emulators.send({ method: 'GET', path, headers: { authorization: `Bearer ${emulators.token}` } });
  for (const path of ['/api/bgp/peers', '/api/v1/models', '/api/v1/devices', '/api/v1/subscriptions']) {
    for (const { id } of JSON.parse((await get(path)).text) as { id: number }[])
      tags[`${path}/${id}`] = (await get(`${path}/${id}`)).headers['etag'];
  }
  tags['webhook'] = (await get('/api/v1/outputs/webhook')).headers['etag'];
  return tags;
}

describe('plan and apply on the real handlers', () => {
  it('prints what docs/cli.md says that it prints', async () => {
    const page = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8');
    let commands = 0;
    for (const [, block] of page.matchAll(/^```console\n(.*?)^```$/gms)) {
      for (const [, command, told] of (block as string).matchAll(
        /^\$ graticule (.*)\n((?:(?!\$ ).*\n)*)/gm,
      )) {
        const { output, errors } = await cli(...(command as string).split(' '));
        expect(output + errors, command).toBe(told);
        commands += 1;
      }
    }
    expect(commands).toBeGreaterThan(5);
  });

  it('the second time writes nothing, by the gateway’s count, and moves no revision', async () => {
    const tags = await entityTags();
    const before = gateway.counts();
    const second = await cli('apply', '-f', '.');
    expect(second).toMatchObject({ code: 0, errors: '', output: expect.stringMatching(/^Nothing to do/) });
    const written = writes(gateway.counts()) - writes(before);
    console.log(`apply: ${writes(before)} writes at first, then ${written}`);
    expect(writes(before)).toBeGreaterThan(10);
    expect(written).toBe(0);
    expect(await entityTags()).toEqual(tags);
    expect((await cli('plan', '-f', '.', '--check')).code).toBe(0);
    for (const secret of Object.values(SECRETS)) expect(state()).not.toContain(secret);
  });

  it('exports what it made without a secret, in a file that another folder can take over', async () => {
    const exported = await cli('export');
    expect(exported.code).toBe(0);
    for (const secret of Object.values(SECRETS)) expect(exported.output).not.toContain(secret);
    expect(exported.output).not.toContain('********');
    writeFileSync(join(folder, 'exported.yaml'), exported.output);
    const argv = ['-f', 'exported.yaml', '--state', 'other.state.json', '-o', 'json'];
    const refused = await cli('plan', ...argv);
    expect(refused.code).toBe(5);
    expect(refused.errors).toContain('was not made from these files; --adopt takes it over');
    const { output } = await cli('plan', '--adopt', ...argv);
    const plan = JSON.parse(output) as {
      steps: { action: string; changes: { member: string; to: string }[] }[];
    };
    // All that is left is to send secrets, which an export cannot have.
    expect(plan.steps.flatMap(({ changes }) => changes).every(({ to }) => to === '********')).toBe(true);
    expect(plan.steps.map(({ action }) => action)).not.toContain('create');
  });

  it('is taken over by the two commands that docs/cli.md tells for it, in a folder that knows nothing yet', async () => {
    const page = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8');
    const [, exporting = '', file = '', applying = ''] =
      /^graticule (export) > (\S+) +# set the variables that it names\ngraticule (apply --adopt)$/m.exec(
        page,
      ) ?? [];
    expect(applying).not.toBe('');
    const empty = join(copied, 'taken-over');
    mkdirSync(empty);
    const there = { workingDirectory: empty, environment: stackSettings() };
    const exported = await runCli(exporting.split(' '), there);
    expect(exported.code).toBe(0);
    const [, told = ''] = /secrets are not readable: set (.+) before apply/.exec(exported.errors) ?? [];
    const named = told.split(', ');
    expect(named.length).toBeGreaterThan(3);
    writeFileSync(join(empty, file), exported.output);

    const unset = await runCli(applying.split(' '), there);
    expect(unset.code).toBe(2);
    // A secret is sent again: what the stack holds cannot be read, so the one who adopts says it.
    const values = Object.fromEntries(
      named.map((name) => [name, name.includes('AUTH_HEADER') ? SECRETS.WEBHOOK_AUTH : 'sesame-open-taken']),
    );
    const set = { ...there, environment: { ...there.environment, ...values } };
    const before = await entityTags();
    expect(await runCli(applying.split(' '), set)).toMatchObject({ code: 0, errors: '' });
    expect(Object.keys(await entityTags())).toEqual(Object.keys(before));
    const again = await runCli(['plan', '--check'], set);
    expect(again).toMatchObject({ code: 0, output: expect.stringMatching(/^Nothing to do/) });
  });

  it('changes, moves and removes on the real handlers as the planner expects of them', async () => {
    const write = (document: object) => writeFileSync(join(folder, 'moving.json'), JSON.stringify(document));
    const argv = ['-f', 'moving.json', '--state', 'moving.state.json'];
    const peer = (name: string, last: number) => ({
      name,
      'peer-address': `127.0.9.${last}`,
      'user-peer-as': '65001',
    });
    const model = (version: string, fields: string[], active: boolean) => ({
      name: 'moving',
      version,
      active,
      fields: fields.map((name) => ({ name, type: 'uint32' })),
      mappings: [
        {
          protocol: 'gnmi',
          netos: '*',
          field_mappings: Object.fromEntries(fields.map((name) => [name, `/a/${name}`])),
        },
      ],
    });
    const subscription = {
      name: 'moving',
      'model-name': 'moving',
      'model-version': 'latest',
      mode: 'sample',
      'interval-ms': 1_000,
      devices: { names: ['moving-1', 'moving-2'] },
    };
    const device = (name: string) => ({ name, address: `${name}.example`, netos: 'eos', gnmi: {} });
    write({
      peers: [peer('a', 1), peer('b', 2)],
      models: [model('1.0.0', ['x', 'y'], true), model('1.1.0', ['x'], true)],
      devices: [device('moving-1'), device('moving-2')],
      subscriptions: [subscription],
    });
    expect(await cli('apply', ...argv)).toMatchObject({ code: 0 });
    // Addresses go round in a circle, fields come, go and change places, the version that is followed goes, a device too.
    write({
      peers: [peer('a', 2), peer('b', 1)],
      models: [model('1.0.0', ['z', 'y', 'w'], true)],
      devices: [device('moving-2')],
      subscriptions: [{ ...subscription, devices: { names: ['moving-2'] } }],
    });
    const moved = await cli('apply', ...argv);
    expect(moved).toMatchObject({ code: 0, errors: '' });
    expect((await cli('apply', ...argv)).output).toMatch(/^Nothing to do/);
    write({ peers: [], models: [], devices: [], subscriptions: [] });
    expect(await cli('apply', ...argv)).toMatchObject({ code: 0, errors: '' });
    const left = JSON.parse((await cli('peers', '-o', 'json')).output) as { name: string }[];
    expect(left.map(({ name }) => name)).not.toContain('a');
    expect(left.length).toBeGreaterThan(0);
  });

  it('makes a peer by four calls to DynamoDB, however many there are already', async () => {
    const peers = Array.from({ length: 20 }, (_, index) => ({
      name: `counted-${index}`,
      'peer-address': `127.0.7.${1 + index}`,
      'user-peer-as': '65001',
      enabled: false,
    }));
    writeFileSync(join(folder, 'counted.json'), JSON.stringify({ peers }));
    const argv = ['-f', 'counted.json', '--state', 'counted.state.json'];
    // The token and the list of peers are read before the first of them is made.
    await cli('plan', ...argv);
    emulators.guard.reset();
    expect(await cli('apply', ...argv)).toMatchObject({ code: 0, errors: '' });
    const calls = Object.fromEntries(
      emulators.guard
        .counts()
        .filter(({ principal, command }) => principal === 'peers' && command !== 'GetItem')
        .map(({ command, resource, calls }) => [`${command} ${resource}`, calls]),
    );
    expect(calls).toMatchObject({
      // The id, and the word to the workers.
      'UpdateItem config': 2 * peers.length,
      'TransactWriteItems config': peers.length,
    });
    // Who lives; and, for the list that apply begins with, who owns what and how it does.
    expect(calls['Query runtime']).toBeLessThanOrEqual(peers.length + 3);
    writeFileSync(join(folder, 'counted.json'), '{"peers": []}');
    expect((await cli('apply', ...argv)).code).toBe(0);
  });

  it('refuses a state of another stack, and two applies at once', async () => {
    writeFileSync(join(folder, 'one.json'), '{"peers": []}');
    writeFileSync(
      join(folder, 'foreign.state.json'),
      '{"format": "graticule-state/1", "url": "https://other.example/"}',
    );
    const foreign = await cli('plan', '-f', 'one.json', '--state', 'foreign.state.json');
    expect(foreign).toMatchObject({
      code: 2,
      errors: expect.stringContaining('is of the stack at https://other'),
    });
    writeFileSync(
      join(folder, 'held.state.json.lock'),
      `${process.pid} ${(await import('node:os')).hostname()}`,
    );
    const held = await cli('apply', '-f', 'one.json', '--state', 'held.state.json');
    expect(held).toMatchObject({ code: 2, errors: expect.stringContaining(`process ${process.pid}`) });
    // Left by a process that was killed: no process has this number.
    writeFileSync(join(folder, 'held.state.json.lock'), `99999999 ${(await import('node:os')).hostname()}`);
    expect((await cli('apply', '-f', 'one.json', '--state', 'held.state.json')).code).toBe(0);
  });

  it('stops before the first write when a secret is missing or does not do', async () => {
    const document = {
      peers: [
        {
          name: 's',
          'peer-address': '127.0.8.1',
          'user-peer-as': '65001',
          'auth-password': { env: 'NOT_SET' },
        },
      ],
      webhook: { enabled: false, config: { url: '', 'auth-header': { env: 'RR1_TCP_MD5_KEY' } } },
    };
    writeFileSync(join(folder, 'secret.json'), JSON.stringify(document));
    const argv = ['-f', 'secret.json', '--state', 'secret.state.json', '--adopt'];
    const before = writes(gateway.counts());
    const missing = await cli('apply', ...argv);
    expect(missing.code).toBe(2);
    expect(missing.errors).toMatch(/^secret\.json:1:\d+: the environment variable NOT_SET is not set\n/);
    document.peers = [];
    writeFileSync(join(folder, 'secret.json'), JSON.stringify(document));
    const wrong = await cli('apply', ...argv);
    expect(wrong.errors).toMatch(/what env RR1_TCP_MD5_KEY holds does not do: auth-header is "Bearer"/);
    expect(writes(gateway.counts())).toBe(before);
    const planned = await cli('plan', ...argv);
    expect(planned).toMatchObject({ code: 0, errors: expect.stringContaining('warning: apply would stop') });
  });

  it('takes the references to secrets that docs/cli.md shows', () => {
    const page = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8');
    const [, block = ''] = /^```yaml\n(.*?)^```$/ms.exec(page) ?? [];
    const shown = parse(block) as Record<string, object>;
    expect(Object.keys(shown)).toEqual(['auth-password', 'password', 'community']);
    const document = {
      peers: [
        {
          name: 'a',
          'peer-address': '127.0.6.1',
          'user-peer-as': '65001',
          'auth-password': shown['auth-password'],
        },
      ],
      devices: [
        {
          name: 'b',
          address: '127.0.6.2',
          netos: 'eos',
          gnmi: { username: 'u', password: shown['password'] },
        },
        {
          name: 'c',
          address: '127.0.6.3',
          netos: 'eos',
          snmp: { version: 'v2c', community: shown['community'] },
        },
      ],
    };
    const { mistakes } = readDeclaration([new SourceFile('page.json', JSON.stringify(document))], folder);
    expect(mistakes).toEqual([]);
  });

  it('knows every command of the pipeline example', async () => {
    const workflow = readFileSync(join(ROOT, 'docs/examples/github-actions.yml'), 'utf8');
    const { permissions, jobs } = parse(workflow) as {
      permissions: Record<string, string>;
      jobs: Record<string, { steps: { run?: string }[] }>;
    };
    expect(permissions['id-token']).toBe('write');
    const commands = Object.values(jobs)
      .flatMap(({ steps }) => steps.flatMap(({ run }) => (run ?? '').split('\n')))
      .filter((line) => line.startsWith('graticule '));
    expect(commands).toEqual(['graticule plan -f network', 'graticule apply -f network']);
    for (const command of commands)
      expect((await cli(...command.split(' ').slice(1), '--help')).code, command).toBe(0);
  });
});

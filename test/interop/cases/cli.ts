import { strict as assert } from 'node:assert';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { buildCli } from '../../../cli/build.ts';
import { startSecretsEmulator } from '../../../local/secrets-emulator.ts';
import type { TestCase } from '../../harness.ts';
import { addInterfaces } from '../../support/gnmi-target/interfaces.ts';
import { GnmiTarget } from '../../support/gnmi-target/target.ts';
import { processTree } from '../../support/processes.ts';
import { Random } from '../../support/random.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { commandsIn, sectionOf } from '../docs/page.ts';

const PEERS = 500;
/** The product's target; a machine with other work on it gets five times that. */
const APPLY_SECONDS = 20;

const PASSWORD = 'a-password-of-the-target';

export const testCase: TestCase = {
  title: 'the packed command line installs by itself and drives the running stack',
  inCi: true,
  run: async ({ check, log, scratchDirectory, seed }) => {
    const random = new Random(seed);
    const home = join(scratchDirectory, 'empty');
    let program = '';
    await check('docs/cli.md: Install, typed in a copy of the clone', () => {
      const clone = copyOfTheClone(join(scratchDirectory, 'clone'));
      const prefix = join(scratchDirectory, 'global');
      for (const { text } of commandsIn(sectionOf(readFileSync('docs/cli.md', 'utf8'), 'Install'))) {
        const environment = { ...process.env, npm_config_prefix: prefix, npm_config_audit: 'false' };
        const typed = spawnSync('bash', ['-c', text], { cwd: clone, env: environment, encoding: 'utf8' });
        assert.equal(typed.status, 0, `${text}\n${typed.stdout}${typed.stderr}`);
      }
      const installed = spawnSync(join(prefix, 'bin/graticule'), ['--version'], { encoding: 'utf8' });
      assert.equal(installed.stdout, 'graticule 1.0.0\n', installed.stderr);
    });
    await check('the tarball installs into an empty folder, alone', async () => {
      const dist = join(scratchDirectory, 'dist');
      await buildCli(dist);
      mkdirSync(home);
      const npm = (...argv: string[]) =>
        execFileSync('npm', argv, { cwd: home, stdio: 'pipe', encoding: 'utf8' });
      const [packed] = JSON.parse(npm('pack', dist, '--json')) as { filename: string; size: number }[];
      npm('init', '--yes');
      // Offline: a package without dependencies asks nobody.
      npm('install', '--offline', '--no-audit', '--no-fund', `./${packed?.filename}`);
      const installed = readdirSync(join(home, 'node_modules')).filter((name) => !name.startsWith('.'));
      assert.deepEqual(installed, ['graticule']);
      program = join(home, 'node_modules/.bin/graticule');
      log(`${packed?.filename}, ${packed?.size} bytes`);
    });
    await check('it runs on every Node on this path', () => {
      const nodes = nodesOnPath();
      for (const node of nodes) {
        const { stdout, stderr } = spawnSync(node, [program, '--version'], { encoding: 'utf8' });
        assert.equal(stdout, 'graticule 1.0.0\n', `${node}: ${stderr}`);
      }
      const versions = nodes.map((node) => execFileSync(node, ['--version'], { encoding: 'utf8' }).trim());
      log(versions.join(', '));
    });

    const stack = await startStack({ environment: { GRATICULE_WORKERS: '1' } });
    const secrets = await startSecretsEmulator(join(scratchDirectory, 'secrets.json'));
    const target = await GnmiTarget.start({ habits: { username: 'admin', password: PASSWORD } });
    try {
      const bed = new Bed(program, home, stack);
      await check(`apply makes ${PEERS} peers, and the second time nothing`, async () => {
        bed.write('graticule.json', { peers: peersOf('p', 20, PEERS) });
        const started = performance.now();
        const begun = processorSeconds(stack.processId);
        const first = await bed.run(['apply']);
        const seconds = (performance.now() - started) / 1000;
        const busy = processorSeconds(stack.processId) - begun;
        assert.equal(first.code, 0, first.errors);
        const again = await bed.run(['apply']);
        assert.equal(again.output, `Nothing to do: all ${PEERS} objects are as wanted.\n`);
        assert.equal((await bed.peers()).length, PEERS);
        log(
          `apply of ${PEERS} peers: ${seconds.toFixed(1)} s (target ${APPLY_SECONDS} s), ${busy.toFixed(1)} s of the stack's processors`,
        );
        assert.ok(seconds < 5 * APPLY_SECONDS, `${seconds} s`);
      });

      await check('an apply that is killed resumes, and makes nothing twice', async () => {
        const count = 60;
        for (let round = 0; round < 2; round += 1) {
          const file = `killed-${round}.json`;
          const argv = ['apply', '-f', file, '--state', `killed-${round}.state.json`];
          bed.write(file, { peers: peersOf(`k${round}-`, 30 + round, count) });
          const printed = 1 + random.below(count / 2);
          const killed = await bed.run(argv, { signal: 'SIGKILL', afterLines: printed });
          assert.equal(killed.signal, 'SIGKILL');
          const before = (await bed.peers()).filter(({ name }) => name.startsWith(`k${round}-`)).length;
          const resumed = await bed.run(argv);
          assert.equal(resumed.code, 0, resumed.errors);
          const names = (await bed.peers())
            .map(({ name }) => name)
            .filter((name) => name.startsWith(`k${round}-`));
          assert.equal(names.length, count);
          assert.equal(new Set(names).size, count);
          const state = JSON.parse(readFileSync(join(home, `killed-${round}.state.json`), 'utf8'));
          assert.equal(Object.keys(state.objects.peer).length, count);
          log(`killed after ${printed} lines with ${before} of ${count} made`);
        }
      });

      await check('Ctrl-C finishes what is under way, says how far it came, and ends with 130', async () => {
        const argv = ['apply', '-f', 'interrupted.json', '--state', 'interrupted.state.json'];
        bed.write('interrupted.json', { peers: peersOf('i', 40, 60) });
        const run = await bed.run(argv, { signal: 'SIGINT', afterLines: 5 });
        assert.equal(run.code, 130, run.errors);
        const told = /interrupted: (\d+) of 60 steps done, (\d+) not begun; apply again to go on/.exec(
          run.errors,
        );
        const made = (await bed.peers()).filter(({ name }) => name.startsWith('i')).length;
        assert.deepEqual([Number(told?.[1]), Number(told?.[2])], [made, 60 - made], run.errors);
        assert.equal((await bed.run(argv)).code, 0);
        assert.equal((await bed.peers()).filter(({ name }) => name.startsWith('i')).length, 60);
      });

      await check('a live test asks a device, whose password came from AWS Secrets Manager', async () => {
        addInterfaces(target.tree, 2);
        bed.write('telemetry.json', {
          models: [
            {
              name: 'mtu',
              version: '1.0.0',
              fields: [{ name: 'mtu', type: 'uint32' }],
              mappings: [
                {
                  protocol: 'gnmi',
                  netos: '*',
                  field_mappings: { mtu: '/interfaces/interface[name=*]/state/mtu' },
                },
              ],
            },
          ],
          devices: [
            {
              name: 'router1',
              address: '127.0.0.1',
              netos: 'any',
              gnmi: {
                port: target.port,
                tls: 'off',
                username: 'admin',
                password: { 'secrets-manager': 'router1', key: 'password' },
              },
            },
          ],
        });
        const environment = {
          AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
          AWS_REGION: 'local',
          AWS_ACCESS_KEY_ID: secrets.accessKeyId,
          AWS_SECRET_ACCESS_KEY: secrets.accessKeyId,
        };
        await putSecret(environment, 'router1', JSON.stringify({ password: PASSWORD }));
        const applied = await bed.run(['apply', '-f', 'telemetry.json', '--state', 't.state.json'], {
          environment,
        });
        assert.equal(applied.code, 0, applied.errors);
        for (const node of nodesOnPath()) {
          const argv = ['plan', '-f', 'telemetry.json', '--state', 't.state.json', '--resend-secrets'];
          const planned = await bed.run(argv, { environment, node });
          // On an old Node the AWS SDK has a word of its own to say.
          assert.equal(planned.code, 0, planned.errors);
          assert.match(
            planned.output,
            /gnmi\.password: sent from secrets-manager router1 key password/,
            node,
          );
        }
        const tested = await bed.run(['test', 'mtu', 'router1']);
        assert.equal(tested.code, 0, tested.errors);
        assert.deepEqual(tested.output.trimEnd().split('\n'), [
          'KEY           mtu',
          'ethernet-1/1  9000',
          'ethernet-1/2  9000',
        ]);
        const kept = readdirSync(home).filter((name) => name.endsWith('.state.json'));
        for (const name of kept) assert.ok(!readFileSync(join(home, name), 'utf8').includes(PASSWORD), name);
      });

      await check('topology, watch and export answer in a pipe without a control character', async () => {
        const summary = await bed.run(['topology']);
        assert.match(summary.output, /^OBJECTS +TOTAL +STALE\nnodes +0 +0\n/);
        const graph = await bed.run(['topology', 'graph', '--format', 'dot']);
        assert.match(graph.output, /^digraph/);
        const watched = await bed.run(['watch'], { signal: 'SIGINT', afterMilliseconds: 1_500 });
        assert.equal(watched.code, 130);
        const exported = await bed.run(['export']);
        for (const { output } of [summary, graph, exported]) {
          // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
          assert.doesNotMatch(output, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
        }
      });
    } finally {
      await target.stop();
      await secrets.stop();
      await stack.stop();
    }
  },
};

interface Run {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
  readonly errors: string;
}

class Bed {
  private readonly program: string;
  private readonly folder: string;
  private readonly stack: Stack;

  constructor(program: string, folder: string, stack: Stack) {
    this.program = program;
    this.folder = folder;
    this.stack = stack;
  }

  write(name: string, document: object): void {
    writeFileSync(join(this.folder, name), JSON.stringify(document, null, 1));
  }

  /** Runs the installed program, and sends it a signal when it has printed so much, or after a while. */
  run(
    argv: readonly string[],
    options: {
      readonly signal?: NodeJS.Signals;
      readonly afterLines?: number;
      readonly afterMilliseconds?: number;
      readonly environment?: Readonly<Record<string, string>>;
      /** In place of the one that the program's first line finds. */
      readonly node?: string;
    } = {},
  ): Promise<Run> {
    const [program, ...words] =
      options.node === undefined ? [this.program, ...argv] : [options.node, this.program, ...argv];
    const child = spawn(program, words, {
      cwd: this.folder,
      env: {
        PATH: process.env['PATH'],
        HOME: this.folder,
        GRATICULE_URL: this.stack.url,
        GRATICULE_API_TOKEN: this.stack.token,
        ...options.environment,
      },
    });
    let output = '';
    let errors = '';
    const send = () => {
      if (options.signal !== undefined) child.kill(options.signal);
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const before = output.split('\n').length - 1;
      output += text;
      const lines = output.split('\n').length - 1;
      if (options.afterLines !== undefined && before < options.afterLines && lines >= options.afterLines)
        send();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    const timer = setTimeout(send, options.afterMilliseconds ?? 2 ** 30);
    return new Promise((settle, refuse) => {
      child.once('error', refuse);
      child.once('close', (code, signal) => {
        clearTimeout(timer);
        settle({ code, signal, output, errors });
      });
    });
  }

  async peers(): Promise<{ name: string }[]> {
    const { code, output, errors } = await this.run(['peers', '-o', 'json']);
    assert.equal(code, 0, errors);
    return JSON.parse(output);
  }
}

/** The files that git keeps here, without what was installed or built. */
function copyOfTheClone(folder: string): string {
  const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(existsSync);
  for (const file of files) cpSync(file, join(folder, file));
  return folder;
}

/** What a process and its descendants have used so far; in hundredths of a second, as Linux counts (proc(5)). */
function processorSeconds(processId: number): number {
  return processTree(processId).reduce((sum, member) => {
    if (!existsSync(`/proc/${member}/stat`)) return sum;
    const fields = readFileSync(`/proc/${member}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) / 100;
  }, 0);
}

async function putSecret(environment: Record<string, string>, name: string, text: string): Promise<void> {
  const client = new SecretsManagerClient({
    endpoint: environment['AWS_ENDPOINT_URL_SECRETS_MANAGER'] as string,
    region: 'local',
    credentials: { accessKeyId: environment['AWS_ACCESS_KEY_ID'] as string, secretAccessKey: 'any' },
  });
  await client.send(new CreateSecretCommand({ Name: name, SecretString: text }));
  client.destroy();
}

/** Disabled peers on 127.0.0.0/8, so that nobody is called. */
function peersOf(prefix: string, block: number, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    name: `${prefix}${index}`,
    'peer-address': `127.0.${block + Math.floor(index / 250)}.${1 + (index % 250)}`,
    'user-peer-as': '65001',
    enabled: false,
  }));
}

/** The oldest that is supported is often the machine's own, behind the one that runs this. */
function nodesOnPath(): string[] {
  const found = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  const paths = [process.execPath, ...found.filter((path) => existsSync(path))];
  return [...new Set(paths.map((path) => realpathSync(path)))];
}

import { strict as assert } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { CaseContext, TestCase } from '../../harness.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { contractClient } from '../../support/contract-client.ts';
import { GOBGP_VERSION } from '../../support/gobgp.ts';
import { debianCommand, goCommand } from '../../support/install.ts';
import { linkStateObjects } from '../../support/network/link-state-objects.ts';
import { Reflector } from '../../support/network/reflector.ts';
import { SimulatedNetwork } from '../../support/network/simulated-network.ts';
import { Random } from '../../support/random.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { until } from '../../support/until.ts';
import { blockOf, commandsIn, sectionOf } from '../docs/page.ts';
import { Reader } from '../docs/reader.ts';
import { patternOf } from '../docs/shown.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const page = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const README = page('README.md');
const RUNBOOK = page('docs/runbook.md');
const BACKUP = page('docs/backup.md');

/** Names of the demo's network that fail in another order at each run. */
const DEMO_NAMES = ['\\bleaf\\d\\b', 'ethernet-1/\\d\\b'];

export const testCase: TestCase = {
  title: 'what README, runbook and backup page tell to type prints what they show',
  inCi: true,
  run: async (context) => {
    debianCommand('curl', 'curl');
    debianCommand('jq', 'jq');
    await fiveMinutes(context);
    await deviceToReceiver(context);
    await noWorker(context);
    await sessions(context);
    await network(context);
    await keyring(context);
  },
};

/** A folder as a reader has it: the data directory and the log of what runs. */
class Desk {
  readonly folder: string;
  readonly stack: Stack;
  readonly api: ApiClient;
  private readonly context: CaseContext;
  private readonly preamble: string;

  constructor(context: CaseContext, stack: Stack, name: string) {
    this.context = context;
    this.stack = stack;
    this.api = contractClient(stack.send, stack.token);
    this.folder = join(context.scratchDirectory, name);
    mkdirSync(this.folder, { recursive: true });
    symlinkSync(stack.dataDirectory, join(this.folder, '.graticule'));
    this.preamble = blockOf(RUNBOOK, 'sh');
  }

  reader(more: Partial<ConstructorParameters<typeof Reader>[0]> = {}): Reader {
    return new Reader({
      workingDirectory: this.folder,
      otherwise: { 'http://127.0.0.1:8080': this.stack.url },
      ...more,
    });
  }

  /** Follows an article of the runbook; `before` runs before each command that begins with one of its names. */
  async article(
    heading: string,
    before: Readonly<Record<string, (reader: Reader) => unknown>> = {},
  ): Promise<void> {
    await this.context.check(`docs/runbook.md: ${heading}`, async () => {
      const reader = this.reader({
        beforeTyping: () => writeFileSync(join(this.folder, 'graticule.log'), this.stack.output()),
      });
      const notHere: string[] = [];
      try {
        await reader.type(this.preamble);
        for (const command of commandsIn(sectionOf(RUNBOOK, heading))) {
          // They need an account, or the AWS command line and an emulator of CloudWatch.
          if (command.text.startsWith('aws ')) {
            notHere.push(command.text.split(' ').slice(0, 3).join(' '));
            continue;
          }
          for (const [name, act] of Object.entries(before))
            if (command.text.startsWith(name)) await act(reader);
          await reader.follow(command);
        }
      } finally {
        await reader.close();
      }
      if (notHere.length > 0) this.context.log(`not typed, they need AWS: ${notHere.join(', ')}`);
    });
  }

  async created(path: string, body: object): Promise<number> {
    const { status, json, text } = await this.api.send({ method: 'POST', path, body });
    assert.equal(status, 201, text);
    return json.id;
  }

  async get(path: string) {
    return (await this.api.send({ method: 'GET', path })).json;
  }

  peerIs(id: number, state: string): Promise<unknown> {
    return until(
      state,
      () => this.get(`/api/bgp/peers/${id}`),
      (peer) => peer.state === state,
      60_000,
    );
  }
}

/** README: two commands, five minutes, with the real gobgpd. */
async function fiveMinutes(context: CaseContext): Promise<void> {
  const { check } = context;
  const gobgp = goCommand(`github.com/osrg/gobgp/v4/cmd/gobgp@${GOBGP_VERSION}`);
  goCommand(`github.com/osrg/gobgp/v4/cmd/gobgpd@${GOBGP_VERSION}`);
  const stack = await startStack();
  const desk = new Desk(context, stack, 'readme');
  const reader = desk.reader({ environment: { PATH: `${dirname(gobgp)}:${process.env['PATH']}` } });
  try {
    await check('README.md: Two commands', () => {
      const told = stack.output().replaceAll(stack.dataDirectory, '.graticule');
      const shown = /```\n(the admin token.*?)```/s.exec(README)?.[1]?.trimEnd() ?? '';
      const here = shown.replace('http://127.0.0.1:8080', stack.url);
      assert.match(told, patternOf(here));
    });
    await check('README.md: Five minutes', async () => {
      const section = sectionOf(README, 'Five minutes');
      writeFileSync(join(desk.folder, 'gobgpd.toml'), blockOf(section, 'toml'));
      for (const command of commandsIn(section)) {
        await reader.follow(command);
        if (command.text.startsWith('gobgpd ')) await answering(50_051);
      }
      await reader.type('kill %1');
      await until(
        'stale nodes with the time when they go',
        () => desk.get('/api/topology/nodes'),
        (nodes: { stale: boolean; sources: { 'purge-at': string | null }[] }[]) =>
          nodes.length > 0 && nodes.every(({ stale, sources }) => stale && sources[0]?.['purge-at'] !== null),
        60_000,
      );
      await until(
        'what happened',
        () => desk.get('/api/bgp/peers/1'),
        (peer) => peer['last-error'] !== '',
      );
    });
  } finally {
    await reader.close();
    await stack.stop();
  }
}

/** README: from a device to your receiver, beside `npm run demo`. */
async function deviceToReceiver(context: CaseContext): Promise<void> {
  await context.check('README.md: From a device to your receiver', async () => {
    const demo = spawn(process.execPath, ['test/demo/main.ts'], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], GRATICULE_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let told = '';
    demo.stdout.setEncoding('utf8').on('data', (text: string) => {
      told += text;
    });
    let reader: Reader | undefined;
    try {
      await until(
        'the introduction',
        () => told,
        (text) => text.includes('Ctrl-C ends all of it'),
        120_000,
      );
      const [, url = '', tokenFile = ''] = /ready at (\S+); the admin token is in (\S+)/.exec(told) ?? [];
      const section = sectionOf(README, 'From a device to your receiver');
      const news = /```\n(\d\d:\d\d:\d\d .*?)```/s.exec(section)?.[1]?.trimEnd().split('\n') ?? [];
      assert.equal(news.length, 2);
      for (const line of news) {
        const pattern = patternOf(line, DEMO_NAMES);
        await until(
          line,
          () => told,
          (text) => pattern.test(text),
          120_000,
        );
      }
      const token = readFileSync(tokenFile, 'utf8').trim();
      reader = new Reader({
        workingDirectory: context.scratchDirectory,
        environment: { T: tokenFile },
        otherwise: { 'http://127.0.0.1:8080': url },
        volatile: DEMO_NAMES,
      });
      // From here on the demo's own receiver hears nothing any more: the page points the webhook elsewhere.
      for (const command of commandsIn(section)) {
        if (command.text.includes('/subscriptions/')) await spoilPassword(url, token);
        await reader.follow(command);
        if (command.text.startsWith('node ')) await answering(9_999);
      }
    } finally {
      await reader?.close();
      await ended(demo);
    }
  });
}

/** Gives the demo's first device a password that its target refuses. */
async function spoilPassword(url: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const path = `${url}/api/v1/devices/1`;
  const device = (await (await fetch(path, { headers })).json()) as { gnmi: object };
  const body = JSON.stringify({ ...device, gnmi: { ...device.gnmi, password: 'of-another-device' } });
  const answer = await fetch(path, { method: 'PUT', headers, body });
  assert.equal(answer.status, 200, await answer.text());
}

async function noWorker(context: CaseContext): Promise<void> {
  const stack = await startStack({ environment: { GRATICULE_WORKERS: '0' } });
  try {
    const desk = new Desk(context, stack, 'no-worker');
    await desk.created('/api/bgp/peers', peer('rr1', '127.61.7.1', 11_790));
    await desk.article('No worker');
  } finally {
    await stack.stop();
  }
}

/** One session that is up, and one whose router has no key for it. */
async function sessions(context: CaseContext): Promise<void> {
  const stack = await startStack();
  const [one, other] = await Promise.all([
    Reflector.listen('127.61.7.1', 11_790),
    Reflector.listen('127.61.7.2', 11_790),
  ]);
  try {
    const desk = new Desk(context, stack, 'sessions');
    const id = await desk.created('/api/bgp/peers', peer('rr1', one.address, one.port));
    await desk.created('/api/bgp/peers', {
      ...peer('rr2', other.address, other.port),
      'auth-password': 'a-key-of-ours-alone',
    });
    await desk.peerIs(id, 'established');
    await desk.article('A session does not come up');
    for (let times = 0; times < 2; times += 1) {
      await desk.api.send({ method: 'POST', path: `/api/bgp/peers/${id}/reset` });
      await until(
        'the reset',
        () => stack.output().match(/"command":"reset"/g)?.length ?? 0,
        (count) => count > times,
      );
      await desk.peerIs(id, 'established');
    }
    await desk.article('A session flaps');
  } finally {
    await Promise.all([one.stop(), other.stop()]);
    await stack.stop();
  }
}

/** Two reflectors of one network, a device that does not answer, and a webhook that nobody listens at. */
async function network(context: CaseContext): Promise<void> {
  const stack = await startStack();
  const simulated = new SimulatedNetwork(
    {
      routers: 60,
      igp: 'isis',
      identifier: 7n,
      number: 1,
      chords: 20,
      parallel: 0,
      unnumbered: 0,
      lansPerHundred: 0,
    },
    new Random(context.seed),
  );
  const objects = linkStateObjects(simulated);
  const reflectors = await Promise.all(['127.61.8.1', '127.61.8.2'].map((own) => Reflector.listen(own, 0)));
  try {
    const desk = new Desk(context, stack, 'network');
    for (const [index, reflector] of reflectors.entries()) {
      await reflector.tell(objects);
      const id = await desk.created(
        '/api/bgp/peers',
        peer(`reflector ${index + 1}`, reflector.address, reflector.port),
      );
      await desk.peerIs(id, 'established');
    }
    await until(
      'all that they tell',
      () => desk.get('/api/topology'),
      ({ peers }: { peers: { nlris: number }[] }) => peers.every(({ nlris }) => nlris === objects.size),
      60_000,
    );
    const fewer = new Map([...objects].slice(4));
    await desk.article('The topology falls behind', {
      'api "/api/topology/changes': async (reader) => {
        await reader.type(`VERSION=${(await desk.get('/api/topology')).version}`);
        for (const reflector of reflectors) await reflector.tell(fewer);
      },
    });
    await desk.article('Collection is late', { 'api /api/v1/subscriptions': () => silentDevice(desk) });
    await desk.api.send({
      method: 'PUT',
      path: '/api/v1/outputs/webhook',
      body: { enabled: true, config: { url: 'http://127.0.0.1:9/hook' } },
    });
    await desk.article('Records are not delivered');
    await desk.article('Records wait in the queue');
    await desk.article('Messages lie in the dead-letter queue', {
      grep: () => strangeMessage(stack),
    });
    await desk.article('Functions are throttled');
    const first = await desk.get('/api/bgp/peers/1');
    await desk.api.send({ method: 'PUT', path: '/api/bgp/peers/1', body: { ...first, 'max-nlri': 100 } });
    await desk.article('A peer tells too much');
    await backup(context, desk);
  } finally {
    await Promise.all(reflectors.map((reflector) => reflector.stop()));
    await stack.stop();
  }
}

/** A device that nothing listens for, with a subscription that wants it. */
async function silentDevice(desk: Desk): Promise<void> {
  if ((await desk.get('/api/v1/devices')).length > 0) return;
  const model = JSON.parse(page('core/model-library/interfaces.json'));
  const imported = await desk.api.send({ method: 'POST', path: '/api/v1/models/import', body: model });
  assert.equal(imported.status, 201, imported.text);
  await desk.api.send({ method: 'PUT', path: `/api/v1/models/${imported.json.id}`, body: { active: true } });
  await desk.created('/api/v1/devices', {
    name: 'leaf1',
    address: '127.61.8.9',
    netos: 'eos',
    enabled: true,
    gnmi: { port: 57_400, tls: 'off' },
  });
  await desk.created('/api/v1/subscriptions', {
    name: 'interfaces',
    enabled: true,
    'model-name': model.name,
    'model-version': 'latest',
    devices: { ids: [1], labels: {} },
    mode: 'sample',
    'interval-ms': 5_000,
  });
}

/** Puts what nobody can read into the queue of dead letters. */
async function strangeMessage(stack: Stack): Promise<void> {
  if (stack.output().includes('a dead letter could not be counted')) return;
  const environment = JSON.parse(readFileSync(join(stack.dataDirectory, 'environment.json'), 'utf8'));
  const client = new SQSClient({
    endpoint: environment.AWS_ENDPOINT_URL_SQS,
    region: environment.AWS_REGION,
    credentials: {
      accessKeyId: environment.AWS_ACCESS_KEY_ID,
      secretAccessKey: environment.AWS_SECRET_ACCESS_KEY,
    },
  });
  const QueueUrl = environment.GRATICULE_UNDELIVERED_QUEUE;
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'somebody else’s' }));
  client.destroy();
}

async function backup(context: CaseContext, desk: Desk): Promise<void> {
  await context.check('docs/backup.md: the commands of export, import and rotation', async () => {
    const file = join(desk.folder, 'backup.jsonl');
    const reader = new Reader({
      workingDirectory: ROOT,
      environment: { GRATICULE_DATA_DIR: desk.stack.dataDirectory },
      otherwise: { 'backup.jsonl': file },
    });
    try {
      const commands = commandsIn(BACKUP);
      assert.equal(commands.length, 3);
      for (const command of commands) {
        const isImport = command.text.includes(' import ');
        if (isImport) await reader.type(`export GRATICULE_DATA_DIR=${join(desk.folder, 'imported')}`);
        const printed = await reader.type(`${command.text}\necho "ended with $?"`);
        assert.match(printed, /ended with 0$/, command.text);
        if (isImport) await reader.type(`export GRATICULE_DATA_DIR=${desk.stack.dataDirectory}`);
        if (command.shown !== undefined) assert.match(printed, patternOf(command.shown));
      }
    } finally {
      await reader.close();
    }
  });
}

/** A keyring that has lost its keys, as after a restore of another one. */
async function keyring(context: CaseContext): Promise<void> {
  const dataDirectory = join(context.scratchDirectory, 'keyring-data');
  let stack = await startStack({ dataDirectory });
  try {
    const before = contractClient(stack.send, stack.token);
    for (const [index, password] of ['', 'a-password'].entries()) {
      const body = { ...peer(`rr${index + 1}`, `127.61.9.${index + 1}`, 11_790), 'auth-password': password };
      assert.equal((await before.send({ method: 'POST', path: '/api/bgp/peers', body })).status, 201);
    }
    await stack.stop();
    const file = join(dataDirectory, 'secrets.json');
    const kept = JSON.parse(readFileSync(file, 'utf8'));
    kept.secrets['graticule-keyring'].current.string = '[]';
    writeFileSync(file, JSON.stringify(kept));
    stack = await startStack({ dataDirectory });
    const desk = new Desk(context, stack, 'keyring');
    await until(
      'the fault',
      () => stack.output(),
      (text) => text.includes('"peer not configured"'),
    );
    await desk.article('A function fails');
    await desk.article('The keyring cannot be used');
  } finally {
    await stack.stop();
  }
}

function peer(name: string, address: string, port: number) {
  return { name, 'peer-address': address, 'peer-port': port, 'user-peer-as': '65000', enabled: true };
}

/** Resolves once something listens on a port of loopback. */
async function answering(port: number): Promise<void> {
  await until(
    `port ${port}`,
    () =>
      new Promise<boolean>((settle) => {
        const socket = connect({ host: '127.0.0.1', port }, () => settle(true));
        socket.once('error', () => settle(false));
        socket.once('connect', () => socket.destroy());
      }),
    (answers) => answers,
  );
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

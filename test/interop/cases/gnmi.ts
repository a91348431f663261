import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { formatPath } from '../../../protocols/gnmi/path.ts';
import { PathArena } from '../../../protocols/gnmi/path-arena.ts';
import { gnmiFile } from '../../../protocols/gnmi/schema.ts';
import { groupSubscriptions, type StreamMode } from '../../../protocols/gnmi/subscribe.ts';
import type { NotificationSink } from '../../../protocols/gnmi/subscribe-response.ts';
import { uint64 } from '../../../protocols/gnmi/wire.ts';
import { DeviceStreams } from '../../../worker/gnmi/device-streams.ts';
import type { GnmiEndpoint } from '../../../worker/gnmi/endpoint.ts';
import { testGnmi } from '../../../worker/gnmi/live-test.ts';
import { type CaseContext, cacheDirectory, type TestCase } from '../../harness.ts';
import { type Certificates, makeCertificates } from '../../support/gnmi-target/certificates.ts';
import { allowAll, endpointOf } from '../../support/gnmi-target/endpoint.ts';
import { addInterfaces } from '../../support/gnmi-target/interfaces.ts';
import { GnmiTarget } from '../../support/gnmi-target/target.ts';
import { pathOf } from '../../support/gnmi-target/tree.ts';

const COUNTERS = '/interfaces/interface[name=*]/state/counters';

export const testCase: TestCase = {
  title:
    'gNMI against targets that are not ours: openconfig cache and subscribe, fake_server, gnxi gnmi_target',
  inCi: true,
  async run(context) {
    const bin = buildPrograms(context);
    const certificates = makeCertificates();
    const processes = new Processes(context.scratchDirectory, certificates);
    try {
      await againstCacheTarget(context, bin, processes, certificates);
      await againstFakeServer(context, bin, processes, certificates);
      await againstGnmiTarget(context, bin, processes, certificates);
      await simulatorAgainstGnmic(context, bin);
    } finally {
      processes.stopAll();
    }
  },
};

/** Builds the programs once a machine; go.mod pins all of them. */
function buildPrograms({ log }: CaseContext): string {
  const bin = join(cacheDirectory(), 'gnmi-interop-1');
  const started = performance.now();
  execFileSync(
    'go',
    [
      ...['build', '-o', `${bin}/`, './cachetarget', './gnmicask'],
      ...[
        'github.com/google/gnxi/gnmi_target',
        'github.com/openconfig/gnmi/testing/fake/gnmi/cmd/fake_server',
      ],
    ],
    {
      cwd: join(import.meta.dirname, '../gnmi'),
      stdio: 'pipe',
      env: { ...process.env, GOFLAGS: '-buildvcs=false' },
    },
  );
  log(`programs built in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return bin;
}

async function againstCacheTarget(
  { check, scratchDirectory }: CaseContext,
  bin: string,
  processes: Processes,
  certificates: Certificates,
): Promise<void> {
  const start = (pair: string, address = '127.0.0.1:0') =>
    processes.listening(`${bin}/cachetarget`, [
      ...['-address', address, '-cert', processes.file(`${pair}.crt`), '-key', processes.file(`${pair}.key`)],
      ...['-password', 'secret'],
    ]);
  let target = await start('server');
  const endpoint = (changes: Partial<GnmiEndpoint> = {}): GnmiEndpoint =>
    endpointOf(target.port, {
      tls: 'verify',
      ca: certificates.ca,
      username: 'admin',
      password: 'secret',
      target: 'leaf1',
      ...changes,
    });
  const ask = (changes: Partial<GnmiEndpoint> = {}, deadlineMilliseconds = 5_000) =>
    testGnmi({ endpoint: endpoint(changes), netos: 'reference' }, [pathOf(`openconfig:${COUNTERS}`)], {
      guard: allowAll,
      deadlineMilliseconds,
    });

  await check('cache: our descriptors are those of gnmi.proto', async () => {
    const file = join(scratchDirectory, 'descriptor.json');
    await target.command(`describe ${file}`);
    compareDescriptors(JSON.parse(readFileSync(file, 'utf8')));
  });
  await check('cache: ONCE over TLS with a password gives the exact values', async () => {
    const { notifications, explanation, fault } = await ask();
    equal(fault, undefined);
    equal(explanation.rpc, 'subscribe-once');
    const values = notifications.flatMap(({ updates }) => updates.map(({ value }) => value));
    deepStrictEqual(
      values.map((value) => (value?.kind === 'uint' ? value.value : undefined)).sort(),
      [1n, 1n, 2n, 2n, 3n, 3n].map((index) => 18446744073709551000n + index),
    );
  });
  await check('cache: a wrong password is authentication', async () => {
    equal((await ask({ password: 'guess' })).fault?.code, 'authentication');
  });
  await check('cache: no trust in its CA is tls-untrusted, no TLS is protocol-error', async () => {
    equal((await ask({ ca: '' })).fault?.code, 'tls-untrusted');
    equal((await ask({ tls: 'off' })).fault?.code, 'protocol-error');
  });

  const arena = new PathArena();
  const streams = new DeviceStreams({
    endpoint: async () => endpoint(),
    netos: 'reference',
    arena,
    guard: allowAll,
    random: Math.random,
    now: Date.now,
    connectMilliseconds: 2_000,
    firstBackoffMilliseconds: 100,
    longestBackoffMilliseconds: 500,
  });
  try {
    const onChange = streamOf('on-change', arena);
    const poll = streamOf('poll', arena);
    streams.reconcile([onChange, poll]);
    await check(
      'cache: ON_CHANGE brings the state, then each change and delete, and nothing else',
      async () => {
        await until(() => onChange.sink.syncs === 1, 'the sync of ON_CHANGE');
        equal(onChange.sink.values.size, 6);
        const before = onChange.sink.updates;
        await target.command('set ethernet-1/2 in-octets 42');
        await target.command('delete ethernet-1/3');
        await until(() => onChange.sink.deletes > 0, 'the delete');
        equal(onChange.sink.updates - before, 1);
        equal(
          onChange.sink.values.get('/interfaces/interface[name=ethernet-1/2]/state/counters/in-octets'),
          42n,
        );
      },
    );
    await check('cache: POLL answers each poll with the state of its time and a sync', async () => {
      for (let round = 0; round < 2; round += 1) {
        const before = poll.sink.syncs;
        ok(streams.poll(poll.group.key));
        await until(() => poll.sink.syncs > before, 'the answer to a poll');
      }
      equal(poll.sink.values.get('/interfaces/interface[name=ethernet-1/2]/state/counters/in-octets'), 42n);
    });
    await check('cache: frozen (SIGSTOP), a test ends in time and says so', async () => {
      target.process.kill('SIGSTOP');
      // The signal takes effect later, and a target that still finishes TLS is not frozen yet.
      const { pid } = target.process;
      await until(() => /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')), 'the target to stand still');
      const { fault, explanation } = await ask({}, 1_500);
      target.process.kill('SIGCONT');
      equal(fault?.code, 'timeout');
      ok(explanation.milliseconds < 2_500);
    });
    const { port } = target;
    await check('cache: killed, its streams back off and a test is connection-refused', async () => {
      const ended = once(target.process, 'exit');
      target.process.kill('SIGKILL');
      await until(() => streams.status(onChange.group.key)?.state === 'backoff', 'back-off');
      equal(streams.status(onChange.group.key)?.lastFault?.fault.code, 'unreachable');
      // Until it is gone its listener still takes connections, to reset them.
      await ended;
      equal((await ask()).fault?.code, 'connection-refused');
    });
    await check('cache: restarted with another certificate, it is tls-name-mismatch', async () => {
      target = await start('misnamed', `127.0.0.1:${port}`);
      await until(
        () => streams.status(onChange.group.key)?.lastFault?.fault.code === 'tls-name-mismatch',
        'a refused certificate',
      );
      equal((await ask()).fault?.code, 'tls-name-mismatch');
      const ended = once(target.process, 'exit');
      target.process.kill('SIGKILL');
      await ended;
    });
    await check('cache: restarted with its own, the streams come back by themselves', async () => {
      const before = onChange.sink.syncs;
      target = await start('server', `127.0.0.1:${port}`);
      await until(() => onChange.sink.syncs > before, 'a sync after the restart');
      equal(streams.status(onChange.group.key)?.state, 'streaming');
    });
  } finally {
    streams.close();
    target.process.kill('SIGKILL');
  }
}

async function againstFakeServer(
  { check, scratchDirectory }: CaseContext,
  bin: string,
  processes: Processes,
  { ca }: Certificates,
): Promise<void> {
  const config = join(scratchDirectory, 'fake.pb.txt');
  const value = (name: string, count: number) =>
    `values { path: "interfaces" path: "interface" path: "${name}" path: "in-octets" timestamp { timestamp: 100 } repeat: 1 int_value { value: ${count} } }`;
  writeFileSync(
    config,
    `target: "fake" port: 0 client_type: GRPC_GNMI disable_eof: true\n${value('eth0', 7)}\n${value('eth1', 8)}\n`,
  );
  const port = await freePort();
  const child = processes.spawn(`${bin}/fake_server`, [
    ...['--config', config, '--text', '--port', String(port), '--allow_no_client_auth'],
    ...['--server_crt', processes.file('server.crt'), '--server_key', processes.file('server.key')],
  ]);
  await reachable(port);
  await check(
    'fake_server: a ONCE that is never closed gives its values, from deprecated string paths',
    async () => {
      const { notifications, fault, explanation } = await testGnmi(
        { endpoint: endpointOf(port, { tls: 'verify', ca }), netos: 'reference' },
        [pathOf('/interfaces')],
        { guard: allowAll, deadlineMilliseconds: 5_000 },
      );
      equal(fault, undefined);
      equal(explanation.sync, true);
      const texts = notifications.flatMap(({ updates }) =>
        updates.map(
          ({ path, value: each }) => `${formatPath(path)} ${each?.kind === 'int' ? each.value : each?.kind}`,
        ),
      );
      deepStrictEqual(texts.sort(), [
        '/interfaces/interface/eth0/in-octets 7',
        '/interfaces/interface/eth1/in-octets 8',
      ]);
    },
  );
  child.kill('SIGKILL');
}

async function againstGnmiTarget(
  { check }: CaseContext,
  bin: string,
  processes: Processes,
  { ca, client }: Certificates,
): Promise<void> {
  const gnxi = execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', 'github.com/google/gnxi'], {
    cwd: join(import.meta.dirname, '../gnmi'),
    encoding: 'utf8',
  }).trim();
  const port = await freePort();
  const child = processes.spawn(`${bin}/gnmi_target`, [
    ...['-bind_address', `127.0.0.1:${port}`, '-config', `${gnxi}/gnmi_target/openconfig-openflow.json`],
    ...[
      '-key',
      processes.file('server.key'),
      '-cert',
      processes.file('server.crt'),
      '-ca',
      processes.file('ca.crt'),
    ],
    ...['-username', 'admin', '-password', 'secret'],
  ]);
  await reachable(port);
  const mutual: Partial<GnmiEndpoint> = {
    tls: 'verify',
    ca,
    clientCertificate: client.certificate,
    clientKey: client.key,
    username: 'admin',
    password: 'secret',
  };
  const ask = (path: string, changes: Partial<GnmiEndpoint> = {}) =>
    testGnmi({ endpoint: endpointOf(port, { ...mutual, ...changes }), netos: 'reference' }, [pathOf(path)], {
      guard: allowAll,
      deadlineMilliseconds: 4_000,
    });
  await check('gnmi_target: mutual TLS and a password give the configured value', async () => {
    const { notifications, fault } = await ask('/system/config/hostname');
    equal(fault, undefined);
    ok(notifications.flatMap(({ updates }) => updates).length > 0);
  });
  await check('gnmi_target: without our certificate it is authentication', async () => {
    equal((await ask('/system', { clientCertificate: '', clientKey: '' })).fault?.code, 'authentication');
  });
  await check(
    'gnmi_target: with a wrong password it is authentication, and the password is not repeated',
    async () => {
      const { fault, explanation } = await ask('/system', { password: 'guessed-wrong' });
      equal(fault?.code, 'authentication');
      ok(!JSON.stringify({ fault, explanation }).includes('guessed-wrong'));
    },
  );
  await check('gnmi_target: an absent path is told apart from silence', async () => {
    const { notifications, fault, explanation } = await ask('/system/config/no-such-leaf');
    equal(notifications.length, 0);
    ok(
      explanation.attempts.some(({ reason }) => reason.startsWith('path-not-found')),
      JSON.stringify({ fault, explanation }),
    );
  });
  child.kill('SIGKILL');
}

/** The simulator must be what others take for a target, or tests against it show nothing. */
async function simulatorAgainstGnmic({ check }: CaseContext, bin: string): Promise<void> {
  const target = await GnmiTarget.start({ habits: { username: 'admin', password: 'secret' } });
  addInterfaces(target.tree, 2);
  const ask = (
    ...argv: string[]
  ): Promise<{ update?: { update?: { val?: object }[] }; syncResponse?: boolean }[]> =>
    new Promise((done, fail) => {
      const child = spawn(`${bin}/gnmicask`, [
        ...['-address', `127.0.0.1:${target.port}`, '-username', 'admin', '-password', 'secret', ...argv],
      ]);
      let output = '';
      let errors = '';
      child.stdout.on('data', (chunk) => {
        output += chunk;
      });
      child.stderr.on('data', (chunk) => {
        errors += chunk;
      });
      child.on('close', (code) => {
        if (code !== 0) fail(new Error(errors));
        else
          done(
            output
              .trim()
              .split('\n')
              .map((line) => JSON.parse(line)),
          );
      });
    });
  try {
    await check("simulator: gnmic's client library reads its capabilities and a Get", async () => {
      ok('supportedEncodings' in ((await ask('-rpc', 'capabilities'))[0] ?? {}));
      ok('notification' in ((await ask('-rpc', 'get'))[0] ?? {}));
    });
    for (const encoding of ['json', 'json_ietf', 'proto', 'bytes', 'ascii']) {
      await check(`simulator: gnmic's client library reads ONCE in ${encoding}`, async () => {
        const responses = await ask('-encoding', encoding);
        equal(
          responses.reduce((sum, { update }) => sum + (update?.update?.length ?? 0), 0),
          20,
        );
      });
    }
    await check("simulator: gnmic's client library reads SAMPLE, twice over", async () => {
      equal(
        (await ask('-rpc', 'sample', '-responses', '5')).filter(({ syncResponse }) => syncResponse).length,
        1,
      );
    });
    await check("simulator: gnmic's client library reads ON_CHANGE", async () => {
      const asked = ask('-rpc', 'on-change', '-responses', '4');
      await until(
        () => target.log.some(({ request }) => request?.subscription[0]?.mode === 1),
        'the subscription',
      );
      target.tree.set('/interfaces/interface[name=ethernet-1/1]/state/mtu', 1500n);
      const responses = await asked;
      deepStrictEqual(responses.at(-1)?.update?.update?.[0]?.val, { uintVal: '1500' });
    });
  } finally {
    await target.stop();
  }
}

/** Keeps the last value of each path. */
class Values implements NotificationSink {
  readonly values = new Map<string, bigint>();
  updates = 0;
  deletes = 0;
  syncs = 0;
  readonly #arena: PathArena;
  constructor(arena: PathArena) {
    this.#arena = arena;
  }
  begin(): void {}
  delete(): void {
    this.deletes += 1;
  }
  update(stemId: number, leafId: number, _kind: number, hi: number, lo: number): void {
    this.updates += 1;
    const path = this.#arena.path(stemId, leafId);
    this.values.set(formatPath({ ...path, origin: '' }), uint64(hi, lo));
  }
  end(): void {}
  sync(): void {
    this.syncs += 1;
  }
  error(): void {}
}

function streamOf(mode: StreamMode | 'poll', arena: PathArena) {
  const wanted = {
    path: pathOf(`openconfig:${COUNTERS}`),
    mode: mode === 'poll' ? ('sample' as const) : mode,
    intervalMilliseconds: 0,
    heartbeatMilliseconds: 0,
  };
  const [group] = groupSubscriptions([wanted], mode === 'poll' ? 'poll' : 'stream', 'reference');
  if (group === undefined) throw new Error('no group');
  return { group, sink: new Values(arena), pollMilliseconds: 200 };
}

interface FieldRow {
  readonly name: string;
  readonly number: number;
  readonly type?: string;
}
interface FileJson {
  readonly messageType: ReadonlyArray<{ readonly name: string; readonly field?: readonly FieldRow[] }>;
}

/** Every field that we describe has the number that gnmi.proto gives it. */
function compareDescriptors(theirs: FileJson): void {
  const numbers = new Map(
    theirs.messageType.flatMap(({ name, field = [] }) =>
      field.map((each) => [`${name}.${each.name}`, each.number] as const),
    ),
  );
  const ours = gnmiFile.messageType.flatMap(({ name, field }) =>
    field.map((each) => [`${name}.${each.name}`, each.number] as const),
  );
  ok(ours.length > 60);
  for (const [name, number] of ours) equal(numbers.get(name), number, name);
}

async function until(isTrue: () => boolean, what: string, milliseconds = 10_000): Promise<void> {
  const deadline = performance.now() + milliseconds;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`${what} did not come within ${milliseconds} ms`);
    await new Promise((done) => setTimeout(done, 5));
  }
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });
}

async function reachable(port: number): Promise<void> {
  let isUp = false;
  while (!isUp) {
    isUp = await new Promise<boolean>((done) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('connect', () => {
        socket.destroy();
        done(true);
      });
      socket.on('error', () => setTimeout(() => done(false), 20));
    });
  }
}

interface Listening {
  readonly process: ChildProcess;
  readonly port: number;
  /** Writes a line on its stdin and waits for its "done". */
  command(line: string): Promise<void>;
}

/** The programs of this run and the certificate files that they read. */
class Processes {
  readonly #children = new Set<ChildProcess>();
  readonly #directory: string;

  constructor(directory: string, { ca, server, misnamed }: Certificates) {
    this.#directory = directory;
    for (const [name, text] of [
      ['ca.crt', ca],
      ['server.crt', server.certificate],
      ['server.key', server.key],
      ['misnamed.crt', misnamed.certificate],
      ['misnamed.key', misnamed.key],
    ] as const) {
      writeFileSync(this.file(name), text, { mode: 0o600 });
    }
  }

  file(name: string): string {
    return join(this.#directory, name);
  }

  spawn(program: string, argv: readonly string[]): ChildProcess {
    const child = spawn(program, argv, { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }

  async listening(program: string, argv: readonly string[]): Promise<Listening> {
    const process = this.spawn(program, argv);
    const lines: Interface = createInterface({
      input: process.stdout as NonNullable<ChildProcess['stdout']>,
    });
    const next = () => new Promise<string>((done) => lines.once('line', done));
    const port = Number(/listening on (\d+)/.exec(await next())?.[1]);
    return {
      process,
      port,
      command: async (line) => {
        const answered = next();
        process.stdin?.write(`${line}\n`);
        await answered;
      },
    };
  }

  stopAll(): void {
    for (const child of this.#children) child.kill('SIGKILL');
  }
}

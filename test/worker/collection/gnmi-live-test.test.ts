import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GNMI_FAULT_CODES, GrpcStatus } from '../../../protocols/gnmi/grpc-status.ts';
import { decryptSecret } from '../../../store/keyring.ts';
import { JobLoop } from '../../../worker/collection/jobs.ts';
import { GnmiCollection } from '../../../worker/gnmi/gnmi-collection.ts';
import { type Certificates, makeCertificates } from '../../support/gnmi-target/certificates.ts';
import type { Habits } from '../../support/gnmi-target/habits.ts';
import { addInterfaces } from '../../support/gnmi-target/interfaces.ts';
import { GnmiTarget, type TargetOptions } from '../../support/gnmi-target/target.ts';
import { startTcpStub } from '../../support/gnmi-target/tcp-stub.ts';
import { type Emulators, runAs, startEmulators } from '../../support/stack.ts';
import { type FakeWorker, startFakeWorker } from '../../support/topology-worker.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies member by member.
type Body = any;

/** In place of twenty seconds, so that silence is told soon. */
const BUDGET_MILLISECONDS = 1_500;
const AT = '/interfaces/interface[name=*]/state';

let emulators: Emulators;
let worker: FakeWorker;
let jobs: JobLoop;
let certificates: Certificates;
let model: Body;
const stops: (() => unknown)[] = [];

beforeAll(async () => {
  certificates = makeCertificates();
  emulators = await startEmulators({ as: 'worker' });
  worker = await startFakeWorker('w-1');
  const collection = (allowLoopback: boolean) =>
    new GnmiCollection({
      readSecret: (device, place) =>
        decryptSecret(device.encryptedSecrets[place] as string, {
          owner: `device/${device.id}`,
          field: place,
        }),
      allowLoopback,
      random: Math.random,
      wallClock: Date.now,
      monotonic: () => performance.now(),
    });
  const here = collection(true);
  const deployed = collection(false);
  jobs = new JobLoop({
    testers: {
      gnmi: (subject) =>
        (subject.device.configuration.netos === 'deployed' ? deployed : here).test(
          subject,
          BUDGET_MILLISECONDS,
        ),
    },
    now: () => new Date(),
    mayAct: () => true,
  });
  runAs('worker', () => jobs.start());
  model = await call('POST', '/api/v1/models/import', {
    format: 'graticule-model/1',
    name: 'interfaces',
    version: '1.0.0',
    description: '',
    fields: [
      { name: 'in-octets', type: 'counter64' },
      { name: 'mtu', type: 'uint8' },
    ],
    mappings: [
      {
        protocol: 'gnmi',
        netos: '*',
        field_mappings: { 'in-octets': `/absent | ${AT}/counters/in-octets`, mtu: `${AT}/mtu` },
      },
      { protocol: 'gnmi', netos: 'nowhere', field_mappings: { 'in-octets': '/nowhere' } },
      { protocol: 'gnmi', netos: 'native', field_mappings: { 'in-octets': 'native:/nowhere' } },
      {
        protocol: 'gnmi',
        netos: 'typo',
        field_mappings: { 'in-octets': `${AT}/counters/in-octets`, mtu: '/interfaces/interface[name=*/mtu' },
      },
      { protocol: 'gnmi', netos: 'unreadable', field_mappings: { 'in-octets': 'no/slash' } },
    ],
  });
});

afterAll(async () => {
  for (const stop of stops) await stop();
  await jobs.stop(3_000);
  await emulators.stop();
});

async function call(method: string, path: string, body: unknown): Promise<Body> {
  await worker.beat(Date.now());
  const answer = await emulators.send({
    method,
    path,
    headers: { authorization: `Bearer ${emulators.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status, answer.text).toBeLessThan(300);
  return JSON.parse(answer.text);
}

async function start(options: TargetOptions = {}): Promise<GnmiTarget> {
  const target = await GnmiTarget.start(options);
  stops.push(() => target.stop());
  addInterfaces(target.tree, 3);
  return target;
}

let devices = 0;

/** What the API answers for a device with these settings and the mapping for this netos. */
async function test(
  gnmi: Record<string, unknown>,
  mapping = '*',
  members: Record<string, unknown> = {},
): Promise<Body> {
  devices += 1;
  const body = { name: `device-${devices}`, address: '127.0.0.1', netos: 'srlinux', ...members };
  const { id } = await call('POST', '/api/v1/devices', { gnmi: { tls: 'off', ...gnmi }, ...body });
  const mappingId = model.mappings.find((each: Body) => each.netos === mapping).id;
  return call('POST', `/api/v1/models/${model.id}/test`, { 'device-id': id, 'mapping-id': mappingId });
}

describe('a live test of gNMI, from the API through the queue to the device and back', () => {
  it('is ok: rows, raw updates, the alternative taken, and values that do not fit', async () => {
    const { port } = await start();
    const answer = await test({ port });
    expect(answer).toMatchObject({ outcome: 'ok', error: null, 'model-name': 'interfaces' });
    expect(answer['parsed-results']).toHaveLength(3);
    expect(answer['parsed-results'][0]).toMatchObject({
      path: '/interfaces/interface[name=ethernet-1/1]',
      key: 'ethernet-1/1',
    });
    expect(Object.keys(answer['parsed-results'][0])).toEqual(['path', 'key', 'timestamp', 'data']);
    expect(answer['raw-updates']).toHaveLength(6);
    expect(answer['raw-updates'][0]).toMatchObject({ type: 'json_ietf', value: '"18446744073709551000"' });
    expect(answer.explanation).toMatchObject({
      rpc: 'subscribe-once',
      encoding: 'json_ietf',
      sync: true,
      updates: 6,
      truncated: false,
      fields: [
        { field: 'in-octets', path: '/absent', alternative: 1, updates: 0 },
        { field: 'in-octets', path: `${AT}/counters/in-octets`, alternative: 2, updates: 3 },
        { field: 'mtu', updates: 3, 'coercion-errors': [{ count: 3 }] },
      ],
      'unmatched-paths': [],
    });
  });

  it('is empty where the device has nothing at the path, and says that it was asked and answered', async () => {
    const { port } = await start();
    const answer = await test({ port }, 'nowhere');
    expect(answer).toMatchObject({
      outcome: 'empty',
      error: null,
      'parsed-results': [],
      'raw-updates': [],
      explanation: { sync: true, updates: 0, 'unmatched-paths': ['/nowhere'] },
    });
    expect(answer.explanation.attempts.map(({ rpc }: Body) => rpc)).toContain('get');
  });

  it('names the field that is left out, with the path that cannot be read and what is wrong with it', async () => {
    const { port } = await start();
    const { outcome, explanation } = await test({ port }, 'typo');
    expect(outcome).toBe('ok');
    expect(explanation['skipped-paths']).toEqual([
      {
        field: 'mtu',
        path: '/interfaces/interface[name=*/mtu',
        code: 'unbalanced-brackets',
        detail: '[ at character 22 is not closed',
      },
    ]);
  });

  it('reads every encoding, down to doubles and leaf-lists', async () => {
    const target = await start({ habits: { encodings: ['proto'] } });
    const answer = await test({ port: target.port });
    expect(answer).toMatchObject({ outcome: 'ok', explanation: { encoding: 'proto' } });
    expect(answer['raw-updates'][0]).toMatchObject({ type: 'uint', value: '18446744073709551000' });
  });

  const byHabit: [string, string, Partial<Habits>, string?][] = [
    ['authentication', 'a password that is refused', { username: 'admin', password: 'secret' }],
    ['permission', 'a role that may not', refusing(GrpcStatus.permissionDenied, 'role may not read')],
    ['unimplemented', 'no Subscribe and no Get', { withoutSubscribe: true, withoutGet: true }],
    [
      'invalid-path',
      'a path that the device cannot read',
      refusing(GrpcStatus.invalidArgument, 'malformed path'),
    ],
    ['path-not-found', 'a path that it does not know', refusing(GrpcStatus.unknown, 'No sysdb paths found')],
    ['unknown-origin', 'an origin that it does not know', { refusedOrigin: 'native' }, 'native'],
    ['encoding-unsupported', 'encodings that are none of ours', { encodings: ['ascii'] }],
    ['no-updates', 'a device that says nothing', { frozen: true }],
    ['stream-not-closed', 'values without an end', { keepOnceOpen: true, omitSync: true }],
    ['too-large', 'a message beyond all bounds', { garbage: 'blob', blobBytes: 20 * 1024 * 1024 }],
    ['protocol-error', 'octets that are no answer', { garbage: 'bytes' }],
    ['unreachable', 'a device that goes down', refusing(GrpcStatus.unavailable, 'rebooting')],
  ];
  it.concurrent.each(byHabit)('failed with %s: %s', async (code, _what, habits, mapping) => {
    const { port } = await start({ habits });
    const answer = await test({ port, username: 'admin', password: 'guess' }, mapping);
    expect(answer.outcome).toBe('failed');
    expect(answer.error.code, JSON.stringify(answer.error)).toBe(code);
    expect(answer.error.detail).not.toBe('');
    expect(JSON.stringify(answer)).not.toContain('guess');
  });

  it('failed with what keeps a connection from being made, or is found before; and no code is left untried', async () => {
    const { ca, server, misnamed } = certificates;
    const plain = await start();
    const secure = await start({ tls: server });
    const other = await start({ tls: misnamed });
    const silent = await startTcpStub(() => undefined);
    stops.push(silent.stop);
    const closed = await startTcpStub(() => undefined);
    closed.stop();
    const cases: [string, Parameters<typeof test>][] = [
      ['connection-refused', [{ port: closed.port }]],
      ['timeout', [{ port: silent.port }]],
      ['timeout', [{ port: silent.port, tls: 'verify' }]],
      ['tls-untrusted', [{ port: secure.port, tls: 'verify' }]],
      ['tls-name-mismatch', [{ port: other.port, tls: 'verify', ca }]],
      ['tls-not-spoken', [{ port: plain.port, tls: 'verify' }]],
      ['dns', [{ port: 1 }, '*', { address: 'no-such-router.invalid' }]],
      ['blocked-address', [{ port: plain.port }, '*', { netos: 'deployed' }]],
      ['invalid-path', [{ port: plain.port }, 'unreadable']],
      ['no-settings', [{}, '*', { gnmi: null, snmp: {} }]],
    ];
    const tried = [...byHabit, ...cases].map(([code]) => code);
    expect(GNMI_FAULT_CODES.filter((code) => !tried.includes(code))).toEqual([]);
    const answers = await Promise.all(cases.map(async ([, asked]) => (await test(...asked)).error?.code));
    expect(answers).toEqual(cases.map(([code]) => code));
  });
});

function refusing(status: number, message: string): Partial<Habits> {
  return { refusal: { status, message } };
}

import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { GrpcStatus } from '../../../protocols/gnmi/grpc-status.ts';
import type { GnmiEndpoint } from '../../../worker/gnmi/endpoint.ts';
import { testGnmi } from '../../../worker/gnmi/live-test.ts';
import { type Certificates, makeCertificates } from '../../support/gnmi-target/certificates.ts';
import { allowAll, endpointOf } from '../../support/gnmi-target/endpoint.ts';
import { addInterfaces } from '../../support/gnmi-target/interfaces.ts';
import { GnmiTarget, type TargetOptions } from '../../support/gnmi-target/target.ts';
import { startTcpStub } from '../../support/gnmi-target/tcp-stub.ts';
import { pathOf } from '../../support/gnmi-target/tree.ts';

const PATHS = [
  pathOf('/interfaces/interface[name=*]/state/counters/in-octets'),
  pathOf('/interfaces/interface[name=*]/state/oper-status'),
];

const stops: (() => unknown)[] = [];
let certificates: Certificates;
beforeAll(() => {
  certificates = makeCertificates();
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function start(options: TargetOptions = {}): Promise<GnmiTarget> {
  const target = await GnmiTarget.start(options);
  stops.push(() => target.stop());
  addInterfaces(target.tree, 3);
  return target;
}

function ask(
  port: number,
  changes: Partial<GnmiEndpoint> = {},
  deadlineMilliseconds = 3_000,
  netos = 'srlinux',
  paths = PATHS,
) {
  return testGnmi({ endpoint: endpointOf(port, changes), netos }, paths, {
    guard: allowAll,
    deadlineMilliseconds,
  });
}

describe('the live test', () => {
  it('returns values, with the RPC, the encoding and the count for each path', async () => {
    const target = await start();
    const { notifications, explanation, fault } = await ask(target.port);
    expect(fault).toBeUndefined();
    expect(explanation).toMatchObject({
      rpc: 'subscribe-once',
      encoding: 'json_ietf',
      sync: true,
      updates: 6,
      updatesByPath: [3, 3],
      truncated: false,
      attempts: [],
    });
    expect(notifications[0]?.updates[0]?.value).toEqual({
      kind: 'json-ietf',
      value: '"18446744073709551000"',
    });
  });

  it.each(['json', 'json_ietf', 'proto', 'ascii', 'bytes'] as const)('reads %s', async (encoding) => {
    const target = await start({ habits: { encodings: [encoding] } });
    const { explanation, fault } = await ask(target.port, {}, 3_000, 'sros');
    if (encoding === 'ascii') expect(fault?.code).toBe('encoding-unsupported');
    else expect([explanation.encoding, explanation.updates]).toEqual([encoding, 6]);
  });

  it('goes past an encoding that a target advertises and does not answer', async () => {
    const target = await start({
      habits: { silentEncodings: ['proto'], omitSync: true, keepOnceOpen: true },
    });
    const { explanation } = await ask(target.port, {}, 1_000, 'junos');
    expect(explanation.encoding).toBe('json');
    expect(explanation.attempts).toMatchObject([{ rpc: 'subscribe-once', encoding: 'proto' }]);
  });

  it('falls back from ONCE to STREAM until sync', async () => {
    const target = await start({ habits: { withoutOnce: true } });
    const { explanation, fault } = await ask(target.port);
    expect(fault).toBeUndefined();
    expect([explanation.rpc, explanation.updates]).toEqual(['subscribe-stream', 6]);
  });

  it('falls back from Subscribe to Get', async () => {
    const target = await start({ habits: { withoutSubscribe: true } });
    const { explanation, fault } = await ask(target.port);
    expect(fault).toBeUndefined();
    expect([explanation.rpc, explanation.updates]).toEqual(['get', 6]);
  });

  it('is not stopped by a ONCE that never closes', async () => {
    const target = await start({ habits: { keepOnceOpen: true } });
    const { explanation, fault } = await ask(target.port, {}, 600);
    expect(fault).toBeUndefined();
    expect(explanation.updates).toBe(6);
  });

  it('says that sync came and no values when a path is valid and absent', async () => {
    const target = await start();
    const { explanation, fault } = await ask(target.port, {}, 3_000, 'srlinux', [pathOf('/lldp/state')]);
    expect(fault).toBeUndefined();
    expect(explanation).toMatchObject({ updates: 0, sync: true, updatesByPath: [0] });
    expect(explanation.attempts.map(({ rpc, reason }) => `${rpc} ${reason}`)).toContain(
      'get path-not-found: NOT_FOUND: path /lldp/state not found',
    );
  });

  it('keeps no more updates than it may, and counts them all', async () => {
    const target = await start();
    const { notifications, explanation } = await testGnmi(
      { endpoint: endpointOf(target.port), netos: 'srlinux' },
      PATHS,
      { guard: allowAll, deadlineMilliseconds: 3_000, maximumUpdates: 2 },
    );
    expect(explanation).toMatchObject({ updates: 6, truncated: true });
    expect(notifications.flatMap(({ updates }) => updates)).toHaveLength(2);
  });

  it('takes user name and password', async () => {
    const target = await start({ habits: { username: 'admin', password: 'secret' } });
    const { explanation } = await ask(target.port, { username: 'admin', password: 'secret' });
    expect(explanation.updates).toBe(6);
  });

  it('speaks TLS and mutual TLS', async () => {
    const { ca, server, client } = certificates;
    const target = await start({ tls: { ...server, clientCa: ca } });
    const tls = { tls: 'verify', ca, clientCertificate: client.certificate, clientKey: client.key } as const;
    expect((await ask(target.port, tls)).explanation.updates).toBe(6);
    expect((await ask(target.port, { ...tls, serverName: 'router.example' })).explanation.updates).toBe(6);
  });
});

describe('a fault of the live test', () => {
  it('is blocked-address when the guard refuses', async () => {
    const { fault } = await testGnmi({ endpoint: endpointOf(9), netos: 'eos' }, PATHS, {
      guard: () => 'not there',
      deadlineMilliseconds: 500,
    });
    expect(fault).toEqual({ code: 'blocked-address', detail: 'not there' });
  });

  it('is dns for a name that does not exist', async () => {
    expect((await ask(1, { address: 'no-such-router.invalid' })).fault?.code).toBe('dns');
  });

  it('is connection-refused where nothing listens', async () => {
    const stub = await startTcpStub(() => undefined);
    stub.stop();
    expect((await ask(stub.port)).fault?.code).toBe('connection-refused');
  });

  it('is timeout when a target accepts and says nothing', async () => {
    const stub = await startTcpStub(() => undefined);
    stops.push(stub.stop);
    expect((await ask(stub.port, {}, 300)).fault?.code).toBe('timeout');
    expect((await ask(stub.port, { tls: 'verify' }, 300)).fault?.code).toBe('timeout');
  });

  it('is tls-untrusted for a certificate of an unknown CA, unless verification is skipped', async () => {
    const target = await start({ tls: certificates.server });
    expect((await ask(target.port, { tls: 'verify' })).fault).toEqual({
      code: 'tls-untrusted',
      detail: `127.0.0.1 port ${target.port}: unable to verify the first certificate; give the CA that signed the device's certificate in gnmi.ca, or set gnmi.tls to skip-verify`,
    });
    expect((await ask(target.port, { tls: 'skip-verify' })).explanation.updates).toBe(6);
  });

  it('is tls-name-mismatch for a certificate of another name', async () => {
    const target = await start({ tls: certificates.misnamed });
    const { ca } = certificates;
    expect((await ask(target.port, { tls: 'verify', ca })).fault?.code).toBe('tls-name-mismatch');
    const named = await ask(target.port, { tls: 'verify', ca, serverName: 'other.example' });
    expect(named.explanation.updates).toBe(6);
  });

  it('is tls-not-spoken where the port speaks something else', async () => {
    const target = await start();
    expect((await ask(target.port, { tls: 'verify' })).fault).toEqual({
      code: 'tls-not-spoken',
      detail: `127.0.0.1 port ${target.port}: wrong version number; what answers on this port does not speak TLS as we do; set gnmi.tls to off for a device without TLS`,
    });
  });

  it('is protocol-error when TLS is wanted and not spoken to', async () => {
    const target = await start({ tls: certificates.server });
    const { fault } = await ask(target.port, { tls: 'off' });
    expect(fault?.code).toBe('protocol-error');
    expect(fault?.detail).toContain('does it want TLS?');
  });

  it('is authentication for a wrong password or a missing client certificate', async () => {
    const target = await start({ habits: { username: 'admin', password: 'secret' } });
    const { fault } = await ask(target.port, { username: 'admin', password: 'guess' });
    expect(fault?.code).toBe('authentication');
    const { ca, server } = certificates;
    const mutual = await start({ tls: { ...server, clientCa: ca } });
    expect((await ask(mutual.port, { tls: 'verify', ca })).fault?.code).toBe('authentication');
  });

  it('does not repeat the password that a target repeats', async () => {
    const message = 'not authorized with "admin:guess"';
    const target = await start({ habits: { refusal: { status: GrpcStatus.permissionDenied, message } } });
    const { fault } = await ask(target.port, { username: 'admin', password: 'guess' });
    expect(fault).toEqual({
      code: 'authentication',
      detail: 'PERMISSION_DENIED: not authorized with "admin:********"',
    });
  });

  it.each([
    ['permission', GrpcStatus.permissionDenied, 'role may not read'],
    ['authentication', GrpcStatus.permissionDenied, 'not authorized: bad password'],
    ['unimplemented', GrpcStatus.unimplemented, 'no'],
    ['invalid-path', GrpcStatus.invalidArgument, 'malformed path'],
    ['path-not-found', GrpcStatus.notFound, 'no such path'],
    ['path-not-found', GrpcStatus.unknown, 'No sysdb paths found'],
    ['encoding-unsupported', GrpcStatus.unimplemented, 'unsupported encoding 4'],
    ['unreachable', GrpcStatus.unavailable, 'shutting down'],
  ] as const)('is %s for status %i "%s"', async (code, status, message) => {
    const target = await start({ habits: { refusal: { status, message } } });
    expect((await ask(target.port)).fault?.code).toBe(code);
  });

  it('is unknown-origin when the target knows no such origin', async () => {
    const target = await start({ habits: { refusedOrigin: 'openconfig' } });
    const path = pathOf('openconfig:/interfaces');
    expect((await ask(target.port, {}, 3_000, 'srlinux', [path])).fault?.code).toBe('unknown-origin');
  });

  it('is no-updates when nothing is ever said', async () => {
    const target = await start({ habits: { frozen: true } });
    expect((await ask(target.port, {}, 600)).fault?.code).toBe('no-updates');
  });

  it('is stream-not-closed when values came, but neither sync nor an end', async () => {
    const target = await start({ habits: { keepOnceOpen: true, omitSync: true } });
    const { fault, explanation } = await ask(target.port, {}, 400);
    expect([fault?.code, explanation.updates]).toEqual(['stream-not-closed', 6]);
  });

  it.each([
    ['too-large', 'blob', 20 * 1024 * 1024],
    ['protocol-error', 'blob', 10 * 1024 * 1024],
    ['protocol-error', 'bytes', 0],
    ['protocol-error', 'compressed', 0],
    ['protocol-error', 'html', 0],
    ['protocol-error', 'half-frame', 0],
  ] as const)('is %s when %s come instead of answers (%i)', async (code, garbage, blobBytes) => {
    const target = await start({ habits: { garbage, blobBytes } });
    expect((await ask(target.port)).fault?.code).toBe(code);
  });
});

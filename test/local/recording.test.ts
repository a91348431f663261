import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../local/dynamodb-emulator.ts';
import { FarEnds } from '../support/bgp-far-ends.ts';
import { contractClient } from '../support/contract-client.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { until } from '../support/until.ts';

const ADDRESS = '127.0.32.1';
const exporter = join(import.meta.dirname, '../../worker/bgp/recording-export.ts');

let stack: Stack;
let farEnds: FarEnds;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'graticule-recordings-'));
  farEnds = await FarEnds.open([ADDRESS], await freePort());
  stack = await startStack({ environment: { GRATICULE_BGP_RECORD: folder } });
});

afterAll(async () => {
  await stack.stop();
  await farEnds.close();
  rmSync(folder, { recursive: true });
});

it('records a session of the running stack in the folder that GRATICULE_BGP_RECORD names, for a vendor to read', async () => {
  const api = contractClient(stack.send, stack.token);
  const body = {
    name: 'recorded',
    'peer-address': ADDRESS,
    'peer-port': farEnds.port,
    'user-peer-as': '65000',
  };
  const { json: peer } = await api.send({
    method: 'POST',
    path: '/api/bgp/peers',
    body: { ...body, 'auth-password': '', enabled: true },
  });
  const path = `/api/bgp/peers/${peer.id}`;
  await until(
    'established',
    () => api.send({ method: 'GET', path }),
    ({ json }) => json.state === 'established',
  );
  await api.send({ method: 'DELETE', path });
  await until(
    'the session’s end',
    () => farEnds.established().length,
    (up) => up === 0,
  );

  const [recording] = readdirSync(folder);
  expect(recording).toMatch(new RegExp(`^peer-${peer.id}-\\d+\\.jsonl$`));
  const capture = join(folder, 'session.pcap');
  execFileSync(process.execPath, [exporter, join(folder, recording as string), capture]);
  const octets = readFileSync(capture);
  expect(octets.readUInt32BE(0), 'the magic number of pcap').toBe(0xa1b2c3d4);
  // The Marker of RFC 4271 §4.1 before the type of an OPEN, and of the NOTIFICATION at the end.
  for (const type of ['01', '03']) {
    expect(octets.toString('hex')).toMatch(new RegExp(`${'f'.repeat(32)}.{4}${type}`));
  }
});

import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../local/dynamodb-emulator.ts';
import { contractClient } from '../support/contract-client.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { until } from '../support/until.ts';

const PEERS = 12;

interface PeerView {
  readonly id: number;
  readonly passive: boolean;
  readonly session: { readonly worker: string; readonly reason: string };
}

let stack: Stack;
let listenPort: number;

beforeAll(async () => {
  listenPort = await freePort();
  stack = await startStack({
    environment: { GRATICULE_WORKERS: '2', GRATICULE_BGP_LISTEN: `127.0.0.1:${listenPort}` },
  });
});

afterAll(() => stack.stop());

/** The first octets that the listener sends to a router at `address`, or none when it just closes. */
async function greeting(address: string): Promise<Buffer> {
  const socket = connect({ host: '127.0.0.1', port: listenPort, localAddress: address });
  try {
    const ended = once(socket, 'close').then(() => [Buffer.alloc(0)]);
    const [octets] = await Promise.race([once(socket, 'data'), ended]);
    return octets as Buffer;
  } finally {
    socket.destroy();
  }
}

it('leaves a passive peer to the worker that listens, also when it becomes passive later', async () => {
  const api = contractClient(stack.send, stack.token);
  const address = (index: number) => `127.0.31.${index + 1}`;
  const body = (index: number, passive: boolean) => ({
    name: `router ${index}`,
    'peer-address': address(index),
    'peer-port': 1,
    'user-peer-as': '65000',
    enabled: true,
    passive,
  });
  const peers = async () => (await api.send({ method: 'GET', path: '/api/bgp/peers' })).json as PeerView[];
  await until(
    'two workers',
    () => api.send({ method: 'GET', path: '/api/health' }),
    ({ json }) => json.workers === 2,
  );
  for (let index = 0; index < PEERS; index += 1) {
    const created = await api.send({ method: 'POST', path: '/api/bgp/peers', body: body(index, false) });
    expect(created.status).toBe(201);
  }
  const before = await until('all picked up', peers, (list) =>
    list.every(({ session }) => session.worker !== ''),
  );
  expect(new Set(before.map(({ session }) => session.worker)), 'each worker has some').toEqual(
    new Set(['w-1', 'w-2']),
  );

  for (const [index, { id }] of before.entries()) {
    await api.send({ method: 'PUT', path: `/api/bgp/peers/${id}`, body: body(index, true) });
  }
  const after = await until('all at the one that listens', peers, (list) =>
    list.every(({ session }) => session.worker === 'w-1' && session.reason === 'passive-waiting'),
  );
  expect(after).toHaveLength(PEERS);

  for (let index = 0; index < PEERS; index += 1) {
    // An OPEN begins with the marker, its length and type 1 (RFC 4271 §4.1).
    expect((await greeting(address(index))).subarray(18, 19), address(index)).toEqual(Buffer.of(1));
  }
  expect(await greeting('127.0.31.200'), 'an address that is no peer’s').toHaveLength(0);
});

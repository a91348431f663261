/**
 * `kill -9` of everything at once, emulators included, at random points while peers are written. What was acknowledged
 * must read back equal; what was not may or may not have happened; nothing may need repair.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestCase } from '../../harness.ts';
import { type FarEnd, farEndServer, peerOpen, peerSettings } from '../../support/bgp-peer.ts';
import { Random } from '../../support/random.ts';
import { type ApiAnswer, type Stack, startStack } from '../../support/stack.ts';

const WRITERS = 6;

/** A peer as the API gives it. */
type Peer = { readonly id: number } & Readonly<Record<string, unknown>>;

/** What the engine observes; everything else is what people asked for. */
const OBSERVED = [
  'state',
  'messages-sent',
  'messages-received',
  'last-state-change',
  'last-error',
  'session',
];

/** What is known of one peer: the forms it may have, `gone` among them. One only: it was acknowledged. */
type Known = ReadonlyArray<string | 'gone'>;

/** What the writers were told, over all rounds. */
interface Ledger {
  readonly known: Map<number, Known>;
  readonly acknowledged: { created: number; replaced: number; removed: number };
  /** Addresses are never used twice, so that a 409 would be a fault. */
  nextAddress: number;
  readonly faults: string[];
}

export const testCase: TestCase = {
  title: 'kill -9 of the whole run while peers are written loses nothing acknowledged and needs no repair',
  inCi: true,
  async run({ check, log, scale, seed, scratchDirectory }) {
    const rounds = Math.max(10, Math.round(50 * scale));
    const random = new Random(seed);
    const dataDirectory = join(scratchDirectory, 'data');
    const ledger: Ledger = {
      known: new Map(),
      acknowledged: { created: 0, replaced: 0, removed: 0 },
      nextAddress: 1,
      faults: [],
    };
    const far = await establishingServer();
    const startTimes: number[] = [];
    const upTimes: number[] = [];
    try {
      let enabled: number | undefined;
      for (let round = 0; round <= rounds; round += 1) {
        const stack = await startStack({ dataDirectory });
        startTimes.push(stack.readyAfter);
        try {
          compare(await listPeers(stack), ledger, enabled);
          if (enabled === undefined) enabled = await createEnabledPeer(stack, far.port);
          else upTimes.push(await untilEstablished(stack, enabled));
          if (round === rounds) break;
          await writeUntilKilled(stack, ledger, random);
        } finally {
          if (round === rounds) await stack.stop();
          else await stack.kill();
        }
      }
    } finally {
      await far.close();
    }
    const { created, replaced, removed } = ledger.acknowledged;
    log(`${rounds} kills; acknowledged: ${created} creates, ${replaced} replacements, ${removed} deletes`);
    log(`start to ready: ${span(startTimes)}; ready to established again: ${span(upTimes)}`);
    await check('every acknowledged write reads back equal after each kill, and no id is used twice', () =>
      assert.deepEqual(ledger.faults, []),
    );
    await check('the writers did write', () => assert.ok(created >= rounds && replaced > 0 && removed > 0));
    await check('an enabled peer is established again after each start, without a call', () =>
      assert.equal(upTimes.length, rounds),
    );
  },
};

/** Writers at work until the kill, which comes 20 to 1,000 ms after they begin. */
async function writeUntilKilled(stack: Stack, ledger: Ledger, random: Random): Promise<void> {
  const delay = 20 + random.below(980);
  const over = new AbortController();
  const writers = Array.from({ length: WRITERS }, (_, index) =>
    writer(stack, ledger, new Random(random.bits() + index), over.signal),
  );
  await new Promise((resolve) => setTimeout(resolve, delay));
  const killed = stack.kill();
  over.abort();
  await Promise.all([killed, ...writers]);
}

async function writer(stack: Stack, ledger: Ledger, random: Random, over: AbortSignal): Promise<void> {
  const own: number[] = [];
  while (!over.aborted) {
    const target = own.length > 0 && random.chance(0.4) ? random.pick(own) : undefined;
    try {
      if (target === undefined) {
        const peer = await create(stack, ledger, random);
        if (peer !== undefined) own.push(peer.id);
      } else if (random.chance(0.6)) {
        await replace(stack, ledger, random, target);
      } else {
        own.splice(own.indexOf(target), 1);
        await remove(stack, ledger, target);
      }
    } catch (error) {
      // The connection broke: the kill came between the request and its answer.
      if (!over.aborted && !/ECONN|socket hang up|EPIPE/.test(String(error))) throw error;
      if (over.aborted) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

async function create(stack: Stack, ledger: Ledger, random: Random): Promise<Peer | undefined> {
  const number = ledger.nextAddress++;
  const address = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
  const answer = await send(stack, 'POST', '/api/bgp/peers', configuration(address, random));
  if (answer.status !== 201) {
    ledger.faults.push(`POST answered ${answer.status}: ${answer.text}`);
    return undefined;
  }
  const peer = JSON.parse(answer.text) as Peer;
  if (ledger.known.has(peer.id)) ledger.faults.push(`id ${peer.id} was given twice`);
  ledger.known.set(peer.id, [formOf(peer)]);
  ledger.acknowledged.created += 1;
  return peer;
}

async function replace(stack: Stack, ledger: Ledger, random: Random, id: number): Promise<void> {
  const before = ledger.known.get(id) ?? [];
  const address = String((JSON.parse(before[0] as string) as Peer)['peer-address']);
  const body = configuration(address, random);
  // Until it is acknowledged it may have happened or not; what it would look like is not known before it is told.
  const expected = { ...(JSON.parse(before[0] as string) as Peer), ...body };
  const asked = formOf({ ...expected, 'auth-password': body['auth-password'] === '' ? '' : '********' });
  ledger.known.set(id, [...before, asked]);
  const answer = await send(stack, 'PUT', `/api/bgp/peers/${id}`, body);
  if (answer.status !== 200) ledger.faults.push(`PUT ${id} answered ${answer.status}: ${answer.text}`);
  const told = formOf(JSON.parse(answer.text) as Peer);
  if (told !== asked) ledger.faults.push(`PUT ${id} answered ${told}, was asked for ${asked}`);
  ledger.known.set(id, [told]);
  ledger.acknowledged.replaced += 1;
}

async function remove(stack: Stack, ledger: Ledger, id: number): Promise<void> {
  ledger.known.set(id, [...(ledger.known.get(id) ?? []), 'gone']);
  const answer = await send(stack, 'DELETE', `/api/bgp/peers/${id}`);
  if (answer.status !== 204) ledger.faults.push(`DELETE ${id} answered ${answer.status}: ${answer.text}`);
  ledger.known.set(id, ['gone']);
  ledger.acknowledged.removed += 1;
}

/** Holds what is there against what was acknowledged, and settles what was open. */
function compare(peers: readonly Peer[], ledger: Ledger, enabled: number | undefined): void {
  const found = new Map(peers.map((peer) => [peer.id, formOf(peer)]));
  for (const [id, allowed] of ledger.known) {
    const form = found.get(id) ?? 'gone';
    if (!allowed.includes(form)) {
      ledger.faults.push(`peer ${id} is ${form}, may be ${allowed.join(' or ')}`);
    }
    ledger.known.set(id, [form]);
  }
  for (const [id, form] of found) {
    // A create that was cut off before its answer: it is there, and its id is taken.
    if (id !== enabled && !ledger.known.has(id)) ledger.known.set(id, [form]);
  }
}

function configuration(address: string, random: Random) {
  return {
    name: `peer ${address}`,
    description: 'x'.repeat(random.below(1_000)),
    'peer-address': address,
    'user-peer-as': random.pick(['65001', '4200000001', '64086.59905']),
    'hold-time': random.pick([0, 3, 90, 65_535]),
    'keepalive-time': random.pick([0, 1]),
    'connect-retry': random.below(65_536),
    'auth-password': random.chance(0.5) ? '' : `secret-${random.bits()}`,
    preference: random.below(65_536),
    enabled: false,
  };
}

/** The configuration of a peer, always in one order. */
function formOf(peer: Peer): string {
  const asked = Object.entries(peer).filter(([member]) => !OBSERVED.includes(member));
  return JSON.stringify(Object.fromEntries(asked.sort(([one], [other]) => one.localeCompare(other))));
}

async function listPeers(stack: Stack): Promise<Peer[]> {
  const { status, text } = await send(stack, 'GET', '/api/bgp/peers');
  assert.equal(status, 200, text);
  return JSON.parse(text) as Peer[];
}

async function createEnabledPeer(stack: Stack, port: number): Promise<number> {
  const answer = await send(stack, 'POST', '/api/bgp/peers', {
    name: 'comes up by itself',
    'peer-address': '127.0.0.1',
    'peer-port': port,
    'user-peer-as': '65000',
    'connect-retry': 1,
    enabled: true,
  });
  assert.equal(answer.status, 201, answer.text);
  const { id } = JSON.parse(answer.text) as Peer;
  await untilEstablished(stack, id);
  return id;
}

/** Milliseconds until the peer is established; nothing but reads is sent meanwhile. */
async function untilEstablished(stack: Stack, id: number): Promise<number> {
  const began = performance.now();
  let state = '';
  while (performance.now() - began < 30_000) {
    const { text } = await send(stack, 'GET', `/api/bgp/peers/${id}`);
    const peer = JSON.parse(text) as Peer & { session: { worker: string; epoch: number } };
    state = `${peer['state']} ${JSON.stringify(peer.session)}`;
    if (peer['state'] === 'established') return performance.now() - began;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the enabled peer did not come up: ${state}\n${stack.output()}`);
}

function send(stack: Stack, method: string, path: string, body?: unknown): Promise<ApiAnswer> {
  return stack.send({
    method,
    path,
    headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** A BGP speaker that takes every session, and any number of them. */
async function establishingServer(): Promise<{ port: number; close(): Promise<void> }> {
  const open = new Set<FarEnd>();
  const settings = peerSettings();
  const { server, port } = await farEndServer((farEnd) => {
    open.add(farEnd);
    farEnd
      .establish(peerOpen(settings))
      .then(() => farEnd.untilClosed())
      .catch(() => {})
      .finally(() => open.delete(farEnd));
  });
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        for (const farEnd of open) farEnd.socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function span(milliseconds: readonly number[]): string {
  const sorted = [...milliseconds].sort((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return `median ${Math.round(median)} ms, most ${Math.round(sorted.at(-1) ?? 0)} ms`;
}

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { planDevice } from '../../core/collection-plan.ts';
import type { Device } from '../../core/device.ts';
import type { Model } from '../../core/model.ts';
import type { Subscription } from '../../core/subscription.ts';
import { handler } from '../../functions/rotate-keyring.ts';
import { interceptCalls } from '../../store/call-interception.ts';
import { getDevice, listDevices } from '../../store/device-store.ts';
import { decryptSecret, keyIdOf, newKey, reencryptSecret } from '../../store/keyring.ts';
import { RotationConflict, rotateKeyring } from '../../store/keyring-rotation.ts';
import { listPeers } from '../../store/peer-store.ts';
import { readVersions } from '../../store/version-store.ts';
import { getWebhook } from '../../store/webhook-store.ts';
import { contractClient } from '../support/contract-client.ts';
import { type Emulators, runAs, startEmulators } from '../support/stack.ts';

let emulators: Emulators;

/** What happens to the n-th call of a rotation: it is never made, or it is made and nobody hears of it. */
let death: { at: number; kind: 'before' | 'after' } | undefined;
let calls = 0;

class Killed extends Error {}

beforeAll(async () => {
  emulators = await startEmulators();
  interceptCalls(async (_call, proceed) => {
    if (death === undefined) return proceed();
    calls += 1;
    const isLast = calls === death.at;
    if (isLast && death.kind === 'before') throw new Killed();
    const output = await proceed();
    if (isLast) throw new Killed();
    return output;
  });
  const api = contractClient(emulators.send, emulators.token);
  const post = (path: string, body: unknown) => api.send({ method: 'POST', path, body });
  for (const last of [1, 2, 3]) {
    await post('/api/bgp/peers', {
      name: `p${last}`,
      'peer-address': `127.62.0.${last}`,
      'user-peer-as': '65000',
      ...(last === 3 ? {} : { 'auth-password': `bgp-${last}` }),
    });
  }
  await post('/api/v1/devices', {
    name: 'leaf1',
    address: '127.62.1.1',
    netos: 'srlinux',
    gnmi: { username: 'u', password: 'gnmi-password' },
    snmp: { community: 'a-community' },
  });
  await api.send({
    method: 'PUT',
    path: '/api/v1/outputs/webhook',
    body: {
      enabled: true,
      config: { url: 'http://127.0.0.1:9/', 'auth-header': 'Bearer hook', headers: { 'X-K': 'header' } },
    },
  });
});

afterAll(() => emulators.stop());

afterEach(() => {
  death = undefined;
});

const rotate = (now = new Date(), keep?: number) => runAs('rotate-keyring', () => rotateKeyring(now, keep));

/** Every secret in clear, opened as its own reader does. */
function plaintexts() {
  return runAs('worker', async () => {
    const [first, second] = await listPeers();
    const device = (await getDevice(1)) as Device;
    const deviceSecrets = Object.entries(device.encryptedSecrets).map(([field, stored]) =>
      decryptSecret(stored, { owner: 'device/1', field }),
    );
    const passwords = [first, second].map((peer) =>
      decryptSecret(peer?.encryptedPassword ?? '', { owner: `peer/${peer?.id}`, field: 'auth-password' }),
    );
    const { headers, authHeader } = await getWebhook();
    return [...(await Promise.all([...passwords, ...deviceSecrets])).sort(), authHeader, headers];
  });
}

const ALL = ['a-community', 'bgp-1', 'bgp-2', 'gnmi-password', 'Bearer hook', { 'X-K': 'header' }];

/** Everything of the stored items that must not move. */
function revisions() {
  return runAs('worker', async () => [
    (await listPeers()).map(({ id, revision, configuration }) => ({ id, revision, configuration })),
    (await listDevices()).map(({ id, revision, configuration }) => ({ id, revision, configuration })),
    (await getWebhook()).revision,
    [...(await readVersions())],
  ]);
}

describe('rotation of the keyring', () => {
  it('brings every secret under a new key and touches no revision, version or configuration', async () => {
    expect(await plaintexts()).toEqual(ALL);
    const before = await revisions();
    const result = await runAs('rotate-keyring', () => handler({}));
    expect(result).toMatchObject({ added: true, reencrypted: 6, left: 0, unreadable: [], dropped: [] });
    expect(await plaintexts()).toEqual(ALL);
    expect(await revisions()).toEqual(before);
    const stored = (await runAs('worker', () => listPeers())).flatMap((peer) => peer.encryptedPassword ?? []);
    expect(stored.map(keyIdOf)).toEqual([result.keyId, result.keyId]);
  });

  it('takes what a writer stored with the keyring that it had read before', async () => {
    const { keyId } = await rotate();
    // This process still believes the keyring of before.
    const api = contractClient(emulators.send, emulators.token);
    const peer = (await api.send({ method: 'GET', path: '/api/bgp/peers/3' })).json;
    const body = { ...peer, 'auth-password': 'late' };
    expect((await api.send({ method: 'PUT', path: '/api/bgp/peers/3', body })).status).toBe(200);
    const late = (await runAs('worker', () => listPeers()))[2]?.encryptedPassword ?? '';
    expect(keyIdOf(late)).not.toBe(keyId);
    expect(await rotate()).toMatchObject({ added: false, keyId, reencrypted: 1, left: 0 });
    await api.send({ method: 'PUT', path: '/api/bgp/peers/3', body: { ...body, 'auth-password': '' } });
  });

  it('drops a replaced key only when its time is over', async () => {
    const start = Date.now();
    const { dropped: early } = await rotate(new Date(start + 34 * 86_400_000));
    expect(early).toEqual([]);
    const { dropped, keyId } = await rotate(new Date(start + 100 * 86_400_000), 35 * 86_400_000);
    expect(dropped.length).toBeGreaterThan(0);
    expect(dropped).not.toContain(keyId);
    expect(await plaintexts()).toEqual(ALL);
  });

  it('that dies at any of its calls leaves secrets that can be read, and the next run ends it', async () => {
    let now = Date.now() + 200 * 86_400_000;
    let deaths = 0;
    for (const kind of ['before', 'after'] as const) {
      // The calls before the fifth only read, and leave nothing behind.
      for (let at = 5; ; at += 1) {
        now += 2 * 86_400_000;
        calls = 0;
        death = { at, kind };
        const outcome = await rotate(new Date(now)).catch((error: unknown) => error);
        death = undefined;
        if (!(outcome instanceof Killed)) break;
        deaths += 1;
        expect(await plaintexts()).toEqual(ALL);
        expect(await rotate(new Date(now + 1))).toMatchObject({ left: 0, unreadable: [] });
        expect(await plaintexts()).toEqual(ALL);
      }
    }
    console.log(`rotation: died ${deaths} times, before and after each call from the first that writes`);
    expect(deaths).toBeGreaterThan(20);
  }, 120_000);

  it('by several at once makes one key and loses none', async () => {
    const now = new Date(Date.now() + 900 * 86_400_000);
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => rotate(now)));
    const added = outcomes.filter((each) => each.status === 'fulfilled' && each.value.added);
    const refused = outcomes.filter((each) => each.status === 'rejected');
    expect(added).toHaveLength(1);
    for (const each of refused) expect(each.reason).toBeInstanceOf(RotationConflict);
    await rotate(now);
    expect(await plaintexts()).toEqual(ALL);
  });

  it('restarts no stream: a plan is the same with the same secret under another key, another with another secret', () => {
    const first = newKey(new Date(0), []);
    const second = newKey(new Date(0), [first]);
    const place = { owner: 'device/1', field: 'snmp/community' };
    const stored = [1, 2].map((byte) => {
      const nonce = Buffer.alloc(12, byte).toString('base64url');
      return `aes-256-gcm/1:${first.id}:${nonce}:${Buffer.alloc(20).toString('base64url')}`;
    });
    expect(() => reencryptSecret(stored[0] ?? '', place, second, [first, second])).toThrow(
      'does not open it',
    );
    const signatureWith = (secret: string) => {
      const device = {
        id: 1,
        revision: 1,
        configuration: {
          name: 'd',
          address: '',
          netos: 'x',
          labels: [],
          enabled: true,
          gnmi: null,
          snmp: {},
        },
        encryptedSecrets: { 'snmp/community': secret },
      } as unknown as Device;
      const model = {
        id: 1,
        name: 'm',
        version: '1.0.0',
        active: true,
        fields: [],
        mappings: [{ id: 1, protocol: 'snmp', netos: '*', fieldMappings: [] }],
      } as unknown as Model;
      const subscription = {
        id: 1,
        revision: 1,
        pinnedModelId: 1,
        configuration: {
          enabled: true,
          devices: { ids: [1], labels: [] },
          protocol: '',
          mode: 'poll',
          'interval-ms': 1_000,
          'heartbeat-ms': 0,
        },
      } as unknown as Subscription;
      return planDevice(device, [subscription], [model]).streams[0]?.signature;
    };
    const [one = '', other = ''] = stored;
    expect(signatureWith(one)).toBeDefined();
    expect(signatureWith(one.replace(first.id, second.id).replace(/:[^:]*$/, ':AAAA'))).toBe(
      signatureWith(one),
    );
    expect(signatureWith(other)).not.toBe(signatureWith(one));
  });
});

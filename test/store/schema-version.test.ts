import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CONFIG_KEYS, type Key, RUNTIME_KEYS } from '../../contract/tables.ts';
import { listPeers } from '../../store/peer-store.ts';
import { getItem, type Item, putItem, queryItems, SCHEMA_VERSION } from '../../store/table.ts';
import type { ApiClient } from '../support/api-client.ts';
import { contractClient } from '../support/contract-client.ts';
import { type Emulators, runAs, startEmulators } from '../support/stack.ts';

let emulators: Emulators;
let api: ApiClient;

beforeAll(async () => {
  emulators = await startEmulators();
  api = contractClient(emulators.send, emulators.token);
});

afterAll(() => emulators.stop());

const get = (path: string) => api.send({ method: 'GET', path });
const post = (path: string, body: unknown) => api.send({ method: 'POST', path, body });

/** The stored item, changed as if another version of the code had written it. */
async function rewrite(key: Key, change: (item: Item) => Item): Promise<void> {
  await runAs('peers', async () => {
    const item = (await getItem('config', key)) as Item;
    await putItem('config', change(item));
  });
}

/** Each resource whose configuration is stored as a whole, with one of it that says only what is required. */
const RESOURCES = [
  {
    path: '/api/bgp/peers',
    body: { name: 'old', 'peer-address': '127.67.0.1', 'user-peer-as': '65000' },
    key: CONFIG_KEYS.peer(1),
    required: ['name', 'peer-address', 'user-peer-as'],
  },
  {
    path: '/api/v1/devices',
    body: { name: 'old', address: '127.67.0.2', netos: 'x', snmp: {} },
    key: CONFIG_KEYS.device(1),
    required: ['name', 'address', 'netos', 'snmp', 'gnmi'],
  },
  {
    path: '/api/v1/subscriptions',
    body: { name: 'old', 'model-name': 'm', 'model-version': 'latest', mode: 'poll', 'interval-ms': 60_000 },
    key: CONFIG_KEYS.subscription(1),
    required: ['name', 'model-name', 'model-version', 'mode', 'interval-ms', 'devices'],
  },
];

describe('what another version wrote', () => {
  beforeAll(async () => {
    await post('/api/v1/models', { name: 'm' });
    for (const { path, body } of RESOURCES) expect((await post(path, body)).status).toBe(201);
  });

  for (const { path, key, required } of RESOURCES) {
    it(`${path}: one before, without the members that came later, reads as if they had been omitted`, async () => {
      const before = await get(`${path}/1`);
      await rewrite(key, (item) => {
        const kept = Object.entries(item['configuration'] as object).filter(([member]) =>
          required.includes(member),
        );
        return { ...item, configuration: Object.fromEntries(kept) };
      });
      const after = await get(`${path}/1`);
      expect(after.json).toEqual(before.json);
      expect(after.headers['etag']).toBe(before.headers['etag']);
      const put = await api.send({ method: 'PUT', path: `${path}/1`, body: after.json });
      expect(put.status, put.text).toBe(200);
      expect((await get(`${path}/1`)).json).toEqual(before.json);
    });

    it(`${path}: one after, with members that this version does not know, reads without them`, async () => {
      const before = await get(`${path}/1`);
      await rewrite(key, (item) => ({
        ...item,
        later: true,
        configuration: { ...(item['configuration'] as object), 'a-later-member': 7 },
      }));
      const after = await get(`${path}/1`);
      expect(after.status).toBe(200);
      expect(after.json).toEqual(before.json);
      const put = await api.send({ method: 'PUT', path: `${path}/1`, body: after.json });
      expect(put.status, put.text).toBe(200);
    });
  }
});

describe('an item of a newer schema version', () => {
  it('is refused by its key and version, read alone or among others, and never taken for what it is not', async () => {
    const key = RUNTIME_KEYS.worker('w-newer');
    await runAs('worker', () => putItem('runtime', { ...key, v: SCHEMA_VERSION + 1 }));
    const sentence = `item WORKER w-newer has schema version ${SCHEMA_VERSION + 1}; this code reads up to ${SCHEMA_VERSION}`;
    await expect(runAs('worker', () => getItem('runtime', key))).rejects.toThrow(sentence);
    await expect(runAs('worker', () => queryItems('runtime', RUNTIME_KEYS.workers))).rejects.toThrow(
      sentence,
    );
  });

  it('is a 500 for the caller, who is told nothing, and a sentence in the log', async () => {
    const written: string[] = [];
    const spy = vi.spyOn(console, 'error').mockImplementation((text) => void written.push(String(text)));
    const key = CONFIG_KEYS.peer(2);
    await runAs('peers', () => putItem('config', { ...key, v: SCHEMA_VERSION + 1, id: 2 }));
    const answer = await get('/api/bgp/peers/2');
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('schema version');
    await expect(runAs('worker', () => listPeers())).rejects.toThrow('has schema version');
    spy.mockRestore();
  });
});

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeviceRows } from '../../core/snapshot.ts';
import { takeCommands } from '../../store/command-store.ts';
import { takeDevice } from '../../store/owner-store.ts';
import { answerSnapshot } from '../../worker/collection/snapshot.ts';
import { type Emulators, runAs, startEmulators } from '../support/stack.ts';
import { type FakeWorker, startFakeWorker } from '../support/topology-worker.ts';

let emulators: Emulators;
const workers: FakeWorker[] = [];
let modelId: number;
const deviceIds: number[] = [];
/** What each worker holds, by its id. */
const held = new Map<string, DeviceRows[]>();

beforeAll(async () => {
  emulators = await startEmulators();
  for (const id of ['w-1', 'w-2']) workers.push(await startFakeWorker(id));
  const { id } = await call('POST', '/api/v1/models', { name: 'interfaces' });
  modelId = id;
  await call('POST', `/api/v1/models/${id}/fields`, { name: 'in', type: 'counter64' });
  await call('POST', `/api/v1/models/${id}/mappings`, {
    protocol: 'snmp',
    netos: '*',
    field_mappings: { in: 'IF-MIB::ifHCInOctets' },
  });
  await call('PUT', `/api/v1/models/${id}`, { active: true });
  for (let number = 1; number <= 4; number += 1) {
    const device = {
      name: `leaf${number}`,
      address: `192.0.2.${number}`,
      netos: 'eos',
      enabled: true,
      snmp: {},
    };
    deviceIds.push((await call('POST', '/api/v1/devices', device)).id);
  }
  await call('POST', '/api/v1/subscriptions', {
    name: 'all',
    enabled: true,
    'model-name': 'interfaces',
    'model-version': 'latest',
    mode: 'poll',
    'interval-ms': 10_000,
    devices: { ids: deviceIds },
  });
  await runAs('worker', async () => {
    await takeDevice(deviceIds[0] as number, 'w-1', undefined);
    await takeDevice(deviceIds[1] as number, 'w-2', undefined);
    await takeDevice(deviceIds[2] as number, 'w-dead', undefined);
  });
});

afterAll(() => emulators.stop());

async function send(method: string, path: string, body?: unknown) {
  for (const worker of workers) await worker.beat(Date.now());
  return emulators.send({
    method,
    path,
    headers: { authorization: `Bearer ${emulators.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function call(method: string, path: string, body?: unknown) {
  const answer = await send(method, path, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  return JSON.parse(answer.text);
}

/** Sends the request while the workers do with their commands what the real ones do. */
async function snapshot(query = '') {
  const answer = send('GET', `/api/v1/models/${modelId}/snapshot${query}`);
  let isOver = false;
  void answer.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const { id } of workers) {
      await runAs('worker', async () => {
        for (const command of await takeCommands(id, new Date())) {
          if (command.command !== 'snapshot') throw new Error(command.command);
          await answerSnapshot(
            command,
            () => held.get(id) ?? [],
            () => new Date(),
          );
        }
      });
    }
  }
  return answer;
}

const rowsOf = (deviceId: number, rows: readonly string[], reason = ''): DeviceRows => ({
  deviceId,
  device: `leaf${deviceIds.indexOf(deviceId) + 1}`,
  rows,
  reason,
});

const row = (key: string, data: string) =>
  `{"path":"1.3.6.1.2.1.2.2.1.${key}","key":"${key}","timestamp":"2026-11-21T03:00:00.000Z","data":${data}}`;

describe('a snapshot of what workers hold', () => {
  it('has the rows of all workers in the order of devices, and names the devices that are missing', async () => {
    const [first = 0, second = 0, dead = 0, unowned = 0] = deviceIds;
    held.set('w-1', [rowsOf(first, [row('1', '{"in":18446744073709551615}'), row('2', '{"in":2}')])]);
    held.set('w-2', [rowsOf(second, [row('7', '{"in":7}')])]);
    const answer = await snapshot();
    expect(answer.status, answer.text).toBe(200);
    expect(answer.text).toContain('"data":{"in":18446744073709551615}');
    const body = JSON.parse(answer.text);
    expect(body.rows.map((each: { device: string; key: string }) => `${each.device} ${each.key}`)).toEqual([
      'leaf1 1',
      'leaf1 2',
      'leaf2 7',
    ]);
    expect(body['missing-devices']).toEqual([
      { 'device-id': dead, reason: 'no-worker' },
      { 'device-id': unowned, reason: 'no-owner' },
    ]);
    expect((await snapshot('?format=csv')).text.split('\r\n')[1]).toBe(
      'leaf1,1,1.3.6.1.2.1.2.2.1.1,1,2026-11-21T03:00:00.000Z,18446744073709551615',
    );
  });

  it('says why a device has no rows yet', async () => {
    const [first = 0, second = 0] = deviceIds;
    held.set('w-1', [rowsOf(first, [], 'snmp-no-response')]);
    held.set('w-2', [rowsOf(second, [], 'no-rows')]);
    const { rows, 'missing-devices': missing } = JSON.parse((await snapshot()).text);
    expect(rows).toEqual([]);
    expect(missing.slice(0, 2)).toEqual([
      { 'device-id': first, reason: 'snmp-no-response' },
      { 'device-id': second, reason: 'no-rows' },
    ]);
  });

  it('comes by way of S3 where it is too large for an item and for the gateway', async () => {
    const [first = 0, second = 0] = deviceIds;
    const noise = (key: number) => row(`${key}`, `{"in":"${randomBytes(40).toString('hex')}"}`);
    held.set('w-1', [
      rowsOf(
        first,
        Array.from({ length: 30_000 }, (_, key) => noise(key)),
      ),
    ]);
    held.set('w-2', [rowsOf(second, [])]);
    const answer = await snapshot('?format=csv');
    expect([answer.status, answer.text]).toEqual([303, '']);
    const body = await fetch(answer.headers['location'] as string);
    expect(body.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect((await body.text()).split('\r\n')).toHaveLength(30_002);
  });
});

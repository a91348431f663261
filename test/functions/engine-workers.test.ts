import { afterAll, beforeAll, expect, it } from 'vitest';
import { takeDevice, takePeer } from '../../store/owner-store.ts';
import { type Emulators, runAs, startEmulators } from '../support/stack.ts';
import { startFakeWorker } from '../support/topology-worker.ts';

let emulators: Emulators;

beforeAll(async () => {
  emulators = await startEmulators();
});
afterAll(() => emulators?.stop());

it('the engine names what each of its workers owns', async () => {
  await startFakeWorker('w-1');
  await startFakeWorker('w-2');
  await runAs('worker', async () => {
    await takePeer(1, 'w-1', undefined);
    await takePeer(2, 'w-2', undefined);
    await takeDevice(1, 'w-2', undefined);
    await takeDevice(3, 'w-2', undefined);
    await takeDevice(4, 'w-dead', undefined);
  });
  const { text } = await emulators.send({
    method: 'GET',
    path: '/api/engine',
    headers: { authorization: `Bearer ${emulators.token}` },
  });
  expect(JSON.parse(text).workers).toMatchObject([
    { id: 'w-1', peers: [1], devices: [] },
    { id: 'w-2', peers: [2], devices: [1, 3] },
  ]);
});

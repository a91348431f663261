import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { ENV } from '../../contract/env.ts';
import { metricLines, metricsEmittedBy, metricValues } from '../support/metric-lines.ts';
import { type DeliveryBed, startDeliveryBed } from '../support/receiver/delivery-bed.ts';
import { type Receiver, startReceiver } from '../support/receiver/receiver.ts';

let bed: DeliveryBed;
let receiver: Receiver;
let output = '';

beforeAll(async () => {
  bed = await startDeliveryBed({ kind: 'handlers' });
  receiver = await startReceiver();
  process.env[ENV.metricsDisabled] = 'false';
});

afterAll(async () => {
  await bed.stop();
  await receiver.stop();
});

beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += text;
    return true;
  });
  vi.spyOn(console, 'error').mockImplementation(() => {});
});

afterEach(() => {
  vi.restoreAllMocks();
});

const all = () => metricLines(output).map(metricValues);
const sum = (name: string) => all().reduce((total, values) => total + (values[name] ?? 0), 0);

it('the sender counts what it delivers, what it does not, and what it sends', async () => {
  await bed.configure({ url: receiver.url('/status/200', '127.0.0.1') });
  await bed.collect(3);
  await bed.settled();
  await vi.waitFor(() => expect(sum('RecordsDelivered')).toBe(3));
  expect(sum('RecordsFailed')).toBe(0);
  await bed.configure({ url: receiver.url('/status/500', '127.0.0.1') });
  await bed.collect(2);
  await bed.settled();
  await vi.waitFor(() => expect(sum('RecordsFailed')).toBe(2));
  expect(sum('RequestsSent')).toBe(5);
  expect(all().some((values) => Object.values(values).includes(0))).toBe(false);
});

it('a keyring that cannot be read is counted, and so is the 500 that it causes', async () => {
  const keyring = process.env[ENV.keyringSecret];
  process.env[ENV.keyringSecret] = 'somebody-elses-secret';
  const answer = await bed.emulators.send({
    method: 'POST',
    path: '/api/bgp/peers',
    headers: { authorization: `Bearer ${bed.emulators.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'locked',
      'peer-address': '127.61.1.1',
      'user-peer-as': '65001',
      'auth-password': 'not-for-a-log',
    }),
  });
  process.env[ENV.keyringSecret] = keyring;
  expect(answer.status).toBe(500);
  expect(sum('KeyringFaults')).toBe(1);
  expect(sum('InternalErrors')).toBe(1);
  expect(output).not.toContain('not-for-a-log');
});

it('together that is every metric of the functions', () => {
  expect([...new Set(all().flatMap((values) => Object.keys(values)))].sort()).toEqual(
    metricsEmittedBy('functions'),
  );
});

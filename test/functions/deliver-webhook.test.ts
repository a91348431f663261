import { randomUUID } from 'node:crypto';
import type { SQSEvent } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { formatDeliveryMessage, type PackedRequest } from '../../core/delivery-message.ts';
import type { DeliveryMetrics } from '../../core/delivery-metrics.ts';
import { DeliveryTally } from '../../core/delivery-tally.ts';
import { handler as countUndelivered } from '../../functions/count-undelivered.ts';
import { advanceDelivery } from '../../store/delivery-progress.ts';
import { sendDelivery } from '../../store/delivery-queue.ts';
import { type DeliveryBed, startDeliveryBed } from '../support/receiver/delivery-bed.ts';
import { type Receiver, startReceiver } from '../support/receiver/receiver.ts';
import { makeRecords, recordIds } from '../support/receiver/records.ts';
import { runAs } from '../support/stack.ts';

let bed: DeliveryBed;
let receiver: Receiver;

beforeAll(async () => {
  bed = await startDeliveryBed({ kind: 'handlers' });
  receiver = await startReceiver();
});

afterAll(async () => {
  await bed.stop();
  await receiver.stop();
});

beforeEach(() => {
  receiver.requests.length = 0;
});

/** How long a log may take to be written on a busy machine. */
const WRITTEN = { timeout: 5_000 };

const url = (path = '/status/200') => receiver.url(path, '127.0.0.1');

/** Requests of one record each, numbered from `first`. */
function requestsOf(first: number, count: number): PackedRequest[] {
  return Array.from({ length: count }, (_, index) => ({
    body: makeRecords(first + index, 1).bytes,
    records: 1,
    deviceId: 3,
  }));
}

function seenIds(): number[] {
  return receiver.requests.flatMap(({ body }) => recordIds(body)).sort((a, b) => a - b);
}

/** Waits for outcomes of messages that no worker has counted: the queue's depth knows nothing of those. */
async function outcomes(more: number, before: DeliveryMetrics): Promise<DeliveryMetrics> {
  return vi.waitFor(
    async () => {
      const after = await bed.metrics();
      const sum = ({ records }: DeliveryMetrics) => records.delivered + records.failed;
      expect(sum(after) - sum(before)).toBe(more);
      return after;
    },
    { timeout: 10_000 },
  );
}

describe('the sender', () => {
  it('sends a cycle as exactly one request in batch mode, byte for byte, however large it is', async () => {
    await bed.configure({ url: url(), 'batch-mode': true });
    const before = await bed.settled();
    // The hashes do not compress: the last is more than a message holds, and goes through S3.
    await bed.collect(1, 500, 30_000);
    const after = await bed.settled();
    expect(receiver.requests.map(({ body }) => recordIds(body).length).sort((a, b) => a - b)).toEqual([
      1, 500, 30_000,
    ]);
    const ids = seenIds();
    const smallest = ids[0] as number;
    const one = receiver.requests.find(({ body }) => recordIds(body).length === 1);
    expect(one?.body).toEqual(
      Buffer.concat([Buffer.from('['), makeRecords(smallest, 1).bytes, Buffer.from(']')]),
    );
    expect(after.records.delivered - before.records.delivered).toBe(30_501);
    expect(after.requests.delivered - before.requests.delivered).toBe(3);
  });

  it('sends the configured headers as they are written, and its own', async () => {
    await bed.configure({
      url: url('/status/200?x=1#y'),
      headers: { 'X-Key': 'the secret', 'x-lower': 'a b', 'User-Agent': 'mine' },
      'auth-header': 'ApiKey abc=',
    });
    const before = await bed.settled();
    await bed.collect(1);
    const after = await bed.settled();
    expect(after.records.delivered - before.records.delivered).toBe(1);
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: 'POST', target: '/status/200?x=1' });
    expect(request?.headers).toEqual([
      ['Host', `127.0.0.1:${receiver.port}`],
      ['Content-Type', 'application/json'],
      ['Authorization', 'ApiKey abc='],
      ['X-Key', 'the secret'],
      ['x-lower', 'a b'],
      ['User-Agent', 'mine'],
      ['Content-Length', String(request?.body.length)],
    ]);
  });

  it('logs each failed record once, and neither header values nor bodies', async () => {
    const written: string[] = [];
    const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
    try {
      await bed.configure({
        url: url('/status/503'),
        headers: { 'X-Key': 'planted-header' },
        'auth-header': 'Bearer planted-token',
      });
      await bed.collect(4);
      await bed.settled();
      // The counters are written before the invocation ends, its log at its end.
      await vi.waitFor(() => expect(written.join('').split('not delivered').length - 1).toBe(4), WRITTEN);
    } finally {
      spy.mockRestore();
    }
    const log = written.join('');
    const lines = log.split('\n').filter((line) => line.includes('record not delivered'));
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      Array.from({ length: 4 }, () =>
        expect.objectContaining({ reason: 'http-5xx', 'response-code': 503, records: 1, 'device-id': 3 }),
      ),
    );
    // The control: what was planted did reach the receiver, so a log that held it would have it to hold.
    expect(receiver.requests[0]?.headers).toContainEqual(['Authorization', 'Bearer planted-token']);
    expect(receiver.requests[0]?.body.toString()).toContain('oper-status');
    for (const secret of ['planted-header', 'planted-token', 'oper-status', 'data-hash']) {
      expect(log).not.toContain(secret);
    }
  });

  it('counts a failed batch with every record of it, and logs it once', async () => {
    const spy = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
    await bed.configure({ url: url('/status/500'), 'batch-mode': true });
    const before = await bed.settled();
    await bed.collect(7);
    const after = await bed.settled();
    const notDelivered = () =>
      spy.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('not delivered'));
    await vi.waitFor(() => expect(notDelivered()).not.toEqual([]), WRITTEN);
    const lines = notDelivered();
    spy.mockRestore();
    expect(
      after.records['failed-by-reason']['http-5xx'] - before.records['failed-by-reason']['http-5xx'],
    ).toBe(7);
    expect(lines.length).toBe(1);
    expect(JSON.parse(lines[0] as string)).toMatchObject({ records: 7 });
  });

  it('continues a message where a sender died: what was claimed is interrupted, the rest is sent', async () => {
    await bed.configure({ url: url() });
    const before = await bed.settled();
    const id = randomUUID();
    const packedAt = Date.now();
    const head = { id, packedAt, requests: 10, records: 10 };
    const tally = new DeliveryTally();
    tally.add('records.taken', 10);
    tally.add('requests.taken', 10);
    await runAs('deliver-webhook', () =>
      advanceDelivery(
        head,
        undefined,
        {
          holder: 'one that died',
          settled: { requests: 0, records: 0 },
          claimed: { requests: 4, records: 4 },
          until: Date.now() - 1,
        },
        tally,
      ),
    );
    await runAs('worker', () => sendDelivery({ id, packedAt }, requestsOf(900_001, 10)));
    const after = await outcomes(10, before);
    expect(seenIds()).toEqual([900_005, 900_006, 900_007, 900_008, 900_009, 900_010]);
    expect(after.records.delivered - before.records.delivered).toBe(6);
    expect(
      after.records['failed-by-reason'].interrupted - before.records['failed-by-reason'].interrupted,
    ).toBe(4);
    expect(after.records.queued - before.records.queued).toBe(10);
  });

  it('sends a message that the queue holds twice only once', async () => {
    await bed.configure({ url: url() });
    const before = await bed.settled();
    const head = { id: randomUUID(), packedAt: Date.now() };
    await runAs('worker', () => sendDelivery(head, requestsOf(910_001, 5)));
    await outcomes(5, before);
    await runAs('worker', () => sendDelivery(head, requestsOf(910_001, 5)));
    // One that comes after the second copy shows that the copy has been taken.
    await bed.collect(1);
    const after = await outcomes(6, before);
    expect(receiver.requests.length).toBe(6);
    expect(after.records.delivered - before.records.delivered).toBe(6);
  });

  it('drops what is older than max-age without a request', async () => {
    await bed.configure({ url: url() });
    const before = await bed.settled();
    const head = { id: randomUUID(), packedAt: Date.now() - 301_000 };
    await runAs('worker', () => sendDelivery(head, requestsOf(920_001, 3)));
    await vi.waitFor(async () => {
      const after = await bed.metrics();
      expect(after.records['failed-by-reason'].expired - before.records['failed-by-reason'].expired).toBe(3);
    });
    expect(receiver.requests).toEqual([]);
  });

  it('fails what is queued when the output is disabled, and builds nothing more', async () => {
    await bed.configure({ url: url() }, false);
    const before = await bed.settled();
    await runAs('worker', () =>
      sendDelivery({ id: randomUUID(), packedAt: Date.now() }, requestsOf(930_001, 3)),
    );
    await bed.collect(5);
    await vi.waitFor(async () => {
      const after = await bed.metrics();
      expect(after.records['failed-by-reason'].disabled - before.records['failed-by-reason'].disabled).toBe(
        3,
      );
      expect(after.records.collected - before.records.collected).toBe(3);
    });
    expect(receiver.requests).toEqual([]);
  });

  it('stops sending soon after the output is disabled, however large a wave a faster receiver had earned', async () => {
    // Waves double while they are short.
    await bed.configure({ url: url() });
    await bed.collect(4_000);
    await bed.settled();
    receiver.requests.length = 0;
    await bed.configure({ url: url('/never'), 'timeout-ms': 500 });
    const before = await bed.settled();
    await bed.collect(3_000);
    await vi.waitFor(() => expect(receiver.requests.length).toBeGreaterThan(0), { timeout: 5_000 });
    await bed.configure({ url: url('/never'), 'timeout-ms': 500 }, false);
    const after = await bed.settled();
    const { timeout, disabled } = after.records['failed-by-reason'];
    const timedOut = timeout - before.records['failed-by-reason'].timeout;
    expect(disabled - before.records['failed-by-reason'].disabled).toBe(3_000 - timedOut);
    // Two seconds of 64 connections and half a second a request are 320; a wave of 2,048 would be all of them.
    expect(timedOut).toBeLessThanOrEqual(960);
    expect(receiver.requests.length).toBe(timedOut);
  });

  it('counts dead letters as interrupted, once, and only what had no outcome', async () => {
    const before = await bed.settled();
    const id = randomUUID();
    const head = { id, packedAt: Date.now(), requests: 8, records: 20 };
    const event = {
      Records: [
        { messageId: 'm', body: formatDeliveryMessage({ ...head, payload: new Uint8Array([1, 2, 3]) }) },
      ],
    } as unknown as SQSEvent;
    const tally = new DeliveryTally();
    tally.add('records.taken', 20);
    tally.add('requests.taken', 8);
    tally.add('records.delivered', 5);
    tally.add('requests.delivered', 2);
    await runAs('deliver-webhook', () =>
      advanceDelivery(
        head,
        undefined,
        {
          holder: 'one that died',
          settled: { requests: 2, records: 5 },
          claimed: { requests: 4, records: 9 },
          until: 0,
        },
        tally,
      ),
    );
    for (let times = 0; times < 2; times += 1) {
      const result = await runAs('count-undelivered', () => countUndelivered(event));
      expect(result).toEqual({ batchItemFailures: [] });
    }
    const after = await bed.settled();
    expect(
      after.records['failed-by-reason'].interrupted - before.records['failed-by-reason'].interrupted,
    ).toBe(15);
    expect(after.records.queued - before.records.queued).toBe(20);
  });

  it('detects with a HEAD that carries no authorization and no header of the configuration', async () => {
    await bed.configure({ url: url('/status/405'), headers: { 'X-Key': 'k' }, 'auth-header': 'Bearer t' });
    const { body } = await bed.detect();
    expect(body).toEqual({ url: url('/status/405'), 'response-code': 405, ms: expect.any(Number) });
    expect(receiver.requests).toEqual([
      {
        method: 'HEAD',
        target: '/status/405',
        headers: [['Host', `127.0.0.1:${receiver.port}`]],
        body: Buffer.alloc(0),
      },
    ]);
  });
});

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeliveryMetrics } from '../../../core/delivery-metrics.ts';
import { FAILURE_REASONS } from '../../../core/delivery-outcome.ts';
import { type DeliveryBed, type DeliveryBedOptions, startDeliveryBed } from './delivery-bed.ts';
import { DELIVERY_CASES } from './delivery-cases.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { recordIds } from './records.ts';

const CA = join(import.meta.dirname, '../../vectors/tls/ca.pem');
const RECORDS = 3;

/** Runs the list of receivers' faults against one kind of bed. */
export function describeDelivery(kind: DeliveryBedOptions['kind']): void {
  describe(`a receiver, to the sender as ${kind}`, () => {
    let bed: DeliveryBed;
    const receivers = new Map<string, Receiver>();

    beforeAll(async () => {
      // Where OpenSSL looks for what the system trusts: our CA is only there.
      process.env['SSL_CERT_FILE'] = CA;
      bed = await startDeliveryBed({ kind });
      for (const certificate of new Set(DELIVERY_CASES.map((each) => each.certificate ?? ''))) {
        receivers.set(certificate, await startReceiver(certificate === '' ? {} : { certificate }));
      }
    });

    afterAll(async () => {
      for (const receiver of receivers.values()) await receiver.stop();
      await bed.stop();
    });

    for (const each of DELIVERY_CASES) {
      const outcome = each.reason === null ? 'delivers' : `fails as ${each.reason}`;
      it(`${outcome}: ${each.name}`, async () => {
        const receiver = receivers.get(each.certificate ?? '') as Receiver;
        receiver.requests.length = 0;
        const before = await bed.settled();
        await bed.configure({
          url: each.url?.replace('PORT', String(receiver.port)) ?? receiver.url(each.path, '127.0.0.1'),
          ...(each.method === undefined ? {} : { method: each.method }),
          'timeout-ms': each.timeoutMilliseconds ?? 5_000,
        });
        await bed.collect(RECORDS);
        const after = await bed.settled();
        const delta = difference(before, after);
        expect(delta).toEqual({
          queued: RECORDS,
          delivered: each.reason === null ? RECORDS : 0,
          failed: each.reason === null ? {} : { [each.reason]: RECORDS },
          redirects: each.redirects === true ? RECORDS : 0,
        });
        expect(after.records.failed).toBe(
          Object.values(after.records['failed-by-reason']).reduce((sum, records) => sum + records, 0),
        );
        if (each.detail !== undefined) expect(after['last-failure']?.detail).toMatch(each.detail);
        if (each.isSeen === false) {
          expect(receiver.requests).toEqual([]);
          return;
        }
        const ids = receiver.requests.flatMap((request) => recordIds(request.body));
        expect(ids.length).toBe(RECORDS);
        expect(new Set(ids).size).toBe(RECORDS);
        for (const request of receiver.requests) {
          expect(request.method).toBe(each.method === undefined || each.method === '' ? 'POST' : each.method);
          expect(request.headers).toContainEqual(['Content-Type', 'application/json']);
        }
      });
    }
  });
}

function difference(before: DeliveryMetrics, after: DeliveryMetrics) {
  const failed: Record<string, number> = {};
  for (const reason of FAILURE_REASONS) {
    const more = after.records['failed-by-reason'][reason] - before.records['failed-by-reason'][reason];
    if (more !== 0) failed[reason] = more;
  }
  return {
    queued: after.records.queued - before.records.queued,
    delivered: after.records.delivered - before.records.delivered,
    failed,
    redirects: after.requests.redirects - before.requests.redirects,
  };
}

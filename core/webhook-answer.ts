import * as z from 'zod';
import { count, everyOf, maskedSecret, stated, time } from './answer.ts';
import type { DeliveryMetrics } from './delivery-metrics.ts';
import { FAILURE_REASONS, type NoAnswerReason } from './delivery-outcome.ts';
import { webhookConfiguration } from './webhook-request.ts';

export const webhookAnswer = z.strictObject({
  enabled: z.boolean(),
  config: z.strictObject({
    ...stated(webhookConfiguration.shape),
    headers: z.record(z.string(), z.string()),
    'auth-header': maskedSecret,
  }),
});

const NO_ANSWER_REASONS = everyOf<NoAnswerReason>()(['dns', 'connect', 'tls', 'timeout', 'reset', 'blocked']);

export const detectAnswer = z.strictObject({
  url: z.string(),
  'response-code': z.int().min(100).max(999).nullable().meta({ description: 'Null: no answer came' }),
  reason: z.enum(NO_ANSWER_REASONS).optional().meta({ description: 'Why no answer came' }),
  detail: z.string().optional().meta({ description: 'The same in a sentence' }),
  ms: count,
});

const milliseconds = z.number().min(0).nullable();

export const deliveryMetricsAnswer = z.strictObject({
  since: time,
  records: z.strictObject({
    collected: count,
    queued: count,
    delivered: count,
    failed: count,
    'failed-by-reason': z.record(z.enum(FAILURE_REASONS), count),
  }),
  requests: z.strictObject({ sent: count, delivered: count, failed: count, redirects: count }),
  'bytes-sent': count,
  'latency-ms': z.strictObject({
    p50: milliseconds,
    p90: milliseconds,
    p99: milliseconds,
    max: milliseconds,
  }),
  queue: z.strictObject({ requests: count, 'oldest-age-seconds': count }),
  'last-success': time.nullable(),
  'last-failure': z
    .strictObject({
      at: time,
      reason: z.enum(FAILURE_REASONS),
      'response-code': z.int().nullable(),
      detail: z.string(),
    })
    .nullable(),
}) satisfies z.ZodType<DeliveryMetrics>;

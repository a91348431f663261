import * as z from 'zod';
import { count, everyOf, integerId, stated, time } from './answer.ts';
import { labelsAnswer } from './device-answer.ts';
import type { SubscriptionReason } from './subscription.ts';
import { subscriptionConfiguration } from './subscription-request.ts';

const REASONS = everyOf<SubscriptionReason>()([
  '',
  'disabled',
  'no-active-version',
  'model-inactive',
  'no-devices',
  'no-mapping',
  'no-worker',
]);

const stream = z.strictObject({
  'device-id': integerId,
  device: z.string(),
  state: z.enum(['idle', 'connecting', 'streaming', 'polling', 'backoff']),
  reason: z.string(),
  protocol: z.enum(['', 'gnmi', 'snmp']),
  'mapping-id': integerId.nullable(),
  'model-version': z.string(),
  encoding: z.string(),
  'last-success': time.nullable(),
  'last-error': z.strictObject({ code: z.string(), detail: z.string(), at: time }).nullable(),
  updates: count,
  rows: count,
  records: count,
  drops: count,
  'coercion-errors': count,
  'cycle-incomplete': count,
  'clock-skew': count,
  'unmatched-paths': z.array(z.string()),
});

export const subscriptionAnswer = z.strictObject({
  id: integerId,
  ...stated(subscriptionConfiguration.shape),
  devices: z.strictObject({ ids: z.array(integerId), labels: labelsAnswer }),
  'model-id': integerId.nullable(),
  reason: z.enum(REASONS),
  status: z.array(stream).meta({ description: 'One entry for each device that the subscription selects' }),
});

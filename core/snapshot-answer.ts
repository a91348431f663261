import * as z from 'zod';
import { integerId, time } from './answer.ts';

/** The JSON answer of a model's snapshot. */
export const snapshotAnswer = z.strictObject({
  'model-id': integerId,
  'model-name': z.string(),
  version: z.string(),
  'taken-at': time,
  fields: z.array(z.string()).meta({ description: "The names of the model's fields, in its order" }),
  rows: z.array(
    z.strictObject({
      device: z.string(),
      'device-id': integerId,
      path: z.string(),
      key: z.string(),
      timestamp: time,
      data: z.record(z.string(), z.unknown()),
    }),
  ),
  'missing-devices': z.array(
    z.strictObject({
      'device-id': integerId,
      reason: z.string().meta({
        description:
          'no-owner, no-worker, no-answer, no-rows, too-large, the code of the last fault, or why the subscription idles',
      }),
    }),
  ),
});

import * as z from 'zod';
import { count, integerId, time } from './answer.ts';
import { FAULT_CODES, type Fault, type RawUpdate } from './live-test.ts';
import { PROTOCOLS } from './model.ts';

const fault = z.strictObject({
  code: z.enum(FAULT_CODES),
  detail: z.string(),
}) satisfies z.ZodType<Fault>;

const rawUpdate = z.strictObject({
  timestamp: z.string(),
  path: z.string(),
  type: z.string(),
  value: z.string().meta({ description: 'As text, so that no digit is lost' }),
}) satisfies z.ZodType<RawUpdate>;

/** A row as the mapping made it; `data` holds numbers with all of their digits. */
const row = z.strictObject({
  path: z.string(),
  key: z.string(),
  timestamp: time,
  data: z.record(z.string(), z.unknown()),
});

const explanation = z.strictObject({
  protocol: z.enum(PROTOCOLS),
  rpc: z.string(),
  encoding: z.string(),
  sync: z.boolean(),
  updates: count,
  ms: z.number().min(0),
  truncated: z.boolean(),
  fields: z.array(
    z.strictObject({
      field: z.string(),
      path: z.string(),
      alternative: z.int().min(0),
      updates: count,
      'coercion-errors': z.array(z.strictObject({ code: z.string(), count })),
    }),
  ),
  'unmatched-paths': z.array(z.string()),
  'skipped-paths': z
    .array(z.strictObject({ field: z.string(), path: z.string(), code: z.string(), detail: z.string() }))
    .optional()
    .meta({ description: 'Paths that were not asked for, because they cannot be read' }),
  'advertised-encodings': z
    .array(z.string())
    .optional()
    .meta({ description: 'gNMI: what the target says that it can do' }),
  attempts: z
    .array(z.strictObject({ rpc: z.string(), encoding: z.string(), reason: z.string() }))
    .optional()
    .meta({ description: 'gNMI: each way that was tried and gave nothing, with why' }),
});

export const liveTestAnswer = z.strictObject({
  'device-id': integerId,
  device: z.string(),
  'mapping-id': integerId,
  'model-name': z.string(),
  'model-version': z.string(),
  outcome: z.enum(['ok', 'empty', 'failed']),
  error: fault.nullable(),
  'parsed-results': z.array(row),
  'raw-updates': z.array(rawUpdate),
  explanation: explanation.meta({
    description: 'What was asked and what came, so that silence is explained',
  }),
});

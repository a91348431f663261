import * as z from 'zod/mini';
import { refusal, whenRight } from './body.ts';
import { zeroOr } from './bounded-number.ts';
import { flag } from './flag.ts';
import { labels } from './labels.ts';
import { parseVersion, VERSION_PATTERN } from './model-version.ts';
import { description, name } from './name.ts';
import { LATEST } from './subscription.ts';

export const SUBSCRIPTION_READ_ONLY = ['id', 'model-id', 'reason', 'status'] as const;

const MIN_INTERVAL_MILLISECONDS = 1_000;
const MAX_INTERVAL_MILLISECONDS = 86_400_000;

const milliseconds = (meaningOfZero: string) =>
  zeroOr(MIN_INTERVAL_MILLISECONDS, MAX_INTERVAL_MILLISECONDS, ' milliseconds', meaningOfZero);

export const subscriptionConfiguration = z
  .strictObject({
    name,
    description,
    enabled: flag,
    'model-name': name,
    'model-version': z
      .string()
      .check(
        z.refine((value) => value === LATEST || parseVersion(value) !== undefined, {
          error: 'model-version is "latest" or a version as "1.2.0"',
        }),
      )
      .register(z.globalRegistry, {
        legal: '"latest" or a version as "1.2.0"',
        anyOf: [{ const: LATEST }, { pattern: VERSION_PATTERN }],
      }),
    devices: z
      .prefault(
        z.strictObject({
          ids: z
            ._default(
              z
                .array(
                  z
                    .int()
                    .check(z.minimum(1), z.maximum(999_999_999_999_999))
                    .register(z.globalRegistry, { legal: "a device's id" }),
                )
                .check(z.maxLength(10_000)),
              [],
            )
            .register(z.globalRegistry, { legal: 'a list of at most 10000 device ids' }),
          labels: z.prefault(labels, {}),
        }),
        {},
      )
      .register(z.globalRegistry, { legal: 'device ids and labels' }),
    protocol: z
      ._default(z.enum(['', 'gnmi', 'snmp']), '')
      .register(z.globalRegistry, { legal: 'empty (whichever fits), gnmi or snmp' }),
    mode: z
      .enum(['sample', 'on-change', 'poll'])
      .register(z.globalRegistry, { legal: 'sample, on-change or poll' }),
    'interval-ms': milliseconds('only with on-change'),
    'heartbeat-ms': milliseconds('off'),
  })
  .check(
    z.superRefine(
      (subscription, context) => {
        if (subscription.mode !== 'on-change' && subscription['interval-ms'] === 0) {
          context.addIssue({
            code: 'custom',
            ...refusal('out-of-range'),
            path: ['interval-ms'],
            message: `interval-ms is ${MIN_INTERVAL_MILLISECONDS} to ${MAX_INTERVAL_MILLISECONDS} milliseconds in mode ${subscription.mode}`,
          });
        }
      },
      whenRight('mode', 'interval-ms'),
    ),
    z.superRefine(
      (subscription, context) => {
        if (subscription.protocol === 'snmp' && subscription.mode === 'on-change') {
          context.addIssue({
            code: 'custom',
            ...refusal('invalid-format'),
            path: ['mode'],
            message: 'SNMP is polled; on-change needs gNMI',
          });
        }
      },
      whenRight('mode', 'protocol'),
    ),
  );

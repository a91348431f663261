import * as z from 'zod/mini';
import { AS_NUMBER_PATTERN, asNumberRefusal, parseAsNumber } from './as-number.ts';
import { refusal } from './body.ts';
import { isRouterId } from './engine-settings.ts';

/** Members of GET /api/engine that a PUT ignores. */
export const ENGINE_READ_ONLY = ['version', 'workers'] as const;

/** What people may set for the whole engine; zero and empty stand for the default. */
export const engineConfiguration = z.strictObject({
  'local-as': z
    ._default(
      z.string().check(
        z.superRefine((value, context) => {
          if (value === '') return;
          const parsed = parseAsNumber(value);
          const reason = parsed === undefined ? 'local-as is empty or an AS number' : asNumberRefusal(parsed);
          const code = parsed === undefined ? 'invalid-format' : 'out-of-range';
          if (reason !== undefined) context.addIssue({ code: 'custom', ...refusal(code), message: reason });
        }),
      ),
      '',
    )
    .register(z.globalRegistry, {
      legal: 'empty (each session uses its peer’s AS) or an AS number in a string',
      anyOf: [{ const: '' }, { pattern: AS_NUMBER_PATTERN }],
    }),
  'router-id': z
    ._default(
      z.string().check(
        z.refine((value) => value === '' || isRouterId(value), {
          error: 'router-id is a dotted quad other than 0.0.0.0',
        }),
      ),
      '',
    )
    .register(z.globalRegistry, {
      legal: 'a dotted quad in a string; empty keeps the stored one',
      anyOf: [{ const: '' }, { format: 'ipv4' }],
    }),
  'stale-time': zeroOr(3600, '0 (meaning 120) or 1 to 3600 seconds'),
  'max-nlri': zeroOr(10_000_000, '0 (meaning 5000000) or 1 to 10000000'),
});

function zeroOr(maximum: number, legal: string) {
  const isWithin = (value: number) => value >= 0 && value <= maximum;
  return z
    ._default(z.int().check(z.refine(isWithin, { ...refusal('out-of-range'), error: '' })), 0)
    .register(z.globalRegistry, { legal, minimum: 0, maximum });
}

import * as z from 'zod';
import { AS_NUMBER_PATTERN, asNumberRefusal, parseAsNumber } from './as-number.ts';
import { refusal } from './body.ts';
import { parseIpAddress } from './ip-address.ts';

/** Members of GET /api/engine that a PUT ignores. */
export const ENGINE_READ_ONLY = ['version', 'workers'] as const;

/** What people may set for the whole engine; zero and empty stand for the default. */
export const engineConfiguration = z.strictObject({
  'local-as': z
    .string()
    .superRefine((value, context) => {
      if (value === '') return;
      const parsed = parseAsNumber(value);
      const reason = parsed === undefined ? 'local-as is empty or an AS number' : asNumberRefusal(parsed);
      const code = parsed === undefined ? 'invalid-format' : 'out-of-range';
      if (reason !== undefined) context.addIssue({ code: 'custom', ...refusal(code), message: reason });
    })
    .default('')
    .meta({
      legal: 'empty (each session uses its peer’s AS) or an AS number in a string',
      anyOf: [{ const: '' }, { pattern: AS_NUMBER_PATTERN }],
    }),
  'router-id': z
    .string()
    .refine((value) => value === '' || isRouterId(value), {
      error: 'router-id is a dotted quad other than 0.0.0.0',
    })
    .default('')
    .meta({
      legal: 'a dotted quad in a string; empty keeps the stored one',
      anyOf: [{ const: '' }, { format: 'ipv4' }],
    }),
  'stale-time': zeroOr(3600, '0 (meaning 120) or 1 to 3600 seconds'),
  'max-nlri': zeroOr(10_000_000, '0 (meaning 5000000) or 1 to 10000000'),
});

export type EngineConfiguration = z.output<typeof engineConfiguration>;

export interface EngineSettings extends EngineConfiguration {
  readonly revision: number;
}

/** A router id for an engine that was given none: 10.x.y.z from three bytes of chance. */
export function routerIdFrom(bytes: Uint8Array): string {
  return `10.${bytes[0]}.${bytes[1]}.${Math.max(1, bytes[2] as number)}`;
}

/** RFC 6286 §2.1: four octets, not zero. */
export function isRouterId(text: string): boolean {
  return parseIpAddress(text)?.family === 4 && text !== '0.0.0.0';
}

function zeroOr(maximum: number, legal: string) {
  return z
    .int()
    .refine((value) => value >= 0 && value <= maximum, { ...refusal('out-of-range'), error: '' })
    .default(0)
    .meta({ legal, minimum: 0, maximum });
}

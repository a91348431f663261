import * as z from 'zod/mini';
import { refusal } from './body.ts';

/** A number within bounds, or 0 for what `meaningOfZero` says; 0 when omitted. */
export const zeroOr = (minimum: number, maximum: number, unit: string, meaningOfZero: string) =>
  z
    ._default(
      z.int().check(
        z.refine((value) => value === 0 || (value >= minimum && value <= maximum), {
          ...refusal('out-of-range'),
          error: '',
        }),
      ),
      0,
    )
    .register(z.globalRegistry, {
      legal: `0 (${meaningOfZero}) or ${minimum} to ${maximum}${unit}`,
      anyOf: [{ const: 0 }, { minimum, maximum }],
    });

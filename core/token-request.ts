import * as z from 'zod/mini';
import { name } from './name.ts';
import { SCOPES } from './token.ts';

export const TOKEN_READ_ONLY = ['id', 'created-at', 'token'] as const;

/** What is asked for when a token is made; `expires-at` null: never. */
export const tokenRequest = z.strictObject({
  name,
  scope: z.enum(SCOPES).register(z.globalRegistry, { legal: 'read, write or admin' }),
  'expires-at': z
    ._default(z.nullable(z.iso.datetime()), null)
    .register(z.globalRegistry, { legal: 'null or a UTC time as 2027-01-31T00:00:00Z' }),
});

export type TokenRequest = z.output<typeof tokenRequest>;

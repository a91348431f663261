import { invalidBody } from './problem.ts';

/** What a stored secret reads as; sent back, it means "as stored". */
export const SECRET_MASK = '********';

/**
 * What a stored secret is told from others by: the nonce that it was encrypted with when somebody set it, which stays when
 * the keyring is rotated. The text as a whole changes then, though the secret does not.
 */
export function secretIdentity(stored: string): string {
  return stored.split(':')[2] ?? stored;
}

/** What a write does to one stored secret. */
export type SecretChange =
  | { readonly kind: 'keep' }
  | { readonly kind: 'clear' }
  | { readonly kind: 'set'; readonly value: string };

/**
 * What the value of a write-only member asks for: the mask keeps, empty clears, anything else sets.
 * The mask where nothing is stored is a mistake worth telling: 400 `mask-without-secret`.
 */
export function secretChange(member: string, value: string, isStored: boolean): SecretChange {
  if (value === '') return { kind: 'clear' };
  if (value !== SECRET_MASK) return { kind: 'set', value };
  if (isStored) return { kind: 'keep' };
  throw invalidBody([
    {
      pointer: `/${member}`,
      code: 'mask-without-secret',
      detail: `${member} is the mask, but none is stored that it could keep`,
    },
  ]);
}

import * as z from 'zod/mini';
import { refusal } from './body.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** A name that people and logs can show: 1 to 255 characters, not blank, no control characters. */
export const name = z
  .string()
  .check(
    z.superRefine((value, context) => {
      const add = (code: 'out-of-range' | 'invalid-format', message: string) =>
        context.addIssue({ code: 'custom', ...refusal(code), message });
      const length = [...value].length;
      if (length === 0 || length > 255) add('out-of-range', 'name is 1 to 255 characters');
      else if (value.trim() === '') add('invalid-format', 'name is not blank');
      else if (CONTROL.test(value) || !value.isWellFormed()) {
        add('invalid-format', 'name has no control characters');
      }
    }),
  )
  .register(z.globalRegistry, {
    legal: 'text of 1 to 255 characters',
    minLength: 1,
    maxLength: 255,
    pattern:
      '^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u0020\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff][^\\u0000-\\u001f\\u007f-\\u009f]*$',
  });

const text = z.string().check(
  z.refine((value) => [...value].length <= 1024, {
    ...refusal('out-of-range'),
    error: 'description is at most 1024 characters',
  }),
  z.refine((value) => value.isWellFormed(), { error: 'description is well-formed Unicode' }),
);

const LEGAL_DESCRIPTION = { legal: 'text of at most 1024 characters', maxLength: 1024 };

/** Free text: at most 1,024 characters. */
export const description = z._default(text, '').register(z.globalRegistry, LEGAL_DESCRIPTION);

/** The same, which stays as it is when omitted. */
export const newDescription = z.optional(text);

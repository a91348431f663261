import * as z from 'zod';
import { refusal } from './body.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** A name that people and logs can show: 1 to 255 characters, not blank, no control characters. */
export const name = z
  .string()
  .superRefine((value, context) => {
    const length = [...value].length;
    if (length === 0 || length > 255) {
      context.addIssue({
        code: 'custom',
        ...refusal('out-of-range'),
        message: 'name is 1 to 255 characters',
      });
    } else if (value.trim() === '') {
      context.addIssue({ code: 'custom', ...refusal('invalid-format'), message: 'name is not blank' });
    } else if (CONTROL.test(value) || !value.isWellFormed()) {
      context.addIssue({
        code: 'custom',
        ...refusal('invalid-format'),
        message: 'name has no control characters',
      });
    }
  })
  .meta({
    legal: 'text of 1 to 255 characters',
    minLength: 1,
    maxLength: 255,
    pattern:
      '^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u0020\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff][^\\u0000-\\u001f\\u007f-\\u009f]*$',
  });

/** Free text: at most 1,024 characters. */
export const description = z
  .string()
  .refine((value) => [...value].length <= 1024, {
    ...refusal('out-of-range'),
    error: 'description is at most 1024 characters',
  })
  .refine((value) => value.isWellFormed(), { error: 'description is well-formed Unicode' })
  .default('')
  .meta({ legal: 'text of at most 1024 characters', maxLength: 1024 });

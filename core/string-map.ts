import * as z from 'zod/mini';
import { refusal } from './body.ts';
import type { MemberErrorCode } from './problem.ts';

/** Members of an object in the order they came. A list of pairs, because a member may be called `__proto__`. */
export type StringEntries = ReadonlyArray<readonly [name: string, value: string]>;

/**
 * A JSON object whose members are all text, read as pairs. `refuse` gives the reason why a member is not allowed;
 * `members` and `names` say in JSON Schema what it checks.
 */
export function stringMap(
  member: string,
  refuse: (name: string, value: string) => string | undefined,
  maxEntries: number,
  { legal, members, names }: { readonly legal: string; readonly members: object; readonly names?: object },
) {
  return z
    .pipe(
      z.unknown(),
      z.transform((value, context): StringEntries => {
        const add = (code: MemberErrorCode, path: string[], message: string) =>
          context.issues.push({ code: 'custom', ...refusal(code), path, message, input: value });
        if (typeof value !== 'object' || value === null || Array.isArray(value)) {
          if (value === undefined) add('required', [], `${member} is required`);
          else add('wrong-type', [], `${member} is an object of names and texts`);
          return z.NEVER;
        }
        const entries = Object.entries(value) as [string, string][];
        if (entries.length > maxEntries)
          add('out-of-range', [], `${member} has at most ${maxEntries} members`);
        for (const [name, text] of entries) {
          if (typeof text !== 'string') add('wrong-type', [name], `${name} is text`);
          else if (!name.isWellFormed() || !text.isWellFormed()) {
            add('invalid-format', [name], `${member} is well-formed Unicode`);
          } else {
            const reason = refuse(name, text);
            if (reason !== undefined) add('invalid-format', [name], reason);
          }
        }
        return entries;
      }),
    )
    .register(z.globalRegistry, {
      legal,
      type: 'object',
      additionalProperties: members,
      maxProperties: maxEntries,
      ...(names === undefined ? {} : { propertyNames: names }),
    });
}

/** The pairs as an object; every name is a member of its own, `__proto__` too. */
export function toObject(entries: StringEntries): Record<string, string> {
  return Object.fromEntries(entries);
}

import type * as z from 'zod';

/**
 * What was stored, with the members of this version of the code: those that came later than what is stored as if a body
 * had omitted them, and without those that only a later version knows. So a version may add members without rewriting
 * what is stored, beside the version before it. `elsewhere`: members that are stored in another place.
 */
export function withMembersOf<Stored extends object>(
  schema: z.ZodObject,
  stored: Stored,
  elsewhere: readonly string[] = [],
): Stored {
  const known = Object.keys(schema.shape).filter((member) => !elsewhere.includes(member));
  if (Object.keys(stored).length === known.length && known.every((member) => member in stored)) return stored;
  const members = known.flatMap((member) => {
    if (member in stored) return [[member, stored[member as keyof Stored]]];
    const { success, data } = (schema.shape[member] as z.ZodType).safeParse(undefined);
    return success ? [[member, data]] : [];
  });
  return Object.fromEntries(members) as Stored;
}

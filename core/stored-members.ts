/** A noun's members in the order in which people read them, each with what it is when omitted; undefined: it never is. */
export type Members<Configuration extends object> = {
  readonly [Member in keyof Configuration]: Configuration[Member] | undefined;
};

/** The members in the order of the declaration: what was stored comes back in no order, and people read it in that one. */
export function inDeclaredOrder<Configuration extends object>(
  members: Readonly<Record<string, unknown>>,
  configuration: Configuration,
): Configuration {
  const present = Object.keys(members).filter((member) => member in configuration);
  return Object.fromEntries(
    present.map((member) => [member, configuration[member as keyof Configuration]]),
  ) as Configuration;
}

/**
 * What was stored, with the members of this version of the code: those that came later than what is stored as if a body
 * had omitted them, and without those that only a later version knows. So a version may add members without rewriting
 * what is stored, beside the version before it. `elsewhere`: members that are stored in another place.
 */
export function withMembersOf<Stored extends object>(
  members: Readonly<Record<string, unknown>>,
  stored: Stored,
  elsewhere: readonly string[] = [],
): Stored {
  const known = Object.keys(members).filter((member) => !elsewhere.includes(member));
  if (Object.keys(stored).length === known.length && known.every((member) => member in stored)) return stored;
  const found = known.flatMap((member) => {
    if (member in stored) return [[member, stored[member as keyof Stored]]];
    return members[member] === undefined ? [] : [[member, structuredClone(members[member])]];
  });
  return Object.fromEntries(found) as Stored;
}

/** Flag fields: bits with names. Bits without a name are reserved: written as zero, ignored when read. */

export type Flags<Name extends string> = Readonly<Record<Name, boolean>>;

export interface FlagField<Name extends string> {
  /** The flags that these bits mean. Equal bits give the same frozen object: flags repeat in every object. */
  of(bits: number): Flags<Name>;
  bits(flags: Partial<Flags<Name>>): number;
}

/** A field of some octets; the names from its highest bit down, `null` for a reserved one. */
export function flagField<Name extends string>(
  octets: 1 | 2,
  names: readonly (Name | null)[],
): FlagField<Name> {
  const masks = names
    .map((name, index) => ({ name, mask: 1 << (octets * 8 - 1 - index) }))
    .filter((flag): flag is { name: Name; mask: number } => flag.name !== null);
  const named = masks.reduce((all, { mask }) => all | mask, 0);
  const known: (Flags<Name> | undefined)[] = [];
  return {
    of: (bits) => {
      const meaningful = bits & named;
      let flags = known[meaningful];
      if (flags === undefined) {
        flags = Object.freeze(
          Object.fromEntries(masks.map(({ name, mask }) => [name, (bits & mask) !== 0])),
        ) as Flags<Name>;
        known[meaningful] = flags;
      }
      return flags;
    },
    bits: (flags) => masks.reduce((bits, { name, mask }) => (flags[name] ? bits | mask : bits), 0),
  };
}

/** What a compiled mapping asks of a device, and what of it never came. */
import type { GnmiMapping, GnmiSlot } from '../../core/mapping/compile.ts';
import type { GnmiRows } from '../../core/mapping/gnmi-rows.ts';
import { habitsOf } from '../../protocols/gnmi/netos.ts';
import type { Path } from '../../protocols/gnmi/path.ts';
import type { SubscriptionGroup } from '../../protocols/gnmi/subscribe.ts';

/** A slot's path as a request names it: module prefixes as written. */
export function requestPath({ path }: GnmiSlot): Path {
  const elem = path.elements.map(({ keys }, depth) => ({
    name: path.writtenNames[depth] as string,
    keys: keys.map(({ name, value }) => [name, value] as const),
  }));
  return { origin: path.origin, target: '', elem };
}

/** The slots whose paths an RPC asks for: groups of one subscription differ by their origin. */
export function slotsOfGroup(mapping: GnmiMapping, group: SubscriptionGroup, netos: string): number[] {
  const omitsOrigin = habitsOf(netos).omitOrigin === true;
  return mapping.slots.flatMap(({ path }, slot) =>
    (omitsOrigin ? '' : path.origin) === group.origin ? [slot] : [],
  );
}

/**
 * Paths that brought nothing. Of a field with alternatives none is named once one has brought something, and a list's
 * own key leaf is filled from the rows' keys.
 */
export function unmatchedPaths(mapping: GnmiMapping, rows: GnmiRows): string[] {
  const { slots, skipped } = mapping;
  const fed = new Set(slots.flatMap(({ field }, slot) => (rows.updatesOf(slot) > 0 ? [field] : [])));
  const hasRows = rows.status().rows > 0;
  const unfed = slots.filter((slot) => !fed.has(slot.field) && !(hasRows && isKeyLeaf(slot)));
  return [...unfed.map(({ text }) => text), ...skipped.map(({ path }) => path)];
}

function isKeyLeaf({ path: { elements } }: GnmiSlot): boolean {
  const leaf = elements.at(-1);
  return elements.at(-2)?.keys.some(({ name }) => name === leaf?.name) ?? false;
}

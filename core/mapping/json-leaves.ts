import { type ExactJson, ExactNumber } from '../exact-json.ts';
import { type PathElement, sortedKeys, withoutModule } from './path.ts';
import type { PathIndex, PathMatch } from './path-index.ts';

/**
 * Finds what a JSON value (RFC 7951, or without module prefixes) holds for a mapping: calls `visit` for each member
 * whose path feeds a slot. Entries of a list get their keys from the members that the mapping's path names, as in
 * `/interface[name=*]/mtu`; a list whose keys no path names cannot be told apart and is passed over.
 */
export function forEachLeaf(
  index: PathIndex,
  elements: readonly PathElement[],
  value: ExactJson,
  visit: (elements: readonly PathElement[], match: PathMatch, value: ExactJson) => void,
): void {
  if (value instanceof Map) {
    for (const [name, member] of value) {
      const below = [...elements, { name: withoutModule(name), keys: [] }];
      const match = index.match(below);
      if (match.slots.length > 0) visit(below, match, member);
      if (match.isContainer) forEachLeaf(index, below, member, visit);
    }
  } else if (Array.isArray(value)) {
    const list = elements.at(-1);
    const keyNames = index.keyNamesBelow(elements);
    if (list === undefined || keyNames.length === 0) return;
    for (const entry of value) {
      const keys = keyNames.map((name) => ({ name, value: memberText(entry, name) }));
      if (keys.some((key) => key.value === undefined)) continue;
      const keyed = { name: list.name, keys: sortedKeys(keys as PathElement['keys']) };
      forEachLeaf(index, [...elements.slice(0, -1), keyed], entry, visit);
    }
  }
}

/** JSON text of a value, numbers digit for digit. */
export function formatExactJson(value: ExactJson): string {
  if (value instanceof ExactNumber) return value.source;
  if (Array.isArray(value)) return `[${value.map(formatExactJson).join(',')}]`;
  if (value instanceof Map) {
    const members = [...value].map(([name, member]) => `${JSON.stringify(name)}:${formatExactJson(member)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}

function memberText(entry: ExactJson, name: string): string | undefined {
  if (!(entry instanceof Map)) return undefined;
  const found = [...entry].find(([member]) => withoutModule(member) === name)?.[1];
  if (typeof found === 'string') return found;
  if (found instanceof ExactNumber) return found.source;
  return typeof found === 'boolean' ? String(found) : undefined;
}

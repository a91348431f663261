/** What the numbers of an enumerated object are called (RFC 2578 §7.1.1). */
import type { MibObject } from './mib.ts';
import { CONVENTION_NAMES, OBJECT_NAMES } from './mibs/enumerations.ts';

/** The names of an object's values by their numbers; undefined for one that is no enumeration known here. */
export function enumerationOf({ module, name, convention }: MibObject): Map<number, string> | undefined {
  const text = OBJECT_NAMES[`${module}::${name}`] ?? CONVENTION_NAMES[convention ?? ''];
  return text === undefined
    ? undefined
    : new Map(
        text.split(' ').map((pair): [number, string] => {
          const [label = '', number] = pair.split('=');
          return [Number(number), label];
        }),
      );
}

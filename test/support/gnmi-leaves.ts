/** What a Notification says, leaf by leaf, JSON subtrees taken apart: enough to compare it with a list of values. */
import type { Notification, Value } from '../../protocols/gnmi/notification.ts';
import { bareName } from './gnmi-captures.ts';

export interface Leaf {
  readonly name: string;
  readonly value: string | bigint | number | boolean;
}

export function leavesOf(notification: Notification): readonly Leaf[] {
  return notification.updates.flatMap(({ path, value }) =>
    value === undefined ? [] : leavesOfValue(path.elem.at(-1)?.name ?? '', value),
  );
}

function leavesOfValue(name: string, value: Value): readonly Leaf[] {
  switch (value.kind) {
    case 'json':
    case 'json-ietf':
      return leavesOfJson(name, JSON.parse(value.value, exactNumber));
    case 'decimal':
      // As Telegraf has it: a float32 of the digits, widened.
      return [{ name: bareName(name), value: Math.fround(Number(value.digits) / 10 ** value.precision) }];
    case 'leaf-list':
      return value.values.flatMap((element) => leavesOfValue(name, element));
    case 'bytes':
    case 'any':
    case 'proto-bytes':
      return [{ name: bareName(name), value: Buffer.from(value.value).toString('base64') }];
    default:
      return [{ name: bareName(name), value: value.value }];
  }
}

/** Integers as BigInt, so that none loses digits on the way. */
function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined && /^-?\d+$/.test(context.source)
    ? BigInt(context.source)
    : value;
}

function leavesOfJson(name: string, value: unknown): readonly Leaf[] {
  if (Array.isArray(value)) return value.flatMap((element) => leavesOfJson(name, element));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => leavesOfJson(key, inner));
  }
  return value === null ? [] : [{ name: bareName(name), value: value as Leaf['value'] }];
}

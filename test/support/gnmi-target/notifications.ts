/** Leaves packed into notifications as targets of different habits do. */
import { formatPath, type Path } from '../../../protocols/gnmi/path.ts';
import { pathToMessage } from '../../../protocols/gnmi/path-message.ts';
import type { NotificationMessage, PathMessage, UpdateMessage } from '../../../protocols/gnmi/schema.ts';
import type { Habits } from './habits.ts';
import { encodeLeaf, jsonOf, type LeafValue, type TargetEncoding } from './tree.ts';

/** `JSON.rawJSON` (TC39, JSON.parse source text access), which this TypeScript does not know yet. */
const exactJson = JSON as unknown as { rawJSON(text: string): unknown };

export function notificationOf(init: Partial<NotificationMessage>): NotificationMessage {
  return { $typeName: 'gnmi.Notification', timestamp: 0n, update: [], delete: [], atomic: false, ...init };
}

/** The leaves as a target with these habits packs them: one notification a list entry. */
export function notificationsOf(
  leaves: ReadonlyArray<{ path: Path; value: LeafValue }>,
  encoding: TargetEncoding,
  habits: Habits,
  target: string,
  timestamp: bigint,
): NotificationMessage[] {
  const entries = new Map<string, { path: Path; value: LeafValue }[]>();
  for (const leaf of leaves) {
    const keyed = leaf.path.elem.findLastIndex((elem) => elem.keys.length > 0) + 1;
    const key = formatPath({ ...leaf.path, elem: leaf.path.elem.slice(0, keyed) });
    entries.set(key, [...(entries.get(key) ?? []), leaf]);
  }
  return [...entries.values()].map((entry) => {
    const depth = Math.min(habits.prefixDepth, ...entry.map(({ path }) => path.elem.length));
    const head = (entry[0] as { path: Path }).path.elem.slice(0, depth);
    const hasPrefix = depth > 0 || target !== '';
    const message = (path: Path, from: number): PathMessage =>
      dressed({ ...path, elem: path.elem.slice(from) }, habits, from === 0);
    return notificationOf({
      timestamp,
      atomic: habits.atomic,
      ...(hasPrefix ? { prefix: { ...message({ origin: '', target, elem: head }, 0), target } } : {}),
      update:
        habits.jsonBlobs && (encoding === 'json' || encoding === 'json_ietf')
          ? [blobOf(entry, encoding, (path) => message(path, depth))]
          : entry.map(({ path, value }) => ({
              $typeName: 'gnmi.Update',
              path: message(path, depth),
              val: encodeLeaf(value, encoding, habits.deprecatedNumbers),
              duplicates: 0,
            })),
    });
  });
}

function dressed(path: Path, habits: Habits, isStart: boolean): PathMessage {
  const elem = path.elem.map((each, index) =>
    isStart && index === 0 && habits.modulePrefix !== ''
      ? { ...each, name: `${habits.modulePrefix}:${each.name}` }
      : each,
  );
  if (!habits.stringElements) return pathToMessage({ origin: '', target: '', elem });
  const texts = elem.map((each) => formatPath({ origin: '', target: '', elem: [each] }).slice(1));
  return { ...pathToMessage({ origin: '', target: '', elem: [] }), element: texts };
}

/** One JSON object of everything behind the entry's last element with keys. */
function blobOf(
  entry: ReadonlyArray<{ path: Path; value: LeafValue }>,
  encoding: 'json' | 'json_ietf',
  message: (path: Path) => PathMessage,
): UpdateMessage {
  const first = (entry[0] as { path: Path }).path;
  const keyed = first.elem.findLastIndex((elem) => elem.keys.length > 0) + 1;
  const members: { [name: string]: unknown } = {};
  for (const { path, value } of entry) {
    let at = members;
    for (const { name } of path.elem.slice(keyed, -1)) {
      at[name] ??= {};
      at = at[name] as { [name: string]: unknown };
    }
    at[path.elem.at(-1)?.name as string] = exactJson.rawJSON(jsonOf(value, encoding));
  }
  const json = new TextEncoder().encode(JSON.stringify(members));
  return {
    $typeName: 'gnmi.Update',
    path: message({ ...first, elem: first.elem.slice(0, keyed) }),
    val: {
      $typeName: 'gnmi.TypedValue',
      value: { case: encoding === 'json' ? 'jsonVal' : 'jsonIetfVal', value: json },
    },
    duplicates: 0,
  };
}

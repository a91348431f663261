/** Configurations beside each other: what differs, and which secrets have to be sent. */
import { SECRET_MASK } from '../core/secret.ts';
import { isObject, isSameJson, type JsonObject } from './json-text.ts';
import type { Change, KindPlan } from './plan-steps.ts';
import { formatSecretReference } from './secret-reference.ts';
import { type Kind, valueAt, type Wanted, type WantedSecret } from './wanted.ts';

/** The form in which a current configuration is compared: lists whose order means nothing are sorted. */
export function comparable(kind: Kind, configuration: JsonObject): JsonObject {
  if (kind !== 'subscription') return configuration;
  const devices = configuration['devices'] as JsonObject;
  const ids = [...new Set(devices['ids'] as readonly number[])].sort((a, b) => a - b);
  return { ...configuration, devices: { ...devices, ids } };
}

/** The references of secrets, as the state keeps them. */
export function markers(secrets: ReadonlyMap<string, WantedSecret>): Record<string, string> {
  return Object.fromEntries(
    [...secrets].map(([place, { reference }]) => [place, formatSecretReference(reference)]),
  );
}

/**
 * Secrets that have to go out: those of which none is stored, those that come from another reference than last time, and
 * all of them when `isAll`.
 */
export function secretsToSend(
  secrets: ReadonlyMap<string, WantedSecret>,
  present: JsonObject,
  sent: Readonly<Record<string, string>>,
  isAll: boolean,
): Map<string, WantedSecret> {
  return new Map(
    [...secrets].filter(
      ([place, { reference }]) =>
        isAll || valueAt(present, place) !== SECRET_MASK || sent[place] !== formatSecretReference(reference),
    ),
  );
}

/** What an update changes: differences of members, and secrets by their references. */
export function changesOf(
  present: JsonObject,
  wanted: JsonObject,
  toSend: ReadonlyMap<string, WantedSecret>,
): Change[] {
  return [
    ...differences(present, wanted).filter(({ member }) => !toSend.has(member.replaceAll('.', '/'))),
    ...[...toSend.keys()].map((member) => ({ member, from: undefined, to: SECRET_MASK })),
  ];
}

/** A subscription's configuration with the ids of the devices that it names; `unknown` have none yet. */
export function withDeviceIds(
  wanted: Wanted,
  deviceIds: ReadonlyMap<string, number>,
): { configuration: JsonObject; unknown: string[] } {
  const devices = wanted.configuration['devices'] as JsonObject;
  const ids = new Set(devices['ids'] as readonly number[]);
  const unknown: string[] = [];
  for (const { name } of wanted.deviceNames) {
    const id = deviceIds.get(name);
    if (id === undefined) unknown.push(name);
    else ids.add(id);
  }
  const sorted = [...ids].sort((a, b) => a - b);
  return { configuration: { ...wanted.configuration, devices: { ...devices, ids: sorted } }, unknown };
}

/** What of the wanted members is otherwise; inner objects member by member. */
function differences(present: JsonObject, wanted: JsonObject, prefix = ''): Change[] {
  return Object.entries(wanted).flatMap(([member, to]): Change[] => {
    const from = present[member];
    if (from !== undefined && isSameJson(from, to)) return [];
    const name = prefix + member;
    // Labels and headers are told whole: one that goes is no member of what is wanted.
    const isOpen = member === 'labels' || member === 'headers';
    return isObject(from) && isObject(to) && !isOpen
      ? differences(from, to, `${name}.`)
      : [{ member: name, from, to }];
  });
}

/** Ids of devices as the files call them: those that stay, by their own name, and those that are wanted, by that. */
export function idsByName(
  devices: readonly JsonObject[],
  { matches, removals }: KindPlan,
): Map<string, number> {
  const gone = new Set(removals.map(({ current }) => current));
  const ours = new Set(matches.map(({ current }) => current));
  const ids = new Map(
    devices
      .filter((device) => !gone.has(device) && !ours.has(device))
      .map((device) => [String(device['name']), Number(device['id'])]),
  );
  for (const { wanted, current } of matches) {
    if (current === undefined) ids.delete(wanted.key);
    else ids.set(wanted.key, Number(current['id']));
  }
  return ids;
}

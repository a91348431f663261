import { CONFIG_KEYS, type VersionKind } from '../contract/tables.ts';
import { addToNumber, queryItems } from './table.ts';

/** Tells workers that something of this kind has changed; called after the change is committed. */
export async function announceChange(kind: VersionKind): Promise<void> {
  await addToNumber('config', CONFIG_KEYS.version(kind), 'version', 1);
}

/** How often each kind has changed; a kind that never did is absent. */
export async function readVersions(): Promise<ReadonlyMap<string, number>> {
  const items = await queryItems('config', CONFIG_KEYS.versions);
  return new Map(items.map((item) => [item.sk, item['version'] as number]));
}

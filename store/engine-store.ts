import { CONFIG_KEYS } from '../contract/tables.ts';
import type { EngineSettings } from '../core/engine-settings.ts';
import { Problem } from '../core/problem.ts';
import { ABSENT, atRevision, ConditionFailed, getItem, type Item, putItem, SCHEMA_VERSION } from './table.ts';
import { announceChange } from './version-store.ts';

/** The engine's settings, or undefined before the stack was set up. */
export async function getEngineSettings(): Promise<EngineSettings | undefined> {
  const item = await getItem('config', CONFIG_KEYS.engine());
  return item === undefined ? undefined : fromItem(item);
}

/** Stores the first settings; what is there already stays. */
export async function seedEngineSettings(settings: EngineSettings): Promise<void> {
  try {
    await putItem('config', toItem(settings), ABSENT);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

/** Stores `next` in place of the settings with `previousRevision`; throws `stale-etag` when they are others by now. */
export async function replaceEngineSettings(previousRevision: number, next: EngineSettings): Promise<void> {
  try {
    await putItem('config', toItem(next), atRevision(previousRevision));
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw new Problem('stale-etag', 'the settings were changed meanwhile; read them again');
  }
  await announceChange('engine');
}

function toItem(settings: EngineSettings): Item {
  return { ...CONFIG_KEYS.engine(), v: SCHEMA_VERSION, ...settings };
}

function fromItem(item: Item): EngineSettings {
  return {
    revision: item['revision'],
    'local-as': item['local-as'],
    'router-id': item['router-id'],
    'stale-time': item['stale-time'],
    'max-nlri': item['max-nlri'],
  };
}

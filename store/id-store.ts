import { CONFIG_KEYS } from '../contract/tables.ts';
import { addToNumber } from './table.ts';

export type IdKind =
  | 'peer'
  | 'token'
  | 'model'
  | 'field'
  | 'mapping'
  /** Not an id of anything: it orders the activations of model versions. */
  | 'activation'
  | 'device'
  | 'subscription';

/** The next id of this kind. Ids go up, are never given twice, and may have gaps. */
export function nextId(kind: IdKind): Promise<number> {
  return addToNumber('config', CONFIG_KEYS.lastId(kind), 'last', 1);
}

/** The next `count` ids of this kind, ascending. */
export async function nextIds(kind: IdKind, count: number): Promise<number[]> {
  if (count === 0) return [];
  const last = await addToNumber('config', CONFIG_KEYS.lastId(kind), 'last', count);
  return Array.from({ length: count }, (_, index) => last - count + 1 + index);
}

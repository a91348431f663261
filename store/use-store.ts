import { randomUUID } from 'node:crypto';
import { CONFIG_KEYS } from '../contract/tables.ts';
import { ABSENT, getItem, SCHEMA_VERSION, type Write } from './table.ts';

/** What a subscription can use. */
export type UsedKind = 'model' | 'device';

/** Part of the write that makes a model or device. */
export function openUse(kind: UsedKind, id: number): Write {
  return { ...mark(kind, id), condition: ABSENT };
}

/**
 * Part of a write that begins to use a model or device: it fails when that is gone, and makes a removal fail that
 * has not seen it.
 */
export function markUsed(kind: UsedKind, id: number): Write {
  return { ...mark(kind, id), condition: { expression: 'attribute_exists(#pk)' } };
}

/**
 * Reads the mark of a model or device before its users are looked for. The write that is returned belongs into the
 * removal: it fails when something began to use it meanwhile.
 */
export async function closeUse(kind: UsedKind, id: number): Promise<Write> {
  const key = CONFIG_KEYS.use(kind, id);
  const seen = (await getItem('config', key))?.['mark'] as string | undefined;
  return {
    delete: key,
    table: 'config',
    condition: { expression: '#mark = :mark', values: { ':mark': seen ?? '' } },
  };
}

function mark(kind: UsedKind, id: number) {
  return {
    put: { ...CONFIG_KEYS.use(kind, id), v: SCHEMA_VERSION, mark: randomUUID() },
    table: 'config',
  } as const;
}

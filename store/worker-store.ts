import { RUNTIME_KEYS } from '../contract/tables.ts';
import type { WorkerRecord } from '../core/ownership.ts';
import {
  ConditionFailed,
  deleteItem,
  getItem,
  type Item,
  putItem,
  queryItems,
  SCHEMA_VERSION,
} from './table.ts';

/**
 * Writes a worker down under its id with the next epoch, which fences whatever process had the id before.
 * Returns the record with its epoch.
 */
export async function registerWorker(worker: Omit<WorkerRecord, 'epoch'>): Promise<WorkerRecord> {
  for (;;) {
    const before = await getItem('runtime', RUNTIME_KEYS.worker(worker.id));
    const epoch = ((before?.['epoch'] as number | undefined) ?? 0) + 1;
    const previousBeatAt = before?.['beatAt'] as number | undefined;
    const record = { ...worker, epoch, ...(previousBeatAt === undefined ? {} : { previousBeatAt }) };
    try {
      await putItem(
        'runtime',
        toItem(record),
        before === undefined
          ? { expression: 'attribute_not_exists(#pk)' }
          : { expression: '#epoch = :before', values: { ':before': epoch - 1 } },
      );
      return record;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }
}

/** Renews a worker's record. False when another process has started under its id. */
export async function renewWorker(worker: WorkerRecord): Promise<boolean> {
  try {
    await putItem('runtime', toItem(worker), {
      expression: '#epoch = :mine',
      values: { ':mine': worker.epoch },
    });
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}

/** Strikes a worker off: after it has released what it owned, or when it is long dead. */
export async function removeWorker(worker: WorkerRecord): Promise<void> {
  try {
    await deleteItem('runtime', RUNTIME_KEYS.worker(worker.id), {
      expression: '#epoch = :mine',
      values: { ':mine': worker.epoch },
    });
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

export async function listWorkers(): Promise<WorkerRecord[]> {
  const items = await queryItems('runtime', RUNTIME_KEYS.workers);
  return items.map(fromItem);
}

function toItem(worker: WorkerRecord): Item {
  return {
    ...RUNTIME_KEYS.worker(worker.id),
    v: SCHEMA_VERSION,
    ...worker,
    sourceAddresses: [...worker.sourceAddresses],
  };
}

function fromItem(item: Item): WorkerRecord {
  const { pk: _pk, sk: _sk, v: _v, ...worker } = item;
  return worker as unknown as WorkerRecord;
}

/** A worker's part of a snapshot: the newest rows that its streams hold of a model. */

import { errorFields } from '../../core/log-line.ts';
import { type DeviceRows, formatSnapshotPart, MISSING_REASONS } from '../../core/snapshot.ts';
import type { SnapshotCommand } from '../../store/command-store.ts';
import { putSnapshotPart } from '../../store/snapshot-store.ts';
import { log } from '../log.ts';

/** Text of one part, at most; the devices that do not fit are named as missing. */
const MAX_PART_CHARACTERS = 67_108_864;

/** Leaves this worker's part where the one who asked looks for it. Never rejects. */
export async function answerSnapshot(
  { id, modelId }: Pick<SnapshotCommand, 'id' | 'modelId'>,
  latestRows: (modelId: number) => Iterable<DeviceRows>,
  now: () => Date,
): Promise<void> {
  try {
    let left = MAX_PART_CHARACTERS;
    const devices: DeviceRows[] = [];
    for (const device of latestRows(modelId)) {
      const length = device.rows.reduce((sum, row) => sum + row.length + 1, 0);
      left -= length;
      devices.push(left >= 0 ? device : { ...device, rows: [], reason: MISSING_REASONS.tooLarge });
      if (left < 0) left += length;
    }
    await putSnapshotPart(id, formatSnapshotPart(devices), now());
  } catch (error) {
    // Whoever asked sees that nothing came.
    log('warn', 'snapshot not answered', { 'model-id': modelId, ...errorFields(error) });
  }
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QuotaGuard } from './quota-guard.ts';

const WRITE_EVERY_MILLISECONDS = 1_000;

/**
 * Writes what a guard has counted into the directory that `GRATICULE_CALL_COUNTS` names, a file for each process, once a
 * second: from this the cost model is checked.
 */
export function keepCallCounts(guard: QuotaGuard): void {
  const directory = process.env['GRATICULE_CALL_COUNTS'] ?? '';
  if (directory === '') return;
  const write = () => writeFileSync(join(directory, `${process.pid}.json`), JSON.stringify(guard.counts()));
  setInterval(write, WRITE_EVERY_MILLISECONDS).unref();
}

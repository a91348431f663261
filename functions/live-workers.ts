import { isBeating } from '../core/ownership.ts';
import { listWorkers } from '../store/worker-store.ts';

/** Ids of the workers whose beat is fresh. */
export async function findLiveWorkers(now: Date): Promise<ReadonlySet<string>> {
  const workers = await listWorkers();
  return new Set(workers.filter((worker) => isBeating(worker, now.getTime())).map((worker) => worker.id));
}

/** Calls to the store that one worker makes at the same time. */
const CONCURRENCY = 50;

/**
 * Runs `action` for each of `things`, fifty at a time, and begins no more once `goOn` says no. One failure does not keep
 * the rest from it: the first is thrown after all were tried.
 */
export async function inBatches<Thing>(
  things: readonly Thing[],
  action: (thing: Thing) => Promise<void> | undefined,
  goOn: () => boolean = () => true,
): Promise<void> {
  const failures: unknown[] = [];
  for (let start = 0; start < things.length && goOn(); start += CONCURRENCY) {
    const results = await Promise.allSettled(
      things.slice(start, start + CONCURRENCY).map((thing) => action(thing)),
    );
    failures.push(...results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])));
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * How long a worker that ends gives up what it owns, one by one. What is left is free all the same as soon as the worker
 * is struck off; a store that is slow must not make it stay.
 */
export const RELEASE_WITHIN_MILLISECONDS = 1_500;

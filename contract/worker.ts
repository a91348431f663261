/**
 * Bounds V8's space for young objects, which it would let grow to 48 MB, and what each of them holds outside V8's heap
 * lives as long: hot paths make few objects. With this and {@link WORKER_ENVIRONMENT} a worker before devices that
 * never end held 183 MB where it had held 220 (`npm run soak -- gnmi-slow-queue`).
 */
export const YOUNG_SPACE_OPTION = '--max-semi-space-size=4';

/**
 * How Node runs the worker. Up to a size that UPDATEs exceed, V8 compiles a function together with those that it calls: with
 * four times as much, keeping link state takes a sixth less CPU time (docs/decisions/0056). NODE_OPTIONS may not have
 * the second of these: they stand in the command.
 */
export const WORKER_NODE_OPTIONS = [
  YOUNG_SPACE_OPTION,
  '--max-inlined-bytecode-size-cumulative=4000',
] as const;

/** What the task definition has run behind the entry point of the worker's image, which is Node. */
export const WORKER_COMMAND = [...WORKER_NODE_OPTIONS, 'main.js'] as const;

/**
 * What glibc's allocator is told (mallopt(3)). Without these the buffers of a burst of large messages are never given
 * back: the bound for what gets pages of its own grows with each that is freed, and each thread keeps an arena. A C
 * library that does not know these variables ignores them.
 */
export const WORKER_ENVIRONMENT = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
} as const;

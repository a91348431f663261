/**
 * How Node runs the worker. Its hot paths make few objects, and V8 would let the space for young ones grow to 48 MB, and
 * what each of them holds outside V8's heap lives as long: bounded to 4 MB, and with {@link WORKER_ENVIRONMENT}, a worker
 * before devices that never end held 183 MB where it had held 220 (`npm run soak -- gnmi-slow-queue`).
 */
export const WORKER_NODE_OPTIONS = ['--max-semi-space-size=4'] as const;

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

/**
 * How Node runs the worker. Its hot paths make few objects, and V8 would let the space for young ones grow to 48 MB: with
 * this bound a worker under load held 160 MB where it had held 240 (`npm run soak -- gnmi-slow-queue`).
 */
export const WORKER_NODE_OPTIONS = ['--max-semi-space-size=8'] as const;

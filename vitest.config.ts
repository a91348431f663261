import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/interop/**', 'test/soak/**', 'test/bench/**', 'node_modules/**'],
    // Two workers: the machines that run the gate have two cores, and a third only makes timers late.
    maxWorkers: 2,
    // A net for what hangs, not a measure: a test that lists 1,000 peers makes them first, on a loaded machine too.
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});

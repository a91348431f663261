/** `npm run soak [-- CASE … --scale 0.1]`: the long runs; CI runs them at a tenth of their size. */
import { runCases } from '../harness.ts';

await runCases(import.meta.dirname, process.argv.slice(2));

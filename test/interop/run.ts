/** `npm run interop [-- CASE …]`: the product against real peers, which each case installs. */
import { runCases } from '../harness.ts';

await runCases(import.meta.dirname, process.argv.slice(2));

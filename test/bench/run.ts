/** `npm run bench -- CASE [--large]`: a figure of ours beside its peer in the same run; the last line is the ratio. */
import { runCases } from '../harness.ts';

await runCases(import.meta.dirname, process.argv.slice(2), 'logged');

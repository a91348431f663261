/** The `graticule` command. */
import { EXIT, Failure } from './exit-code.ts';
import { runProgram } from './program.ts';
import { terminalOf } from './terminal.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // The second time: at once. What was being written is found out by the next run.
    if (interrupted.signal.aborted) process.exit(EXIT.interrupted);
    interrupted.abort(new Failure('interrupted', EXIT.interrupted));
  });
}

// Whoever reads our output may stop reading (`| head`): reading ends without a word, an apply as at Ctrl-C.
process.stdout.on('error', () => {
  if (!interrupted.signal.aborted) interrupted.abort(new Failure('', EXIT.ok));
});
process.stderr.on('error', () => {});

process.exitCode = await runProgram({
  argv: process.argv.slice(2),
  environment: process.env,
  workingDirectory: process.cwd(),
  terminal: terminalOf(process.stdout, process.stderr, process.env),
  interrupt: interrupted.signal,
});

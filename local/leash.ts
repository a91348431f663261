import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';

/**
 * The shell that stands between this process and a child, and ends the child when we end, however that happens; stopping
 * a child on purpose goes the same way, so that the way is used on every run. `prctl(PR_SET_PDEATHSIG)` would do it
 * without a shell, but Node does not offer it.
 */
const LEASH = resolve(import.meta.dirname, 'leash.sh');

export interface LeashedProcess {
  /** Settles when the child has ended, with its exit code as a shell gives it: 128 + n for signal n. */
  readonly ended: Promise<number>;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** Asks the child to end (SIGTERM, then SIGKILL after its grace) and waits until it has. */
  stop(): Promise<number>;
}

export interface LeashOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Between SIGTERM and SIGKILL, to a tenth of a second. */
  readonly graceSeconds: number;
  /** Where what the child prints goes: our own output, or the two streams of the result. */
  readonly output: 'inherit' | 'pipe';
  /** A process group of its own: a Ctrl-C in the terminal then does not reach the child. */
  readonly ownGroup?: boolean;
  readonly workingDirectory?: string;
}

/** Starts a program that ends when this process ends, however that happens. */
export function startLeashed(command: readonly string[], options: LeashOptions): LeashedProcess {
  const tenths = String(Math.round(options.graceSeconds * 10));
  const shell: ChildProcess = spawn('/bin/sh', [LEASH, tenths, ...command], {
    stdio: ['pipe', options.output, options.output],
    env: options.environment,
    detached: options.ownGroup ?? false,
    ...(options.workingDirectory === undefined ? {} : { cwd: options.workingDirectory }),
  });
  // The pipe is never written to; an error on it only says that the shell is gone, which `ended` says too.
  shell.stdin?.on('error', () => {});
  const ended = new Promise<number>((resolve, reject) => {
    shell.once('error', reject);
    shell.once('exit', (code) => resolve(code ?? 128 + 9));
  });
  return {
    ended,
    stdout: shell.stdout,
    stderr: shell.stderr,
    stop() {
      shell.stdin?.end();
      return ended;
    },
  };
}

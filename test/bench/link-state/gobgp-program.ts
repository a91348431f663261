import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory } from '../../harness.ts';

/** Builds the Go program of test/bench/gobgp, which is GoBGP v4.8.0 as a library, and returns its path. */
export function buildGobgpProgram(): string {
  const source = join(import.meta.dirname, '../gobgp');
  const directory = join(cacheDirectory(), 'go', 'gobgp-v4.8.0');
  mkdirSync(directory, { recursive: true });
  const program = join(directory, 'graticule-gobgp');
  execFileSync('go', ['build', '-o', program, '.'], { cwd: source, stdio: 'pipe' });
  return program;
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DirectoryInUse, holdDataDirectory } from '../../local/data-directory.ts';

const module = resolve(import.meta.dirname, '../../local/data-directory.ts');
let directory: string;

beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'graticule-data-')), 'data');
});

afterEach(() => rmSync(resolve(directory, '..'), { recursive: true }));

/** Another process that holds the directory until it is killed. */
async function holder() {
  const script = `
    import { holdDataDirectory } from ${JSON.stringify(module)};
    globalThis.held = holdDataDirectory(${JSON.stringify(directory)});
    console.log('held');
    setInterval(() => {}, 1000);
  `;
  const process_ = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(process_.stdout, 'data');
  return process_;
}

describe('the data directory', () => {
  it('is its owner’s alone', () => {
    const held = holdDataDirectory(directory);
    held.keepToken('grt_x');
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(held.tokenPath).mode & 0o777).toBe(0o600);
    expect(held.readToken()).toBe('grt_x');
    held.release();
  });

  it('is refused to a second process with the id of the first', async () => {
    const first = await holder();
    try {
      expect(() => holdDataDirectory(directory)).toThrow(DirectoryInUse);
      expect(() => holdDataDirectory(directory)).toThrow(`in use by process ${first.pid}`);
    } finally {
      first.kill('SIGKILL');
      await once(first, 'exit');
    }
  });

  it('is free again when the process that held it was killed', async () => {
    const first = await holder();
    first.kill('SIGKILL');
    await once(first, 'exit');
    holdDataDirectory(directory).release();
  });

  it('is not held by whichever process has got the id that was left behind', () => {
    const held = holdDataDirectory(directory);
    held.release();
    // Process 1 runs everywhere, and never held this.
    writeFileSync(join(directory, 'process-id'), '1\n');
    const again = holdDataDirectory(directory);
    expect(readFileSync(join(directory, 'process-id'), 'utf8')).toBe(`${process.pid}\n`);
    again.release();
  });
});

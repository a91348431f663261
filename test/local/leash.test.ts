import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startLeashed } from '../../local/leash.ts';
import { isRunning } from '../support/processes.ts';

const leash = resolve(import.meta.dirname, '../../local/leash.ts');

/** A child that says its process id, and with `stubborn` does not hear SIGTERM. */
function child(kind: 'polite' | 'stubborn'): string[] {
  const ignore = kind === 'stubborn' ? "process.on('SIGTERM', () => {});" : '';
  return [process.execPath, '-e', `${ignore} console.log(process.pid); setInterval(() => {}, 1000);`];
}

async function firstLine(stream: NodeJS.ReadableStream | null): Promise<string> {
  if (stream === null) throw new Error('no stream');
  const [data] = (await once(stream, 'data')) as [Buffer];
  return data.toString().trim();
}

async function isGone(processId: number): Promise<void> {
  await expect.poll(() => isRunning(processId), { timeout: 5_000, interval: 20 }).toBe(false);
}

describe('a process on a leash', () => {
  it('is asked to end, and says with which code it did', async () => {
    const polite = startLeashed(
      [
        process.execPath,
        '-e',
        "process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); console.log('on')",
      ],
      { environment: process.env, graceSeconds: 5, output: 'pipe' },
    );
    await firstLine(polite.stdout);
    expect(await polite.stop()).toBe(7);
  });

  it('is killed when it does not end within its grace', async () => {
    const stubborn = startLeashed(child('stubborn'), {
      environment: process.env,
      graceSeconds: 0.2,
      output: 'pipe',
    });
    const id = Number(await firstLine(stubborn.stdout));
    expect(await stubborn.stop()).toBe(128 + 9);
    expect(isRunning(id)).toBe(false);
  });

  it('gives the exit code of a child that ends by itself', async () => {
    const brief = startLeashed([process.execPath, '-e', 'process.exit(3)'], {
      environment: process.env,
      graceSeconds: 1,
      output: 'pipe',
    });
    expect(await brief.ended).toBe(3);
  });

  it('is waited for when a signal goes to the whole process group', async () => {
    const script = `
      import { startLeashed } from ${JSON.stringify(leash)};
      process.on('SIGTERM', () => {});
      const child = "process.on('SIGTERM', () => setTimeout(() => process.exit(7), 300)); setInterval(() => {}, 1000); console.log('on')";
      const leashed = startLeashed([process.execPath, '-e', child], {
        environment: process.env, graceSeconds: 5, output: 'inherit',
      });
      console.log('ended with ' + (await leashed.ended));
    `;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    await firstLine(parent.stdout);
    process.kill(-(parent.pid as number), 'SIGTERM');
    expect(await firstLine(parent.stdout)).toBe('ended with 7');
  });

  for (const kind of ['polite', 'stubborn'] as const) {
    it(`does not outlive a parent killed with SIGKILL when the child is ${kind}`, async () => {
      const script = `
        import { startLeashed } from ${JSON.stringify(leash)};
        const leashed = startLeashed(${JSON.stringify(child(kind))}, {
          environment: process.env, graceSeconds: 0.2, output: 'inherit', ownGroup: true,
        });
        await leashed.ended;
      `;
      const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const id = Number(await firstLine(parent.stdout));
      expect(isRunning(id)).toBe(true);
      parent.kill('SIGKILL');
      await isGone(id);
    });
  }
});

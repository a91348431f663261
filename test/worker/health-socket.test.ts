import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ENV } from '../../contract/env.ts';
import { answerHealth, askHealth } from '../../worker/health-socket.ts';

/** Runs the container's own check; its exit code and what it printed. */
function runCheck(name: string): Promise<{ code: number; printed: string }> {
  const program = resolve(import.meta.dirname, '../../worker/health.ts');
  return new Promise((settle) => {
    const child = execFile(
      process.execPath,
      [program],
      { env: { [ENV.healthSocket]: name } },
      (_error, stdout) => settle({ code: child.exitCode ?? -1, printed: stdout.trim() }),
    );
  });
}

describe('the health check of the worker', () => {
  it('is ok while the worker may act, and not while it is fenced', async () => {
    const name = `graticule-test-${randomUUID()}`;
    let mayAct = true;
    const server = await answerHealth(name, () => mayAct);
    expect(await runCheck(name)).toEqual({ code: 0, printed: 'ok' });
    mayAct = false;
    expect(await runCheck(name)).toEqual({ code: 1, printed: 'fenced' });
    server.close();
  });

  it('fails when no worker listens, and when one listens and never answers', async () => {
    const name = `graticule-test-${randomUUID()}`;
    expect(await runCheck(name)).toEqual({ code: 1, printed: 'silent' });
    const server = await answerHealth(name, () => {
      throw new Error('not asked');
    }).then((made) => made.removeAllListeners('connection'));
    server.on('connection', (socket) => socket.on('error', () => {}));
    expect(await askHealth(name, 100)).toBe('silent');
    server.close();
  });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startWorkerProcesses, type WorkerProcesses } from '../../local/worker-processes.ts';

let directory: string;
let workers: WorkerProcesses | undefined;
let logged: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'graticule-workers-'));
  logged = [];
});

afterEach(async () => {
  await workers?.stop();
  rmSync(directory, { recursive: true });
});

/** Starts workers that run this script, which may write lines with `say`. */
function start(script: string, options: { count?: number; bgpListen?: string } = {}): void {
  const program = join(directory, 'worker.mjs');
  const said = join(directory, 'said');
  writeFileSync(said, '');
  writeFileSync(
    program,
    `import { appendFileSync } from 'node:fs';
     const say = (line) => appendFileSync(${JSON.stringify(said)}, line + '\\n');
     ${script}`,
  );
  workers = startWorkerProcesses({
    program,
    count: options.count ?? 1,
    bgpListen: options.bgpListen ?? '',
    environment: process.env,
    log: (line) => logged.push(line),
  });
}

const said = () => readFileSync(join(directory, 'said'), 'utf8').split('\n').filter(Boolean);

describe('the worker processes', () => {
  it('have an id each, and the first alone the address to listen on', async () => {
    start(
      `const { GRATICULE_WORKER_ID, GRATICULE_BGP_LISTEN } = process.env;
       say(GRATICULE_WORKER_ID + ' [' + GRATICULE_BGP_LISTEN + ']');
       setInterval(() => {}, 1000);`,
      { count: 2, bgpListen: '127.0.0.1:1179' },
    );
    await expect.poll(() => said().sort(), { timeout: 10_000 }).toEqual(['w-1 [127.0.0.1:1179]', 'w-2 []']);
  });

  it('hear SIGTERM and finish before a stop is done', async () => {
    start(`
      process.on('SIGTERM', () => setTimeout(() => { say('released'); process.exit(0); }, 100));
      setInterval(() => {}, 1000);
      say('up');
    `);
    await expect.poll(said, { timeout: 10_000 }).toEqual(['up']);
    await workers?.stop();
    expect(said()).toEqual(['up', 'released']);
    expect(logged).toEqual([]);
  });

  it('start again when they crash, later each time', async () => {
    start("say('up'); process.exit(9);");
    await expect.poll(() => logged.length, { timeout: 15_000 }).toBeGreaterThanOrEqual(2);
    expect(logged.slice(0, 2)).toEqual([
      'worker w-1 ended with 9; it starts again in 0.5 s',
      'worker w-1 ended with 9; it starts again in 1 s',
    ]);
    expect(said().length).toBeGreaterThanOrEqual(2);
  });

  it('make their AWS calls under the quota guard, in the worker’s name', async () => {
    const table = join(import.meta.dirname, '../../store/table.ts');
    start(`
      const { putItem } = await import(${JSON.stringify(table)});
      await putItem('config', { pk: 'PEER', sk: '1', v: 1 }).catch((error) => say(error.name));
      setInterval(() => {}, 1000);
    `);
    await expect.poll(said, { timeout: 10_000 }).toEqual(['AccessDeniedException']);
  });
});

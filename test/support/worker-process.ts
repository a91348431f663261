import { readFileSync } from 'node:fs';
import { commandOf, processTree } from './processes.ts';
import type { Stack } from './stack.ts';

/** The process in which a running stack's worker of this id runs now. */
export function workerProcess(stack: Stack, workerId: string): number {
  const found = processTree(stack.processId).find(
    (pid) =>
      /worker\/main\.ts/.test(commandOf(pid)) &&
      /\bnode$/.test(commandOf(pid).split(' ')[0] ?? '') &&
      environmentOf(pid)['GRATICULE_WORKER_ID'] === workerId,
  );
  if (found === undefined) throw new Error(`no process of worker ${workerId}`);
  return found;
}

/** What a process was started with; Linux only. */
export function environmentOf(pid: number): Record<string, string> {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .filter((entry) => entry.includes('='));
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );
}

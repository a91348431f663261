import { readdirSync, readFileSync } from 'node:fs';

/** Whether a process runs; a zombie does not. Linux only, like the embedded run's own emulator. */
export function isRunning(processId: number): boolean {
  const status = statusOf(processId);
  return status !== undefined && !/^State:\s+Z/m.test(status);
}

/** A process and all that it and its descendants started, itself first. */
export function processTree(processId: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = /^PPid:\s+(\d+)/m.exec(statusOf(Number(name)) ?? '')?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const tree = [processId];
  for (const member of tree) {
    for (const [child, parent] of parents) if (parent === member) tree.push(child);
  }
  return tree;
}

/** The command line, its words joined by spaces; `''` when the process is gone. */
export function commandOf(processId: number): string {
  try {
    return readFileSync(`/proc/${processId}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

function statusOf(processId: number): string | undefined {
  try {
    return readFileSync(`/proc/${processId}/status`, 'utf8');
  } catch {
    return undefined;
  }
}

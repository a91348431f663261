import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory } from '../../harness.ts';

/** The sink and the client of `http/`, built anew: it takes seconds. */
export function buildHttpProgram(directory: string): string {
  const program = join(directory, 'bench-http');
  execFileSync('go', ['build', '-o', program, '.'], {
    cwd: join(import.meta.dirname, 'http'),
    stdio: 'pipe',
  });
  return program;
}

/** Telegraf at the version of `telegraf/go.mod`, with only the plugins that the bench uses; built once a machine. */
export function buildTelegraf(): string {
  const directory = join(cacheDirectory(), 'telegraf-1.37.2-webhook');
  const program = join(directory, 'telegraf');
  if (existsSync(program)) return program;
  mkdirSync(directory, { recursive: true });
  // A copy: the build fills go.mod and go.sum with everything that Telegraf's own needs.
  cpSync(join(import.meta.dirname, 'telegraf'), directory, { recursive: true });
  const go = (...parameters: string[]) => execFileSync('go', parameters, { cwd: directory, stdio: 'pipe' });
  go('get', 'github.com/influxdata/telegraf@v1.37.2');
  const tags = 'custom,inputs.file,outputs.http,serializers.json,parsers.influx';
  const source = 'github.com/influxdata/telegraf/cmd/telegraf';
  go('build', '-mod=mod', '-ldflags', '-s -w', '-tags', tags, '-o', program, source);
  return program;
}

export interface SinkStats {
  readonly requests: number;
  readonly bytes: number;
  /** As `digestOfBodies` makes it. */
  readonly digest: string;
  /** Connections that carried a record. */
  readonly connections: number;
}

export interface Sink {
  readonly url: string;
  /** What it received since the last call. */
  stats(): Promise<SinkStats>;
  /** The same, without beginning anew. */
  look(): Promise<SinkStats>;
  stop(): void;
}

export async function startSink(
  program: string,
  latency: string,
  more: readonly string[] = [],
): Promise<Sink> {
  const child = spawn(program, ['sink', '-listen', '127.0.0.1:0', '-latency', latency, ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
    child.once('error', reject);
  });
  return {
    url: `http://${address}/records`,
    look: async () => (await fetch(`http://${address}/stats?keep`)).json() as Promise<SinkStats>,
    stats: async () => (await fetch(`http://${address}/stats`)).json() as Promise<SinkStats>,
    stop: () => child.kill(),
  };
}

/** Peak resident memory of a process that still runs, in MB. */
export function peakMegabytes(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** Processor seconds that a process has used so far (Linux: 100 ticks a second). */
export function processorSeconds(child: ChildProcess): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The programs that the SNMP bench runs beside the product, each as its own process, and what they cost. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cacheDirectory } from '../../harness.ts';

const TELEGRAF = 'github.com/influxdata/telegraf';
const TELEGRAF_VERSION = 'v1.37.2';
const TELEGRAF_TAGS = 'custom,inputs.snmp,outputs.file,serializers.json';

/** Builds a program of this bench's own Go module. */
export function ownProgram(name: 'agent' | 'gosnmp'): string {
  const directory = join(cacheDirectory(), 'bench-snmp');
  mkdirSync(directory, { recursive: true });
  const path = join(directory, name);
  execFileSync('go', ['build', '-o', path, `./${name}`], { cwd: import.meta.dirname, stdio: 'pipe' });
  return path;
}

/** Telegraf with its SNMP input alone: as a dependency of an empty module, since the whole of it is large. */
export function telegraf(): string {
  const directory = join(cacheDirectory(), `telegraf-snmp-${TELEGRAF_VERSION}`);
  const path = join(directory, 'telegraf');
  if (existsSync(path)) return path;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'go.mod'), 'module graticule/bench/telegraf\n\ngo 1.26\n');
  const options = { cwd: directory, stdio: 'pipe', env: { ...process.env, GOFLAGS: '-mod=mod' } } as const;
  execFileSync('go', ['get', `${TELEGRAF}@${TELEGRAF_VERSION}`], options);
  execFileSync(
    'go',
    ['build', '-ldflags', '-s -w', '-tags', TELEGRAF_TAGS, '-o', path, `${TELEGRAF}/cmd/telegraf`],
    options,
  );
  return path;
}

/** Telegraf's configuration: all devices, again and again, one JSON line an interface. */
export function telegrafConfiguration(devices: number, port: number, output: string): string {
  const agents = Array.from({ length: devices }, (_, number) => `"udp://127.0.1.${number + 1}:${port}"`);
  const fields = [1, 6, 7, 8, 9, 10, 11, 12, 13].map(
    (column) =>
      `  [[inputs.snmp.table.field]]\n    name = "c${column}"\n    oid = ".1.3.6.1.2.1.31.1.1.1.${column}"\n`,
  );
  return `[agent]
  interval = "200ms"
  flush_interval = "1s"
  metric_batch_size = 25000
  metric_buffer_limit = 5000000
  omit_hostname = true
  quiet = true
  snmp_translator = "gosmi"
[[outputs.file]]
  files = ["${output}"]
  data_format = "json"
[[inputs.snmp]]
  agents = [${agents.join(', ')}]
  version = 2
  community = "public"
  max_repetitions = 50
  timeout = "5s"
  path = []
  [[inputs.snmp.table]]
  name = "interface"
  index_as_tag = true
${fields.join('')}`;
}

export interface Cost {
  /** User and system time of the program and all that it started. */
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
  readonly stdout: string;
}

/** Runs a program to its end on the first core, where there is more than one. */
export function measure(command: readonly string[], environment: NodeJS.ProcessEnv = {}): Cost {
  const started = performance.now();
  const [program, parameters] = onCore(FIRST_CORE, command);
  // `times` gives the shell's own time, then that of what it ran.
  const { stdout, stderr } = spawnSync(
    'bash',
    ['-c', '"$@" || true; times >&2', 'measure', program, ...parameters],
    {
      encoding: 'utf8',
      env: { ...process.env, ...environment },
      maxBuffer: 256 * 1024 * 1024,
    },
  );
  const times = [...(stderr.trim().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  const cpuSeconds = times.reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds),
    0,
  );
  return { cpuSeconds, wallSeconds: (performance.now() - started) / 1_000, stdout };
}

/** User and system time that a process of ours has used, from /proc/PID/stat (proc(5), fields 14 and 15, in 1/100 s). */
function cpuSecondsOf(processId: number): number {
  const fields = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').length - 1;

const FIRST_CORE = ['taskset', '-c', '0'] as const;
const SECOND_CORE = ['taskset', '-c', '1'] as const;

/** The command on a core of its own from its start, so that a Go runtime sees one processor; as it is without `taskset`. */
function onCore(core: readonly string[], command: readonly string[]): [string, string[]] {
  const [program = '', ...parameters] =
    spawnSync('taskset', ['-V']).status === 0 ? [...core, ...command] : command;
  return [program, parameters];
}

/**
 * Runs a program on the first core that polls for ever and writes a line a row: once `warmRows` are there it is measured
 * for some seconds, from one flush of its output to another, and then ended.
 */
export async function measureRunning(
  command: readonly string[],
  output: string,
  warmRows: number,
  seconds: number,
): Promise<{ readonly cpuSeconds: number; readonly rows: number }> {
  const child = spawn(...onCore(FIRST_CORE, command), { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const processId = child.pid as number;
  const deadline = performance.now() + 60_000 + seconds * 1_000;
  const look = async (milliseconds: number) => {
    if (performance.now() > deadline) throw new Error(`${command[0]} writes no rows`);
    await delay(milliseconds);
    return statSync(output).size;
  };
  // Rows come a batch at a time: a reading in between would miss up to a whole poll of all devices.
  const flushed = async () => {
    const before = statSync(output).size;
    let size = before;
    while (size === before) size = await look(20);
    for (let last = -1; last !== size; ) {
      last = size;
      size = await look(50);
    }
    return { cpuSeconds: cpuSecondsOf(processId), rows: linesOf(output) };
  };
  try {
    while (linesOf(output) < warmRows) await look(100);
    const from = await flushed();
    await delay(seconds * 1_000);
    const to = await flushed();
    return { cpuSeconds: to.cpuSeconds - from.cpuSeconds, rows: to.rows - from.rows };
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

/** Starts the load target on the other core; the result ends it. */
export async function startAgent(devices: number, interfaces: number, port: number): Promise<() => void> {
  const agent = [ownProgram('agent'), '-devices', `${devices}`, '-interfaces', `${interfaces}`];
  const child = spawn(...onCore(SECOND_CORE, [...agent, '-port', `${port}`]), {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return () => child.stdin.end();
}

/** Values by device, index and column, as every program's own output tells them. */
export type Values = Map<string, string>;

/** Reads our records and the JSON lines of gosnmp's collector, `{"device":1,"index":2,"6":3}`, digits untouched. */
export function valuesOfRecords(path: string): Values {
  const values: Values = new Map();
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const members = new Map(
      [...line.matchAll(/"(\w+)":(?:"([^"]*)"|(\d+))/g)].map(([, key, text, digits]) => [
        key,
        text ?? digits,
      ]),
    );
    const row = `${members.get('device')} ${members.get('index') ?? members.get('key')}`;
    for (const [key, value] of members)
      if (/^\d+$/.test(key ?? '')) values.set(`${row} ${key}`, value as string);
  }
  return values;
}

/** Reads Telegraf's JSON lines, of the last poll of each device. */
export function valuesOfTelegraf(path: string): Values {
  const values: Values = new Map();
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const device = /"agent_host":"127\.0\.1\.(\d+)"/.exec(line)?.[1];
    const index = /"index":"(\d+)"/.exec(line)?.[1];
    if (device === undefined || index === undefined) continue;
    for (const [, column, text, digits] of line.matchAll(/"c(\d+)":(?:"([^"]*)"|(\d+))/g)) {
      values.set(`${device} ${index} ${column}`, (text ?? digits) as string);
    }
  }
  return values;
}

/** Reads what snmpbulkwalk -On prints of one device. */
export function valuesOfBulkwalk(device: number, stdout: string): Values {
  const values: Values = new Map();
  for (const [, column, index, value] of stdout.matchAll(
    /\.31\.1\.1\.1\.(\d+)\.(\d+) = \w+: "?([^"\n]*)"?/g,
  )) {
    values.set(`${device} ${index} ${column}`, value as string);
  }
  return values;
}

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { WORKER_ENVIRONMENT, WORKER_NODE_OPTIONS } from '../../../contract/worker.ts';
import type { CaseContext, TestCase } from '../../harness.ts';
import { goCommand } from '../../support/install.ts';
import { buildGobgpProgram } from '../link-state/gobgp-program.ts';
import { type Workload, type WorkloadKind, writeWorkload } from '../link-state/workload.ts';

/** What both measured programs print. */
interface Measured {
  readonly milliseconds: readonly number[];
  readonly cpuMilliseconds: readonly number[];
  readonly peakBytes: number;
  readonly counts: Record<string, number>;
  readonly digest: string;
  readonly extra?: {
    readonly churnMilliseconds: readonly number[];
    readonly churnCpuMilliseconds: readonly number[];
    /** Heap in use after a collection, with the table less without; ours with the arrays outside of the heap. */
    readonly bytesPerNlri: number;
    /** Ours alone: octets of the table's arrays, as it counts them itself. */
    readonly arrayBytesPerNlri?: number;
    readonly actions?: Record<string, number>;
  };
}

const PROGRAM = join(import.meta.dirname, '../link-state/program.ts');
/** So many UPDATEs a process goes through, small networks in more rounds; the first third is for the compilers. */
const UPDATES_PER_PROCESS = 500_000;
/** So much of a session's time gobgpd is left alone, by the time of the quickest before. */
const QUIET = 0.75;
/** With `--large` these alone, and fewer turns: one round of GoBGP's takes as long as all of a smaller network's. */
const LARGE_ROUTERS = 100_000;

function roundsOf(updates: number): number {
  return Math.max(3, Math.round(UPDATES_PER_PROCESS / updates));
}

/** So many turns; in memory each is two processes of each side, one after the other. */
function turnsOf(
  kind: WorkloadKind,
  routers: number,
): { readonly inMemory: number; readonly sessions: number } {
  if (routers >= LARGE_ROUTERS) return { inMemory: 1, sessions: 1 };
  return { inMemory: 3, sessions: kind === 'isis' ? 3 : 2 };
}

/**
 * What each side does when it keeps. GoBGP keeps decoded objects and serialises an NLRI for its key. Our table checks
 * and keeps octets, and decodes when somebody asks: `decode` is what that costs.
 */
const DOES = {
  decode: 'decode to full objects, kept by nobody',
  keep: 'GoBGP: decode, key, keep objects; Graticule: check framing and NLRI, key, keep the bytes',
} as const;

export const testCase: TestCase = {
  title: 'link state: decoding, keeping, and a session to its complete table, beside GoBGP v4.8.0',
  inCi: false,
  async run(context) {
    const { log, large, seed, scale } = context;
    const gobgp = buildGobgpProgram();
    const gobgpd = goCommand('github.com/osrg/gobgp/v4/cmd/gobgpd@v4.8.0');
    const sizes = large ? [LARGE_ROUTERS] : [1_000, 10_000].filter((size) => size <= 10_000 * scale);
    const ratios: string[] = [];
    for (const routers of sizes) {
      for (const kind of routers === 10_000
        ? (['isis', 'ospf', 'srv6', 'mixed'] as const)
        : (['isis'] as const)) {
        log('');
        const workload = writeWorkload(context.scratchDirectory, kind, routers, seed);
        log(
          `${kind}, ${routers} routers: ${workload.updates} UPDATEs, ${workload.octets} octets, digest ${workload.digest}`,
        );
        const { inMemory, sessions } = turnsOf(kind, routers);
        log(
          `  in memory: ${2 * inMemory} processes of each side in turn, ${roundsOf(workload.updates)} rounds each, of which ` +
            `the first third does not count; sessions: ${sessions} of each side in turn`,
        );
        ratios.push(...(await compareInMemory(context, gobgp, workload, kind, routers)));
        ratios.push(...(await compareSessions(context, gobgp, gobgpd, workload, kind, routers)));
      }
    }
    log('');
    for (const ratio of ratios) log(ratio);
  },
};

/** Decoding alone, then keeping with 10 % churn: alternating processes, of which the warm rounds count. */
async function compareInMemory(
  { check, log }: CaseContext,
  gobgp: string,
  workload: Workload,
  kind: WorkloadKind,
  routers: number,
): Promise<string[]> {
  const ratios: string[] = [];
  const rounds = roundsOf(workload.updates);
  for (const measure of ['decode', 'keep'] as const) {
    const files = measure === 'keep' ? [workload.file, workload.churnFile] : [workload.file];
    const parameters = [measure, ...files, String(rounds)];
    // With one processor Go's collector takes its time in between, with all it runs beside, as Node's always does.
    const onOne: Measured[] = [];
    const onAll: Measured[] = [];
    const ours: Measured[] = [];
    for (let turn = 0; turn < turnsOf(kind, routers).inMemory; turn += 1) {
      onOne.push(run(gobgp, parameters, { GOMAXPROCS: '1' }));
      ours.push(runOurs(measure, parameters));
      onAll.push(run(gobgp, parameters));
      ours.push(runOurs(measure, parameters));
    }
    const [their, our] = [onAll[0] as Measured, ours[0] as Measured];
    let comparable = true;
    const sentence =
      measure === 'decode'
        ? 'both sides decode every object to the same values, as far as GoBGP knows its TLVs'
        : 'both sides hold the same NLRIs after the changes, octet by octet, and what they hold decodes to the same';
    await check(`${measure}, ${kind} ${routers}: ${sentence}`, () => {
      comparable = false;
      for (const one of [...onOne, ...onAll, ...ours]) {
        assert.deepEqual(one.counts, our.counts);
        assert.equal(one.digest, our.digest);
      }
      comparable = true;
    });
    log(`  ${DOES[measure]}: objects ${JSON.stringify(our.counts)}, digest ${our.digest.slice(0, 16)}`);
    log(`  GoBGP, GOMAXPROCS=1 ${figures(onOne, workload.updates)}`);
    log(`  GoBGP, all CPUs     ${figures(onAll, workload.updates)}`);
    log(`  Graticule           ${figures(ours, workload.updates)}`);
    if (!comparable) continue;
    // GoBGP's better of the two, each time.
    const ratio = (of: (all: readonly Measured[]) => readonly number[], figure = median) =>
      Math.min(figure(of(onOne)), figure(of(onAll))) / figure(of(ours));
    const wall = (all: readonly Measured[]) => warm(all, 'milliseconds');
    const cpu = ratio((all) => warm(all, 'cpuMilliseconds'));
    // Others on the same processor can take half of it for minutes; the quickest round of each side had it alone.
    const least = ratio(wall, (values) => Math.min(...values));
    const target = measure === 'decode' ? 4 : 8;
    ratios.push(
      `${measure}, ${kind} ${routers}: ${ratio(wall).toFixed(1)} × GoBGP (quickest rounds ${least.toFixed(1)} ×, ` +
        `CPU ${cpu.toFixed(1)} ×; target ${target} ×)`,
    );
    if (measure === 'keep') {
      const churn = (all: readonly Measured[]) => all.flatMap(({ extra }) => extra?.churnMilliseconds ?? []);
      const churnCpu = (all: readonly Measured[]) =>
        all.flatMap(({ extra }) => extra?.churnCpuMilliseconds ?? []);
      const both = (all: readonly Measured[]) =>
        `${median(churn(all)).toFixed(1)} ms (CPU ${median(churnCpu(all)).toFixed(1)} ms)`;
      log(
        `  10 % churn: GoBGP ${both(onOne)}, on all CPUs ${both(onAll)}, Graticule ${both(ours)} ` +
          JSON.stringify(our.extra?.actions),
      );
      log(
        `  in use after a collection: GoBGP ${their.extra?.bytesPerNlri.toFixed(0)}, Graticule ` +
          `${our.extra?.bytesPerNlri.toFixed(0)} octets an NLRI, raw bytes included (target 250), of which arrays ` +
          `${our.extra?.arrayBytesPerNlri?.toFixed(0)} as the table counts them`,
      );
      ratios.push(
        `churn, ${kind} ${routers}: ${ratio(churn).toFixed(1)} × GoBGP (CPU ${ratio(churnCpu).toFixed(1)} ×)`,
      );
    }
  }
  return ratios;
}

function figures(all: readonly Measured[], updates: number): string {
  const wall = warm(all, 'milliseconds');
  const perSecond = (updates / median(wall)) * 1e3;
  const peak = Math.max(...all.map(({ peakBytes }) => peakBytes));
  return (
    `${Math.min(...wall).toFixed(0)} / ${median(wall).toFixed(0)} / ${Math.max(...wall).toFixed(0)} ms ` +
    `(least / median / most of ${wall.length}), CPU ${median(warm(all, 'cpuMilliseconds')).toFixed(0)} ms, ` +
    `${(perSecond / 1e3).toFixed(0)} k UPDATEs/s, peak ${mb(peak)} MB`
  );
}

function warm(all: readonly Measured[], of: 'milliseconds' | 'cpuMilliseconds'): number[] {
  return all.flatMap((measured) => measured[of].slice(Math.ceil(measured[of].length / 3)));
}

/**
 * From the first octet sent until the table is complete, over loopback TCP, one session and then two of the same.
 * gobgpd decodes, keeps objects in its Adj-RIB-In and selects best paths; our side checks and keeps octets.
 */
async function compareSessions(
  { check, log, scratchDirectory }: CaseContext,
  gobgp: string,
  gobgpd: string,
  workload: Workload,
  kind: WorkloadKind,
  routers: number,
): Promise<string[]> {
  const ratios: string[] = [];
  for (const peers of kind === 'isis' && routers <= 10_000 ? [1, 2] : [1]) {
    const turns = turnsOf(kind, routers).sessions;
    const theirs: Session[] = [];
    const ours: Session[] = [];
    // Asking costs gobgpd work. A first session, which does not count, tells when asking is worth while.
    const session = (quiet: number) => gobgpdSession(gobgp, gobgpd, workload, peers, scratchDirectory, quiet);
    let quiet = QUIET * (await session(0)).milliseconds;
    for (let turn = 0; turn < turns; turn += 1) {
      let one = await session(quiet);
      // Complete at the first question, it may have been so for long: that one does not count either.
      for (; one.asked === 1; one = await session(quiet)) quiet /= 2;
      quiet = Math.min(quiet, QUIET * one.milliseconds);
      theirs.push(one);
      ours.push(await ourSession(workload, peers));
    }
    // Looking at each turn of the event loop costs time, so the times above are of sessions that nobody looked at.
    const watched = await ourSession(workload, peers, true);
    const name = `session, ${kind} ${routers}, ${peers} ${peers === 1 ? 'peer' : 'peers'}`;
    await check(`${name}: both tables hold every NLRI`, () => {
      for (const { nlris } of [...theirs, ...ours, watched]) assert.equal(nlris, workload.updates * peers);
    });
    const asked = theirs.map((session) => session.asked).join(', ');
    log(`  gobgpd    ${sessionFigures(theirs, workload.updates * peers)}, asked ${asked} times`);
    log(`  Graticule ${sessionFigures(ours, workload.updates * peers)}`);
    const ratio = median(theirs.map(time)) / median(ours.map(time));
    const cpu = median(theirs.map(cpuTime)) / median(ours.map(cpuTime));
    const growth = median(theirs.map(grown)) / Math.max(median(ours.map(grown)), 1);
    const target = routers >= LARGE_ROUTERS ? 30 : routers >= 10_000 ? 20 : 10;
    ratios.push(
      `${name}: ${ratio.toFixed(1)} × gobgpd (CPU ${cpu.toFixed(1)} ×; target ${target} ×), ` +
        `memory growth ${growth.toFixed(1)} × less (target 10 ×), ` +
        `longest block ${watched.longestBlockMilliseconds?.toFixed(1)} ms, ` +
        `of which ${watched.longestWorkMilliseconds?.toFixed(1)} ms our thread's CPU (target 5 ms)`,
    );
  }
  return ratios;
}

interface Session {
  readonly milliseconds: number;
  readonly nlris: number;
  /** From before the session was dialled, so without the start of the program. */
  readonly cpuSeconds: number;
  readonly baseBytes: number;
  readonly peakBytes: number;
  /** gobgpd alone: how often it was asked for the size of its table. */
  readonly asked?: number;
  readonly longestBlockMilliseconds?: number;
  /** The same in CPU time of our thread: what is ours of it on a machine that others use. */
  readonly longestWorkMilliseconds?: number;
}

const time = ({ milliseconds }: Session) => milliseconds;
const cpuTime = ({ cpuSeconds }: Session) => cpuSeconds;
const grown = ({ peakBytes, baseBytes }: Session) => peakBytes - baseBytes;

function sessionFigures(sessions: readonly Session[], nlris: number): string {
  const times = sessions.map(time);
  const growth = median(sessions.map(grown));
  return (
    `${Math.min(...times).toFixed(0)} / ${median(times).toFixed(0)} / ${Math.max(...times).toFixed(0)} ms, ` +
    `CPU ${median(sessions.map(cpuTime)).toFixed(2)} s, grown by ${mb(growth)} MB ` +
    `(${(growth / nlris).toFixed(0)} octets an NLRI)`
  );
}

const GOBGPD_PORT = 17_911;
const GOBGPD_API = 50_911;
const SPEAKER_PORT = 17_921;

async function gobgpdSession(
  gobgp: string,
  gobgpd: string,
  workload: Workload,
  peers: number,
  scratchDirectory: string,
  quietMilliseconds: number,
): Promise<Session> {
  const addresses = Array.from({ length: peers }, (_, peer) => `127.0.0.${2 + peer}`);
  const configuration = join(scratchDirectory, 'gobgpd.toml');
  writeFileSync(configuration, gobgpdConfiguration(addresses));
  const daemon = start(gobgpd, [
    '-f',
    configuration,
    '--api-hosts',
    `127.0.0.1:${GOBGPD_API}`,
    '--log-level',
    'error',
    '--pprof-disable',
  ]);
  const speakers: ChildProcess[] = [];
  try {
    await until(() => listening(GOBGPD_API) && listening(GOBGPD_PORT));
    const base = residentBytes(daemon.pid as number, 'VmRSS');
    const cpuBefore = cpuSecondsOf(daemon.pid as number);
    const watcher = start(gobgp, [
      'watch',
      `127.0.0.1:${GOBGPD_API}`,
      String(workload.updates * peers),
      quietMilliseconds.toFixed(0),
    ]);
    const began: Promise<{ at: number }>[] = [];
    for (const address of addresses) {
      const speaker = start(process.execPath, [PROGRAM, 'dial', workload.file, address, String(GOBGPD_PORT)]);
      speakers.push(speaker);
      began.push(firstLine(speaker));
    }
    const { at, paths, asked } = await firstLine<{ at: number; paths: number; asked: number }>(watcher);
    const first = Math.min(...(await Promise.all(began)).map((line) => line.at));
    return {
      milliseconds: at - first,
      nlris: paths,
      asked,
      cpuSeconds: cpuSecondsOf(daemon.pid as number) - cpuBefore,
      baseBytes: base,
      peakBytes: residentBytes(daemon.pid as number, 'VmHWM'),
    };
  } finally {
    for (const child of [...speakers, daemon]) await ended(child);
  }
}

async function ourSession(workload: Workload, peers: number, watches = false): Promise<Session> {
  const speakers = Array.from({ length: peers }, (_, peer) =>
    start(process.execPath, [PROGRAM, 'speak', workload.file, String(SPEAKER_PORT + peer)]),
  );
  let receiver: ChildProcess | undefined;
  try {
    const lines = speakers.map((speaker) => createInterface({ input: speaker.stdout as never }));
    const heard = lines.map((line) => line[Symbol.asyncIterator]());
    for (const lineOf of heard) await lineOf.next();
    receiver = start(
      process.execPath,
      [
        ...WORKER_NODE_OPTIONS,
        PROGRAM,
        'receive',
        String(SPEAKER_PORT),
        String(workload.updates),
        String(peers),
        watches ? 'watch' : '',
      ],
      WORKER_ENVIRONMENT,
    );
    const result = firstLine<Session & { at: number }>(receiver);
    const began = await Promise.all(
      heard.map(async (lineOf) => JSON.parse((await lineOf.next()).value as string).at),
    );
    const { at, ...session } = await result;
    return { ...session, milliseconds: at - Math.min(...began) };
  } finally {
    for (const child of [...speakers, ...(receiver === undefined ? [] : [receiver])]) await ended(child);
  }
}

function gobgpdConfiguration(addresses: readonly string[]): string {
  const global = `[global.config]
  as = 65000
  router-id = "10.255.0.1"
  port = ${GOBGPD_PORT}
  local-address-list = ["127.0.0.1"]
`;
  const neighbor = (address: string) => `[[neighbors]]
  [neighbors.config]
    neighbor-address = "${address}"
    peer-as = 65000
  [neighbors.transport.config]
    passive-mode = true
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "ls"
`;
  return global + addresses.map(neighbor).join('');
}

function run(program: string, parameters: readonly string[], environment: NodeJS.ProcessEnv = {}): Measured {
  const env = { ...process.env, ...environment };
  const output = execFileSync(program, parameters, { encoding: 'utf8', maxBuffer: 1 << 26, env });
  return JSON.parse(output.trim().split('\n').at(-1) as string);
}

/** What the worker does runs as the worker does; decoding, which it leaves to others, runs as Node comes. */
function runOurs(measure: 'decode' | 'keep', parameters: readonly string[]): Measured {
  const [options, environment] = measure === 'keep' ? [WORKER_NODE_OPTIONS, WORKER_ENVIRONMENT] : [[], {}];
  return run(process.execPath, [...options, '--expose-gc', PROGRAM, ...parameters], environment);
}

function start(
  program: string,
  parameters: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): ChildProcess {
  const env = { ...process.env, ...environment };
  return spawn(program, parameters, { stdio: ['ignore', 'pipe', 'inherit'], env });
}

async function firstLine<Line>(child: ChildProcess): Promise<Line> {
  for await (const line of createInterface({ input: child.stdout as never })) return JSON.parse(line);
  throw new Error(`${child.spawnargs.slice(0, 3).join(' ')} said nothing`);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGKILL');
  await exit;
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('waited 20 s for gobgpd to listen');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Whether some process listens on this TCP port of IPv4, as the kernel tells. */
function listening(port: number): boolean {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .some((line) => line.includes(`:${hex} 00000000:0000 0A`));
}

function residentBytes(pid: number, of: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${of}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}

/** User and system time, in ticks of 10 ms. */
function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

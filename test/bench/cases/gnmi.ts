import { deepEqual } from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type CaseContext, cacheDirectory, type TestCase } from '../../harness.ts';
import { bundleCollector, workerCommand } from '../bundled.ts';
import { digestOfTelegraf } from '../gnmi/digest.ts';

/** What one collector did with one load. */
interface Outcome {
  readonly updates: number;
  readonly cpuSeconds: number;
  readonly peakKilobytes: number;
  readonly digest: string;
}

interface Load {
  readonly name: string;
  readonly streams: number;
  /** Of all streams together. */
  readonly updates: number;
  readonly updatesPerNotification: number;
  readonly distinctNames: boolean;
  /** Values as JSON_IETF, and the container's path as the notification's prefix; else uint_val and whole paths. */
  readonly json?: true;
  /** Ours ÷ theirs, updates a core second; a fifth of what is aimed at is asserted. */
  readonly aimed?: { readonly gnmic: number; readonly telegraf: number };
}

/** Long enough that what each spends on starting and compiling (0.3 s of ours) is no large part of it. */
const LOADS: readonly Load[] = [
  {
    name: '1 stream, 10 updates a notification',
    streams: 1,
    updates: 4_000_000,
    updatesPerNotification: 10,
    distinctNames: false,
    aimed: { gnmic: 12, telegraf: 15 },
  },
  {
    name: '50 streams, 10 updates a notification',
    streams: 50,
    updates: 4_000_000,
    updatesPerNotification: 10,
    distinctNames: false,
    aimed: { gnmic: 12, telegraf: 15 },
  },
  {
    name: '50 streams, interface names of their own',
    streams: 50,
    updates: 4_000_000,
    updatesPerNotification: 10,
    distinctNames: true,
    aimed: { gnmic: 12, telegraf: 15 },
  },
  {
    name: '1 stream, 1 update a notification',
    streams: 1,
    updates: 2_000_000,
    updatesPerNotification: 1,
    distinctNames: false,
    aimed: { gnmic: 20, telegraf: 18 },
  },
  {
    name: '1 stream, 10 updates a notification, JSON_IETF under a prefix',
    streams: 1,
    updates: 4_000_000,
    updatesPerNotification: 10,
    distinctNames: false,
    json: true,
  },
];

const TELEGRAF = 'github.com/influxdata/telegraf';
const TELEGRAF_VERSION = 'v1.37.2';

export const testCase: TestCase = {
  title: "gNMI to finished records (mapping, envelope and hash), beside gnmic's libraries and Telegraf",
  inCi: false,
  async run(context) {
    const { check, log, scale } = context;
    const programs = await buildPrograms(context);
    for (const load of LOADS) {
      await check(
        `${load.name}: all three read the same values (count and digest of 50,000 updates)`,
        async () => {
          const small = { ...load, updates: 50_000 };
          const ours = await measure(programs, small, 'ours', context, true);
          const gnmic = await measure(programs, small, 'gnmic', context, true);
          const telegraf = await measure(programs, small, 'telegraf', context, true);
          log(`digests: ours ${ours.digest}, gnmic ${gnmic.digest}, Telegraf ${telegraf.digest}`);
          deepEqual([ours.updates, gnmic.updates, telegraf.updates], [50_000, 50_000, 50_000]);
          deepEqual([gnmic.digest, telegraf.digest], [ours.digest, ours.digest]);
        },
      );
    }
    let last = '';
    for (const each of LOADS) {
      const sized = { ...each, updates: Math.round(each.updates * scale) };
      const outcomes = {
        ours: await measure(programs, sized, 'ours', context, false),
        gnmic: await measure(programs, sized, 'gnmic', context, false),
        telegraf: await measure(programs, sized, 'telegraf', context, false),
      };
      const rate = ({ cpuSeconds }: Outcome) => sized.updates / cpuSeconds;
      const ratio = {
        gnmic: rate(outcomes.ours) / rate(outcomes.gnmic),
        telegraf: rate(outcomes.ours) / rate(outcomes.telegraf),
      };
      log(`${each.name}: ${sized.updates} updates`);
      for (const [who, outcome] of Object.entries(outcomes)) {
        log(
          `  ${who}: ${Math.round(rate(outcome) / 1_000)} k updates a core second, ${outcome.cpuSeconds.toFixed(2)} s CPU, peak ${Math.round(outcome.peakKilobytes / 1_024)} MB`,
        );
      }
      const aim = (who: 'gnmic' | 'telegraf') =>
        each.aimed === undefined ? '' : ` (aimed at ${each.aimed[who]})`;
      last = `  ratio: ${ratio.gnmic.toFixed(1)} × gnmic's libraries${aim('gnmic')}, ${ratio.telegraf.toFixed(1)} × Telegraf${aim('telegraf')}`;
      log(last);
      await check(`${each.name}: each of the three counts every update`, () => {
        const counts = Object.values(outcomes).map(({ updates }) => updates);
        deepEqual(counts, [sized.updates, sized.updates, sized.updates]);
      });
      const { aimed } = each;
      // Of less, start and compiling are the larger part.
      if (aimed === undefined || scale < 0.25) continue;
      await check(`${each.name}: a fifth of the aim at least`, () => {
        if (ratio.gnmic < aimed.gnmic / 5 || ratio.telegraf < aimed.telegraf / 5) throw new Error(last);
      });
    }
  },
};

interface Programs {
  readonly bin: string;
  readonly telegraf: string;
  /** Ours, bundled. */
  readonly collector: string;
}

async function buildPrograms({ log, scratchDirectory }: CaseContext): Promise<Programs> {
  const bin = join(cacheDirectory(), 'gnmi-bench-1');
  execFileSync('go', ['build', '-o', `${bin}/`, './generator', './gnmicclient'], {
    cwd: join(import.meta.dirname, '../gnmi'),
    stdio: 'pipe',
    env: { ...process.env, GOFLAGS: '-buildvcs=false' },
  });
  const telegraf = join(bin, 'telegraf');
  if (!existsSync(telegraf)) {
    log('building Telegraf once');
    const scratch = join(cacheDirectory(), 'telegraf-build');
    mkdirSync(scratch, { recursive: true });
    const go = (...argv: string[]) =>
      execFileSync('go', argv, {
        cwd: scratch,
        stdio: 'pipe',
        env: { ...process.env, GOFLAGS: '-buildvcs=false -mod=mod' },
      });
    if (!existsSync(join(scratch, 'go.mod'))) go('mod', 'init', 'scratch');
    go('get', `${TELEGRAF}@${TELEGRAF_VERSION}`);
    const tags = 'custom,inputs.gnmi,outputs.file,serializers.json';
    go('build', '-ldflags', '-s -w', '-tags', tags, '-o', telegraf, `${TELEGRAF}/cmd/telegraf`);
  }
  const collector = await bundleCollector(
    join(import.meta.dirname, '../gnmi/collector.ts'),
    scratchDirectory,
  );
  return { bin, telegraf, collector };
}

/** Runs one collector against a generator of its own. */
async function measure(
  programs: Programs,
  load: Load,
  who: 'ours' | 'gnmic' | 'telegraf',
  context: CaseContext,
  digest: boolean,
): Promise<Outcome> {
  const notifications = load.updates / load.streams / load.updatesPerNotification;
  const generator = spawn(
    join(programs.bin, 'generator'),
    [
      ...['-notifications', String(notifications), '-updates', String(load.updatesPerNotification)],
      ...(load.distinctNames ? ['-distinct'] : []),
      ...(load.json ? ['-json', '-prefix'] : []),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let sent = 0;
  const lines = createInterface({ input: generator.stdout });
  const port = await new Promise<string>((done) => {
    lines.on('line', (line) => {
      if (line.startsWith('sent')) sent += 1;
      else done(/\d+$/.exec(line)?.[0] as string);
    });
  });
  const flags = digest ? ['--digest'] : [];
  try {
    if (who === 'telegraf') {
      return await measureTelegraf(programs, load, port, () => sent === load.streams, context, digest);
    }
    const own = workerCommand(programs.collector);
    const [program = '', ...options] = own.command;
    const child =
      who === 'ours'
        ? spawn(program, [...options, '--port', port, '--streams', String(load.streams), ...flags], {
            env: own.environment,
          })
        : spawn(join(programs.bin, 'gnmicclient'), [
            ...['--address', `127.0.0.1:${port}`, '--streams', String(load.streams), ...flags],
          ]);
    return await new Promise<Outcome>((done, fail) => {
      let output = '';
      child.stdout.on('data', (chunk) => {
        output += chunk;
      });
      child.stderr.on('data', (chunk) => {
        output += chunk;
      });
      child.on('close', (code) =>
        code === 0 ? done(JSON.parse(output) as Outcome) : fail(new Error(output)),
      );
    });
  } finally {
    generator.kill('SIGKILL');
  }
}

async function measureTelegraf(
  { telegraf }: Programs,
  load: Load,
  port: string,
  isAllSent: () => boolean,
  { scratchDirectory }: CaseContext,
  digest: boolean,
): Promise<Outcome> {
  const output = digest ? join(scratchDirectory, 'telegraf.json') : '/dev/null';
  const config = join(scratchDirectory, 'telegraf.conf');
  const logFile = join(scratchDirectory, 'telegraf.log');
  rmSync(logFile, { force: true });
  // It writes behind what is there.
  if (digest) rmSync(output, { force: true });
  const input = `
[[inputs.gnmi]]
  addresses = ["127.0.0.1:${port}"]
  encoding = "${load.json ? 'json_ietf' : 'proto'}"
  [[inputs.gnmi.subscription]]
    name = "interfaces"
    path = "/interfaces/interface/state/counters"
    subscription_mode = "sample"
    sample_interval = "10s"
`;
  writeFileSync(
    config,
    `[agent]
  flush_interval = "1s"
  metric_batch_size = 1000
  metric_buffer_limit = 1000000
  omit_hostname = true
  debug = true
  logfile = "${logFile}"
[[outputs.file]]
  files = ["${output}"]
  data_format = "json"
${input.repeat(load.streams)}`,
  );
  const child = spawn(telegraf, ['--config', config], { stdio: 'ignore' });
  try {
    // It does not end by itself: everything is sent, and then it has been idle for two flushes.
    let used = -1;
    let idleSince = performance.now();
    while (!isAllSent() || performance.now() - idleSince < 2_500) {
      await new Promise((done) => setTimeout(done, 100));
      const now = cpuSecondsOf(child);
      // A tick now and then is its timers'.
      if (now - used > 0.03) {
        used = now;
        idleSince = performance.now();
      }
    }
    const outcome = { cpuSeconds: cpuSecondsOf(child), peakKilobytes: peakKilobytesOf(child) };
    if (!digest) {
      // It makes one metric of a notification, as the digests show, and says of each batch how many it wrote.
      const batches = readFileSync(logFile, 'utf8').matchAll(/Wrote batch of (\d+) metrics/g);
      const metrics = [...batches].reduce((sum, [, count]) => sum + Number(count), 0);
      return { ...outcome, updates: metrics * load.updatesPerNotification, digest: '' };
    }
    let sum = 0n;
    let updates = 0;
    for (const line of readFileSync(output, 'utf8').trim().split('\n')) {
      const each = digestOfTelegraf(line);
      sum += each.digest;
      updates += each.updates;
    }
    return { ...outcome, updates, digest: BigInt.asUintN(64, sum).toString(16).padStart(16, '0') };
  } finally {
    child.kill('SIGKILL');
  }
}

function cpuSecondsOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') as string[];
  // utime and stime, in ticks of 10 ms (proc(5)).
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function peakKilobytesOf({ pid }: ChildProcess): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CaseContext, TestCase } from '../../harness.ts';
import { debianCommand } from '../../support/install.ts';
import { bundleCollector, workerCommand } from '../bundled.ts';
import {
  type Cost,
  measure,
  measureRunning,
  ownProgram,
  startAgent,
  telegraf,
  telegrafConfiguration,
  type Values,
  valuesOfBulkwalk,
  valuesOfRecords,
  valuesOfTelegraf,
} from '../snmp/peers.ts';

const DEVICES = 50;
const INTERFACES = 500;
const COLUMNS = 9;
const PORT = 16_161;
const VALUES_PER_POLL = INTERFACES * COLUMNS;
/** Each collector runs this often, in turn with the others; the median counts. */
const TURNS = 3;
/**
 * Rounds before ours and gosnmp's are measured, and seconds that Telegraf is after two polls: none is charged for its
 * start. snmpbulkwalk is: it is a process a walk.
 */
const WARM_ROUNDS = 5;
const GOSNMP_WARM_ROUNDS = 1;
const TELEGRAF_SECONDS = 5;

interface Measured {
  readonly name: string;
  readonly ratesPerCore: number[];
}

type RunOurs = (rounds: number, output: string, ...more: string[]) => Cost;

async function bundleOurs(scratchDirectory: string): Promise<RunOurs> {
  const source = resolve(import.meta.dirname, '../snmp/collector.ts');
  const { command, environment } = workerCommand(await bundleCollector(source, scratchDirectory));
  return (rounds, output, ...more) =>
    measure(
      [...command, '--port', `${PORT}`, '--rounds', `${rounds}`, '--output', output, ...more],
      environment,
    );
}

function gosnmp(rounds: number, output: string, ...more: string[]): Cost {
  return measure([
    ownProgram('gosnmp'),
    '-port',
    `${PORT}`,
    '-rounds',
    `${rounds}`,
    '-output',
    output,
    ...more,
  ]);
}

/** What a run of ours or of gosnmp's tells of itself, without its warm-up. */
function ownRate({ stdout }: Cost): number {
  const { polls, cpuSeconds } = JSON.parse(stdout) as { polls: number; cpuSeconds: number };
  return (polls * VALUES_PER_POLL) / cpuSeconds;
}

/** Telegraf polls until it is stopped; what it finished is counted in its output. */
function telegrafCommand(scratch: string): { command: string[]; output: string } {
  const output = join(scratch, 'telegraf.json');
  const configuration = join(scratch, 'telegraf.conf');
  writeFileSync(output, '');
  writeFileSync(configuration, telegrafConfiguration(DEVICES, PORT, output));
  return { command: [telegraf(), '--config', configuration], output };
}

async function telegrafRate(scratch: string): Promise<number> {
  const { command, output } = telegrafCommand(scratch);
  const run = await measureRunning(command, output, DEVICES * INTERFACES, TELEGRAF_SECONDS);
  return (run.rows * COLUMNS) / run.cpuSeconds;
}

/** One process a walk, one after another, as people script it. */
function bulkwalk(devices: readonly number[], ...options: string[]): Cost {
  const command = debianCommand('snmpbulkwalk', 'snmp');
  const walks = devices.map(
    (device) => `echo "# ${device}"; "$@" 127.0.1.${device}:${PORT} .1.3.6.1.2.1.31.1.1.1`,
  );
  const credentials = options.length > 0 ? options : ['-v2c', '-c', 'public'];
  return measure(['bash', '-c', walks.join('\n'), 'walks', command, ...credentials, '-Cr50', '-On'], {
    MIBS: '',
  });
}

function digest(values: Values): string {
  const lines = [...values].map(([place, value]) => `${place} ${value}`).sort();
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
}

/** All four read every value of all devices before anything is timed. */
async function compareValues(context: CaseContext, ours: RunOurs): Promise<void> {
  const path = (name: string) => join(context.scratchDirectory, `${name}.json`);
  ours(1, path('ours'));
  ours(1, path('ours-v3'), '--v3');
  gosnmp(1, path('gosnmp'));
  const walked: Values = new Map();
  const devices = Array.from({ length: DEVICES }, (_, number) => number + 1);
  for (const part of bulkwalk(devices).stdout.split('# ').slice(1)) {
    for (const [place, value] of valuesOfBulkwalk(Number.parseInt(part, 10), part)) walked.set(place, value);
  }
  const polled = telegrafCommand(context.scratchDirectory);
  await measureRunning(polled.command, polled.output, 2 * DEVICES * INTERFACES, 1);
  const found: Record<string, Values> = {
    ours: valuesOfRecords(path('ours')),
    'ours, v3 authPriv': valuesOfRecords(path('ours-v3')),
    gosnmp: valuesOfRecords(path('gosnmp')),
    snmpbulkwalk: walked,
    telegraf: valuesOfTelegraf(polled.output),
  };
  for (const [name, values] of Object.entries(found)) {
    context.log(`${name}: ${values.size} values, digest ${digest(values)}`);
  }
  const expected = found['ours'] as Values;
  await context.check('all collectors read the same values', () => {
    assert.equal(expected.size, DEVICES * VALUES_PER_POLL);
    for (const [name, values] of Object.entries(found)) assert.equal(digest(values), digest(expected), name);
  });
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

export const testCase: TestCase = {
  title: 'SNMP varbinds a second and core, to finished records, beside Telegraf, gosnmp and snmpbulkwalk',
  inCi: false,
  async run(context) {
    const ours = await bundleOurs(context.scratchDirectory);
    const stopAgent = await startAgent(DEVICES, INTERFACES, PORT);
    try {
      await compareValues(context, ours);
      const rate = (polls: number, { cpuSeconds }: Cost) => (polls * VALUES_PER_POLL) / cpuSeconds;
      const rounds = Math.max(4, Math.round(20 * context.scale));
      const warm = ['--warm', `${WARM_ROUNDS}`];
      const gosnmpWarm = ['-warm', `${GOSNMP_WARM_ROUNDS}`];
      const some = Array.from({ length: 15 }, (_, number) => number + 1);
      const v3Options = [
        '-v3',
        '-l',
        'authPriv',
        '-u',
        'mon',
        '-a',
        'SHA-256',
        '-A',
        'authpass1',
        '-x',
        'AES',
        '-X',
        'privpass1',
      ];
      const runs: Record<string, () => number | Promise<number>> = {
        ours: () => ownRate(ours(WARM_ROUNDS + rounds, '/dev/null', ...warm)),
        telegraf: () => telegrafRate(context.scratchDirectory),
        gosnmp: () => ownRate(gosnmp(GOSNMP_WARM_ROUNDS + 4, '/dev/null', ...gosnmpWarm)),
        snmpbulkwalk: () => rate(some.length, bulkwalk(some)),
        'ours, v3 authPriv': () => ownRate(ours(WARM_ROUNDS + 5, '/dev/null', '--v3', ...warm)),
        'gosnmp, v3 authPriv': () =>
          ownRate(gosnmp(GOSNMP_WARM_ROUNDS + 4, '/dev/null', '-v3', ...gosnmpWarm)),
        'snmpbulkwalk, v3 authPriv': () => rate(some.length, bulkwalk(some, ...v3Options)),
      };
      const measured: Measured[] = Object.keys(runs).map((name) => ({ name, ratesPerCore: [] }));
      for (let turn = 0; turn < TURNS; turn += 1) {
        for (const one of measured) one.ratesPerCore.push((await runs[one.name]?.()) ?? 0);
      }
      const of = (name: string) => median(measured.find((one) => one.name === name)?.ratesPerCore ?? []);
      for (const { name, ratesPerCore } of measured) {
        const thousands = [...ratesPerCore]
          .sort((left, right) => left - right)
          .map((one) => Math.round(one / 1_000));
        context.log(`${name}: ${thousands.join(' / ')} k varbinds/s per core`);
      }
      const ratio = (peer: string, version = '') => of(`ours${version}`) / of(`${peer}${version}`);
      const v3 = ', v3 authPriv';
      context.log(
        `v3 authPriv: ${ratio('gosnmp', v3).toFixed(1)} × gosnmp, ${ratio('snmpbulkwalk', v3).toFixed(1)} × snmpbulkwalk`,
      );
      // Printed, and asserted only far from the goal of 15, 8 and 5: the machine may be busy with other things.
      await context.check('no peer is faster, by any measure', () => {
        for (const peer of ['telegraf', 'snmpbulkwalk', 'gosnmp']) assert.ok(ratio(peer) > 1, peer);
      });
      context.log(
        `ratio: ${ratio('telegraf').toFixed(1)} × Telegraf, ${ratio('snmpbulkwalk').toFixed(1)} × snmpbulkwalk, ${ratio('gosnmp').toFixed(1)} × gosnmp`,
      );
    } finally {
      stopAgent();
    }
  },
};

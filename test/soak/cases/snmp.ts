import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startWorkerProcesses } from '../../../local/worker-processes.ts';
import type { CaseContext, TestCase } from '../../harness.ts';
import { type Emulators, runAs, startEmulators } from '../../support/stack.ts';
import { until } from '../../support/until.ts';
import { CycleCount } from '../snmp/cycle-count.ts';
import type { ProbeLine } from '../snmp/stall-probe.ts';

const DEVICES = 1_000;
const CREATED_AT_ONCE = 20;
const ROWS = 30;
const PORT = 16_261;
const INTERVAL_MS = 10_000;
const DURATION_MS = 600_000;
/** Of a run that is a tenth of the size, the part that is not needed to set everything up. */
const MEASURED_PART = 0.5;
/** The goals are 50 and 200 ms; asserted at five times that, since others may use the machine. */
const STALL_P999_MS = 250;
const STALL_MAX_MS = 1_000;

export const testCase: TestCase = {
  title: '1,000 SNMP devices at 10 s on one worker: no cycle missed at the queue, no stall, flat memory',
  inCi: true,
  async run(context) {
    const fleet = spawn(
      process.execPath,
      [resolve(import.meta.dirname, '../snmp/fleet.ts'), `${DEVICES}`, `${PORT}`, `${ROWS}`],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    const [emulators] = await Promise.all([startEmulators(), once(fleet.stdout, 'data')]);
    const probeFile = join(context.scratchDirectory, 'probe.jsonl');
    let worker: ReturnType<typeof startWorkerProcesses> | undefined;
    try {
      const { subscriptionId, deviceIds } = await configure(emulators);
      const count = new CycleCount(INTERVAL_MS, (deviceId) => `${subscriptionId}/${deviceId}`);
      worker = startWorkerProcesses({
        program: 'worker/main.ts',
        count: 1,
        bgpListen: '',
        environment: {
          ...process.env,
          GRATICULE_ALLOW_LOOPBACK: '1',
          GRATICULE_STALL_PROBE: probeFile,
          NODE_OPTIONS: `--import ${resolve(import.meta.dirname, '../snmp/stall-probe.ts')}`,
        },
        log: context.log,
      });
      await measure(context, count, deviceIds, probeFile);
      await explain(context, emulators, subscriptionId);
    } finally {
      await worker?.stop();
      fleet.stdin.end();
      await emulators.stop();
    }
  },
};

async function measure(
  context: CaseContext,
  count: CycleCount,
  deviceIds: readonly number[],
  probeFile: string,
): Promise<void> {
  const measuredMs = context.scale < 1 ? DURATION_MS * context.scale * MEASURED_PART : DURATION_MS;
  const receive = () => runAs('deliver-webhook', () => count.receive());
  const lines = (): ProbeLine[] =>
    readFileSync(probeFile, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as ProbeLine);
  /** Cycles that did not come with exactly the rows that the device has. */
  const missed = () =>
    deviceIds.flatMap((id) =>
      count
        .cyclesOf(id, from, end)
        .flatMap((rows, cycle) => (rows === ROWS ? [] : [`device ${id}, cycle ${cycle}: ${rows} rows`])),
    );
  await until('a cycle of every device', receive, () => count.devices === DEVICES, 120_000);
  const { processId } = lines()[0] as ProbeLine;
  process.kill(processId, 'SIGUSR2');
  const before = lines().length;
  const from = Date.now();
  const end = from + measuredMs;
  while (Date.now() < end) await receive();
  const measured = lines().slice(before + 2);
  // What was due before the end is polled within the interval, and then on its way.
  await until(
    'the last cycles',
    receive,
    () => missed().length === 0 || Date.now() > end + 2 * INTERVAL_MS,
    4 * INTERVAL_MS,
  );
  const last = measured.at(-1) as ProbeLine;
  const megabytes = measured.map(({ memoryBytes }) => Math.round(memoryBytes / 1e6));
  const cycles = deviceIds.reduce((sum, id) => sum + count.cyclesOf(id, from, end).length, 0);
  context.log(
    `${cycles} cycles were due within ${Math.round(measuredMs / 1_000)} s, ${count.records} records in all`,
  );
  context.log(
    `event loop stall p99.9 ${last.stallP999Milliseconds.toFixed(1)} ms, max ${last.stallMaxMilliseconds.toFixed(1)} ms`,
  );
  context.log(
    `memory ${megabytes.filter((_, at) => at % Math.ceil(megabytes.length / 20) === 0).join(' ')} MB`,
  );
  await context.check('every cycle that was due reached the queue whole, and once', () => {
    assert.deepEqual(missed().slice(0, 10), []);
  });
  await context.check('the event loop never stood still', () => {
    assert.ok(last.stallP999Milliseconds < STALL_P999_MS && last.stallMaxMilliseconds < STALL_MAX_MS);
  });
  await context.check('memory stayed flat', () => {
    const half = Math.max(...megabytes.slice(0, Math.ceil(megabytes.length / 2)));
    assert.ok((megabytes.at(-1) ?? 0) < half * 1.2, megabytes.join(' '));
  });
}

/** What the product itself says of the run: what a missed cycle is looked up in. */
async function explain(
  { log }: CaseContext,
  { send, token }: Emulators,
  subscriptionId: number,
): Promise<void> {
  const get = async (path: string) =>
    JSON.parse((await send({ method: 'GET', path, headers: { authorization: `Bearer ${token}` } })).text);
  const { status } = await get(`/api/v1/subscriptions/${subscriptionId}`);
  const faults: Record<string, number> = {};
  let incomplete = 0;
  for (const stream of status) {
    incomplete += stream['cycle-incomplete'];
    const code = stream['last-error']?.code;
    if (code !== undefined) faults[code] = (faults[code] ?? 0) + 1;
  }
  const { records } = await get('/api/v1/outputs/metrics');
  log(`incomplete cycles ${incomplete}, devices by last fault ${JSON.stringify(faults)}`);
  log(
    `records collected ${records.collected}, queued ${records.queued}, failed ${JSON.stringify(records['failed-by-reason']['not-queued'])}`,
  );
}

/** The model, all devices and their subscription, by way of the API. */
async function configure({ send, token }: Emulators) {
  const call = async (method: string, path: string, body: unknown) => {
    const answer = await send({
      method,
      path,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return JSON.parse(answer.text) as { id: number };
  };
  await call('PUT', '/api/v1/outputs/webhook', {
    enabled: true,
    config: { url: 'http://127.0.0.1:9/nobody-sends', 'batch-mode': true },
  });
  const fields = { name: 'ifName', 'in-octets': 'ifHCInOctets', 'out-octets': 'ifHCOutOctets' };
  const model = await call('POST', '/api/v1/models/import', {
    format: 'graticule-model/1',
    name: 'interfaces',
    version: '1.0.0',
    description: '',
    fields: Object.keys(fields).map((name) => ({ name, type: name === 'name' ? 'string' : 'counter64' })),
    mappings: [
      {
        protocol: 'snmp',
        netos: '*',
        field_mappings: Object.fromEntries(
          Object.entries(fields).map(([name, object]) => [name, `IF-MIB::${object}`]),
        ),
      },
    ],
  });
  await call('PUT', `/api/v1/models/${model.id}`, { active: true });
  const deviceIds: number[] = [];
  for (let first = 1; first <= DEVICES; first += CREATED_AT_ONCE) {
    const created = await Promise.all(
      Array.from({ length: CREATED_AT_ONCE }, (_, offset) =>
        call('POST', '/api/v1/devices', {
          name: `device${first + offset}`,
          address: `127.1.${(first + offset) >> 8}.${(first + offset) & 0xff}`,
          netos: 'eos',
          labels: { role: 'fleet' },
          enabled: true,
          snmp: { port: PORT, community: 'public', retries: 2 },
        }),
      ),
    );
    deviceIds.push(...created.map(({ id }) => id));
  }
  const subscription = await call('POST', '/api/v1/subscriptions', {
    name: 'fleet',
    enabled: true,
    'model-name': 'interfaces',
    'model-version': 'latest',
    devices: { ids: [], labels: { role: 'fleet' } },
    mode: 'poll',
    'interval-ms': INTERVAL_MS,
  });
  return { subscriptionId: subscription.id, deviceIds };
}

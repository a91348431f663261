/** The product's driver as a collector of its own process: polls all devices again and again, one record a row. */
import { openSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compileWalkPlan, DEFAULT_WALK_LIMITS } from '../../../protocols/snmp/walk-plan.ts';
import { SnmpDriver } from '../../../worker/snmp/driver.ts';
import { communitySession, v3Session } from '../../support/snmp-agent/run-walk.ts';
import { IF_X_COLUMNS } from '../../support/snmp-agent/tables.ts';
import { RecordWriter } from './record-writer.ts';

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '50' },
    port: { type: 'string', default: '16161' },
    /** How often each device is polled. */
    rounds: { type: 'string', default: '20' },
    /** Rounds of these that are not measured: Node starts and compiles once, a collector runs for months. */
    warm: { type: 'string', default: '0' },
    output: { type: 'string', default: '/dev/null' },
    v3: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const plan = compileWalkPlan([{ kind: 'table', columns: IF_X_COLUMNS }]);
const limits = { ...DEFAULT_WALK_LIMITS, timeoutMilliseconds: 5_000 };
const driver = new SnmpDriver();
const writer = new RecordWriter(
  openSync(values.output, 'w'),
  IF_X_COLUMNS.map((column) => `${column.at(-1)}`),
);
const warmPolls = Number(values.warm) * Number(values.devices);
let polls = 0;
let measuredFrom = process.cpuUsage();
let running = Number(values.devices);

for (let number = 1; number <= Number(values.devices); number += 1) {
  const prefix = Buffer.from(`{"device":${number},"index":`);
  const target = {
    address: `127.0.1.${number}`,
    port: Number(values.port),
    unconnected: false,
    session: values.v3
      ? v3Session({
          name: 'mon',
          auth: { protocol: 'sha-256', password: 'authpass1' },
          priv: { protocol: 'aes-128', password: 'privpass1' },
        })
      : communitySession('v2c'),
  };
  let left = rounds;
  const poll = () => {
    driver.walk({
      target,
      plan,
      limits,
      budgetMilliseconds: 30_000,
      row: (_group, row) => writer.write(prefix, row),
      done: ({ fault }) => {
        if (fault !== undefined) throw new Error(`${fault.code}: ${fault.detail}`);
        polls += 1;
        if (polls === warmPolls) measuredFrom = process.cpuUsage();
        left -= 1;
        if (left > 0) poll();
        else {
          running -= 1;
          if (running === 0) finish();
        }
      },
    });
  };
  poll();
}

function finish(): void {
  writer.flush();
  driver.close();
  const { user, system } = process.cpuUsage(measuredFrom);
  console.log(JSON.stringify({ polls: polls - warmPolls, cpuSeconds: (user + system) / 1e6 }));
}

/**
 * Our collector as a process of its own: polls all devices again and again, and maps each walk to records with envelope and
 * hash, one a row.
 */
import { openSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compileSnmpMapping } from '../../../core/mapping/snmp-mapping.ts';
import { SnmpRows } from '../../../core/mapping/snmp-rows.ts';
import { formatOid } from '../../../protocols/snmp/oid.ts';
import { compileWalkPlan, DEFAULT_WALK_LIMITS } from '../../../protocols/snmp/walk-plan.ts';
import { SnmpDriver } from '../../../worker/snmp/driver.ts';
import { communitySession, v3Session } from '../../support/snmp-agent/run-walk.ts';
import { IF_X_COLUMNS } from '../../support/snmp-agent/tables.ts';

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
const columns = IF_X_COLUMNS.map((oid) => ({ name: `${oid.at(-1)}`, path: formatOid(oid) }));
const mapping = compileSnmpMapping(
  // ifName is text, the others are Counter64.
  columns.map(({ name }) => ({ name, type: name === '1' ? 'string' : 'counter64' })),
  new Map(columns.map(({ name, path }) => [name, path])),
);
const groupId = mapping.groups.findIndex(({ walk }) => walk.kind === 'table' && walk.columns.length > 0);
const group = mapping.groups[groupId];
if (group === undefined) throw new Error('no table to walk');
const plan = compileWalkPlan([group.walk]);
const limits = { ...DEFAULT_WALK_LIMITS, timeoutMilliseconds: 5_000 };
const driver = new SnmpDriver();
const output = openSync(values.output, 'w');
const isKept = values.output !== '/dev/null';
const warmPolls = Number(values.warm) * Number(values.devices);
let polls = 0;
let measuredFrom = process.cpuUsage();
let running = Number(values.devices);

for (let number = 1; number <= Number(values.devices); number += 1) {
  const rows = new SnmpRows({
    source: { device: `${number}`, deviceId: number, modelName: 'interfaces' },
    mapping,
    maxRows: 100_000,
    deliver: ({ bytes, ends }) => {
      if (!isKept) {
        writeSync(output, bytes);
        return;
      }
      let start = 0;
      for (const end of ends) {
        writeSync(output, `${Buffer.from(bytes.subarray(start, end))}\n`);
        start = end;
      }
    },
  });
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
      row: (_group, row, arrivedAt) => rows.row(groupId, row, arrivedAt),
      done: ({ fault }) => {
        if (fault !== undefined) throw new Error(`${fault.code}: ${fault.detail}`);
        rows.close();
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
  driver.close();
  const { user, system } = process.cpuUsage(measuredFrom);
  console.log(JSON.stringify({ polls: polls - warmPolls, cpuSeconds: (user + system) / 1e6 }));
}

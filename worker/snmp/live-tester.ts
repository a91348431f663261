/** Live tests of SNMP mappings: what one walk brings, as the records that it would be, and what explains it. */
import type { Fault, LiveTestExplanation, LiveTestFindings } from '../../core/live-test.ts';
import { explainSkipped } from '../../core/mapping/compile.ts';
import { SnmpRows } from '../../core/mapping/snmp-rows.ts';
import { rowTexts } from '../../core/record.ts';
import { ONLY_V1 } from '../../protocols/snmp/live-test.ts';
import type { LiveTester } from '../collection/jobs.ts';
import { DeviceLink, type LinkPorts, type SnmpConfiguration } from './device-link.ts';
import type { SnmpDriver, SnmpTarget } from './driver.ts';
import { type SnmpTestResult, testSnmp } from './live-test.ts';
import { type MappedWalk, mapWalk } from './mapped-walk.ts';
import { nothingToAsk } from './poll-stream.ts';

/** Rows of one test; people read them. */
const MAX_ROWS = 10_000;

export function snmpTester(driver: SnmpDriver, ports: LinkPorts): LiveTester {
  return async ({ device, model, mapping }, budgetMilliseconds) => {
    const walk = mapWalk(model, mapping);
    const link = new DeviceLink(device, device.configuration.snmp as SnmpConfiguration, ports);
    const parsedResults: string[] = [];
    const rows = new SnmpRows({
      source: { device: device.configuration.name, deviceId: device.id, modelName: model.name },
      mapping: walk.mapping,
      maxRows: MAX_ROWS,
      deliver: (records) => parsedResults.push(...rowTexts(records)),
    });
    const findings = (error: Fault | undefined, result: SnmpTestResult | undefined): LiveTestFindings => ({
      error: error ?? null,
      parsedResults,
      rawUpdates: (result?.rawUpdates ?? []).map(({ arrivedAt, oid, type, value }) => ({
        timestamp: new Date(arrivedAt).toISOString(),
        path: oid,
        type,
        value,
      })),
      explanation: explain(walk, rows, link.dialect, result),
    });
    if (walk.groups.length === 0) return findings(nothingToAsk(walk), undefined);
    const begun = ports.monotonic();
    const reached = await link.reach();
    if ('fault' in reached) return findings(reached.fault, undefined);
    const left = () => budgetMilliseconds - (ports.monotonic() - begun);
    const walkAt = (target: SnmpTarget) =>
      testSnmp(driver, target, walk.groups, left(), link.limits, {
        row: (group, row, arrivedAt) => rows.row(walk.groupIds[group] as number, row, arrivedAt),
      });
    let result = await walkAt(reached.target);
    if (result.fault?.detail === ONLY_V1 && (await link.fallBack(driver, reached.target, left()))) {
      const older = await link.reach();
      if ('target' in older) result = await walkAt(older.target);
    }
    // Also of a walk that was cut short: the error says so, and what there is helps to find out why.
    rows.close();
    return findings(result.fault, result);
  };
}

function explain(
  { mapping, groups }: MappedWalk,
  rows: SnmpRows,
  dialect: string,
  result: SnmpTestResult | undefined,
): LiveTestExplanation {
  const errors = [...rows.coercionErrors()].map(([name, count]) => {
    const [slot = '', code = ''] = name.split(':');
    return { slot: Number(slot), code, count };
  });
  const hasTable = groups.some(({ kind }) => kind === 'table');
  return {
    protocol: 'snmp',
    rpc: !hasTable ? 'get' : dialect === 'v1' ? 'get-next' : 'get-bulk',
    encoding: dialect,
    sync: result !== undefined && result.outcome.fault === undefined,
    updates: rows.status().updates,
    ms: result?.milliseconds ?? 0,
    fields: mapping.slots.map(({ field, alternative, text }, slot) => ({
      field: mapping.layout.fields[field]?.name ?? '',
      path: text,
      alternative: alternative + 1,
      updates: rows.updatesOf(slot),
      'coercion-errors': errors.flatMap((error) =>
        error.slot === slot ? [{ code: error.code, count: error.count }] : [],
      ),
    })),
    'unmatched-paths': [...mapping.skipped.map(({ path }) => path), ...rows.unmatchedPaths()],
    ...explainSkipped(mapping.skipped),
  };
}

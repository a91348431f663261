/** The live test of an SNMP mapping: one walk of one device, and what explains its result. */
import { performance } from 'node:perf_hooks';
import type { SnmpFault } from '../../protocols/snmp/fault.ts';
import {
  emptinessFault,
  PROBE_OID,
  probeFor,
  type RawUpdate,
  rawUpdates,
  unmatchedOids,
  valuesOf,
} from '../../protocols/snmp/live-test.ts';
import { formatArcs } from '../../protocols/snmp/oid.ts';
import { SnmpSession } from '../../protocols/snmp/session.ts';
import type { SnmpValue } from '../../protocols/snmp/value.ts';
import type { WalkOutcome } from '../../protocols/snmp/walk.ts';
import {
  compileWalkPlan,
  DEFAULT_WALK_LIMITS,
  type WalkGroup,
  type WalkLimits,
} from '../../protocols/snmp/walk-plan.ts';
import { type SnmpDriver, type SnmpTarget, type WalkRequest, walkOnce } from './driver.ts';

export interface TestedRow {
  readonly group: number;
  /** The dotted index, `""` for scalars. */
  readonly index: string;
  /** By column of the group; undefined where the row has no value. */
  readonly values: readonly (SnmpValue | undefined)[];
  /** Epoch, milliseconds. */
  readonly arrivedAt: number;
}

export interface SnmpTestResult {
  readonly rawUpdates: readonly (RawUpdate & { readonly arrivedAt: number })[];
  readonly rows: readonly TestedRow[];
  /** OIDs that gave no value. */
  readonly unmatched: readonly string[];
  /** Rows beyond the cap were walked, but are not here. */
  readonly truncated: boolean;
  readonly milliseconds: number;
  readonly outcome: WalkOutcome;
  readonly fault?: SnmpFault;
}

/** Rows that a test keeps; people read them. */
const MAX_ROWS = 1_000;

/** A part of the budget is kept for the probe that tells silences apart. */
const PROBE_SHARE = 0.3;

/**
 * Walks the groups once within the budget. Rows come back even when the walk was cut short: this is for people. A
 * listener hears them all, as a collector would.
 */
export async function testSnmp(
  driver: SnmpDriver,
  target: SnmpTarget,
  groups: readonly WalkGroup[],
  budgetMilliseconds: number,
  limits: WalkLimits = DEFAULT_WALK_LIMITS,
  listener?: Pick<WalkRequest, 'row'>,
): Promise<SnmpTestResult> {
  const started = performance.now();
  const plan = compileWalkPlan(groups);
  const rows: TestedRow[] = [];
  const updates: (RawUpdate & { arrivedAt: number })[] = [];
  let truncated = false;
  const outcome = await walkOnce(driver, {
    target,
    plan,
    limits,
    budgetMilliseconds: budgetMilliseconds * (1 - PROBE_SHARE),
    row: (group, row, arrivedAt) => {
      listener?.row(group, row, arrivedAt);
      truncated ||= rows.length >= MAX_ROWS;
      if (truncated) return;
      const index = formatArcs(row.indexBytes, row.indexStart, row.indexEnd);
      const { oids = [] } = plan.groups[group] ?? {};
      rows.push({ group, index, values: valuesOf(row, oids.length), arrivedAt });
      for (const update of rawUpdates(plan, group, row)) updates.push({ ...update, arrivedAt });
    },
  });
  const fault = await explain(
    driver,
    target,
    emptinessFault(plan, outcome),
    limits,
    budgetMilliseconds * PROBE_SHARE,
  );
  return {
    rawUpdates: updates,
    rows,
    unmatched: unmatchedOids(plan, outcome),
    truncated,
    milliseconds: Math.round(performance.now() - started),
    outcome,
    ...(fault === undefined ? {} : { fault }),
  };
}

async function explain(
  driver: SnmpDriver,
  target: SnmpTarget,
  fault: SnmpFault | undefined,
  limits: WalkLimits,
  budgetMilliseconds: number,
): Promise<SnmpFault | undefined> {
  const probe = fault === undefined ? undefined : probeFor(target.session.settings, fault);
  if (probe === undefined) return fault;
  const probed = await walkOnce(driver, {
    target: { ...target, session: new SnmpSession(probe.settings) },
    plan: compileWalkPlan([{ kind: 'scalars', instances: [PROBE_OID] }]),
    limits,
    budgetMilliseconds,
    row: () => {},
  });
  return probe.judge(probed) ?? fault;
}

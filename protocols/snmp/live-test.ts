/** What the live test of a mapping makes of one walk: every value as it came, and why it may be that there is none. */
import { copyBytes, Tag } from './ber.ts';
import type { SnmpFault } from './fault.ts';
import { formatArcs, formatOid, type Oid } from './oid.ts';
import type { WalkRow } from './row-join.ts';
import type { SessionSettings } from './session.ts';
import { formatValue, interpretValue, kindOfTag, type SnmpValue } from './value.ts';
import { CellKind, isByteKind } from './varbind-table.ts';
import type { WalkOutcome } from './walk.ts';
import type { WalkPlan } from './walk-plan.ts';

/** One varbind for people: `raw-updates` of the test. */
export interface RawUpdate {
  readonly oid: string;
  /** The kind of the wire, `counter64`. */
  readonly type: string;
  readonly value: string;
}

/** The values of a row as data; undefined where the row has none. */
export function valuesOf(row: WalkRow, columns: number): (SnmpValue | undefined)[] {
  return Array.from({ length: columns }, (_, column) => valueAt(row, row.base + column));
}

/** The value of one cell, with memory of its own. */
export function valueAt(row: WalkRow, at: number): SnmpValue | undefined {
  const kind = row.kinds[at] as number;
  const hi = row.hi[at] as number;
  const lo = row.lo[at] as number;
  if (kind === CellKind.absent) return undefined;
  if (kind === CellKind.unreadable) {
    return { kind: 'unreadable', tag: kind, value: copyBytes(row.bytes, hi, hi + lo) };
  }
  if (isByteKind(kind)) return interpretValue(kind, row.bytes.subarray(hi, hi + lo));
  if (kind === Tag.counter64) return { kind: 'counter64', value: (BigInt(hi) << 32n) | BigInt(lo) };
  if (kind === Tag.integer) return { kind: 'integer', value: lo | 0 };
  return { kind: kindOfTag(kind), value: lo } as SnmpValue;
}

/** A row's values as raw updates, each under the OID that the agent named. */
export function rawUpdates(plan: WalkPlan, group: number, row: WalkRow): RawUpdate[] {
  const { oids = [] } = plan.groups[group] ?? {};
  const index = formatArcs(row.indexBytes, row.indexStart, row.indexEnd);
  return oids.flatMap((oid, column) => {
    const value = valueAt(row, row.base + column);
    if (value === undefined) return [];
    const name = formatOid(oid);
    return [{ oid: index === '' ? name : `${name}.${index}`, type: value.kind, value: formatValue(value) }];
  });
}

/** OIDs of the plan that gave no value. */
export function unmatchedOids(plan: WalkPlan, outcome: WalkOutcome): string[] {
  return plan.groups.flatMap((group, index) =>
    group.oids.filter((_, column) => !outcome.valueCounts[index]?.[column]).map(formatOid),
  );
}

/**
 * Why a complete walk gave nothing: when only exact instances were asked for, the agent said itself that they are
 * not there. A table without rows is legal, and no fault.
 */
export function emptinessFault(plan: WalkPlan, outcome: WalkOutcome): SnmpFault | undefined {
  const onlyScalars = plan.groups.length > 0 && plan.groups.every((group) => group.kind === 'scalars');
  if (outcome.fault !== undefined || outcome.values > 0 || !onlyScalars) return outcome.fault;
  return {
    code: 'snmp-no-such-object',
    detail: `the agent has none of ${unmatchedOids(plan, outcome).join(', ')}`,
  };
}

/** Said of a device that is silent to v2c only. */
export const ONLY_V1 = 'nothing answers v2c, but the agent answers v1 with this community';

/** A second question that may tell why a first one was met with silence. */
export interface Probe {
  readonly settings: SessionSettings;
  /** What it means when the probe is answered, and when the agent reports a fault to it. */
  judge(probed: WalkOutcome): SnmpFault | undefined;
}

/**
 * Agents drop what they do not understand, and silence has many causes. A privacy password is tried by asking
 * without privacy: an agent that then answers, or refuses for lack of it, knows the user and his digest.
 * A v2c community is tried in v1.
 */
export function probeFor(settings: SessionSettings, fault: SnmpFault): Probe | undefined {
  if (settings.version === 'v3' && fault.code === 'timeout' && settings.user.priv !== undefined) {
    const { name, auth } = settings.user;
    if (auth === undefined) return undefined;
    return {
      settings: { ...settings, user: { name, auth } },
      judge: ({ fault: probed }) =>
        probed === undefined || probed.code === 'permission' || probed.code === 'authentication'
          ? {
              code: 'snmp-decryption',
              detail:
                'the agent answers this user without privacy, and with it nothing: wrong privacy password or protocol',
            }
          : probed,
    };
  }
  if (settings.version === 'v2c' && fault.code === 'snmp-no-response') {
    return {
      settings: { ...settings, version: 'v1' },
      judge: ({ fault: probed }) =>
        probed === undefined ? { code: 'snmp-no-response', detail: ONLY_V1 } : undefined,
    };
  }
  return undefined;
}

/** What probes ask for: sysUpTime.0, which every agent has. */
export const PROBE_OID: Oid = [1, 3, 6, 1, 2, 1, 1, 3, 0];

/** Compares what our walk gave with what snmpbulkwalk says, value by value. */
import { decodeOpaqueNumber } from '../../../protocols/snmp/textual-convention.ts';
import type { SnmpValue } from '../../../protocols/snmp/value.ts';
import type { WalkedVarbind } from './net-snmp.ts';

/** A value as `snmpbulkwalk -Onxte` prints it. */
export function asNetSnmpPrints(value: SnmpValue): string {
  switch (value.kind) {
    case 'integer':
      return `INTEGER: ${value.value}`;
    case 'counter32':
      return `Counter32: ${value.value}`;
    case 'gauge32':
      return `Gauge32: ${value.value}`;
    case 'counter64':
      return `Counter64: ${value.value}`;
    case 'time-ticks':
      return `${value.value}`;
    case 'ip-address':
      return `IpAddress: ${value.value.join('.')}`;
    case 'object-identifier':
      return `OID: .${value.value.join('.')}`;
    case 'octet-string':
      return value.value.length === 0 ? '""' : `Hex-STRING: ${hex(value.value)}`;
    case 'opaque':
      return `Opaque: Float: ${decodeOpaqueNumber(value.value)?.toFixed(6)}`;
    default:
      return value.kind;
  }
}

export interface Comparison {
  readonly compared: number;
  readonly differences: readonly string[];
}

/**
 * Ours was read between `before` and `after`. What both walks give alike has to be ours too; a counter that moved has
 * to lie between them; what else moved, or came or went meanwhile, cannot be judged.
 */
export function compareWalks(
  ours: ReadonlyMap<string, string>,
  before: readonly WalkedVarbind[],
  after: readonly WalkedVarbind[],
): Comparison {
  const later = new Map(after.map(({ oid, value }) => [oid, value]));
  const differences: string[] = [];
  let compared = 0;
  for (const { oid, value } of before) {
    const last = later.get(oid);
    if (last === undefined) continue;
    const found = ours.get(oid);
    const same = value === last ? found === value : found !== undefined && liesBetween(value, found, last);
    compared += 1;
    if (!same) differences.push(`${oid}: ${value} then ${last}, ours ${found ?? 'nothing'}`);
  }
  const known = new Set([...before.map(({ oid }) => oid), ...later.keys()]);
  for (const oid of ours.keys()) if (!known.has(oid)) differences.push(`${oid}: only ours has it`);
  return { compared, differences };
}

function liesBetween(before: string, found: string, after: string): boolean {
  const [low, value, high] = [before, found, after].map((text) => BigInt(/(\d+)$/.exec(text)?.[1] ?? 0)) as [
    bigint,
    bigint,
    bigint,
  ];
  const counts = /^(Counter|\d+$)/.test(before);
  return counts ? low <= value && value <= high : true;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join(' ');
}

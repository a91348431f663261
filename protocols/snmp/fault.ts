/** What can go wrong with a device over SNMP, by the stable codes of the API. */

/** The codes of a failed test or stream that SNMP can have; the first four come from before anything is sent. */
export const SNMP_FAULT_CODES = [
  'no-settings',
  'blocked-address',
  'dns',
  'invalid-path',
  'timeout',
  'unreachable',
  'snmp-no-response',
  'permission',
  'authentication',
  'too-large',
  'protocol-error',
  'snmp-unknown-user',
  'snmp-wrong-digest',
  'snmp-decryption',
  'snmp-not-in-time-window',
  'snmp-engine-changed',
  'snmp-no-such-object',
  'snmp-oid-not-increasing',
  'snmp-agent-restarted',
] as const;

export type SnmpFaultCode = (typeof SNMP_FAULT_CODES)[number];

export interface SnmpFault {
  readonly code: SnmpFaultCode;
  /** A sentence for people. */
  readonly detail: string;
}

/**
 * What a walk met and went on from. Each is counted by this name; when in the end no good answer came, the last
 * one met says why.
 */
export type SnmpAnomaly =
  | 'late-or-duplicate'
  | 'wrong-source'
  | 'malformed'
  | 'wrong-digest'
  | 'wrong-security-level'
  | 'undecipherable'
  | 'outside-time-window'
  | 'unauthenticated-report'
  | 'time-resync'
  | 'too-big'
  | 'bulk-refused'
  | 'column-error'
  | 'counter64-in-v1'
  | 'unreadable-value'
  | 'unexpected-varbind'
  | 'retransmission';

export type AnomalyCounts = Partial<Record<SnmpAnomaly, number>>;

export function countAnomaly(counts: AnomalyCounts, anomaly: SnmpAnomaly): void {
  counts[anomaly] = (counts[anomaly] ?? 0) + 1;
}

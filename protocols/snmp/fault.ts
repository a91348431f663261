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

/**
 * What an agent should not do, though the walk got over it. Not here: what agents may say (tooBig, a refused GetBulk or
 * column, a clock) and what the network does.
 */
const MISBEHAVIOUR: Partial<Record<SnmpAnomaly, string>> = {
  'late-or-duplicate': 'late or duplicate answers',
  'wrong-source': 'answers from an address that was not asked',
  malformed: 'datagrams that are no SNMP answers',
  'wrong-digest': 'answers with a wrong digest',
  'wrong-security-level': 'answers below the security level of the request',
  undecipherable: 'answers that cannot be decrypted',
  'outside-time-window': 'answers outside the time window',
  'unauthenticated-report': 'reports that are not signed',
  'counter64-in-v1': 'Counter64 in SNMPv1',
  'unreadable-value': 'values that their type does not allow',
};

/** What to tell of a walk that came to its end all the same, with counts; undefined when the agent behaved. */
export function misbehaviourOf(anomalies: AnomalyCounts): SnmpFault | undefined {
  const found = Object.entries(MISBEHAVIOUR).flatMap(([anomaly, text]) => {
    // A request that was sent twice may well be answered twice.
    const excused = anomaly === 'late-or-duplicate' ? (anomalies.retransmission ?? 0) : 0;
    const count = (anomalies[anomaly as SnmpAnomaly] ?? 0) - excused;
    return count > 0 ? [`${text} (${count})`] : [];
  });
  if (found.length === 0) return undefined;
  return {
    code: 'protocol-error',
    detail: `the cycle is whole, but the agent misbehaved: ${found.join(', ')}`,
  };
}

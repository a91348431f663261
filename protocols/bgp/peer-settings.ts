import type { OfferedFamily } from './family.ts';

/**
 * One configured peer with every default resolved: the zeros of the API that mean "default" are gone, and a zero
 * here means what it says.
 */
export interface PeerSettings {
  readonly peerId: number;
  /** An IPv4 or IPv6 literal. */
  readonly peerAddress: string;
  readonly peerPort: number;
  /** The address to dial from and to be reached at; `''` is whatever the routing table chooses. */
  readonly localAddress: string;
  /** Never dials; waits for the peer to. */
  readonly passive: boolean;
  readonly peerAs: number;
  readonly localAs: number;
  /** Our BGP Identifier, a dotted quad. */
  readonly localIdentifier: string;
  /** Offered in OPEN: 3 to 65535. */
  readonly holdTimeSeconds: number;
  /** 0 is a third of the negotiated hold time. */
  readonly keepaliveTimeSeconds: number;
  readonly connectRetrySeconds: number;
  /** TCP-MD5 key; `''` is none. */
  readonly password: string;
  /** RFC 5082: how many hops away the peer may be; 0 is off. */
  readonly ttlSecurityHops: number;
  readonly families: readonly OfferedFamily[];
}

/** Members whose change a running session takes over without a restart. */
const APPLIED_IN_PLACE: ReadonlySet<keyof PeerSettings> = new Set([
  'peerId',
  'connectRetrySeconds',
  'keepaliveTimeSeconds',
]);

/**
 * What a change of settings asks of a session: nothing, a look at the new times, or a new session because the old
 * one was agreed on something else.
 */
export function compareSettings(
  before: PeerSettings,
  after: PeerSettings,
): 'unchanged' | 'applied' | 'restarted' {
  const changed = (Object.keys(after) as Array<keyof PeerSettings>).filter((member) => {
    return member === 'families'
      ? JSON.stringify(before.families) !== JSON.stringify(after.families)
      : before[member] !== after[member];
  });
  if (changed.length === 0) return 'unchanged';
  return changed.every((member) => APPLIED_IN_PLACE.has(member)) ? 'applied' : 'restarted';
}

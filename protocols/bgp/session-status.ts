/** The six states as the API spells them. */
export const SESSION_STATES = [
  'idle',
  'connect',
  'active',
  'opensent',
  'openconfirm',
  'established',
] as const;
export type SessionState = (typeof SESSION_STATES)[number];

/** Why a session is not doing more than it does; `''` where the state says all. */
export type SessionReason =
  | ''
  | 'disabled'
  | 'waiting-retry'
  | 'passive-waiting'
  | 'md5-unsupported'
  | 'ttl-unsupported'
  | 'max-nlri'
  | 'engine-max-nlri';

/** A NOTIFICATION that was sent or received. */
export interface NotificationRecord {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly code: number;
  readonly subcode: number;
  /** Lower-case hexadecimal. */
  readonly data: string;
  /** The peer's shutdown text (RFC 9003) on one received, our own on one sent; `''` when there is none. */
  readonly text: string;
}

/**
 * All that a session knows about itself. Times ending in `At` or `Since` are milliseconds since 1970, null before
 * the first.
 */
export interface SessionStatus {
  readonly state: SessionState;
  readonly reason: SessionReason;
  /** Since this session object was made, over all its connections. */
  readonly messagesSent: number;
  readonly messagesReceived: number;
  readonly lastStateChangeAt: number | null;
  /** A sentence, `''` when there was none; kept after recovery. */
  readonly lastError: string;
  readonly lastErrorAt: number | null;
  /** Of the connection, while there is one; else what is configured, and port 0. */
  readonly localAddress: string;
  readonly localPort: number;
  readonly peerAddress: string;
  readonly peerPort: number;
  readonly localAs: number;
  readonly peerAs: number;
  readonly localIdentifier: string;
  /** `''` before the peer's OPEN. */
  readonly peerIdentifier: string;
  /** Negotiated from OpenConfirm on, what we propose before. */
  readonly holdTimeSeconds: number;
  readonly keepaliveTimeSeconds: number;
  readonly connectRetrySeconds: number;
  readonly capabilitiesSent: readonly string[];
  readonly capabilitiesReceived: readonly string[];
  /** When the last of the negotiated families had sent its End-of-RIB; null until then. */
  readonly endOfRibAt: number | null;
  readonly establishedSince: number | null;
  readonly lastNotificationSent: NotificationRecord | null;
  readonly lastNotificationReceived: NotificationRecord | null;
  /** Connections begun since the session was last lost, or since it was started. */
  readonly attempts: number;
  readonly nextRetryAt: number | null;
}

import type { OwnerRecord } from './ownership.ts';
import { PEER_MEMBERS, type Peer } from './peer.ts';
import { SECRET_MASK } from './secret.ts';
import { inDeclaredOrder } from './stored-members.ts';

/** RFC 4271 §8.2.2, as the API spells them. */
export type SessionState = 'idle' | 'connect' | 'active' | 'opensent' | 'openconfirm' | 'established';

/** Why a session is not running, when it is not; `''` when it is, or when only the network keeps it down. */
export type SessionReason =
  | ''
  | 'no-worker'
  | 'disabled'
  | 'waiting-owner'
  | 'waiting-retry'
  | 'passive-waiting'
  | 'no-listener'
  | 'md5-unsupported'
  | 'ttl-unsupported'
  | 'blocked-address'
  | 'max-nlri'
  | 'engine-max-nlri';

export interface NotificationView {
  readonly at: string;
  readonly code: number;
  readonly subcode: number;
  /** Hex. */
  readonly data: string;
  /** Shutdown communication (RFC 9003), or ''. */
  readonly text: string;
}

/** The `session` member of a peer; times are ISO 8601 UTC or null. */
export interface SessionView {
  readonly reason: SessionReason;
  readonly worker: string;
  readonly epoch: number;
  readonly 'local-address': string;
  readonly 'local-port': number;
  readonly 'peer-address': string;
  readonly 'peer-port': number;
  readonly 'local-as': string;
  readonly 'peer-as': string;
  readonly 'local-identifier': string;
  readonly 'peer-identifier': string;
  readonly 'hold-time': number;
  readonly 'keepalive-time': number;
  readonly 'connect-retry': number;
  readonly 'capabilities-sent': readonly string[];
  readonly 'capabilities-received': readonly string[];
  readonly nlris: Readonly<Record<NlriKind, number>>;
  readonly withheld: Readonly<Record<WithheldReason, number>>;
  readonly 'nlri-out-of-order': number;
  readonly 'end-of-rib': string | null;
  readonly 'established-since': string | null;
  readonly 'uptime-seconds': number;
  readonly 'last-notification-sent': NotificationView | null;
  readonly 'last-notification-received': NotificationView | null;
  readonly 'last-error-at': string | null;
  readonly attempts: number;
  readonly 'next-retry': string | null;
}

export type NlriKind =
  | 'node'
  | 'link'
  | 'ipv4-prefix'
  | 'ipv6-prefix'
  | 'sr-policy'
  | 'srv6-sid'
  | 'stub-link'
  | 'unknown';

export type WithheldReason = 'malformed' | 'loop' | 'missing-mandatory-attribute' | 'max-nlri';

/** What a worker last said of one of its peers. */
export interface PeerStatus {
  readonly id: number;
  readonly state: SessionState;
  readonly 'messages-sent': number;
  readonly 'messages-received': number;
  readonly 'last-state-change': string | null;
  readonly 'last-error': string;
  readonly session: SessionView;
}

const NO_NLRIS = {
  node: 0,
  link: 0,
  'ipv4-prefix': 0,
  'ipv6-prefix': 0,
  'sr-policy': 0,
  'srv6-sid': 0,
  'stub-link': 0,
  unknown: 0,
};

/** The session of a peer that no worker has said anything of. */
export function unseenSession(reason: SessionReason): SessionView {
  return {
    reason,
    worker: '',
    epoch: 0,
    'local-address': '',
    'local-port': 0,
    'peer-address': '',
    'peer-port': 0,
    'local-as': '',
    'peer-as': '',
    'local-identifier': '',
    'peer-identifier': '',
    'hold-time': 0,
    'keepalive-time': 0,
    'connect-retry': 0,
    'capabilities-sent': [],
    'capabilities-received': [],
    nlris: NO_NLRIS,
    withheld: { malformed: 0, loop: 0, 'missing-mandatory-attribute': 0, 'max-nlri': 0 },
    'nlri-out-of-order': 0,
    'end-of-rib': null,
    'established-since': null,
    'uptime-seconds': 0,
    'last-notification-sent': null,
    'last-notification-received': null,
    'last-error-at': null,
    attempts: 0,
    'next-retry': null,
  };
}

/** Who owns a peer and which workers live, as read together with its status. */
export interface Ownership {
  readonly owner: OwnerRecord | undefined;
  readonly liveWorkers: ReadonlySet<string>;
}

/** The newest of the statuses that several workers, past and present, have written of one peer. */
export function newestStatus(statuses: readonly PeerStatus[]): PeerStatus | undefined {
  return statuses.reduce<PeerStatus | undefined>(
    (newest, status) =>
      newest === undefined || status.session.epoch > newest.session.epoch ? status : newest,
    undefined,
  );
}

/**
 * What is to be believed of a peer's session now.
 *
 * A status counts only from the worker that owns the peer, in the epoch of its ownership, while that worker's heart
 * beats: otherwise counters and last error are kept, and the state is `idle` with the reason why nobody runs it.
 */
export function observePeer(
  peer: Peer,
  status: PeerStatus | undefined,
  { owner, liveWorkers }: Ownership,
): PeerStatus {
  const isCurrent =
    status !== undefined &&
    owner !== undefined &&
    status.session.worker === owner.worker &&
    status.session.epoch === owner.epoch &&
    liveWorkers.has(owner.worker);
  if (isCurrent) return status;
  return {
    id: peer.id,
    state: 'idle',
    'messages-sent': status?.['messages-sent'] ?? 0,
    'messages-received': status?.['messages-received'] ?? 0,
    'last-state-change': status?.['last-state-change'] ?? null,
    'last-error': status?.['last-error'] ?? '',
    session: unownedSession(peer.configuration.enabled, status, liveWorkers.size > 0),
  };
}

/** A peer as the API shows it: what people asked for, then what the engine observed. */
export function viewPeer(
  peer: Peer,
  status: PeerStatus | undefined,
  ownership: Ownership,
  nowMilliseconds: number,
): Record<string, unknown> {
  const { id, ...observed } = observePeer(peer, status, ownership);
  const password = peer.encryptedPassword === undefined ? '' : SECRET_MASK;
  return {
    id,
    ...inDeclaredOrder(PEER_MEMBERS, { ...peer.configuration, 'auth-password': password }),
    ...observed,
    session: withUptime(observed.session, nowMilliseconds),
  };
}

function withUptime(session: SessionView, nowMilliseconds: number): SessionView {
  const since = session['established-since'];
  const uptime = since === null ? 0 : Math.max(0, Math.floor((nowMilliseconds - Date.parse(since)) / 1000));
  return { ...session, 'uptime-seconds': uptime };
}

function unownedSession(
  enabled: boolean,
  status: PeerStatus | undefined,
  anyWorkerAlive: boolean,
): SessionView {
  const reason = anyWorkerAlive ? (enabled ? 'waiting-owner' : 'disabled') : 'no-worker';
  const session = unseenSession(reason);
  if (status === undefined) return session;
  return {
    ...session,
    'last-notification-sent': status.session['last-notification-sent'],
    'last-notification-received': status.session['last-notification-received'],
    'last-error-at': status.session['last-error-at'],
    attempts: status.session.attempts,
  };
}

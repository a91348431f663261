import type { OwnerRecord } from '../core/ownership.ts';
import {
  type NotificationView,
  type PeerStatus,
  type SessionReason,
  type SessionView,
  unseenSession,
  type WithheldReason,
} from '../core/peer-status.ts';
import type { LinkStateTable } from '../protocols/bgp/ls/table.ts';
import type { NotificationRecord, SessionStatus } from '../protocols/bgp/session-status.ts';

/** What a peer's status is made of. */
export interface PeerObservation {
  readonly ownership: Pick<OwnerRecord, 'id' | 'worker' | 'epoch'>;
  /** The last word of whoever ran the peer before: counters go on from there, the last error is kept. */
  readonly before: PeerStatus | undefined;
  /** Undefined while the peer is not to run; `reason` then says why. */
  readonly session: SessionStatus | undefined;
  readonly reason: SessionReason;
  readonly table: LinkStateTable;
  readonly withheld: Readonly<Record<Exclude<WithheldReason, 'max-nlri'>, number>>;
}

/** One peer as its worker publishes it. */
export function peerStatus(observed: PeerObservation): PeerStatus {
  const { ownership, before, session, table } = observed;
  const lastState = before?.session;
  return {
    id: ownership.id,
    state: session?.state ?? 'idle',
    'messages-sent': (before?.['messages-sent'] ?? 0) + (session?.messagesSent ?? 0),
    'messages-received': (before?.['messages-received'] ?? 0) + (session?.messagesReceived ?? 0),
    'last-state-change': time(session?.lastStateChangeAt) ?? before?.['last-state-change'] ?? null,
    'last-error': session?.lastError || (before?.['last-error'] ?? ''),
    session: {
      reason: observed.reason || (session?.reason ?? ''),
      worker: ownership.worker,
      epoch: ownership.epoch,
      ...(session === undefined ? withoutOwnership(unseenSession(observed.reason)) : runningSession(session)),
      nlris: table.nlris,
      withheld: {
        malformed: observed.withheld.malformed + table.withheld.malformed,
        loop: observed.withheld.loop,
        'missing-mandatory-attribute': observed.withheld['missing-mandatory-attribute'],
        'max-nlri': table.withheld['max-nlri'],
      },
      'nlri-out-of-order': table.outOfOrderCount,
      'last-notification-sent':
        notification(session?.lastNotificationSent) ?? lastState?.['last-notification-sent'] ?? null,
      'last-notification-received':
        notification(session?.lastNotificationReceived) ?? lastState?.['last-notification-received'] ?? null,
      'last-error-at': time(session?.lastErrorAt) ?? lastState?.['last-error-at'] ?? null,
    },
  };
}

function withoutOwnership({ reason: _reason, worker: _worker, epoch: _epoch, ...session }: SessionView) {
  return session;
}

function runningSession(session: SessionStatus) {
  return {
    'local-address': session.localAddress,
    'local-port': session.localPort,
    'peer-address': session.peerAddress,
    'peer-port': session.peerPort,
    'local-as': String(session.localAs),
    'peer-as': String(session.peerAs),
    'local-identifier': session.localIdentifier,
    'peer-identifier': session.peerIdentifier,
    'hold-time': session.holdTimeSeconds,
    'keepalive-time': session.keepaliveTimeSeconds,
    'connect-retry': session.connectRetrySeconds,
    'capabilities-sent': session.capabilitiesSent,
    'capabilities-received': session.capabilitiesReceived,
    'end-of-rib': time(session.endOfRibAt),
    'established-since': time(session.establishedSince),
    // Counted when it is read: a status is written when something changes, not each second.
    'uptime-seconds': 0,
    attempts: session.attempts,
    'next-retry': time(session.nextRetryAt),
  };
}

function notification(record: NotificationRecord | null | undefined): NotificationView | null {
  if (record === null || record === undefined) return null;
  return { ...record, at: new Date(record.at).toISOString() };
}

function time(milliseconds: number | null | undefined): string | null {
  return milliseconds === null || milliseconds === undefined ? null : new Date(milliseconds).toISOString();
}

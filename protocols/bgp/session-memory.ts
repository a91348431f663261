import { type Capability, formatCapability } from './capability.ts';
import type { ConnectionMachine } from './connection-machine.ts';
import { keepaliveTimeSeconds } from './connection-timers.ts';
import { type BgpError, CEASE_SUBCODE, ERROR_CODE } from './error.ts';
import { type Family, formatFamily } from './family.ts';
import { formatIdentifier } from './identifier.ts';
import { receivedNotification, sentNotification } from './last-error.ts';
import { decodeShutdownText, type Notification } from './notification.ts';
import { formatHex } from './octet-writer.ts';
import type { PeerSettings } from './peer-settings.ts';
import type { Instant } from './session-effect.ts';
import type { NotificationRecord, SessionReason, SessionState, SessionStatus } from './session-status.ts';

/** What a session remembers for people to see; nothing that it does depends on it. */
export class SessionMemory {
  messagesSent = 0;
  messagesReceived = 0;
  /** Connections begun since the session was last lost, or started. */
  attempts = 0;
  lastStateChangeAt: number | null = null;
  establishedAt: Instant | undefined = undefined;
  #endOfRibPending = new Set<string>();
  #endOfRibAt: number | null = null;
  #lastError = '';
  #lastErrorAt: number | null = null;
  /** What a NOTIFICATION has said since the session was last Established or begun anew: likely still the cause. */
  #standingError = '';
  #lastNotificationSent: NotificationRecord | null = null;
  #lastNotificationReceived: NotificationRecord | null = null;

  noteError(sentence: string, now: Instant): void {
    this.#lastError = sentence;
    this.#lastErrorAt = now.wall;
  }

  /**
   * A connection failed before it was Established. A router that has refused us once often just closes the next
   * connections, and that alone would hide from a person what it refused us for.
   */
  noteConnectionFailure(sentence: string, now: Instant): void {
    const before = this.#standingError === '' ? '' : `; before that, ${this.#standingError}`;
    this.noteError(`${sentence}${before}`, now);
  }

  /** Somebody has changed, reset or stopped the session: what went wrong before may be mended. */
  beginAnew(): void {
    this.attempts = 0;
    this.#standingError = '';
  }

  notificationSent(error: BgpError, now: Instant): void {
    this.#lastNotificationSent = record(error, now);
    if (!isIntended(error)) this.#noteNotification(sentNotification(error), now);
  }

  notificationReceived(notification: Notification, settings: PeerSettings, now: Instant): void {
    this.#lastNotificationReceived = record(notification, now);
    if (!settlesCollision(notification))
      this.#noteNotification(receivedNotification(notification, settings), now);
  }

  #noteNotification(sentence: string, now: Instant): void {
    this.#standingError = sentence;
    this.noteError(sentence, now);
  }

  established(families: readonly Family[], now: Instant): void {
    this.establishedAt = now;
    this.#standingError = '';
    this.#endOfRibPending = new Set(families.map(formatFamily));
    this.#endOfRibAt = null;
  }

  lost(): void {
    this.establishedAt = undefined;
    this.#endOfRibAt = null;
    this.attempts = 0;
  }

  /** True when this was the last family that End-of-RIB was missing from. */
  endOfRib(family: Family, now: Instant): boolean {
    const wasPending = this.#endOfRibPending.delete(formatFamily(family));
    if (!wasPending || this.#endOfRibPending.size > 0) return false;
    this.#endOfRibAt = now.wall;
    return true;
  }

  /** @param shown the machine that stands for the session. */
  status(
    shown: ConnectionMachine,
    settings: PeerSettings,
    waiting: { reason: SessionReason; nextRetryAt: number | null },
  ): SessionStatus {
    const endpoints = shown.connection === undefined ? undefined : shown.endpoints;
    const isAgreed = shown.state === 'OpenConfirm' || shown.state === 'Established';
    const negotiated = isAgreed ? shown.negotiated : undefined;
    const holdTimeSeconds = negotiated?.holdTimeSeconds ?? settings.holdTimeSeconds;
    return {
      state: shown.state.toLowerCase() as SessionState,
      reason: waiting.reason,
      messagesSent: this.messagesSent,
      messagesReceived: this.messagesReceived,
      lastStateChangeAt: this.lastStateChangeAt,
      lastError: this.#lastError,
      lastErrorAt: this.#lastErrorAt,
      localAddress: endpoints?.localAddress ?? settings.localAddress,
      localPort: endpoints?.localPort ?? 0,
      peerAddress: endpoints?.peerAddress ?? settings.peerAddress,
      peerPort: endpoints?.peerPort ?? settings.peerPort,
      localAs: settings.localAs,
      peerAs: settings.peerAs,
      localIdentifier: settings.localIdentifier,
      peerIdentifier: shown.peerOpen === undefined ? '' : formatIdentifier(shown.peerOpen.bgpIdentifier),
      holdTimeSeconds,
      keepaliveTimeSeconds: Math.floor(keepaliveTimeSeconds(settings, holdTimeSeconds)),
      connectRetrySeconds: settings.connectRetrySeconds,
      capabilitiesSent: formatCapabilities(shown.sentCapabilities),
      capabilitiesReceived: formatCapabilities(shown.peerOpen?.capabilities ?? []),
      endOfRibAt: this.#endOfRibAt,
      establishedSince: this.establishedAt?.wall ?? null,
      lastNotificationSent: this.#lastNotificationSent,
      lastNotificationReceived: this.#lastNotificationReceived,
      attempts: this.attempts,
      nextRetryAt: waiting.nextRetryAt,
    };
  }
}

/** A Cease that somebody here asked for, or that settles which of two connections stays, is no error. */
function isIntended({ code, subcode }: BgpError): boolean {
  return code === ERROR_CODE.cease && INTENDED_CEASES.has(subcode);
}

const INTENDED_CEASES: ReadonlySet<number> = new Set([
  CEASE_SUBCODE.administrativeShutdown,
  CEASE_SUBCODE.peerDeconfigured,
  CEASE_SUBCODE.administrativeReset,
  CEASE_SUBCODE.otherConfigurationChange,
  CEASE_SUBCODE.connectionCollisionResolution,
]);

function settlesCollision({ code, subcode }: Notification): boolean {
  return code === ERROR_CODE.cease && subcode === CEASE_SUBCODE.connectionCollisionResolution;
}

function record(notification: Notification, now: Instant): NotificationRecord {
  const { code, subcode, data } = notification;
  return { at: now.wall, code, subcode, data: formatHex(data), text: decodeShutdownText(notification) };
}

function formatCapabilities(capabilities: readonly Capability[]): string[] {
  return capabilities.map(formatCapability);
}

/**
 * `last-error`: one sentence, with the RFC's names, for somebody who is woken by it. It says what happened, what both
 * sides said, and which setting to look at.
 */

import { CAPABILITY, decodeCapabilities, formatCapability } from './capability.ts';
import { type BgpError, CEASE_SUBCODE, ERROR_CODE, nameError, OPEN_MESSAGE_SUBCODE } from './error.ts';
import type { State } from './fsm.ts';
import { decodeShutdownText, hardResetReason, type Notification } from './notification.ts';
import type { PeerSettings } from './peer-settings.ts';

/** A connection that could not be made or was lost, as the operating system tells it. */
export interface ConnectionFailure {
  /** The errno's name, `ECONNREFUSED`; `''` where the peer closed in an orderly way. */
  readonly errno: string;
}

export function sentNotification(error: BgpError): string {
  return `NOTIFICATION sent: ${nameError(error.code, error.subcode)}: ${error.text}`;
}

export function receivedNotification(notification: Notification, settings: PeerSettings): string {
  const inner = hardResetReason(notification);
  const name =
    nameError(notification.code, notification.subcode) +
    (inner === undefined ? '' : ` for ${nameError(inner.code, inner.subcode)}`);
  const text = decodeShutdownText(notification);
  const said = text === '' ? '' : `: the peer says ${JSON.stringify(text)}`;
  const hint = receivedHint(notification, settings);
  return `NOTIFICATION received: ${name}${said}${hint === '' ? '' : `: ${hint}`}`;
}

/** What a TCP failure means, by the state that it met. */
export function connectionFailed(failure: ConnectionFailure, state: State, settings: PeerSettings): string {
  const peer = `${settings.peerAddress} port ${settings.peerPort}`;
  if (state === 'Connect' || state === 'Active') {
    return `TCP connection to ${peer} failed: ${connectHint(failure.errno, settings)}`;
  }
  const how =
    failure.errno === ''
      ? 'The peer closed the TCP connection without a NOTIFICATION'
      : lostHow(failure.errno);
  return state === 'OpenSent'
    ? `${how} before its OPEN: it may have no neighbor for our address and AS ${settings.localAs}, or have it shut down`
    : `${how} in ${state}`;
}

/** No OPEN in four minutes, or silence for the hold time. */
export function holdTimerExpired(state: State, holdTimeSeconds: number): string {
  if (state === 'OpenSent') return 'the peer accepted the TCP connection and sent no OPEN';
  return `nothing came from the peer for the hold time of ${holdTimeSeconds} s`;
}

function connectHint(errno: string, settings: PeerSettings): string {
  switch (errno) {
    case 'ECONNREFUSED':
      return 'refused (ECONNREFUSED): nothing listens there, or the peer does not know our address';
    case 'ETIMEDOUT':
      return `no answer (ETIMEDOUT): check the route and access lists, ${silenceHint(settings)}`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `no route to it (${errno})`;
    case 'EADDRNOTAVAIL':
      return `local-address ${settings.localAddress} is not an address of this worker (EADDRNOTAVAIL)`;
    case 'ECONNRESET':
      return 'reset while it was being made (ECONNRESET)';
    default:
      return errno === '' ? 'closed at once' : errno;
  }
}

/** What is answered with silence, by design: a wrong TCP-MD5 key (RFC 2385 §4.1) and a TTL too low (RFC 5082 §3). */
function silenceHint({ password, ttlSecurityHops }: PeerSettings): string {
  const key =
    password === ''
      ? 'and whether the peer asks for a TCP-MD5 password'
      : 'and that auth-password is the same on both sides';
  if (ttlSecurityHops === 0) return key;
  return `${key}, and that the peer sends TTL 255 and is no more than ${ttlSecurityHops} hops away`;
}

function lostHow(errno: string): string {
  if (errno === 'ECONNRESET') return 'The peer reset the TCP connection (ECONNRESET)';
  if (errno === 'ETIMEDOUT') return 'The peer stopped acknowledging the TCP connection (ETIMEDOUT)';
  return `The TCP connection was lost (${errno})`;
}

/** What daemons cease with who are not configured for us (RFC 4486 §4). */
const UNCONFIGURED: ReadonlySet<number> = new Set([
  CEASE_SUBCODE.peerDeconfigured,
  CEASE_SUBCODE.connectionRejected,
]);

function receivedHint({ code, subcode, data }: Notification, settings: PeerSettings): string {
  if (code === ERROR_CODE.holdTimerExpired) return 'the peer heard nothing from us for the hold time';
  if (code === ERROR_CODE.cease && UNCONFIGURED.has(subcode)) {
    return `the peer may have no neighbor for our address and AS ${settings.localAs}, or have it shut down`;
  }
  if (code !== ERROR_CODE.openMessageError) return '';
  switch (subcode) {
    case OPEN_MESSAGE_SUBCODE.badPeerAs:
      return `the peer does not expect AS ${settings.localAs} from us; set local-as here, or the remote AS on the peer`;
    case OPEN_MESSAGE_SUBCODE.badBgpIdentifier:
      return `the peer does not take our BGP Identifier ${settings.localIdentifier}; it must differ from the peer's own (router-id in /api/engine)`;
    case OPEN_MESSAGE_SUBCODE.unacceptableHoldTime:
      return `the peer does not take our hold time of ${settings.holdTimeSeconds} s; change hold-time`;
    case OPEN_MESSAGE_SUBCODE.unsupportedCapability: {
      const capabilities = decodeCapabilities(data) ?? [];
      if (capabilities.length === 0) return 'the peer refuses a capability of ours, or misses one';
      const hint = capabilities.some(({ code }) => code === CAPABILITY.multiprotocol)
        ? '; activate the link-state address family for this neighbor on the peer'
        : '';
      return `the peer refuses or misses ${capabilities.map(formatCapability).join(', ')}${hint}`;
    }
    default:
      return '';
  }
}

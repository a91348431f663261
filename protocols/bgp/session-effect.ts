import type { Capability } from './capability.ts';
import type { BgpError } from './error.ts';
import type { Family } from './family.ts';
import type { Negotiated } from './open.ts';
import type { LinkStateUpdate } from './update.ts';

/** When something happened: on the wall, for people, and on the clock that never jumps, for timers. Milliseconds. */
export interface Instant {
  readonly wall: number;
  readonly monotonic: number;
}

/** The four ends of a TCP connection. */
export interface Endpoints {
  readonly localAddress: string;
  readonly localPort: number;
  readonly peerAddress: string;
  readonly peerPort: number;
}

/** What the two OPENs said, once the session is Established. */
export interface EstablishedInfo {
  readonly negotiated: Negotiated;
  readonly capabilitiesReceived: readonly Capability[];
}

/** Why an Established session ended, so far as the fate of its routes depends on it. */
export interface LostInfo {
  readonly cause: 'notification-sent' | 'notification-received' | 'connection-lost' | 'replaced';
  /** The NOTIFICATION, where the cause is one. */
  readonly notification: Pick<BgpError, 'code' | 'subcode'> | undefined;
  /** RFC 8538 §3.1: the peer wants its routes gone now. */
  readonly hardReset: boolean;
  /** What the peer announced of graceful restart; undefined when it did not. */
  readonly peerGracefulRestart: { readonly restartTimeSeconds: number } | undefined;
}

/** All that a session asks of its driver. Connections are numbers that the session gives out. */
export type SessionEffect =
  | { readonly kind: 'connect'; readonly connection: number }
  | { readonly kind: 'send'; readonly connection: number; readonly octets: Uint8Array }
  /** Close after what was sent has left; also gives up a connection that is still being made. */
  | { readonly kind: 'close'; readonly connection: number }
  | { readonly kind: 'established'; readonly info: EstablishedInfo }
  | { readonly kind: 'update'; readonly update: LinkStateUpdate }
  /**
   * RFC 7606 §6: an UPDATE in which something is wrong, whole, for whoever has to find out where it was broken. It
   * comes before what follows from it; `octets` is a view.
   */
  | { readonly kind: 'malformed-update'; readonly octets: Uint8Array; readonly problems: readonly BgpError[] }
  | { readonly kind: 'end-of-rib'; readonly family: Family }
  /** RFC 7313 §4: between the two the peer sends all its routes again; what it did not is to be removed at the end. */
  | { readonly kind: 'route-refresh-begin'; readonly family: Family }
  | { readonly kind: 'route-refresh-end'; readonly family: Family }
  | { readonly kind: 'lost'; readonly info: LostInfo }
  /** Something that `status()` shows has changed and should be seen soon; counters alone do not count. */
  | { readonly kind: 'status' };

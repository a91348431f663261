import type { ConnectionMachine } from './connection-machine.ts';
import { bgpError, CEASE_SUBCODE, ERROR_CODE } from './error.ts';
import { parseIdentifier } from './identifier.ts';
import type { Negotiated } from './open.ts';
import type { PeerSettings } from './peer-settings.ts';

/**
 * RFC 4271 §6.8, run when `machine` has received its OPEN while `other` exists. A connection in Established stays, and
 * so does one whose rival has not yet come to OpenConfirm (whose OPEN will bring the question up again). Between two
 * that know their peer, the one made by the speaker with the higher BGP Identifier stays; where those are equal, by the
 * one with the higher AS (RFC 6286 §2.3).
 */
export function resolveCollision(
  machine: ConnectionMachine,
  other: ConnectionMachine,
  negotiated: Negotiated,
  settings: PeerSettings,
): 'keep-both' | 'drop-this' | 'drop-other' {
  if (other.state === 'Established') return 'drop-this';
  if (other.state !== 'OpenConfirm') return 'keep-both';
  // The RFC does not say what two connections of the peer's own making mean; it has given up the first.
  if (machine.origin === other.origin) return 'drop-other';
  const ours = parseIdentifier(settings.localIdentifier) ?? 0;
  const theirs = negotiated.peerIdentifier;
  const weStay = ours === theirs ? settings.localAs > negotiated.peerAs : ours > theirs;
  const staying = weStay ? 'local' : 'peer';
  return machine.origin === staying ? 'drop-other' : 'drop-this';
}

/** What the connection that does not stay is told. */
export const COLLISION = bgpError(
  ERROR_CODE.cease,
  CEASE_SUBCODE.connectionCollisionResolution,
  'another connection of this peer stays',
);

import { LINK_STATE_FAMILIES } from '../protocols/bgp/family.ts';
import type { PeerSettings } from '../protocols/bgp/peer-settings.ts';
import { parseAsNumber } from './as-number.ts';
import type { EngineSettings } from './engine-settings.ts';
import { effectivePeer, type Peer } from './peer.ts';

/** What a session runs with: the peer's configuration and the engine's, every zero replaced by what it stands for. */
export function sessionSettings(peer: Peer, engine: EngineSettings, password: string): PeerSettings {
  const { configuration } = peer;
  const effective = effectivePeer(configuration);
  return {
    peerId: peer.id,
    peerAddress: effective.peerAddress,
    peerPort: effective.peerPort,
    localAddress: configuration['local-address'],
    passive: configuration.passive,
    peerAs: effective.peerAs,
    localAs: effective.localAs || (parseAsNumber(engine['local-as']) ?? effective.peerAs),
    localIdentifier: engine['router-id'],
    holdTimeSeconds: effective.holdTimeSeconds,
    keepaliveTimeSeconds: effective.keepaliveTimeSeconds,
    connectRetrySeconds: effective.connectRetrySeconds,
    password,
    ttlSecurityHops: configuration['ttl-security-hops'],
    families: LINK_STATE_FAMILIES,
  };
}

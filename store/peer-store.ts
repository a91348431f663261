import { CONFIG_KEYS } from '../contract/tables.ts';
import { PEER_MEMBERS, type Peer, peerIdentity } from '../core/peer.ts';
import { withMembersOf } from '../core/stored-members.ts';
import { nextId } from './id-store.ts';
import { resourceStore } from './resource-store.ts';

const peers = resourceStore<Peer>({
  kind: 'peer',
  partition: CONFIG_KEYS.peers,
  key: CONFIG_KEYS.peer,
  identity: ({ configuration }) => CONFIG_KEYS.peerAddress(peerIdentity(configuration)),
  identityIs: 'this peer-address, peer-port and local-address',
  mayHaveBeen: 'changed or removed',
  fromItem: (item) => ({
    id: item['id'],
    revision: item['revision'],
    configuration: withMembersOf(PEER_MEMBERS, item['configuration'], ['auth-password']),
    ...(item['encryptedPassword'] === undefined ? {} : { encryptedPassword: item['encryptedPassword'] }),
  }),
});

/** An id for a peer that is about to be made; its secrets are bound to it before it is stored. */
export function nextPeerId(): Promise<number> {
  return nextId('peer');
}

/** Throws a `conflict` Problem when another peer has its address, port and local address. */
export const createPeer = (peer: Peer): Promise<void> => peers.create(peer);
/** As `ResourceStore.replace`. */
export const replacePeer = peers.replace;
/** Throws `stale-etag` when the peer is no longer what is stored. */
export const removePeer = (peer: Peer): Promise<void> => peers.remove(peer);
export const getPeer = peers.get;
export const listPeers = peers.list;

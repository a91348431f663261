import { validateBody } from '../core/body.ts';
import type { Peer, PeerConfiguration } from '../core/peer.ts';
import { PEER_READ_ONLY, peerConfiguration } from '../core/peer-request.ts';
import { newestStatus, type PeerStatus, viewPeer } from '../core/peer-status.ts';
import { Problem } from '../core/problem.ts';
import { secretChange } from '../core/secret.ts';
import { type PeerCommand, sendCommand } from '../store/command-store.ts';
import { encryptSecret } from '../store/keyring.ts';
import { getPeerOwner, listPeerOwners } from '../store/owner-store.ts';
import { getPeerStatus, listPeerStatuses } from '../store/peer-status-store.ts';
import { createPeer, getPeer, listPeers, nextPeerId, removePeer, replacePeer } from '../store/peer-store.ts';
import { type ApiRequest, type ApiResponse, apiHandler } from './http.ts';
import { findLiveWorkers } from './live-workers.ts';
import { existing, type Resource, resourceOperations } from './resource.ts';

const PEERS: Resource<Peer, PeerConfiguration> = {
  path: '/api/bgp/peers',
  parameter: 'peerId',
  noun: 'peer',
  validate: (body) => validateBody(peerConfiguration, PEER_READ_ONLY, body),
  list: listPeers,
  get: getPeer,
  create,
  replace,
  remove: removePeer,
  // A worker takes a peer after it has read it: in the moment of its creation nobody has said anything of it.
  async viewNew(peer, { now }) {
    const ownership = { owner: undefined, liveWorkers: await findLiveWorkers(now) };
    return viewPeer(peer, undefined, ownership, now.getTime());
  },
  async view(peer, { now }) {
    const [owner, liveWorkers] = await Promise.all([getPeerOwner(peer.id), findLiveWorkers(now)]);
    const status = await findStatus(peer.id, owner?.worker);
    return viewPeer(peer, status, { owner, liveWorkers }, now.getTime());
  },
  async viewAll(peers, { now }) {
    const [owners, statuses, liveWorkers] = await Promise.all([
      listPeerOwners(),
      listPeerStatuses(),
      findLiveWorkers(now),
    ]);
    const byPeer = Map.groupBy(statuses, (status) => status.id);
    return peers.map((peer) => {
      const status = newestStatus(byPeer.get(peer.id) ?? []);
      return viewPeer(peer, status, { owner: owners.get(peer.id), liveWorkers }, now.getTime());
    });
  },
};

export const handler = apiHandler('peers', {
  ...resourceOperations(PEERS),

  'POST /api/bgp/peers/{peerId}/reset': {
    body: 'none',
    run: async (request) => {
      const { peer, owner } = await runningPeer(request);
      return accepted(
        await sendCommand<PeerCommand>(owner, { command: 'reset', peerId: peer.id }, request.now),
      );
    },
  },

  'POST /api/bgp/peers/{peerId}/refresh': {
    body: 'none',
    run: async (request) => {
      const { peer, owner, status } = await runningPeer(request);
      if (status?.state !== 'established') {
        throw new Problem(
          'not-established',
          `peer ${peer.id} is ${status?.state ?? 'idle'}; only an established one can refresh`,
        );
      }
      if (
        !status.session['capabilities-received'].some((capability) => capability.endsWith('route-refresh'))
      ) {
        throw new Problem(
          'capability-not-negotiated',
          `peer ${peer.id} did not offer route refresh (RFC 2918)`,
        );
      }
      return accepted(
        await sendCommand<PeerCommand>(owner, { command: 'refresh', peerId: peer.id }, request.now),
      );
    },
  },
});

async function create(asked: PeerConfiguration): Promise<Peer> {
  const change = secretChange('auth-password', asked['auth-password'], false);
  const id = await nextPeerId();
  const encryptedPassword = change.kind === 'set' ? await encryptPassword(id, change.value) : undefined;
  const peer = withPassword({ id, revision: 1, configuration: withoutPassword(asked) }, encryptedPassword);
  await createPeer(peer);
  return peer;
}

async function replace(previous: Peer, asked: PeerConfiguration): Promise<Peer> {
  const change = secretChange(
    'auth-password',
    asked['auth-password'],
    previous.encryptedPassword !== undefined,
  );
  const configuration = withoutPassword(asked);
  const isSame =
    JSON.stringify(sortedMembers(configuration)) === JSON.stringify(sortedMembers(previous.configuration));
  const isPasswordSame =
    change.kind === 'keep' || (change.kind === 'clear' && previous.encryptedPassword === undefined);
  if (isSame && isPasswordSame) return previous;
  const encryptedPassword = {
    keep: async () => previous.encryptedPassword,
    clear: async () => undefined,
    set: async () => encryptPassword(previous.id, change.kind === 'set' ? change.value : ''),
  }[change.kind];
  const next = withPassword(
    { id: previous.id, revision: previous.revision + 1, configuration },
    await encryptedPassword(),
  );
  await replacePeer(previous, next);
  return next;
}

/** A peer that somebody runs now, or the Problem that says why nobody does. */
async function runningPeer(
  request: ApiRequest,
): Promise<{ peer: Peer; owner: string; status: PeerStatus | undefined }> {
  const peer = await existing(PEERS, request);
  if (!peer.configuration.enabled) throw new Problem('peer-disabled', `peer ${peer.id} is not enabled`);
  const [owner, liveWorkers] = await Promise.all([getPeerOwner(peer.id), findLiveWorkers(request.now)]);
  if (owner === undefined || !liveWorkers.has(owner.worker)) {
    throw new Problem('no-worker', `no worker runs peer ${peer.id} now`, { retryAfterSeconds: 5 });
  }
  return { peer, owner: owner.worker, status: await findStatus(peer.id, owner.worker) };
}

/**
 * The owner's own word, else the newest word of whoever ran the peer before; `owner` is `''` when it was given up, and
 * undefined when nobody ever ran it: then there is no word, and the words on all other peers need not be read.
 */
async function findStatus(peerId: number, owner: string | undefined): Promise<PeerStatus | undefined> {
  if (owner === undefined) return undefined;
  const own = owner === '' ? undefined : await getPeerStatus(owner, peerId);
  return own ?? newestStatus((await listPeerStatuses()).filter((status) => status.id === peerId));
}

function accepted(command: PeerCommand): ApiResponse {
  return { status: 202, body: { command: command.command, 'requested-at': command.requestedAt } };
}

function encryptPassword(peerId: number, password: string): Promise<string> {
  return encryptSecret(password, { owner: `peer/${peerId}`, field: 'auth-password' });
}

function withPassword(peer: Omit<Peer, 'encryptedPassword'>, encryptedPassword: string | undefined): Peer {
  return encryptedPassword === undefined ? peer : { ...peer, encryptedPassword };
}

function withoutPassword(asked: PeerConfiguration): Peer['configuration'] {
  const { 'auth-password': _password, ...configuration } = asked;
  return configuration;
}

function sortedMembers(configuration: Peer['configuration']): [string, unknown][] {
  return Object.entries(configuration).sort(([a], [b]) => a.localeCompare(b));
}

import { encodeMessage, MESSAGE_TYPE } from '../../protocols/bgp/header.ts';
import { encodeKeepalive } from '../../protocols/bgp/keepalive.ts';
import { encodeAttribute } from '../../protocols/bgp/ls/attribute.ts';
import type { LinkStateAttributes } from '../../protocols/bgp/ls/attributes.ts';
import { NlriType, ProtocolId } from '../../protocols/bgp/ls/code-point.ts';
import { type EncodableNlri, encodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import { LinkStateTable } from '../../protocols/bgp/ls/table.ts';
import { concatenate } from '../../protocols/bgp/octet-writer.ts';
import { encodeOpen, openFor } from '../../protocols/bgp/open.ts';
import type { PeerSettings } from '../../protocols/bgp/peer-settings.ts';
import { Session } from '../../protocols/bgp/session.ts';

/** Routers of the network that is gone through, seven UPDATEs each: together about a chunk as a socket gives it. */
const ROUTERS = 40;
/** How often, and each time twice: fewer than forty leave the table's half of the way to the baseline compiler. */
const ROUNDS = 45;

/**
 * Has the way of an UPDATE from a chunk of octets into a table compiled before the first peer is there: a first load of
 * 10,000 NLRIs then takes 61 ms of CPU time where it took 176. Gives way to others after each chunk.
 * See docs/decisions/0043.
 * @returns how many UPDATEs a table took.
 */
export async function warmUp(): Promise<number> {
  let applied = 0;
  const chunk = madeUpdates();
  const now = { wall: 0, monotonic: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const session = establishedSession();
    const table = new LinkStateTable({ hashSeed: round });
    // Told twice: what is known already takes another way than what is new.
    for (let time = 0; time < 2; time += 1) {
      for (const effect of session.receive(1, chunk, now)) {
        if (effect.kind !== 'update') continue;
        table.applyUpdate(effect.update as TableUpdate, 0, () => {});
        applied += 1;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return applied;
}

/** Sessions offer link-state families only, so an UPDATE that comes through is of one of the two. */
type TableUpdate = Parameters<LinkStateTable['applyUpdate']>[0];

const SETTINGS: PeerSettings = {
  peerId: 0,
  peerAddress: '192.0.2.1',
  peerPort: 179,
  localAddress: '',
  passive: false,
  peerAs: 64_512,
  localAs: 64_512,
  localIdentifier: '192.0.2.2',
  holdTimeSeconds: 90,
  keepaliveTimeSeconds: 0,
  connectRetrySeconds: 120,
  password: '',
  ttlSecurityHops: 0,
  families: [{ afi: 16388, safi: 71, required: true }],
};

function establishedSession(): Session {
  const now = { wall: 0, monotonic: 0 };
  const endpoints = { localAddress: '', localPort: 0, peerAddress: SETTINGS.peerAddress, peerPort: 179 };
  const session = new Session(SETTINGS, () => 0.5, { tcpMd5: true, ttlSecurity: true });
  session.start(now);
  session.connected(1, endpoints, now);
  session.receive(
    1,
    encodeOpen(openFor({ ...SETTINGS, localIdentifier: SETTINGS.peerAddress }, 'full')),
    now,
  );
  session.receive(1, encodeKeepalive(), now);
  return session;
}

/** A ring of routers: each a node, four half-links and two prefixes. */
function madeUpdates(): Uint8Array {
  const updates: Uint8Array[] = [];
  for (let router = 0; router < ROUTERS; router += 1) {
    const localNode = node(router);
    const base = { protocol: 'isis-level-2', identifier: 0n, localNode } as const;
    updates.push(
      update({ ...base, type: 'node' }, NlriType.node, {
        'node-name': `router-${router}`,
        'isis-area-identifiers': ['49.0001'],
        'ipv4-router-ids': [`192.0.2.${router}`],
        'sr-algorithms': [0, 1],
      }),
    );
    for (let link = 1; link <= 4; link += 1) {
      const address = (end: number) => `198.51.${link}.${(router * 2 + end) & 255}`;
      const descriptor = {
        'ipv4-interface-addresses': [address(0)],
        'ipv4-neighbor-addresses': [address(1)],
        'ipv6-interface-addresses': [],
        'ipv6-neighbor-addresses': [],
      };
      const remoteNode = node((router + link) % ROUTERS);
      updates.push(
        update({ ...base, type: 'link', remoteNode, descriptor }, NlriType.link, {
          'ipv4-router-ids': [`192.0.2.${router}`],
          'administrative-group': link,
          'maximum-link-bandwidth-bytes-per-second': 1.25e9,
          'te-default-metric': 20,
          'igp-metric': 10 + link,
          'shared-risk-link-groups': [1, 2, 3],
        }),
      );
    }
    for (let prefix = 0; prefix < 2; prefix += 1) {
      const descriptor = { 'ip-reachability': `203.0.${prefix}.${router}/32` };
      updates.push(
        update({ ...base, type: 'ipv4-prefix', descriptor }, NlriType.ipv4Prefix, {
          'prefix-metric': prefix,
        }),
      );
    }
  }
  return concatenate(...updates);
}

function node(router: number) {
  return {
    'autonomous-system': 64_512,
    'bgp-ls-identifier': 0,
    'igp-router-id': `0000.0000.${router.toString(16).padStart(4, '0')}`,
  };
}

/** As an internal peer sends it: MP_REACH_NLRI, ORIGIN, an empty AS_PATH, LOCAL_PREF, the BGP-LS Attribute. */
function update(nlri: EncodableNlri, nlriType: number, attributes: LinkStateAttributes): Uint8Array {
  const value = encodeAttribute(attributes, { protocolId: ProtocolId.isisLevel2, nlriType });
  const body = concatenate(
    pathAttribute(0x80, 14, Uint8Array.of(0x40, 0x04, 71, 4, 192, 0, 2, 1, 0), encodeNlri(nlri)),
    pathAttribute(0x40, 1, Uint8Array.of(0)),
    pathAttribute(0x40, 2),
    pathAttribute(0x40, 5, Uint8Array.of(0, 0, 0, 100)),
    pathAttribute(0x80, 29, value),
  );
  return encodeMessage(
    MESSAGE_TYPE.update,
    concatenate(Uint8Array.of(0, 0, body.length >> 8, body.length), body),
  );
}

function pathAttribute(flags: number, type: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const value = concatenate(...parts);
  const { length } = value;
  const header = length > 255 ? [flags | 0x10, type, length >> 8, length] : [flags, type, length];
  return concatenate(Uint8Array.from(header), value);
}

/** What the API must answer for what peers have told, worked out apart from the product: no code of it is used here. */
import { createHash } from 'node:crypto';
import type { LinkStateObject } from './link-state-objects.ts';

/** What the product has heard of one peer, and whether that peer's session stands. */
export interface ToldByPeer {
  readonly peerId: number;
  readonly live: boolean;
  readonly objects: ReadonlyMap<string, LinkStateObject>;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of the API, compared member by member
export type ApiBody = any;

export interface TopologyLists {
  readonly nodes: ApiBody[];
  readonly links: ApiBody[];
  readonly prefixes: ApiBody[];
  readonly 'srv6-sids': ApiBody[];
}

const LISTS = {
  node: 'nodes',
  link: 'links',
  'ipv4-prefix': 'prefixes',
  'ipv6-prefix': 'prefixes',
  'srv6-sid': 'srv6-sids',
} as const;

/** The id of an object, as docs/decisions/0062 defines it. */
export function idOf(letter: string, nlri: Uint8Array): string {
  const digest = createHash('sha256')
    .update(Uint8Array.of(0x40, 0x04, 71))
    .update(nlri)
    .digest();
  return `${letter}.${digest.subarray(0, 16).toString('base64url')}`;
}

/**
 * Says where the lists differ from what they must be; an empty answer is agreement. Times are those of the product's
 * clock and are only held against each other.
 */
export function differences(lists: TopologyLists, told: readonly ToldByPeer[]): string[] {
  const faults: string[] = [];
  const expected = new Map<
    string,
    { list: keyof TopologyLists; object: LinkStateObject; by: ToldByPeer[] }
  >();
  for (const peer of told) {
    for (const object of peer.objects.values()) {
      const id = idOf(letterOf(object), object.nlri);
      const known = expected.get(id);
      if (known === undefined) expected.set(id, { list: LISTS[object.type], object, by: [peer] });
      else known.by.push(peer);
    }
  }
  const nodeIds = nodeIdsByDescriptor(told);
  for (const name of Object.keys(lists) as (keyof TopologyLists)[]) {
    for (const shown of lists[name]) {
      const must = expected.get(shown.id);
      if (must === undefined) {
        if (!isNamedOnlyByLinks(shown, told))
          faults.push(`${shown.id} (${shown.type}) is shown but nobody tells it`);
        continue;
      }
      expected.delete(shown.id);
      faults.push(...objectFaults(shown, must.object, must.by, nodeIds, told));
    }
  }
  for (const [id, { object }] of expected) faults.push(`${id} (${object.type}) is missing`);
  return faults;
}

function letterOf({ type }: LinkStateObject): string {
  return { node: 'n', link: 'l', 'ipv4-prefix': 'p', 'ipv6-prefix': 'p', 'srv6-sid': 's' }[type];
}

function nodeIdsByDescriptor(told: readonly ToldByPeer[]): Map<string, string> {
  const ids = new Map<string, string>();
  for (const { objects } of told) {
    for (const object of objects.values()) {
      if (object.type === 'node') ids.set(nodeKey(object, object.localNode), idOf('n', object.nlri));
    }
  }
  return ids;
}

function nodeKey({ domain }: LinkStateObject, descriptor: unknown): string {
  return `${domain.protocol} ${domain.identifier} ${JSON.stringify(descriptor)}`;
}

function isNamedOnlyByLinks(shown: ApiBody, told: readonly ToldByPeer[]): boolean {
  if (shown.type !== 'node' || shown.advertised || shown.sources.length > 0) return false;
  const wanted = JSON.stringify(shown.descriptor);
  return told.some(({ objects }) =>
    [...objects.values()].some(
      (object) =>
        object.type === 'link' &&
        object.domain.protocol === shown.protocol &&
        (JSON.stringify(object.localNode) === wanted || JSON.stringify(object.remoteNode) === wanted),
    ),
  );
}

function objectFaults(
  shown: ApiBody,
  object: LinkStateObject,
  by: readonly ToldByPeer[],
  nodeIds: ReadonlyMap<string, string>,
  told: readonly ToldByPeer[],
): string[] {
  const faults: string[] = [];
  const key = Buffer.from(object.nlri).toString('hex');
  const say = (member: string, is: unknown, must: unknown) => {
    if (text(is) !== text(must)) {
      faults.push(`${shown.id} (${object.type}) ${member} is ${text(is)}, not ${text(must)}`);
    }
  };
  say('type', shown.type, object.type);
  say('protocol', shown.protocol, object.domain.protocol);
  say('identifier', shown.identifier, Number(object.domain.identifier));
  say('safi', shown.safi, 71);
  say('route-distinguisher', shown['route-distinguisher'], '');
  say('descriptor', shown.descriptor, object.type === 'node' ? object.localNode : object.descriptor);
  say(
    'stale',
    shown.stale,
    by.every(({ live }) => !live),
  );
  say('attributes-missing', shown['attributes-missing'], false);
  say('unknown-tlvs', shown['unknown-tlvs'], []);
  const sources = by.map(({ peerId, live }) => ({ peer: peerId, state: live ? 'live' : 'stale' }));
  say(
    'sources',
    shown.sources.map((source: ApiBody) => ({ peer: source['peer-id'], state: source.state })),
    sources.toSorted((a, b) => a.peer - b.peer),
  );
  const chosen = selectedSource(shown.sources);
  const selected = shown.sources.filter((source: ApiBody) => source.selected);
  say(
    'selected',
    selected.map((source: ApiBody) => source['peer-id']),
    [chosen?.['peer-id']],
  );
  const teller = by.find(({ peerId }) => peerId === chosen?.['peer-id']);
  say('attributes', shown.attributes, teller?.objects.get(key)?.attributes);
  say('last-changed', shown['last-changed'], chosen?.['changed-at']);
  for (const source of shown.sources) {
    const stale = source.state === 'stale';
    if (stale !== (source['stale-since'] !== null) || stale !== (source['purge-at'] !== null)) {
      faults.push(`${shown.id}: stale-since or purge-at of peer ${source['peer-id']} do not fit its state`);
    }
  }
  if (object.type === 'link') {
    say(
      'local-node',
      shown['local-node'].id,
      nodeIds.get(nodeKey(object, object.localNode)) ?? shown['local-node'].id,
    );
    say(
      'remote-node',
      shown['remote-node'].id,
      nodeIds.get(nodeKey(object, object.remoteNode)) ?? shown['remote-node'].id,
    );
    say('reverse', shown.reverse.id, reverseId(object, told));
    say('ambiguous', shown.reverse.ambiguous, false);
  } else if (object.type === 'node') {
    say('advertised', shown.advertised, true);
    // IS-IS has a suffix of one octet, OSPF an address after a colon.
    say('pseudonode', shown.pseudonode, /^.{14}\..{2}$|:/.test(object.localNode['igp-router-id'] ?? ''));
  } else say('node', shown.node.descriptor, object.localNode);
  return faults;
}

/** Live before stale, then the later change, then the lower peer id: all peers of this test have one preference. */
function selectedSource(sources: readonly ApiBody[]): ApiBody {
  return sources.toSorted(
    (a, b) =>
      Number(b.state === 'live') - Number(a.state === 'live') ||
      (a['changed-at'] < b['changed-at'] ? 1 : a['changed-at'] > b['changed-at'] ? -1 : 0) ||
      a['peer-id'] - b['peer-id'],
  )[0];
}

/** The half-link back, by what the simulator knows of the link and not by its marks. */
function reverseId(object: LinkStateObject, told: readonly ToldByPeer[]): string | null {
  for (const { objects } of told) {
    const reverse = object.reverse === undefined ? undefined : objects.get(object.reverse);
    if (reverse !== undefined) return idOf('l', reverse.nlri);
  }
  return null;
}

/** JSON with members in one order. */
function text(value: unknown): string {
  return JSON.stringify(value, (_, member) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

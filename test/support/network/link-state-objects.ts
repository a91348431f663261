/** What a simulated network's routers say in BGP-LS: the objects as decoded, which tests expect back, and as octets. */
import { encodeAttribute } from '../../../protocols/bgp/ls/attribute.ts';
import type { LinkStateAttributes } from '../../../protocols/bgp/ls/attributes.ts';
import { NlriType, protocolCode } from '../../../protocols/bgp/ls/code-point.ts';
import type { LinkDescriptor, NodeDescriptor } from '../../../protocols/bgp/ls/descriptor.ts';
import { type EncodableNlri, encodeNlri } from '../../../protocols/bgp/ls/nlri.ts';
import {
  BLOCK_SIZE,
  type Domain,
  type End,
  type Lan,
  type PointToPointLink,
  present,
  type Router,
  type SimulatedNetwork,
  works,
} from './simulated-network.ts';

export interface LinkStateObject {
  readonly type: 'node' | 'link' | 'ipv4-prefix' | 'ipv6-prefix' | 'srv6-sid';
  readonly domain: Domain;
  readonly localNode: NodeDescriptor;
  readonly remoteNode: NodeDescriptor | null;
  readonly descriptor: object;
  readonly attributes: LinkStateAttributes;
  /** Of links: which end this is. */
  readonly end: End | undefined;
  /** Of links: the other direction, by the hex of its NLRI. */
  reverse: string | undefined;
  readonly nlri: Uint8Array;
  readonly attribute: Uint8Array;
}

type Unencoded = Omit<LinkStateObject, 'nlri' | 'attribute' | 'reverse'>;

const AS = 65000;
const NO_FLAGS = { overload: false, attached: false, external: false, abr: false, router: false, v6: false };
const END_BEHAVIOR = { behavior: 1, flags: 0, algorithm: 0 };
const END_X = { behavior: 5, algorithm: 0, weight: 0, flags: { b: false, s: false, p: false } };
const STRUCTURE = {
  'locator-block-bits': 32,
  'locator-node-bits': 16,
  'function-bits': 80,
  'argument-bits': 0,
};

/** Every object that the network's routers announce now, by the hex of its NLRI. */
export function linkStateObjects(network: SimulatedNetwork): Map<string, LinkStateObject> {
  const objects = new Map<string, LinkStateObject>();
  const add: Add = (object) => {
    const made = encoded(object);
    objects.set(Buffer.from(made.nlri).toString('hex'), made);
    return made;
  };
  for (const router of network.routers) {
    if (!router.up) continue;
    for (const domain of router.domains) addRouter(add, router, domain);
  }
  for (const link of network.links) if (works(link)) addLink(add, link);
  for (const lan of network.lans) addLan(add, lan);
  return objects;
}

type Add = (object: Unencoded) => LinkStateObject;

function addRouter(add: Add, router: Router, domain: Domain): void {
  const common = { domain, localNode: routerDescriptor(router, domain), remoteNode: null, end: undefined };
  add({
    ...common,
    type: 'node',
    descriptor: {},
    attributes: {
      'node-flag-bits': { ...NO_FLAGS, overload: router.overload },
      'node-name': router.name,
      ...(isIsis(domain) ? { 'isis-area-identifiers': ['49.0001'] } : {}),
      'ipv4-router-ids': [router.loopback],
      'sr-capabilities': {
        flags: { 'mpls-ipv4': isIsis(domain), 'mpls-ipv6': false },
        ranges: [{ size: BLOCK_SIZE, 'sid-label': router.blockStart }],
      },
      'sr-algorithms': [0, 1],
    },
  });
  const prefixFlags = isIsis(domain)
    ? { r: false, n: true, p: false, e: false, v: false, l: false }
    : { np: false, m: false, e: false, v: false, l: false };
  add({
    ...common,
    type: 'ipv4-prefix',
    descriptor: {
      ...(isIsis(domain) ? {} : { 'ospf-route-type': 'intra-area' }),
      'ip-reachability': `${router.loopback}/32`,
    },
    attributes: {
      'prefix-metric': 0,
      'prefix-sids': [{ flags: prefixFlags, algorithm: 0, index: router.number }],
      ...(isIsis(domain)
        ? {}
        : { 'prefix-attribute-flags': { flags: { a: false, n: true, e: false }, value: '40' } }),
    },
  });
  if (!isIsis(domain)) return;
  add({
    ...common,
    type: 'ipv6-prefix',
    descriptor: { 'ip-reachability': `${router.loopback6}/128` },
    attributes: { 'prefix-metric': 0 },
  });
  add({
    ...common,
    type: 'srv6-sid',
    descriptor: { sid: endSid(router) },
    attributes: { 'endpoint-behavior': END_BEHAVIOR, 'sid-structure': STRUCTURE },
  });
}

function addLink(add: Add, link: PointToPointLink): void {
  const [one, two] = link.ends;
  const halves = [
    [one, two],
    [two, one],
  ] as const;
  const [there, back] = halves.map(([end, far]) => {
    const srv6 = isIsis(link.domain) && link.kind !== 'ipv4-only';
    return add({
      type: 'link',
      domain: link.domain,
      localNode: routerDescriptor(end.router, link.domain),
      remoteNode: routerDescriptor(far.router, link.domain),
      descriptor: linkDescriptor(link, end, far),
      end,
      attributes: {
        ...linkAttributes(end),
        'adjacency-sids': [{ flags: adjacencyFlags(link.domain), weight: 0, label: end.adjacencyLabel }],
        ...(srv6 ? { 'srv6-end-x-sids': [{ ...END_X, sid: end.endXSid }] } : {}),
      },
    });
  });
  pair(there as LinkStateObject, back as LinkStateObject);
}

function pair(there: LinkStateObject, back: LinkStateObject): void {
  there.reverse = Buffer.from(back.nlri).toString('hex');
  back.reverse = Buffer.from(there.nlri).toString('hex');
}

function addLan(add: Add, lan: Lan): void {
  const members = present(lan);
  if (members.length === 0) return;
  const { domain } = lan;
  const pseudonode = pseudonodeDescriptor(lan);
  const common = { domain, localNode: pseudonode, remoteNode: null, end: undefined };
  add({
    ...common,
    type: 'node',
    descriptor: {},
    attributes: isIsis(domain) ? { 'isis-area-identifiers': ['49.0001'] } : { 'node-flag-bits': NO_FLAGS },
  });
  for (const member of members) {
    const router = routerDescriptor(member.router, domain);
    const others = members.filter((other) => other !== member);
    const there = add({
      type: 'link',
      domain,
      localNode: router,
      remoteNode: pseudonode,
      descriptor: { ...emptyLinkDescriptor(), 'ipv4-interface-addresses': [member.address] },
      end: member,
      attributes: {
        ...linkAttributes(member),
        'lan-adjacency-sids': others.map((other) => ({
          flags: adjacencyFlags(domain),
          weight: 0,
          neighbor: routerDescriptor(other.router, domain)['igp-router-id'] as string,
          label: member.neighborLabels.get(other.router.number) as number,
        })),
        ...(isIsis(domain)
          ? {
              'isis-srv6-lan-end-x-sids': others.map((other) => ({
                ...END_X,
                neighbor: routerDescriptor(other.router, domain)['igp-router-id'] as string,
                sid: member.neighborSids.get(other.router.number) as string,
              })),
            }
          : {}),
      },
    });
    const back = add({
      type: 'link',
      domain,
      localNode: pseudonode,
      remoteNode: router,
      descriptor: emptyLinkDescriptor(),
      end: undefined,
      attributes: { 'igp-metric': 0 },
    });
    pair(there, back);
  }
}

function linkAttributes(end: End): LinkStateAttributes {
  return {
    'administrative-group': end.groups,
    'maximum-link-bandwidth-bytes-per-second': Math.fround(end.bandwidth),
    'te-default-metric': end.teMetric,
    'igp-metric': end.metric,
    'unidirectional-link-delay-microseconds': { anomalous: false, delay: end.delay },
  };
}

function linkDescriptor(link: PointToPointLink, end: End, far: End): LinkDescriptor {
  if (link.kind === 'unnumbered') {
    return {
      ...emptyLinkDescriptor(),
      'link-local-identifier': end.identifier,
      'link-remote-identifier': far.identifier,
    };
  }
  return {
    ...emptyLinkDescriptor(),
    'ipv4-interface-addresses': [end.address],
    'ipv4-neighbor-addresses': [far.address],
    ...(link.kind === 'ipv4-only'
      ? {}
      : { 'ipv6-interface-addresses': [end.address6], 'ipv6-neighbor-addresses': [far.address6] }),
  };
}

function emptyLinkDescriptor() {
  return {
    'ipv4-interface-addresses': [],
    'ipv4-neighbor-addresses': [],
    'ipv6-interface-addresses': [],
    'ipv6-neighbor-addresses': [],
  };
}

function adjacencyFlags(domain: Domain) {
  return isIsis(domain)
    ? { f: false, b: false, v: true, l: true, s: false, p: false }
    : { b: false, v: true, l: true, g: false, p: false };
}

export function endSid(router: Router): string {
  return `${router.loopback6.split('::')[0]}:1::${router.number.toString(16)}`;
}

export function isIsis(domain: Domain): boolean {
  return domain.protocol !== 'ospfv2';
}

/** RFC 9552 §5.2.1.4. */
export function routerDescriptor(router: Router, domain: Domain): NodeDescriptor {
  return {
    'autonomous-system': AS,
    ...(domain.area === undefined ? {} : { 'ospf-area-id': domain.area }),
    'igp-router-id': isIsis(domain) ? systemId(router.number) : router.loopback,
  };
}

function pseudonodeDescriptor(lan: Lan): NodeDescriptor {
  const designated = lan.members[0] as End;
  const own = routerDescriptor(designated.router, lan.domain);
  const tail = isIsis(lan.domain) ? `.${lan.number.toString(16).padStart(2, '0')}` : `:${designated.address}`;
  return { ...own, 'igp-router-id': `${own['igp-router-id']}${tail}` };
}

function systemId(number: number): string {
  return `0000.${(number >> 16).toString(16).padStart(4, '0')}.${(number & 0xffff).toString(16).padStart(4, '0')}`;
}

const TYPES = {
  node: NlriType.node,
  link: NlriType.link,
  'ipv4-prefix': NlriType.ipv4Prefix,
  'ipv6-prefix': NlriType.ipv6Prefix,
  'srv6-sid': NlriType.srv6Sid,
};

function encoded(object: Unencoded): LinkStateObject {
  const { domain, type, localNode, remoteNode, descriptor } = object;
  const nlri: EncodableNlri = {
    type,
    safi: 71,
    protocol: domain.protocol,
    identifier: domain.identifier,
    localNode,
    remoteNode,
    descriptor,
  };
  const context = { protocolId: protocolCode(domain.protocol), nlriType: TYPES[type] };
  return {
    ...object,
    reverse: undefined,
    nlri: encodeNlri(nlri),
    attribute: encodeAttribute(object.attributes, context),
  };
}

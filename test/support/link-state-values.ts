/** Random legal objects of link state: each TLV row's member, and NLRIs of every type. */
import type { LinkStateAttributes } from '../../protocols/bgp/ls/attributes.ts';
import { isIsis, isOspf, NlriType } from '../../protocols/bgp/ls/code-point.ts';
import type { NodeDescriptor } from '../../protocols/bgp/ls/descriptor.ts';
import type { Flags } from '../../protocols/bgp/ls/flags.ts';
import type { EncodableNlri } from '../../protocols/bgp/ls/nlri.ts';
import { formatIpv4, formatIpv6 } from '../../protocols/bgp/ls/text.ts';
import type { TlvContext } from '../../protocols/bgp/ls/tlv.ts';
import type { Segment } from '../../protocols/bgp/ls/tlv-policy-parts.ts';
import type { Random } from './random.ts';

type Member = keyof LinkStateAttributes;

/** Bits of every width, so that 0, small and largest values all come up. */
function unsigned(random: Random, bits: number): number {
  const width = random.below(bits + 1);
  return width === 0 ? 0 : random.bits() >>> (32 - width);
}

function list<Element>(random: Random, element: () => Element, least = 1, most = 4): Element[] {
  return Array.from({ length: least + random.below(most - least + 1) }, element);
}

export function ipv4(random: Random): string {
  return formatIpv4(random.bits());
}

export function ipv6(random: Random): string {
  const word = () => (random.chance(0.4) ? 0 : unsigned(random, 32));
  return formatIpv6(word(), word(), word(), word());
}

function hex(random: Random, octets: number): string {
  return Buffer.from(random.bytes(octets)).toString('hex');
}

function text(random: Random): string {
  return String.fromCharCode(...list(random, () => 32 + random.below(95), 1, 20));
}

function systemId(random: Random): string {
  return hex(random, 6).replace(/(.{4})(.{4})(.{4})/, '$1.$2.$3');
}

/** A finite binary32 number, as a bandwidth is: not negative. */
function bandwidth(random: Random): number {
  const bits = new Uint32Array([random.bits() & 0x7fffffff]);
  const value = new Float32Array(bits.buffer)[0] as number;
  return Number.isFinite(value) ? value : 1250000000;
}

function flags<Name extends string>(random: Random, names: readonly Name[]): Flags<Name> {
  return Object.fromEntries(names.map((name) => [name, random.chance(0.5)])) as Flags<Name>;
}

function adjacencyFlags(random: Random, { protocolId }: TlvContext) {
  if (isIsis(protocolId)) return flags(random, ['f', 'b', 'v', 'l', 's', 'p']);
  return isOspf(protocolId) ? flags(random, ['b', 'v', 'l', 'g', 'p']) : { bits: random.below(256) };
}

function prefixSidFlags(random: Random, { protocolId }: TlvContext) {
  if (isIsis(protocolId)) return flags(random, ['r', 'n', 'p', 'e', 'v', 'l']);
  return isOspf(protocolId) ? flags(random, ['np', 'm', 'e', 'v', 'l']) : { bits: random.below(256) };
}

function labelOrIndex(random: Random) {
  return random.chance(0.5) ? { label: unsigned(random, 20) } : { index: unsigned(random, 32) };
}

function ranges(random: Random) {
  return list(random, () => ({ size: unsigned(random, 24), 'sid-label': unsigned(random, 20) }));
}

function words(random: Random) {
  return list(random, () => unsigned(random, 32));
}

function msds(random: Random) {
  return list(random, () => ({ type: random.below(256), value: random.below(256) }));
}

const END_X = ['b', 's', 'p'] as const;

function endpointBehavior(random: Random) {
  return { behavior: unsigned(random, 16), flags: random.below(256), algorithm: random.below(256) };
}

/** RFC 9514 §8: the four lengths are 128 bits at most together. */
function sidStructure(random: Random) {
  const cuts = [random.below(129), random.below(129), random.below(129)].sort((x, y) => x - y);
  const [block, node, functions] = cuts as [number, number, number];
  return {
    'locator-block-bits': block,
    'locator-node-bits': node - block,
    'function-bits': functions - node,
    'argument-bits': random.below(129 - functions),
  };
}

function endX(random: Random) {
  return {
    behavior: unsigned(random, 16),
    flags: flags(random, END_X),
    algorithm: random.below(256),
    weight: random.below(256),
    sid: ipv6(random),
    ...(random.chance(0.7) && { 'sid-structure': sidStructure(random) }),
  };
}

function prefixSid(random: Random, context: TlvContext) {
  return {
    flags: prefixSidFlags(random, context),
    algorithm: random.below(256),
    ...labelOrIndex(random),
  };
}

/** Attributes that may stand in an ASLA or a bundle member. RFC 9294 §2, RFC 9085 §2.2.3. */
const INNER: readonly Member[] = [
  'administrative-group',
  'te-default-metric',
  'shared-risk-link-groups',
  'unidirectional-link-delay-microseconds',
  'min-max-unidirectional-link-delay-microseconds',
  'unidirectional-delay-variation-microseconds',
  'unidirectional-link-loss-percent',
  'unidirectional-residual-bandwidth-bytes-per-second',
  'extended-administrative-group',
];

function inner(random: Random, context: TlvContext): LinkStateAttributes {
  const attributes: Record<string, unknown> = {};
  for (const name of list(random, () => random.pick(INNER), 0, 3)) {
    attributes[name] = attributeValue(name, random, context);
  }
  return attributes;
}

function group(random: Random) {
  return random.chance(0.7) ? { 'group-id': unsigned(random, 32) } : { 'pcep-association': hex(random, 8) };
}

const SRV6_SEGMENTS = [2, 9, 10, 11];
const SEGMENT_PARTS: readonly (readonly string[])[] = [
  [],
  ['algorithm'],
  ['algorithm'],
  ['algorithm', 'v4'],
  ['algorithm', 'v6'],
  ['v4', 'interface'],
  ['v4', 'remote-v4'],
  ['v6', 'interface', 'remote-v6', 'remote-interface'],
  ['v6', 'remote-v6'],
  ['algorithm', 'v6'],
  ['v6', 'interface', 'remote-v6', 'remote-interface'],
  ['v6', 'remote-v6'],
];

function segment(random: Random): Segment {
  const type = 1 + random.below(11);
  const parts = SEGMENT_PARTS[type] as readonly string[];
  const srv6 = SRV6_SEGMENTS.includes(type);
  return {
    type,
    flags: flags(random, ['s', 'e', 'v', 'r', 'a']),
    sid: srv6 ? ipv6(random) : unsigned(random, 20),
    ...(parts.includes('algorithm') && { algorithm: random.below(256) }),
    ...(parts.includes('v4') && { 'local-address': ipv4(random) }),
    ...(parts.includes('v6') && { 'local-address': ipv6(random) }),
    ...(parts.includes('interface') && { 'local-interface-id': unsigned(random, 32) }),
    ...(parts.includes('remote-v4') && { 'remote-address': ipv4(random) }),
    ...(parts.includes('remote-v6') && { 'remote-address': ipv6(random) }),
    ...(parts.includes('remote-interface') && { 'remote-interface-id': unsigned(random, 32) }),
    ...(srv6 && random.chance(0.5) && { 'endpoint-behavior': endpointBehavior(random) }),
    ...(srv6 && random.chance(0.5) && { 'sid-structure': sidStructure(random) }),
  };
}

type Values = { [Name in Member]-?: (random: Random, context: TlvContext) => LinkStateAttributes[Name] };

/** For each member one way to make it. Members that end in `-raw` belong to another. */
const VALUES: Omit<Values, `${string}-raw`> = {
  'multi-topology-ids': (random) => list(random, () => unsigned(random, 12)),
  'node-flag-bits': (random) => flags(random, ['overload', 'attached', 'external', 'abr', 'router', 'v6']),
  'opaque-node-attributes': (random) => list(random, () => hex(random, 1 + random.below(9))),
  'node-name': text,
  'isis-area-identifiers': (random) =>
    list(random, () => {
      const area = hex(random, 1 + random.below(13));
      return [area.slice(0, 2), ...(area.slice(2).match(/.{1,4}/g) ?? [])].join('.');
    }),
  'ipv4-router-ids': (random) => list(random, () => ipv4(random)),
  'ipv6-router-ids': (random) => list(random, () => ipv6(random)),
  'link-local-remote-identifiers': (random) => ({
    'link-local-identifier': unsigned(random, 32),
    'link-remote-identifier': unsigned(random, 32),
  }),
  'remote-ipv4-router-ids': (random) => list(random, () => ipv4(random)),
  'remote-ipv6-router-ids': (random) => list(random, () => ipv6(random)),
  'administrative-group': (random) => unsigned(random, 32),
  'maximum-link-bandwidth-bytes-per-second': bandwidth,
  'max-reservable-link-bandwidth-bytes-per-second': bandwidth,
  'unreserved-bandwidth-bytes-per-second': (random) => list(random, () => bandwidth(random), 8, 8),
  'te-default-metric': (random) => unsigned(random, 32),
  'link-protection-type': (random) =>
    flags(random, [
      'enhanced',
      'dedicated-1-plus-1',
      'dedicated-1-to-1',
      'shared',
      'unprotected',
      'extra-traffic',
    ]),
  'mpls-protocol-mask': (random) => flags(random, ['ldp', 'rsvp-te']),
  'igp-metric': (random, { protocolId }) => unsigned(random, isIsis(protocolId) ? 24 : 16),
  'shared-risk-link-groups': words,
  'opaque-link-attributes': (random) => list(random, () => hex(random, 1 + random.below(9))),
  'link-name': text,
  'igp-flags': (random) => flags(random, ['down', 'no-unicast', 'local-address', 'propagate-nssa']),
  'route-tags': words,
  'extended-route-tags': (random) =>
    list(random, () => (BigInt(random.bits()) << 32n) | BigInt(unsigned(random, 32))),
  'prefix-metric': (random) => unsigned(random, 32),
  'ospf-forwarding-address': (random) => (random.chance(0.5) ? ipv4(random) : ipv6(random)),
  'opaque-prefix-attributes': (random) => list(random, () => hex(random, 1 + random.below(9))),
  'node-msds': msds,
  'sr-capabilities': (random, { protocolId }) => ({
    flags: isOspf(protocolId)
      ? { 'mpls-ipv4': false, 'mpls-ipv6': false }
      : flags(random, ['mpls-ipv4', 'mpls-ipv6']),
    ranges: ranges(random),
  }),
  'sr-algorithms': (random) => list(random, () => random.below(256)),
  'sr-local-block': ranges,
  'srms-preference': (random) => random.below(256),
  'link-msds': msds,
  'adjacency-sids': (random, context) =>
    list(random, () => ({
      flags: adjacencyFlags(random, context),
      weight: random.below(256),
      ...labelOrIndex(random),
    })),
  'lan-adjacency-sids': (random, context) =>
    list(random, () => ({
      flags: adjacencyFlags(random, context),
      weight: random.below(256),
      neighbor: isIsis(context.protocolId) ? systemId(random) : ipv4(random),
      ...labelOrIndex(random),
    })),
  'peer-node-sids': peerSids,
  'peer-adj-sids': peerSids,
  'peer-set-sids': peerSids,
  'prefix-sids': (random, context) => list(random, () => prefixSid(random, context)),
  'sid-ranges': (random, context) =>
    list(random, () => ({
      flags: isIsis(context.protocolId)
        ? flags(random, ['f', 'm', 's', 'd', 'a'])
        : isOspf(context.protocolId)
          ? flags(random, ['ia'])
          : { bits: random.below(256) },
      size: unsigned(random, 16),
      'prefix-sids': list(random, () => prefixSid(random, context)),
    })),
  'prefix-attribute-flags': (random, { protocolId }) => {
    const value = random.bytes(1 + random.below(3));
    const names = [
      ['x', 'r', 'n', 'e', 'a'],
      ['a', 'n', 'e'],
      ['ac', 'e', 'n', 'dn', 'p', '', 'la', 'nu'],
    ][isIsis(protocolId) ? 0 : protocolId === 3 ? 1 : protocolId === 6 ? 2 : 3];
    const first = value[0] as number;
    const named = (names ?? []).map((name, index) => [name, (first & (0x80 >> index)) !== 0] as const);
    return {
      flags:
        names === undefined ? { bits: first } : Object.fromEntries(named.filter(([name]) => name !== '')),
      value: Buffer.from(value).toString('hex'),
    };
  },
  'source-router-identifier': (random) => (random.chance(0.5) ? ipv4(random) : ipv6(random)),
  'source-ospf-router-id': ipv4,
  'srv6-capabilities': (random) => ({ flags: flags(random, ['o']) }),
  'srv6-end-x-sids': (random) => list(random, () => endX(random)),
  'isis-srv6-lan-end-x-sids': (random) =>
    list(random, () => ({ ...endX(random), neighbor: systemId(random) })),
  'ospfv3-srv6-lan-end-x-sids': (random) => list(random, () => ({ ...endX(random), neighbor: ipv4(random) })),
  'srv6-locator': (random) => ({
    flags: random.below(256),
    algorithm: random.below(256),
    metric: unsigned(random, 32),
  }),
  'endpoint-behavior': endpointBehavior,
  'srv6-bgp-peer-node-sids': (random) =>
    list(random, () => ({
      flags: flags(random, END_X),
      weight: random.below(256),
      'peer-as': unsigned(random, 32),
      'peer-bgp-identifier': ipv4(random),
    })),
  'sid-structure': sidStructure,
  's-bfd-discriminators': words,
  'rtm-capability': (random) => {
    const bits = random.pick([0, 0x20, 0x40, 0x60]);
    return {
      flags: { 'two-step': (bits & 0x40) !== 0, 'one-step': (bits & 0x20) !== 0 },
      value: bits.toString(16).padStart(2, '0') + hex(random, random.below(4)),
    };
  },
  'unidirectional-link-delay-microseconds': (random) => ({
    anomalous: random.chance(0.5),
    delay: unsigned(random, 24),
  }),
  'min-max-unidirectional-link-delay-microseconds': (random) => ({
    anomalous: random.chance(0.5),
    'min-delay': unsigned(random, 24),
    'max-delay': unsigned(random, 24),
  }),
  'unidirectional-delay-variation-microseconds': (random) => unsigned(random, 24),
  'unidirectional-link-loss-percent': (random) => ({
    anomalous: random.chance(0.5),
    loss: (unsigned(random, 24) * 3) / 1e6,
  }),
  'unidirectional-residual-bandwidth-bytes-per-second': bandwidth,
  'unidirectional-available-bandwidth-bytes-per-second': bandwidth,
  'unidirectional-utilized-bandwidth-bytes-per-second': bandwidth,
  'graceful-link-shutdown': () => true,
  'application-specific-link-attributes': (random, context) =>
    list(random, () => {
      const octets = random.pick([0, 4, 8]);
      const bits = random.below(256);
      const mask = octets === 0 ? '' : bits.toString(16).padStart(2, '0') + hex(random, octets - 1);
      return {
        'standard-applications': mask,
        'user-defined-applications': hex(random, random.pick([0, 4, 8])),
        ...(octets > 0 && {
          applications: {
            'rsvp-te': (bits & 0x80) !== 0,
            'sr-policy': (bits & 0x40) !== 0,
            'loop-free-alternate': (bits & 0x20) !== 0,
            'flexible-algorithm': (bits & 0x10) !== 0,
          },
        }),
        attributes: inner(random, context),
      };
    }),
  'l2-bundle-members': (random, context) =>
    list(random, () => ({ descriptor: unsigned(random, 32), attributes: inner(random, context) })),
  'extended-administrative-group': words,
  'flexible-algorithm-definitions': (random) =>
    list(random, () => {
      const protocol = random.pick([1, 2, 3]);
      const m = random.chance(0.5);
      return {
        'flexible-algorithm': 128 + random.below(128),
        'metric-type': random.below(256),
        'calculation-type': random.below(128),
        priority: random.below(256),
        ...(random.chance(0.5) && { 'exclude-any-affinity': words(random) }),
        ...(random.chance(0.5) && { 'include-any-affinity': words(random) }),
        ...(random.chance(0.5) && { 'include-all-affinity': words(random) }),
        ...(random.chance(0.5) && {
          'definition-flags': { flags: { m }, value: (m ? '80' : '00') + hex(random, 3) },
        }),
        ...(random.chance(0.5) && { 'exclude-shared-risk-link-groups': words(random) }),
        ...(random.chance(0.5) && {
          'unsupported-tlvs': {
            'protocol-id': protocol,
            types: list(random, () => unsigned(random, isIsis(protocol) ? 8 : 16)),
          },
        }),
      };
    }),
  'flexible-algorithm-prefix-metrics': (random, { protocolId }) =>
    list(random, () => ({
      'flexible-algorithm': 128 + random.below(128),
      flags: isIsis(protocolId) ? { e: false } : flags(random, ['e']),
      metric: unsigned(random, 32),
    })),
  'binding-sid': (random) => {
    const d = random.chance(0.5);
    const sid = () => (d ? ipv6(random) : unsigned(random, 20));
    return { flags: { ...flags(random, ['b', 'u', 'l', 'f']), d }, sid: sid(), 'specified-sid': sid() };
  },
  'candidate-path-state': (random) => ({
    priority: random.below(256),
    flags: flags(random, ['s', 'a', 'b', 'e', 'v', 'o', 'd', 'c', 'i', 't', 'u']),
    preference: unsigned(random, 32),
  }),
  'candidate-path-name': text,
  'candidate-path-constraints': (random) => ({
    flags: flags(random, ['d', 'p', 'u', 'a', 't', 's', 'f', 'h']),
    'multi-topology-id': unsigned(random, 12),
    algorithm: random.below(256),
    ...(random.chance(0.5) && {
      affinity: {
        'exclude-any': list(random, () => unsigned(random, 32), 0, 3),
        'include-any': list(random, () => unsigned(random, 32), 0, 3),
        'include-all': list(random, () => unsigned(random, 32), 0, 3),
      },
    }),
    ...(random.chance(0.5) && { 'shared-risk-link-groups': words(random) }),
    ...(random.chance(0.5) && { 'bandwidth-bytes-per-second': bandwidth(random) }),
    ...(random.chance(0.5) && {
      'disjoint-group': {
        'request-flags': flags(random, ['s', 'n', 'l', 'f', 'i']),
        'status-flags': flags(random, ['s', 'n', 'l', 'f', 'i', 'x']),
        ...group(random),
      },
    }),
    ...(random.chance(0.5) && {
      'bidirectional-group': { flags: flags(random, ['r', 'c']), ...group(random) },
    }),
    ...(random.chance(0.5) && {
      metrics: list(random, () => ({
        type: random.below(256),
        flags: flags(random, ['o', 'm', 'a', 'b']),
        margin: unsigned(random, 32),
        bound: unsigned(random, 32),
      })),
    }),
  }),
  'segment-lists': (random) =>
    list(random, () => ({
      flags: flags(random, ['d', 'e', 'c', 'v', 'r', 'f', 'a', 't', 'm']),
      'multi-topology-id': unsigned(random, 12),
      algorithm: random.below(256),
      weight: unsigned(random, 32),
      segments: list(random, () => segment(random), 0, 4),
      ...(random.chance(0.5) && {
        metrics: list(random, () => ({
          type: random.below(256),
          flags: flags(random, ['m', 'a', 'b', 'v']),
          margin: unsigned(random, 32),
          bound: unsigned(random, 32),
          value: unsigned(random, 32),
        })),
      }),
      ...(random.chance(0.5) && { 'bandwidth-bytes-per-second': bandwidth(random) }),
      ...(random.chance(0.5) && { identifier: unsigned(random, 32) }),
    })),
  'srv6-binding-sids': (random) =>
    list(random, () => ({
      flags: flags(random, ['b', 'u', 'f']),
      sid: ipv6(random),
      'specified-sid': ipv6(random),
      ...(random.chance(0.5) && { 'endpoint-behavior': endpointBehavior(random) }),
      ...(random.chance(0.5) && { 'sid-structure': sidStructure(random) }),
    })),
  'policy-name': text,
};

function peerSids(random: Random) {
  return list(random, () => ({
    flags: flags(random, ['v', 'l', 'b', 'p']),
    weight: random.below(256),
    ...labelOrIndex(random),
  }));
}

/** A random legal value of one member of the attribute; the member's name is that of a TLV row. */
export function attributeValue(name: string, random: Random, context: TlvContext): unknown {
  const make = VALUES[name as keyof typeof VALUES];
  if (make === undefined) throw new Error(`no values for ${name}: add a way to make them`);
  return make(random, context);
}

function nodeDescriptor(random: Random, protocol: string): NodeDescriptor {
  if (protocol === 'bgp' || protocol === 'segment-routing') {
    return {
      'autonomous-system': unsigned(random, 32),
      'bgp-router-id': ipv4(random),
      ...(random.chance(0.3) && { 'bgp-confederation-member': unsigned(random, 32) }),
      ...(protocol === 'segment-routing' &&
        random.chance(0.3) && { 'ipv4-router-id': ipv4(random), 'ipv6-router-id': ipv6(random) }),
    };
  }
  const isis = protocol.startsWith('isis');
  const isLocal = protocol === 'direct' || protocol === 'static';
  const router = isis ? systemId(random) : isLocal && random.chance(0.3) ? ipv6(random) : ipv4(random);
  const pseudonode = isis ? `${router}.${hex(random, 1)}` : `${router}:${ipv4(random)}`;
  return {
    ...(random.chance(0.8) && { 'autonomous-system': unsigned(random, 32) }),
    ...(random.chance(0.5) && { 'bgp-ls-identifier': unsigned(random, 32) }),
    ...(!isis && random.chance(0.8) && { 'ospf-area-id': ipv4(random) }),
    'igp-router-id': !isLocal && random.chance(0.2) ? pseudonode : router,
  };
}

const PROTOCOLS = ['isis-level-1', 'isis-level-2', 'ospfv2', 'direct', 'static', 'ospfv3', 'bgp'];

function ipv4Prefix(random: Random): string {
  const bits = random.below(33);
  const mask = bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0;
  return `${formatIpv4((random.bits() & mask) >>> 0)}/${bits}`;
}

function ipv6Prefix(random: Random): string {
  const bits = random.below(129);
  const words = [0, 32, 64, 96].map((before) => {
    const left = Math.min(Math.max(bits - before, 0), 32);
    return left === 0 ? 0 : (random.bits() & (0xffffffff << (32 - left))) >>> 0;
  }) as [number, number, number, number];
  return `${formatIpv6(...words)}/${bits}`;
}

/** Addresses in the order in which an NLRI must have them: RFC 9552 §5.1. */
function addresses(random: Random, make: (random: Random) => string): string[] {
  return random.chance(0.5) ? [make(random)] : [];
}

/** A random legal NLRI of this type. */
export function randomNlri(random: Random, nlriType: number, safi: 71 | 72): EncodableNlri {
  const protocol = nlriType === NlriType.srPolicy ? 'segment-routing' : random.pick(PROTOCOLS);
  const base = {
    safi,
    routeDistinguisher: safi === 72 ? `${random.below(65536)}:${unsigned(random, 32)}` : '',
    protocol,
    identifier: random.chance(0.5) ? 0n : (BigInt(random.bits()) << 32n) | BigInt(random.bits()),
    localNode: nodeDescriptor(random, protocol),
  };
  const topology = random.chance(0.3) ? { 'multi-topology-id': unsigned(random, 12) } : {};
  const link = {
    ...(random.chance(0.5) && {
      'link-local-identifier': unsigned(random, 32),
      'link-remote-identifier': unsigned(random, 32),
    }),
    'ipv4-interface-addresses': addresses(random, ipv4),
    'ipv4-neighbor-addresses': addresses(random, ipv4),
    'ipv6-interface-addresses': addresses(random, ipv6),
    'ipv6-neighbor-addresses': addresses(random, ipv6),
    ...topology,
  };
  switch (nlriType) {
    case NlriType.node:
      return { ...base, type: 'node' };
    case NlriType.link:
      return { ...base, type: 'link', remoteNode: nodeDescriptor(random, protocol), descriptor: link };
    case NlriType.ipv4Prefix:
    case NlriType.ipv6Prefix: {
      const ipv6 = nlriType === NlriType.ipv6Prefix;
      const route = random.pick(['intra-area', 'inter-area', 'external-1', 'external-2', 'nssa-1', 'nssa-2']);
      return {
        ...base,
        type: ipv6 ? 'ipv6-prefix' : 'ipv4-prefix',
        descriptor: {
          ...topology,
          ...(protocol.startsWith('ospf') && { 'ospf-route-type': route }),
          'ip-reachability': ipv6 ? ipv6Prefix(random) : ipv4Prefix(random),
        },
      };
    }
    case NlriType.srPolicy:
      return {
        ...base,
        type: 'sr-policy',
        descriptor: {
          'protocol-origin': random.pick([1, 2, 3, 10, 20, 30]),
          endpoint: random.chance(0.5) ? ipv4(random) : ipv6(random),
          color: unsigned(random, 32),
          'originator-as': unsigned(random, 32),
          originator: random.chance(0.5) ? ipv4(random) : ipv6(random),
          discriminator: unsigned(random, 32),
        },
      };
    case NlriType.srv6Sid:
      return { ...base, type: 'srv6-sid', descriptor: { ...topology, sid: ipv6(random) } };
    case NlriType.stubLink:
      return {
        ...base,
        type: 'stub-link',
        descriptor: {
          ...link,
          ...(random.chance(0.8) && { 'remote-as-number': unsigned(random, 32) }),
          ...(random.chance(0.5) && { 'ipv4-remote-asbr-id': ipv4(random) }),
          ...(random.chance(0.5) && { 'ipv6-remote-asbr-id': ipv6(random) }),
        },
      };
    default:
      return {
        safi,
        routeDistinguisher: base.routeDistinguisher,
        type: 'unknown',
        nlriType,
        value: hex(random, random.below(60)),
      };
  }
}

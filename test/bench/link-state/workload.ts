/**
 * Networks as files of UPDATEs, the same bytes for every program that is measured: a ring of routers with two random
 * chords each, so 6 half-links and 3 prefixes a router, one NLRI an UPDATE since each has its own attribute.
 *
 * All TLVs of `isis`, `ospf` and `srv6` are among those that our decoder reads in place (usual-attribute.ts). `mixed` is
 * `isis` with what sends it to the general way on six links of seven.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { encodeAttribute } from '../../../protocols/bgp/ls/attribute.ts';
import type { LinkStateAttributes } from '../../../protocols/bgp/ls/attributes.ts';
import { nlriTypeCode, protocolCode } from '../../../protocols/bgp/ls/code-point.ts';
import { type EncodableNlri, encodeNlri } from '../../../protocols/bgp/ls/nlri.ts';
import { Random } from '../../support/random.ts';

export type WorkloadKind = 'isis' | 'ospf' | 'srv6' | 'mixed';

export interface Workload {
  readonly file: string;
  /** Changes after it: a tenth of the NLRIs again, nine of ten with another attribute, the tenth withdrawn. */
  readonly churnFile: string;
  readonly updates: number;
  readonly churnUpdates: number;
  readonly withdrawn: number;
  readonly octets: number;
  /** SHA-256 of the file, short. */
  readonly digest: string;
}

interface Announcement {
  readonly nlri: EncodableNlri;
  readonly attributes: LinkStateAttributes;
}

const AS = 65000;

export function writeWorkload(
  directory: string,
  kind: WorkloadKind,
  routers: number,
  seed: number,
): Workload {
  const file = `${directory}/${kind}-${routers}.updates`;
  const churnFile = `${directory}/${kind}-${routers}.churn`;
  const random = new Random(seed);
  const hash = createHash('sha256');
  const out = openSync(file, 'w');
  const churn = openSync(churnFile, 'w');
  let pending: Uint8Array[] = [];
  let pendingChurn: Uint8Array[] = [];
  let [updates, churnUpdates, withdrawn, octets] = [0, 0, 0, 0];
  const flush = () => {
    const bytes = Buffer.concat(pending);
    hash.update(bytes);
    octets += bytes.length;
    writeSync(out, bytes);
    writeSync(churn, Buffer.concat(pendingChurn));
    pending = [];
    pendingChurn = [];
  };
  for (const announcement of network(kind, routers, random)) {
    pending.push(encodeUpdate(announcement));
    updates += 1;
    if (random.below(10) === 0) {
      churnUpdates += 1;
      if (random.below(10) === 0) {
        withdrawn += 1;
        pendingChurn.push(encodeWithdrawal(announcement));
      } else {
        pendingChurn.push(encodeUpdate(changed(announcement)));
      }
    }
    if (pending.length >= 5000) flush();
  }
  flush();
  closeSync(out);
  closeSync(churn);
  return {
    file,
    churnFile,
    updates,
    churnUpdates,
    withdrawn,
    octets,
    digest: hash.digest('hex').slice(0, 16),
  };
}

function* network(kind: WorkloadKind, routers: number, random: Random): Generator<Announcement> {
  const ospf = kind === 'ospf';
  const protocol = ospf ? 'ospfv2' : 'isis-level-2';
  const id = (router: number) =>
    ospf
      ? `10.${(router >> 16) & 255}.${(router >> 8) & 255}.${router & 255}`
      : `0000.${hex4(router >> 16)}.${hex4(router)}`;
  const node = (router: number) => ({
    'autonomous-system': AS,
    'bgp-ls-identifier': 0,
    ...(ospf && { 'ospf-area-id': '0.0.0.0' }),
    'igp-router-id': id(router),
  });
  const loopback = (router: number) =>
    `172.${16 + ((router >> 16) & 15)}.${(router >> 8) & 255}.${router & 255}`;
  const base = { protocol, identifier: 0n } as const;

  for (let router = 1; router <= routers; router += 1) {
    yield {
      nlri: { ...base, type: 'node', localNode: node(router) },
      attributes: {
        'multi-topology-ids': [0, 2],
        'node-name': `router-${router}`,
        ...(ospf ? { 'node-flag-bits': flagBits(router) } : { 'isis-area-identifiers': ['49.0001'] }),
        'ipv4-router-ids': [loopback(router)],
        'sr-capabilities': {
          flags: { 'mpls-ipv4': true, 'mpls-ipv6': false },
          ranges: [{ size: 8000, 'sid-label': 16000 }],
        },
        'sr-algorithms': [0, 1],
        'sr-local-block': [{ size: 1000, 'sid-label': 15000 }],
        'node-msds': [{ type: 1, value: 10 }],
        ...(kind === 'srv6' && { 'srv6-capabilities': { flags: { o: true } } }),
      },
    };
    const neighbors = [
      (router % routers) + 1,
      ((router + routers - 2) % routers) + 1,
      ...Array.from({ length: 4 }, () => 1 + random.below(routers)),
    ];
    for (const [index, neighbor] of neighbors.entries()) {
      const metric = 1 + random.below(10_000);
      const bandwidth = random.pick([1.25e8, 1.25e9, 1.25e10, 5e10]);
      const near = router * 8 + index;
      const address = (end: number) =>
        `10.${(near >> 15) & 255}.${(near >> 7) & 255}.${((near & 127) << 1) | end}`;
      yield {
        nlri: {
          ...base,
          type: 'link',
          localNode: node(router),
          remoteNode: node(neighbor),
          descriptor: {
            'ipv4-interface-addresses': [address(0)],
            'ipv4-neighbor-addresses': [address(1)],
            'ipv6-interface-addresses': [],
            'ipv6-neighbor-addresses': [],
          },
        },
        attributes: {
          'ipv4-router-ids': [loopback(router)],
          'remote-ipv4-router-ids': [loopback(neighbor)],
          'administrative-group': random.below(256),
          'maximum-link-bandwidth-bytes-per-second': bandwidth,
          'max-reservable-link-bandwidth-bytes-per-second': bandwidth,
          'unreserved-bandwidth-bytes-per-second': new Array(8).fill(bandwidth),
          'te-default-metric': metric * 2,
          'igp-metric': metric,
          ...(kind === 'srv6'
            ? { 'srv6-end-x-sids': [endX(router, index)] }
            : { 'adjacency-sids': [adjacency(24000 + index, ospf)] }),
          ...(kind === 'mixed' && lessUsual(random, index, metric)),
          ...(ospf && {
            'unidirectional-link-delay-microseconds': { anomalous: false, delay: metric },
            'min-max-unidirectional-link-delay-microseconds': {
              anomalous: false,
              'min-delay': metric,
              'max-delay': metric + 10,
            },
          }),
        },
      };
    }
    if (kind === 'srv6') {
      yield* srv6Prefixes(base, node(router), router);
      continue;
    }
    for (let prefix = 0; prefix < 3; prefix += 1) {
      yield {
        nlri: {
          ...base,
          type: 'ipv4-prefix',
          localNode: node(router),
          descriptor: {
            ...(ospf && { 'ospf-route-type': 'intra-area' }),
            'ip-reachability':
              prefix === 0
                ? `${loopback(router)}/32`
                : `100.${(router * 4 + prefix) & 63}.${router & 255}.0/24`,
          },
        },
        attributes: {
          'prefix-metric': 10 * prefix,
          'prefix-sids': [
            {
              flags: ospf
                ? { np: true, m: false, e: false, v: false, l: false }
                : { r: false, n: true, p: false, e: false, v: false, l: false },
              algorithm: 0,
              index: router * 3 + prefix,
            },
          ],
          'prefix-attribute-flags': { flags: {}, value: '20' },
          'source-router-identifier': loopback(router),
        },
      };
    }
  }
}

function* srv6Prefixes(
  base: { readonly protocol: string; readonly identifier: bigint },
  localNode: NonNullable<EncodableNlri['localNode']>,
  router: number,
): Generator<Announcement> {
  const locator = `fc00:${(router >> 16).toString(16)}:${(router & 0xffff).toString(16)}`;
  yield {
    nlri: { ...base, type: 'ipv6-prefix', localNode, descriptor: { 'ip-reachability': `${locator}::/48` } },
    attributes: { 'prefix-metric': 10, 'srv6-locator': { flags: 0, algorithm: 0, metric: 10 } },
  };
  for (let sid = 1; sid <= 2; sid += 1) {
    yield {
      nlri: { ...base, type: 'srv6-sid', localNode, descriptor: { sid: `${locator}:${sid}::` } },
      attributes: {
        'endpoint-behavior': { behavior: 48, flags: 0, algorithm: 0 },
        'sid-structure': {
          'locator-block-bits': 32,
          'locator-node-bits': 16,
          'function-bits': 16,
          'argument-bits': 0,
        },
      },
    };
  }
}

function endX(router: number, index: number) {
  return {
    behavior: 57,
    flags: { b: false, s: false, p: false },
    algorithm: 0,
    weight: 0,
    sid: `fc00:${(router >> 16).toString(16)}:${(router & 0xffff).toString(16)}:e00${index}::`,
    'sid-structure': {
      'locator-block-bits': 32,
      'locator-node-bits': 16,
      'function-bits': 16,
      'argument-bits': 0,
    },
  };
}

function adjacency(label: number, ospf: boolean) {
  const flags = ospf
    ? { b: false, v: true, l: true, g: false, p: false }
    : { f: false, b: false, v: true, l: true, s: false, p: false };
  return { flags, weight: 0, label };
}

/** Of the links half have an MSD, half a second and protected adjacency SID, a quarter SRLGs, a quarter ASLA. */
function lessUsual(random: Random, index: number, metric: number): LinkStateAttributes {
  const groups = [1 + random.below(1_000), 1_001 + random.below(1_000)];
  const second = adjacency(25_000 + index, false);
  return {
    ...(random.below(2) === 0 && { 'link-msds': [{ type: 1, value: 10 }] }),
    ...(random.below(2) === 0 && {
      'adjacency-sids': [
        adjacency(24_000 + index, false),
        { ...second, flags: { ...second.flags, b: true } },
      ],
    }),
    ...(random.below(4) === 0 && { 'shared-risk-link-groups': groups }),
    ...(random.below(4) === 0 && {
      'application-specific-link-attributes': [
        {
          'standard-applications': '10000000',
          'user-defined-applications': '',
          attributes: {
            'te-default-metric': metric,
            'min-max-unidirectional-link-delay-microseconds': {
              anomalous: false,
              'min-delay': metric,
              'max-delay': metric + 10,
            },
            'extended-administrative-group': [random.below(256), 0],
          },
        },
      ],
    }),
  };
}

function flagBits(router: number) {
  const abr = router % 50 === 0;
  return { overload: false, attached: false, external: false, abr, router: false, v6: false };
}

function hex4(value: number): string {
  return (value & 0xffff).toString(16).padStart(4, '0');
}

/** With another value of a member that GoBGP decodes, too; a locator's prefix has none, so its metric is another. */
function changed({ nlri, attributes }: Announcement): Announcement {
  if (nlri.type === 'link') {
    return { nlri, attributes: { ...attributes, 'igp-metric': (attributes['igp-metric'] ?? 0) + 1 } };
  }
  if (nlri.type === 'node') {
    return { nlri, attributes: { ...attributes, 'node-name': `${attributes['node-name']}-renamed` } };
  }
  const [prefixSid] = attributes['prefix-sids'] ?? [];
  if (prefixSid !== undefined) {
    const next = { ...prefixSid, index: (prefixSid.index ?? 0) + 1_000_000 };
    return { nlri, attributes: { ...attributes, 'prefix-sids': [next] } };
  }
  const behavior = attributes['endpoint-behavior'];
  if (behavior !== undefined) {
    return { nlri, attributes: { ...attributes, 'endpoint-behavior': { ...behavior, behavior: 49 } } };
  }
  return { nlri, attributes: { ...attributes, 'prefix-metric': (attributes['prefix-metric'] ?? 0) + 1 } };
}

const HEADER = 19;
const NEXT_HOP = [192, 0, 2, 1];

function message(attributes: readonly Uint8Array[]): Uint8Array {
  const length = attributes.reduce((sum, { length: octets }) => sum + octets, 0);
  const total = HEADER + 4 + length;
  const head = Uint8Array.of(...new Array(16).fill(255), total >> 8, total, 2, 0, 0, length >> 8, length);
  return Buffer.concat([head, ...attributes]);
}

function attribute(flags: number, type: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const value = Buffer.concat(parts);
  const length =
    value.length > 255 ? [flags | 0x10, type, value.length >> 8, value.length] : [flags, type, value.length];
  return Buffer.concat([Uint8Array.from(length), value]);
}

/** As an internal peer sends it: ORIGIN, an empty AS_PATH, LOCAL_PREF, MP_REACH_NLRI, the BGP-LS Attribute. */
function encodeUpdate({ nlri, attributes }: Announcement): Uint8Array {
  const context = {
    protocolId: protocolCode(nlri.protocol as string),
    nlriType: nlriTypeCode(nlri.type) as number,
  };
  return message([
    attribute(0x80, 14, Uint8Array.of(0x40, 0x04, 71, 4, ...NEXT_HOP, 0), encodeNlri(nlri)),
    attribute(0x40, 1, Uint8Array.of(0)),
    attribute(0x40, 2),
    attribute(0x40, 5, Uint8Array.of(0, 0, 0, 100)),
    attribute(0x80, 29, encodeAttribute(attributes, context)),
  ]);
}

function encodeWithdrawal({ nlri }: Announcement): Uint8Array {
  return message([attribute(0x80, 15, Uint8Array.of(0x40, 0x04, 71), encodeNlri(nlri))]);
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeAttribute } from '../../../../protocols/bgp/ls/attribute.ts';
import type { LinkStateAttributes } from '../../../../protocols/bgp/ls/attributes.ts';
import type { LinkDescriptor, PrefixDescriptor } from '../../../../protocols/bgp/ls/descriptor.ts';
import { decodeNlri } from '../../../../protocols/bgp/ls/nlri.ts';
import { LinkStateTable } from '../../../../protocols/bgp/ls/table.ts';
import { linkStateUpdate, updateBodies } from '../../../support/link-state-update.ts';

/**
 * What a lab of FRR 10.7 routers sent, against what FRR itself shows of it: every object and each value of its
 * attributes, before and after a change of metric, the loss of a link and its return.
 */
const vectors = process.env['GRATICULE_VECTORS'];
const folder = vectors === undefined ? undefined : join(vectors, 'bgp-ls-frr');
if (folder === undefined) console.log('frr-capture: GRATICULE_VECTORS is unset; the capture is skipped');

interface FrrRoute {
  readonly nlri: {
    readonly nlriType: string;
    readonly protocolId: number;
    readonly identifier: number;
    readonly localNodeDescriptors: { readonly igpRouterId: string };
    readonly remoteNodeDescriptors?: { readonly igpRouterId: string };
    readonly linkDescriptors?: Record<string, string | number>;
    readonly prefixDescriptors?: Record<string, string | number>;
  };
  readonly linkStateAttrs?: Record<string, unknown>;
}

/** FRR writes a router with the pseudonode number 00 that its seven-octet identifier does not have. */
function routerId(frr: string): string {
  return frr.replace(/\.00$/, '');
}

function identityOfFrr({ nlri }: FrrRoute): string {
  const { linkDescriptors: link, prefixDescriptors: prefix } = nlri;
  return JSON.stringify([
    { node: 'node', link: 'link', ipv4Prefix: 'ipv4-prefix', ipv6Prefix: 'ipv6-prefix' }[nlri.nlriType],
    nlri.protocolId,
    nlri.identifier,
    routerId(nlri.localNodeDescriptors.igpRouterId),
    nlri.remoteNodeDescriptors && routerId(nlri.remoteNodeDescriptors.igpRouterId),
    link?.['ipv4InterfaceAddress'] ?? link?.['ipv6InterfaceAddress'],
    link?.['ipv4NeighborAddress'] ?? link?.['ipv6NeighborAddress'],
    link?.['linkLocalId'],
    prefix?.['ipReachabilityInformation'],
    link?.['multiTopologyId'] ?? prefix?.['multiTopologyId'],
  ]);
}

function identityOfOurs(bytes: Uint8Array): string {
  const nlri = decodeNlri(bytes, 71);
  const link = nlri.descriptor as Partial<LinkDescriptor>;
  const prefix = nlri.descriptor as PrefixDescriptor;
  return JSON.stringify([
    nlri.type,
    nlri.protocolId,
    Number(nlri.identifier),
    nlri.localNode?.['igp-router-id'],
    nlri.remoteNode?.['igp-router-id'],
    link['ipv4-interface-addresses']?.[0] ?? link['ipv6-interface-addresses']?.[0],
    link['ipv4-neighbor-addresses']?.[0] ?? link['ipv6-neighbor-addresses']?.[0],
    link['link-local-identifier'],
    prefix['ip-reachability'],
    prefix['multi-topology-id'],
  ]);
}

const FLAG_LETTERS = ['r', 'n', 'p', 'e', 'v', 'l'];

/** FRR's members as ours. A member without a translation fails the test. */
function attributesOfFrr(attributes: Record<string, unknown>): LinkStateAttributes {
  const ours: LinkStateAttributes = {};
  const left = { ...attributes };
  const take = <Value>(key: string): Value | undefined => {
    const value = left[key] as Value | undefined;
    delete left[key];
    return value;
  };
  const set = <Name extends keyof LinkStateAttributes>(name: Name, value: LinkStateAttributes[Name]) => {
    if (value !== undefined) ours[name] = value;
  };
  const one = <Value>(value: Value | undefined) => (value === undefined ? undefined : [value]);
  set('node-name', take('nodeName'));
  set('isis-area-identifiers', one(take<string>('isisAreaId')));
  set('ipv4-router-ids', one(take<string>('routerIdLocal')));
  set('ipv6-router-ids', one(take<string>('routerIdLocalV6')));
  set('multi-topology-ids', take('multiTopologyIds'));
  set('node-msds', take('msd'));
  set('prefix-metric', take('prefixMetric'));
  set('igp-metric', take('igpMetric'));
  set('te-default-metric', take('teMetric'));
  set('administrative-group', take('adminGroup'));
  set('maximum-link-bandwidth-bytes-per-second', take('maxLinkBandwidth'));
  set('max-reservable-link-bandwidth-bytes-per-second', take('maxResvLinkBandwidth'));
  const unreserved = take<Record<string, number>[]>('unreservedBandwidth');
  set(
    'unreserved-bandwidth-bytes-per-second',
    unreserved?.flatMap((priority) => Object.values(priority)),
  );
  const capabilities = take<{ flags: string; lowerBound: number; rangeSize: number }>('srCapabilities');
  if (capabilities !== undefined) {
    const bits = Number(capabilities.flags);
    ours['sr-capabilities'] = {
      flags: { 'mpls-ipv4': (bits & 0x80) !== 0, 'mpls-ipv6': (bits & 0x40) !== 0 },
      ranges: [{ size: capabilities.rangeSize, 'sid-label': capabilities.lowerBound }],
    };
  }
  const sid = take<{ sid: number; flags: string; algo: number }>('prefixSid');
  if (sid !== undefined) {
    const bits = Number(sid.flags);
    const flags = Object.fromEntries(
      FLAG_LETTERS.map((letter, bit) => [letter, (bits & (0x80 >> bit)) !== 0]),
    );
    ours['prefix-sids'] = [{ flags, algorithm: sid.algo, index: sid.sid }];
  }
  const delay = take<number>('delay');
  if (delay !== undefined) ours['unidirectional-link-delay-microseconds'] = { anomalous: false, delay };
  const least = take<number>('minDelay');
  const most = take<number>('maxDelay');
  if (least !== undefined && most !== undefined) {
    ours['min-max-unidirectional-link-delay-microseconds'] = {
      anomalous: false,
      'min-delay': least,
      'max-delay': most,
    };
  }
  set('unidirectional-delay-variation-microseconds', take('jitter'));
  expect(left).toEqual({});
  return ours;
}

function frrTable(name: string): Map<string, LinkStateAttributes> {
  const { routes } = JSON.parse(readFileSync(join(folder as string, name), 'utf8')) as {
    routes: Record<string, FrrRoute[]>;
  };
  return new Map(
    Object.values(routes).map(([route]) => [
      identityOfFrr(route as FrrRoute),
      attributesOfFrr((route as FrrRoute).linkStateAttrs ?? {}),
    ]),
  );
}

/**
 * FRR 10.7 puts every IS-IS metric below 256 into one octet. RFC 9552 §5.3.2.4: one octet is a small metric of six
 * bits, whose two high bits the receiver MUST ignore. So a metric of 64 to 255 from FRR reads as its rest by 64; the
 * object carries the problem `invalid-value`, which is what the product can say about it. docs/decisions/0053.
 */
function byRfc9552(table: Map<string, LinkStateAttributes>): Map<string, LinkStateAttributes> {
  return new Map(
    [...table].map(([identity, attributes]) => {
      const metric = attributes['igp-metric'];
      return [identity, metric === undefined ? attributes : { ...attributes, 'igp-metric': metric & 0x3f }];
    }),
  );
}

function ourTable(table: LinkStateTable): Map<string, LinkStateAttributes> {
  return new Map(
    [...table.entries()].map(({ nlri, attribute }) => {
      const decoded = decodeAttribute(attribute ?? new Uint8Array(0), decodeNlri(nlri, 71));
      expect(decoded.problems.filter(({ code }) => code !== 'invalid-value')).toEqual([]);
      expect(decoded.unknownTlvs).toEqual([]);
      return [identityOfOurs(nlri), decoded.attributes];
    }),
  );
}

describe.skipIf(folder === undefined)('what FRR 10.7 sent', () => {
  const bytes = () => new Uint8Array(readFileSync(join(folder as string, 'isis.bin')));

  it('is what FRR shows in its own table, before and after the changes, with one difference', () => {
    const table = new LinkStateTable();
    const states = updateBodies(bytes()).map((body, index) => {
      expect(table.applyUpdate(linkStateUpdate(body), index).action).toBe('none');
      return ourTable(table);
    });
    expect(states).toHaveLength(34);
    const settled = states.filter((state) => state.size === 67);
    expect(settled[0]).toEqual(byRfc9552(frrTable('isis.rib.json')));
    expect(settled.at(-1)).toEqual(byRfc9552(frrTable('isis.rib2.json')));
  });

  it('differs from it in metrics of 64 and more alone, and says so', () => {
    const table = new LinkStateTable();
    for (const body of updateBodies(bytes())) table.applyUpdate(linkStateUpdate(body), 0);
    const frr = frrTable('isis.rib2.json');
    const odd = [...table.entries()].flatMap(({ nlri, attribute }) => {
      const { problems } = decodeAttribute(attribute ?? new Uint8Array(0), decodeNlri(nlri, 71));
      return problems.map(({ code, type }) => {
        expect([code, type]).toEqual(['invalid-value', 1095]);
        return frr.get(identityOfOurs(nlri))?.['igp-metric'];
      });
    });
    const wide = [...frr.values()].map((attributes) => attributes['igp-metric'] ?? 0);
    expect(odd.sort()).toEqual(wide.filter((metric) => metric > 63).sort());
    expect(odd.length).toBeGreaterThan(0);
  });
});

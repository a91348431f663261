import { describe, expect, it } from 'vitest';
import { TopologyGraph } from '../../../core/topology/graph.ts';
import { PathNetwork, type PathNetworkOptions } from '../../../core/topology/path-network.ts';
import { PathProperties } from '../../../core/topology/path-properties.ts';
import { encodeAttribute } from '../../../protocols/bgp/ls/attribute.ts';
import type { LinkStateAttributes } from '../../../protocols/bgp/ls/attributes.ts';
import { linkStateObjects } from '../../support/network/link-state-objects.ts';
import { SimulatedNetwork } from '../../support/network/simulated-network.ts';
import { Random, testSeed } from '../../support/random.ts';

const seed = testSeed('path network');

/** Of a router that takes every part in routing. */
const NO_LIMITS = { overload: false, attached: false, external: false, abr: false, router: true, v6: true };
const VIEWS: readonly PathNetworkOptions[] = [
  { multiTopologyId: 0, stale: 'include' },
  { multiTopologyId: 0, stale: 'exclude' },
];
/** Where an NLRI of SAFI 71 has its Protocol-ID. */
const PROTOCOL_ID = 4;

/** All that paths can see of a network. */
function contentOf(network: PathNetwork) {
  const { nodes, offsets, from, to, links, costs, closed } = network;
  const paths = network.igpPaths();
  paths.run(0, closed);
  return {
    distances: nodes.map((_, node) => paths.distanceTo(node)),
    nodes: nodes.map(({ id }, number) => [id, network.isPseudonode(number), closed[number]]),
    offsets: [...offsets],
    edges: links.map(({ id }, edge) => [id, from[edge], to[edge], network.described(edge)]),
    costs: Object.entries(costs).map(([metric, column]) => [metric, ...column]),
  };
}

describe('a network of paths that follows its graph', () => {
  it.each([
    ['IS-IS', 2],
    ['OSPFv3', 6],
  ] as const)('is after every change what it would be when made anew: %s', (_, protocolId) => {
    const random = new Random(seed + protocolId);
    const simulated = new SimulatedNetwork(
      {
        routers: 14,
        igp: 'isis',
        identifier: 1n,
        number: 1,
        chords: 3,
        parallel: 0.4,
        unnumbered: 0.5,
        lansPerHundred: 12,
      },
      random,
    );
    const objects = [...linkStateObjects(simulated).values()]
      .filter(({ type }) => type === 'node' || type === 'link')
      .map(({ type, nlri, attributes }) => {
        const octets = nlri.slice();
        octets[PROTOCOL_ID] = protocolId;
        return { type, nlri: octets, attributes };
      });
    const nodes = objects.filter(({ type }) => type === 'node');
    const links = objects.filter(({ type }) => type === 'link');
    const graph = new TopologyGraph();
    let now = 1_000;
    const put = (
      peerId: number,
      { type, nlri, attributes }: (typeof objects)[number],
      changed: LinkStateAttributes,
    ) => {
      const context = { protocolId, nlriType: type === 'node' ? 1 : 2 };
      const attribute = encodeAttribute({ ...attributes, ...changed }, context);
      graph.peer(peerId).rib.apply({ kind: 'put', at: now, safi: 71, nlri, attribute });
    };
    graph.peer(1).rib.apply({ kind: 'session-established', at: now, sweepBy: now });
    graph.peer(2).rib.apply({ kind: 'session-established', at: now, sweepBy: now });
    for (const each of objects) put(1, each, each.type === 'node' ? { 'node-flag-bits': NO_LIMITS } : {});

    const steps: (() => unknown)[] = [
      () => put(1, random.pick(links), { 'igp-metric': random.pick([1, 70, 0xffffff]) }),
      () => put(1, random.pick(links), { 'te-default-metric': random.below(99), 'administrative-group': 6 }),
      () => put(1, random.pick(nodes), { 'node-flag-bits': { ...NO_LIMITS, overload: random.chance(0.5) } }),
      () => put(1, random.pick(nodes), { 'node-flag-bits': { ...NO_LIMITS, router: random.chance(0.5) } }),
      () => put(1, random.pick(nodes), { 'node-flag-bits': { ...NO_LIMITS, v6: random.chance(0.7) } }),
      () =>
        put(1, random.pick(links), {
          'link-local-remote-identifiers': {
            'link-local-identifier': random.below(3),
            'link-remote-identifier': random.below(3),
          },
        }),
      () => put(2, random.pick(objects), {}),
      () => put(2, random.pick(links), { 'igp-metric': 7 }),
      () => {
        const { nlri } = random.pick(objects);
        graph.peer(1 + random.below(2)).rib.apply({ kind: 'remove', at: now, safi: 71, nlri });
      },
      () => {
        const { nlri } = random.pick(objects);
        graph.peer(1).rib.apply({ kind: 'put', at: now, safi: 71, nlri, attribute: null });
      },
      () => {
        if (!random.chance(0.2)) return;
        const { rib } = graph.peer(1 + random.below(2));
        if (rib.established) rib.apply({ kind: 'session-lost', at: now, purgeAt: now + 900_000 });
        else rib.apply({ kind: 'session-established', at: now, sweepBy: now + 900_000 });
      },
      () => {
        const circumstances = { preference: 90 + random.below(20), derivedLoss: null, gone: false };
        if (random.chance(0.2)) graph.setCircumstances(graph.peer(2), circumstances, now);
      },
    ];
    const kept = VIEWS.map((view) => {
      const properties = new PathProperties(graph);
      return { view, properties, network: new PathNetwork(graph, view, properties) };
    });
    let followed = 0;
    for (let step = 0; step < 600; step += 1) {
      now += random.below(500);
      random.pick(steps)();
      if (random.chance(0.2)) continue;
      for (const each of kept) {
        if (each.network.follow()) followed += 1;
        else each.network = new PathNetwork(graph, each.view, each.properties);
        expect(contentOf(each.network)).toEqual(contentOf(new PathNetwork(graph, each.view)));
      }
    }
    expect(followed).toBeGreaterThan(100);
  });
});

describe('the administrative groups that constraints look at', () => {
  it('are those of the older attribute in the first 32 and of the newer beyond: RFC 7308 §2.3.1', () => {
    const groups = (attributes: LinkStateAttributes) => {
      const random = new Random(1);
      const network = new SimulatedNetwork(
        {
          routers: 2,
          igp: 'isis',
          identifier: 1n,
          number: 1,
          chords: 0,
          parallel: 0,
          unnumbered: 0,
          lansPerHundred: 0,
        },
        random,
      );
      const graph = new TopologyGraph();
      const { rib } = graph.peer(1);
      rib.apply({ kind: 'session-established', at: 1, sweepBy: 2 });
      for (const { type, nlri, attribute } of linkStateObjects(network).values()) {
        const context = { protocolId: nlri[PROTOCOL_ID] as number, nlriType: 2 };
        const told = type === 'link' ? encodeAttribute(attributes, context) : attribute;
        rib.apply({ kind: 'put', at: 1, safi: 71, nlri, attribute: told });
      }
      const link = [...graph.objects.values()].find(({ kind }) => kind === 'link');
      if (link === undefined) throw new Error('the network has no link');
      return new PathProperties(graph).link(link).groups;
    };
    const extended = { 'extended-administrative-group': [0b1100, 0b1] };
    expect(groups(extended)).toBe(0x1_0000_000cn);
    expect(groups({ ...extended, 'administrative-group': 0b0011 })).toBe(0x1_0000_0003n);
    expect(groups({ 'administrative-group': 0b0011 })).toBe(3n);
    expect(groups({})).toBe(0n);
  });
});

import { describe, expect, it } from 'vitest';
import { TopologyGraph } from '../../../core/topology/graph.ts';
import { TopologyIndex } from '../../../core/topology/object-index.ts';
import { PathFinder, type PathQuery, parsePathQuery } from '../../../core/topology/path-query.ts';
import { Forwarding } from '../../support/network/forwarding.ts';
import { linkStateObjects, routerDescriptor } from '../../support/network/link-state-objects.ts';
import { type Router, SimulatedNetwork } from '../../support/network/simulated-network.ts';
import { Random, testSeed } from '../../support/random.ts';

const seed = testSeed('topology paths');

/** A simulated network, told by one peer, with what tests ask of it. */
function told(igp: 'isis' | 'ospf', routers: number, random: Random) {
  const network = new SimulatedNetwork(
    { routers, igp, identifier: 1n, number: 1, chords: 3, parallel: 0.2, unnumbered: 0.3, lansPerHundred: 6 },
    random,
  );
  const graph = new TopologyGraph();
  const index = new TopologyIndex(graph);
  const domain = (network.routers[0] as Router).domains[0] as Router['domains'][number];
  const nodeIds = new Map<string, string>();
  /** Ids of half-links by the end that announces them. */
  const linkIds = new Map<unknown, string>();
  /** Takes what the network is now. */
  const learn = () => {
    graph.forget(1);
    const { rib } = graph.peer(1);
    rib.apply({ kind: 'session-established', at: 1, sweepBy: 2 });
    for (const each of linkStateObjects(network).values()) {
      rib.apply({ kind: 'put', at: 1, safi: 71, nlri: each.nlri, attribute: each.attribute });
      const id = graph.find(71, each.nlri)?.id as string;
      if (each.end !== undefined) linkIds.set(each.end, id);
      if (each.type === 'node' && each.domain === domain) nodeIds.set(JSON.stringify(each.localNode), id);
    }
  };
  learn();
  const finder = new PathFinder(graph, index);
  const idOf = (router: Router) => nodeIds.get(JSON.stringify(routerDescriptor(router, domain))) as string;
  const find = (from: Router, to: Router, query: Partial<PathQuery> = {}) =>
    finder.find({
      from: idOf(from),
      to: idOf(to),
      metric: 'igp',
      k: 1,
      multiTopologyId: 0,
      stale: 'include',
      avoid: [],
      ...query,
    }) as unknown as PathAnswer;
  const inDomain = network.routers.filter((router) => router.domains.includes(domain));
  return { network, graph, learn, domain, find, idOf, linkIds, inDomain };
}

interface PathAnswer {
  readonly reason: string;
  readonly paths: readonly {
    readonly cost: number;
    readonly nodes: readonly string[];
    readonly links: readonly string[];
    readonly hops: number;
    readonly 'delay-microseconds': number | null;
    readonly 'mpls-label-stack': number[] | null;
    readonly 'srv6-sids': string[] | null;
  }[];
}

describe('a computed segment list', () => {
  for (const [igp, plane] of [
    ['isis', 'mpls'],
    ['isis', 'srv6'],
    ['ospf', 'mpls'],
  ] as const) {
    it(`takes packets over the promised links: ${igp}, ${plane}`, () => {
      const random = new Random(seed);
      const { network, domain, learn, find, linkIds, inDomain } = told(igp, 60, random);
      (inDomain[5] as Router).overload = true;
      learn();
      const forwarding = new Forwarding(network, domain, random);
      const promisable = new Set(linkIds.values());
      let sent = 0;
      let longest = 0;
      while (sent < 334) {
        const from = random.pick(inDomain);
        const to = random.pick(inDomain);
        if (from === to) continue;
        const metric = random.pick(['igp', 'te', 'delay', 'hops'] as const);
        const { paths } = find(from, to, { metric, k: 1 + random.below(4) });
        const path = random.pick(paths);
        const list = plane === 'mpls' ? path['mpls-label-stack'] : path['srv6-sids'];
        // Links without IPv6 have no End.X SID; where only one of those fits, there is no list.
        if (plane === 'srv6' && list === null) continue;
        expect(list).not.toBeNull();
        const hops =
          plane === 'mpls'
            ? forwarding.sendLabels(from, list as number[])
            : forwarding.sendSids(from, list as string[]);
        // A path goes over a LAN by two half-links, of which the simulator knows the first by its member.
        const promised = path.links.filter((id) => promisable.has(id));
        expect(hops.map((hop) => linkIds.get(hop.from))).toEqual(promised);
        expect(hops.at(-1)?.to.router).toBe(to);
        longest = Math.max(longest, (list as unknown[]).length);
        sent += 1;
      }
      expect(longest).toBeGreaterThan(1);
    });
  }
});

describe('paths', () => {
  it('avoid what they are told to avoid, and say why there are none', () => {
    const random = new Random(seed);
    const { find, idOf, inDomain } = told('isis', 40, random);
    const [from, to] = [inDomain[3] as Router, inDomain[17] as Router];
    const [first] = find(from, to).paths;
    const avoided = find(from, to, { avoid: [first?.links[0] as string] });
    for (const path of avoided.paths) expect(path.links).not.toContain(first?.links[0]);
    expect(find(from, to, { minBandwidth: 1e15 })).toMatchObject({ paths: [], reason: 'constraints' });
    expect(find(from, to, { avoid: [idOf(from)] })).toMatchObject({ paths: [], reason: 'constraints' });
    expect(find(from, from).paths).toMatchObject([{ cost: 0, links: [], hops: 0 }]);
  });

  it('are not constrained by a mask of no groups: RFC 3209 §4.7.4', () => {
    const { find, inDomain } = told('isis', 20, new Random(seed));
    const [from, to] = [inDomain[3] as Router, inDomain[11] as Router];
    const { paths } = find(from, to);
    expect(paths.length).toBeGreaterThan(0);
    for (const mask of ['includeAny', 'includeAll', 'excludeAny']) {
      expect(find(from, to, { [mask]: 0n }).paths, mask).toEqual(paths);
    }
  });

  it('are not asked for with something to avoid that is no id: the answer might be taken for safe', () => {
    const avoid = (value: string) =>
      parsePathQuery(new URLSearchParams({ from: 'a', to: 'b', avoid: value })).avoid;
    const [node, link] = [`n.${'a'.repeat(22)}`, `l.${'-_'.repeat(11)}`];
    expect(avoid(`${node},${link}`)).toEqual([node, link]);
    for (const wrong of ['r9', `${node} ${link}`, `${node},${link.slice(0, -1)}`, `p.${'a'.repeat(22)}`]) {
      expect(() => avoid(wrong), wrong).toThrow('avoid is ids of nodes and links with commas between them');
    }
  });

  it('carry nothing through an overloaded router, only to and from it', () => {
    const random = new Random(seed);
    const { network, learn, find, idOf, inDomain } = told('isis', 40, random);
    for (const router of network.routers) router.overload = router.number % 4 === 0;
    learn();
    const overloaded = new Set(inDomain.filter(({ overload }) => overload).map(idOf));
    for (let each = 0; each < 100; each += 1) {
      const { paths } = find(random.pick(inDomain), random.pick(inDomain), { k: 3 });
      for (const path of paths) {
        expect(path.nodes.slice(1, -1).filter((node) => overloaded.has(node))).toEqual([]);
      }
    }
  });

  it('come cheapest first, all different, without loops, and cost what their links cost', () => {
    const random = new Random(seed);
    const { find, inDomain } = told('isis', 40, random);
    for (let each = 0; each < 60; each += 1) {
      const { paths } = find(random.pick(inDomain), random.pick(inDomain), { k: 8 });
      const costs = paths.map(({ cost }) => cost);
      expect(costs).toEqual(costs.toSorted((a, b) => a - b));
      expect(new Set(paths.map(({ links }) => links.join())).size).toBe(paths.length);
      for (const { nodes } of paths) expect(new Set(nodes).size).toBe(nodes.length);
    }
  });
});

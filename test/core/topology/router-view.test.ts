import { describe, expect, it } from 'vitest';
import { TopologyGraph } from '../../../core/topology/graph.ts';
import { TopologyIndex } from '../../../core/topology/object-index.ts';
import { RouterView } from '../../../core/topology/router-view.ts';
import { encodeAttribute } from '../../../protocols/bgp/ls/attribute.ts';
import { encodeNlri } from '../../../protocols/bgp/ls/nlri.ts';
import { linkStateObjects } from '../../support/network/link-state-objects.ts';
import { SimulatedNetwork } from '../../support/network/simulated-network.ts';
import { Random, testSeed } from '../../support/random.ts';

const ALL = { stale: 'include', raw: false } as const;

interface Router {
  readonly id: string;
  readonly 'router-id': string | null;
  readonly 'router-ids': readonly string[];
  readonly names: readonly string[];
  readonly pseudonode: boolean;
  readonly stale: boolean;
  readonly nodes: readonly { readonly id: string; readonly protocol: string }[];
}

/** Says nodes to a graph, and what routers it makes of them. */
class Scene {
  readonly graph = new TopologyGraph();
  readonly view = new RouterView(this.graph, new TopologyIndex(this.graph));

  put(nlri: Uint8Array, attribute: Uint8Array): void {
    this.graph.peer(1).rib.apply({ kind: 'put', at: 1, safi: 71, nlri, attribute });
  }

  node(
    protocol: 'isis-level-1' | 'isis-level-2' | 'ospfv2' | 'bgp',
    id: string,
    routerId: string | null,
    as = 65_000,
  ) {
    const localNode = {
      'autonomous-system': as,
      [protocol === 'bgp' ? 'bgp-router-id' : 'igp-router-id']: id,
    };
    const nlri = encodeNlri({ type: 'node', safi: 71, protocol, identifier: 0n, localNode, descriptor: {} });
    const attributes = routerId === null ? {} : { 'ipv4-router-ids': [routerId] };
    this.put(nlri, encodeAttribute(attributes, { protocolId: 2, nlriType: 1 }));
  }

  routers(query: Parameters<RouterView['list']>[0] = ALL): Router[] {
    return this.view.list(query).objects as unknown as Router[];
  }

  protocols(): string[][] {
    return this.routers()
      .map(({ nodes }) => nodes.map(({ protocol }) => protocol).sort())
      .sort();
  }
}

describe('the view of routers', () => {
  it('has each router of a network once and loses no node, in both levels and areas', () => {
    const random = new Random(testSeed('routers'));
    for (const igp of ['isis', 'ospf'] as const) {
      const scene = new Scene();
      const options = {
        routers: 30,
        igp,
        identifier: 1n,
        number: 1,
        chords: 3,
        parallel: 0.2,
        unnumbered: 0.2,
      };
      const network = new SimulatedNetwork({ ...options, lansPerHundred: 10 }, random);
      for (const { nlri, attribute } of linkStateObjects(network).values()) scene.put(nlri, attribute);
      const routers = scene.routers();
      expect(routers.filter(({ pseudonode }) => pseudonode)).toHaveLength(network.lans.length);
      const named = routers.filter(({ pseudonode }) => !pseudonode);
      expect(named.flatMap(({ names }) => names).sort()).toEqual(
        network.routers.map(({ name }) => name).sort(),
      );
      for (const { number, domains, loopback } of network.routers) {
        const router = named.find((each) => each['router-ids'].includes(loopback));
        expect(router?.nodes, `r${number}`).toHaveLength(domains.length);
        expect(router?.['router-id']).toBe(loopback);
      }
      const nodes = routers.flatMap((router) => router.nodes.map(({ id }) => id));
      expect(new Set(nodes).size).toBe(nodes.length);
      expect(nodes).toHaveLength([...scene.graph.nodes.values()].filter(({ listed }) => listed).length);
    }
  });

  it('joins nodes by any identifier in common, also through a third, and never across autonomous systems', () => {
    const scene = new Scene();
    scene.node('isis-level-1', '0000.0000.0001', null);
    scene.node('isis-level-2', '0000.0000.0001', '10.0.0.1');
    scene.node('ospfv2', '10.0.0.1', null);
    scene.node('bgp', '10.0.0.1', null, 65_001);
    scene.node('isis-level-2', '0000.0000.0002', null);
    expect(scene.protocols()).toEqual([
      ['bgp'],
      ['isis-level-1', 'isis-level-2', 'ospfv2'],
      ['isis-level-2'],
    ]);
    expect(scene.routers({ ...ALL, routerId: '0000.0000.0002' })).toMatchObject([{ 'router-ids': [] }]);
    expect(scene.routers({ ...ALL, as: 65_001 })).toMatchObject([{ 'router-id': '10.0.0.1' }]);
  });

  it('is paged by id, and shows a router as stale when all of its nodes are', () => {
    const scene = new Scene();
    for (let number = 1; number < 10; number += 1) scene.node('ospfv2', `10.0.0.${number}`, null);
    const ids = scene.routers().map(({ id }) => id);
    const { objects, next } = scene.view.list({ ...ALL, limit: 4 });
    expect(objects.map(({ id }) => id)).toEqual(ids.slice(0, 4));
    expect(scene.routers({ ...ALL, after: next as string }).map(({ id }) => id)).toEqual(ids.slice(4));
    expect(scene.view.find(ids[0] as string)).toMatchObject({ id: ids[0] });
    expect(scene.view.find('r.x')).toBeUndefined();
    // No session was ever established: nothing is live.
    expect(scene.routers({ ...ALL, stale: 'only' })).toHaveLength(9);
    expect(scene.routers({ ...ALL, stale: 'exclude' })).toEqual([]);
  });
});

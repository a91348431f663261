import { describe, expect, it } from 'vitest';
import { TopologyGraph } from '../../../core/topology/graph.ts';
import { formatRfc8345 } from '../../../core/topology/graph-rfc8345.ts';
import { formatTeBandwidth } from '../../../core/topology/graph-te-topology.ts';
import { encodeAttribute } from '../../../protocols/bgp/ls/attribute.ts';
import type { LinkStateAttributes } from '../../../protocols/bgp/ls/attributes.ts';
import { protocolCode } from '../../../protocols/bgp/ls/code-point.ts';
import { encodeNlri } from '../../../protocols/bgp/ls/nlri.ts';

type Protocol = 'isis-level-2' | 'ospfv2' | 'ospfv3';
// biome-ignore lint/suspicious/noExplicitAny: a body whose members the tests assert
type Body = any;

const AS = 65_000;
const ISIS_ROUTERS = ['0000.0000.0001', '0000.0000.0002'];

/** A peer, number 7 if not said otherwise, that tells what the test says, and the networks that come of it. */
class Told {
  readonly graph = new TopologyGraph();
  readonly #protocol: Protocol;
  #peer = 7;

  constructor(protocol: Protocol) {
    this.#protocol = protocol;
    this.by(7);
  }

  /** What follows is told by this peer. */
  by(peer: number): this {
    this.#peer = peer;
    this.graph.peer(peer).rib.apply({ kind: 'session-established', at: 1, sweepBy: 2 });
    return this;
  }

  node(routerId: string, attributes: LinkStateAttributes = {}): this {
    const localNode = { 'autonomous-system': AS, 'igp-router-id': routerId };
    return this.#put(encodeNlri({ ...this.#common, type: 'node', localNode, descriptor: {} }), 1, attributes);
  }

  link(
    [from, to]: readonly string[],
    addresses: readonly string[],
    attributes: LinkStateAttributes,
    neighbors: readonly string[] = [],
  ): this {
    const [localNode, remoteNode] = [from, to].map((routerId) => ({
      'autonomous-system': AS,
      'igp-router-id': routerId as string,
    }));
    const descriptor = {
      'ipv4-interface-addresses': [...addresses],
      ...(neighbors.length > 0 ? { 'ipv4-neighbor-addresses': [...neighbors] } : {}),
      ...(addresses.length > 0 ? {} : { 'link-local-identifier': 11, 'link-remote-identifier': 12 }),
    };
    return this.#put(
      encodeNlri({ ...this.#common, type: 'link', localNode, remoteNode, descriptor }),
      2,
      attributes,
    );
  }

  get networks(): Body[] {
    return (formatRfc8345(this.graph, true) as Body)['ietf-network:networks'].network;
  }

  get #common() {
    return { safi: 71, protocol: this.#protocol, identifier: 5n } as const;
  }

  #put(nlri: Uint8Array, nlriType: number, attributes: LinkStateAttributes): this {
    const attribute = encodeAttribute(attributes, { protocolId: protocolCode(this.#protocol), nlriType });
    this.graph.peer(this.#peer).rib.apply({ kind: 'put', at: 1, safi: 71, nlri, attribute });
    return this;
  }
}

describe('the topology as RFC 8345 with what RFC 8795 adds', () => {
  it('names the termination point at the other end only where that half of the link is listed', () => {
    const [a, b] = ISIS_ROUTERS as [string, string];
    const told = new Told('isis-level-2').link([a, b], ['10.1.0.1'], { 'igp-metric': 10 }, ['10.1.0.2']);
    told.by(8).link([b, a], ['10.1.0.2'], { 'igp-metric': 10 }, ['10.1.0.1']);
    const destinations = (includeStale: boolean) =>
      (formatRfc8345(told.graph, includeStale) as Body)['ietf-network:networks'].network[0][
        'ietf-network-topology:link'
      ].map(({ destination }: Body) => 'dest-tp' in destination);
    expect(destinations(false)).toEqual([true, true]);
    told.graph.peer(8).rib.apply({ kind: 'session-lost', at: 2, purgeAt: 9 });
    expect(destinations(true)).toEqual([true, true]);
    expect(destinations(false)).toEqual([false]);
  });

  it('shows a link with the names, types and places of the TE module', () => {
    const told = new Told('isis-level-2')
      .node(ISIS_ROUTERS[0] as string, {
        'node-name': 'r1\u0000',
        'ipv4-router-ids': ['10.0.0.1'],
        'ipv6-router-ids': ['2001:db8::1'],
      })
      .link(ISIS_ROUTERS, ['10.1.0.1'], {
        'administrative-group': 0x0a,
        'maximum-link-bandwidth-bytes-per-second': 1.25e9,
        'max-reservable-link-bandwidth-bytes-per-second': 0,
        'unreserved-bandwidth-bytes-per-second': [1e9, 0.5, 0, 3, 4, 5, 6, 7].map(Math.fround),
        'te-default-metric': 50,
        'igp-metric': 10,
        'unidirectional-link-delay-microseconds': { anomalous: true, delay: 250 },
        'shared-risk-link-groups': [9, 4, 9],
        'link-protection-type': {
          ...{ enhanced: false, 'dedicated-1-plus-1': true, 'dedicated-1-to-1': false },
          ...{ shared: false, unprotected: false, 'extra-traffic': false },
        },
        'link-name': 'to r2',
      });
    const [network] = told.networks;
    expect(network['network-types']).toEqual({
      'ietf-l3-unicast-topology:l3-unicast-topology': {},
      'ietf-te-topology:te-topology': {},
    });
    expect(network['ietf-te-topology:te-topology-identifier']).toEqual({
      'provider-id': 0,
      'client-id': 0,
      'topology-id': 'bgp-ls:71:isis-level-2:5',
    });
    expect(network['ietf-te-topology:te']).toEqual({ name: 'isis-level-2 instance 5' });
    const node = network.node.find((each: Body) => 'ietf-te-topology:te' in each);
    expect(node).toMatchObject({
      'ietf-te-topology:te-node-id': '10.0.0.1',
      'ietf-te-topology:te': {
        'te-node-attributes': {
          'domain-id': AS,
          name: 'r1\ufffd',
          'signaling-address': ['10.0.0.1', '2001:db8::1'],
        },
        'oper-status': 'up',
        'information-source': 'bgp-ls',
        'information-source-instance': '7',
      },
      'ietf-network-topology:termination-point': [{ 'ietf-te-topology:te-tp-id': '10.1.0.1' }],
    });
    const [link] = network['ietf-network-topology:link'];
    const generic = (value: string) => ({ 'te-bandwidth': { generic: value } });
    expect(link['ietf-te-topology:te']).toEqual({
      'te-link-attributes': {
        'access-type': 'point-to-point',
        name: 'to r2',
        'administrative-group': '00:00:00:0a',
        'link-protection-type': 'ietf-te-types:link-protection-1-plus-1',
        'max-link-bandwidth': generic('0x1.2a05f2p30'),
        'max-resv-link-bandwidth': generic('0x0p0'),
        // The type has no form for half a byte a second: priority 1 is left out, and no other takes its place.
        'unreserved-bandwidth': [
          ...[
            { priority: 0, ...generic('0x1.dcd65p29') },
            { priority: 2, ...generic('0x0p0') },
          ],
          ...[
            { priority: 3, ...generic('0x1.8p1') },
            { priority: 4, ...generic('0x1p2') },
          ],
          ...[
            { priority: 5, ...generic('0x1.4p2') },
            { priority: 6, ...generic('0x1.8p2') },
          ],
          { priority: 7, ...generic('0x1.cp2') },
        ],
        'te-default-metric': 50,
        'te-delay-metric': 250,
        'te-igp-metric': 10,
        'te-srlgs': { value: [9, 4] },
      },
      'oper-status': 'up',
      'information-source': 'bgp-ls',
      'information-source-instance': '7',
    });
  });

  it('says nothing of TE where no link has more than an IGP metric', () => {
    const told = new Told('isis-level-2')
      .node(ISIS_ROUTERS[0] as string, { 'ipv4-router-ids': ['10.0.0.1'] })
      .link(ISIS_ROUTERS, ['10.1.0.1'], { 'igp-metric': 10 });
    expect(JSON.stringify(told.networks)).not.toContain('ietf-te');
  });

  it('says that a stale object is in a state that nobody knows', () => {
    const told = new Told('isis-level-2')
      .node(ISIS_ROUTERS[0] as string, { 'ipv4-router-ids': ['10.0.0.1'] })
      .link(ISIS_ROUTERS, ['10.1.0.1'], { 'te-default-metric': 10 });
    told.graph.peer(7).rib.apply({ kind: 'session-lost', at: 2, purgeAt: 9 });
    const text = JSON.stringify(told.networks);
    expect(text.match(/"oper-status":"unknown"/g)?.length).toBe(2);
    expect(text).not.toContain('"oper-status":"up"');
  });

  it('names OSPF routers and LANs by their own identifiers, and what has none not at all', () => {
    const te = { 'te-default-metric': 1 };
    const lan = '10.0.0.1:10.1.0.1';
    const identifiers = (protocol: Protocol, pseudonode: string, routers: readonly string[]) => {
      const [network] = new Told(protocol)
        .node(routers[0] as string)
        .node(pseudonode)
        .link([routers[0] as string, pseudonode], ['10.1.0.1'], te)
        .link([pseudonode, routers[1] as string], [], { 'igp-metric': 0 }).networks;
      const [link] = network['ietf-network-topology:link'].filter(
        (each: Body) => 'ietf-te-topology:te' in each,
      );
      expect(link['ietf-te-topology:te']['te-link-attributes']['access-type']).toBe('multi-access');
      return network.node.map((node: Body) => [
        node['ietf-te-topology:te-node-id'],
        node['ietf-te-topology:te']?.['is-multi-access-dr'],
      ]);
    };
    const ospf = identifiers('ospfv2', lan, ['10.0.0.1', '10.0.0.2']);
    // The second router is known from a link only: it has an identifier, but nobody says that it is up.
    expect(ospf.toSorted()).toEqual([
      ['10.0.0.1', undefined],
      ['10.0.0.2', undefined],
      ['10.1.0.1', [null]],
    ]);
    // An OSPFv3 LAN is known by a number that is no address.
    expect(
      identifiers('ospfv3', lan, ['10.0.0.1', '10.0.0.2'])
        .map(([id]: [string]) => id)
        .toSorted(),
    ).toEqual(['10.0.0.1', '10.0.0.2', undefined]);
    expect(identifiers('isis-level-2', '0000.0000.0001.01', ISIS_ROUTERS).flat()).toEqual(
      Array(6).fill(undefined),
    );
  });

  it('gives an unnumbered end the number that its router has for it', () => {
    const told = new Told('isis-level-2')
      .node(ISIS_ROUTERS[0] as string)
      .link(ISIS_ROUTERS, [], { 'te-default-metric': 1 });
    expect(JSON.stringify(told.networks)).toContain('"ietf-te-topology:te-tp-id":11');
  });

  it('writes administrative groups from the highest octet on, the older attribute over the newer', () => {
    const groups = (attributes: LinkStateAttributes) => {
      const told = new Told('isis-level-2')
        .node(ISIS_ROUTERS[0] as string)
        .link(ISIS_ROUTERS, [], attributes);
      return /"administrative-group":"([^"]*)"/.exec(JSON.stringify(told.networks))?.[1];
    };
    const words = { 'extended-administrative-group': [0x01020304, 0x8000_0000] };
    expect(groups(words)).toBe('80:00:00:00:01:02:03:04');
    expect(groups({ ...words, 'administrative-group': 0xff })).toBe('80:00:00:00:00:00:00:ff');
    expect(groups({ 'te-default-metric': 1 })).toBeUndefined();
  });
});

describe('a bandwidth as the TE types write it', () => {
  it.each([
    [0, '0x0p0'],
    [-0, '0x0p0'],
    [1, '0x1p0'],
    [1024, '0x1p10'],
    [1.25e9, '0x1.2a05f2p30'],
    [1.25, '0x1.4p0'],
    [3.4028234663852886e38, '0x1.fffffep127'],
    [0.999, undefined],
    [-1, undefined],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
  ])('%d bytes a second', (bytesPerSecond, text) => {
    expect(formatTeBandwidth(bytesPerSecond)).toBe(text);
  });
});

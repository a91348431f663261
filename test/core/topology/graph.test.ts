import { describe, expect, it } from 'vitest';
import { TopologyGraph } from '../../../core/topology/graph.ts';
import { derivedLoss } from '../../../core/topology/liveness.ts';
import type { LogEntry } from '../../../core/topology/log.ts';
import { viewObject } from '../../../core/topology/object-view.ts';
import { Retention } from '../../../core/topology/retention.ts';
import { encodeAttribute } from '../../../protocols/bgp/ls/attribute.ts';
import type { LinkStateAttributes } from '../../../protocols/bgp/ls/attributes.ts';
import type { LinkDescriptor, NodeDescriptor } from '../../../protocols/bgp/ls/descriptor.ts';
import { encodeNlri } from '../../../protocols/bgp/ls/nlri.ts';

const ISIS = { safi: 71, protocol: 'isis-level-2', identifier: 0n } as const;
const LINK = { protocolId: 2, nlriType: 2 };
const node = (id: number, pseudonode = ''): NodeDescriptor => ({
  'autonomous-system': 65000,
  'igp-router-id': `0000.0000.000${id}${pseudonode}`,
});

function link(
  from: NodeDescriptor,
  to: NodeDescriptor,
  descriptor: Partial<LinkDescriptor> = {},
): Uint8Array {
  return encodeNlri({ type: 'link', ...ISIS, localNode: from, remoteNode: to, descriptor });
}

const addresses = (own: string, other: string) => ({
  'ipv4-interface-addresses': [own],
  'ipv4-neighbor-addresses': [other],
});
const identifiers = (own: number, other: number) => ({
  'link-local-identifier': own,
  'link-remote-identifier': other,
});

/** A graph to which peers say links, and what it makes of them. */
class Scene {
  readonly graph = new TopologyGraph();

  apply(peerId: number, entry: LogEntry): void {
    this.graph.peer(peerId).rib.apply(entry);
  }

  establish(peerId: number, at = 0): void {
    this.apply(peerId, { kind: 'session-established', at, sweepBy: at + 120_000 });
  }

  put(
    peerId: number,
    nlri: Uint8Array,
    attributes: LinkStateAttributes = { 'igp-metric': 10 },
    at = 0,
  ): void {
    const attribute = encodeAttribute(attributes, LINK);
    this.apply(peerId, { kind: 'put', at, safi: 71, nlri, attribute });
  }

  // biome-ignore lint/suspicious/noExplicitAny: an object of the API, whose members the tests assert
  view(nlri: Uint8Array, now = 0): any {
    const object = this.graph.find(71, nlri);
    return object === undefined ? undefined : viewObject(this.graph, object, now);
  }

  pairs(one: Uint8Array, other: Uint8Array): unknown {
    const [a, b] = [this.view(one), this.view(other)];
    if (a.reverse.id === b.id && b.reverse.id === a.id) return a.reverse['paired-by'];
    return a.reverse.ambiguous && b.reverse.ambiguous ? 'ambiguous' : a.reverse.id;
  }
}

describe('half-links', () => {
  const pairing = (...links: Uint8Array[]) => {
    const scene = new Scene();
    scene.establish(1);
    for (const each of links) scene.put(1, each);
    return scene;
  };

  it('are paired by addresses, each parallel one with its own', () => {
    const one = [
      link(node(1), node(2), addresses('10.0.0.1', '10.0.0.2')),
      link(node(2), node(1), addresses('10.0.0.2', '10.0.0.1')),
    ] as const;
    const two = [
      link(node(1), node(2), addresses('10.0.1.1', '10.0.1.2')),
      link(node(2), node(1), addresses('10.0.1.2', '10.0.1.1')),
    ] as const;
    const scene = pairing(...one, ...two);
    expect(scene.pairs(...one)).toBe('addresses');
    expect(scene.pairs(...two)).toBe('addresses');
  });

  it('are paired by swapped identifiers, in the descriptor or in the attribute', () => {
    const [there, back] = [
      link(node(1), node(2), identifiers(5, 6)),
      link(node(2), node(1), identifiers(6, 5)),
    ];
    const [otherThere, otherBack] = [link(node(1), node(2), identifiers(7, 8)), link(node(2), node(1))];
    const scene = pairing(there, back, otherThere);
    scene.put(1, otherBack, { 'link-local-remote-identifiers': identifiers(8, 7) });
    expect(scene.pairs(there, back)).toBe('identifiers');
    expect(scene.pairs(otherThere, otherBack)).toBe('identifiers');
  });

  it('with unknown identifiers are paired only when one is left on each side', () => {
    const [there, back] = [
      link(node(1), node(2), identifiers(5, 0)),
      link(node(2), node(1), identifiers(6, 0)),
    ];
    const scene = pairing(there, back);
    expect(scene.pairs(there, back)).toBe('single-candidate');
    const third = link(node(2), node(1), identifiers(9, 0));
    scene.put(1, third);
    expect(scene.pairs(there, back)).toBe('ambiguous');
    scene.apply(1, { kind: 'remove', at: 1, safi: 71, nlri: third });
    expect(scene.pairs(there, back)).toBe('single-candidate');
  });

  it('of a LAN are paired by their nodes', () => {
    const lan = node(1, '.02');
    const [there, back] = [
      link(node(3), lan, { 'ipv4-interface-addresses': ['10.0.0.3'] }),
      link(lan, node(3)),
    ];
    expect(pairing(there, back).pairs(there, back)).toBe('nodes');
  });

  it('are not paired across topologies, nor with addresses that contradict', () => {
    const there = link(node(1), node(2), { ...addresses('10.0.0.1', '10.0.0.2'), 'multi-topology-id': 2 });
    const back = link(node(2), node(1), addresses('10.0.0.2', '10.0.0.1'));
    expect(pairing(there, back).pairs(there, back)).toBeNull();
    const elsewhere = link(node(2), node(1), addresses('10.9.9.2', '10.9.9.1'));
    const here = link(node(1), node(2), addresses('10.0.0.1', '10.0.0.2'));
    expect(pairing(here, elsewhere).pairs(here, elsewhere)).toBeNull();
  });

  it('between two autonomous systems are one-way', () => {
    const far = { ...node(2), 'autonomous-system': 65001 };
    const [there, back] = [link(node(1), far), link(far, node(1))];
    expect(pairing(there, back).pairs(there, back)).toBeNull();
  });
});

describe('one object of several peers', () => {
  const nlri = link(node(1), node(2));

  it('is in conflict once live copies have differed for more than 30 s, with the TLVs in which they do', () => {
    const scene = new Scene();
    scene.establish(1);
    scene.establish(2);
    scene.put(1, nlri, { 'igp-metric': 10, 'te-default-metric': 5 }, 1_000);
    scene.put(2, nlri, { 'igp-metric': 20, 'te-default-metric': 5 }, 2_000);
    expect(scene.view(nlri, 32_000).conflict).toBeNull();
    expect(scene.view(nlri, 32_001).conflict).toEqual({
      since: '1970-01-01T00:00:02.000Z',
      tlvs: [
        {
          type: 1095,
          values: [
            { 'peer-id': 1, value: '00000a' },
            { 'peer-id': 2, value: '000014' },
          ],
        },
      ],
    });
    scene.put(1, nlri, { 'igp-metric': 30, 'te-default-metric': 5 }, 20_000);
    expect(scene.view(nlri, 32_001).conflict).not.toBeNull();
    scene.apply(2, { kind: 'session-lost', at: 40_000, purgeAt: 160_000 });
    expect(scene.view(nlri, 90_000).conflict).toBeNull();
  });

  it('shows live before stale, then lower preference, then the later change, then the lower peer id', () => {
    const scene = new Scene();
    const metric = () => scene.view(nlri).attributes['igp-metric'];
    for (const peer of [1, 2, 3]) scene.establish(peer);
    scene.put(2, nlri, { 'igp-metric': 2 }, 10);
    scene.put(1, nlri, { 'igp-metric': 1 }, 10);
    expect(metric()).toBe(1);
    scene.put(3, nlri, { 'igp-metric': 3 }, 11);
    expect(metric()).toBe(3);
    const third = scene.graph.peer(2);
    scene.graph.setCircumstances(third, { preference: 50, derivedLoss: null, gone: false }, 12);
    expect(metric()).toBe(2);
    scene.apply(2, { kind: 'session-lost', at: 13, purgeAt: 1_000 });
    expect(metric()).toBe(3);
  });

  it('keeps its time of change when a peer says the same again after a reset', () => {
    const scene = new Scene();
    scene.establish(1, 100);
    scene.put(1, nlri, { 'igp-metric': 10 }, 200);
    scene.apply(1, { kind: 'session-lost', at: 300, purgeAt: 10_000 });
    expect(scene.view(nlri).sources[0]).toMatchObject({
      state: 'stale',
      'stale-since': '1970-01-01T00:00:00.300Z',
      'purge-at': '1970-01-01T00:00:10.000Z',
    });
    scene.establish(1, 400);
    scene.apply(1, { kind: 'confirm', at: 500, safi: 71, nlri });
    scene.apply(1, { kind: 'end-of-rib', at: 600 });
    expect(scene.view(nlri).sources[0]).toMatchObject({
      state: 'live',
      'received-at': '1970-01-01T00:00:00.500Z',
      'changed-at': '1970-01-01T00:00:00.200Z',
      'stale-since': null,
    });
  });

  it('stays when its attribute is lost, and says so', () => {
    const scene = new Scene();
    scene.establish(1);
    scene.put(1, nlri);
    scene.apply(1, { kind: 'put', at: 5, safi: 71, nlri, attribute: null });
    expect(scene.view(nlri)).toMatchObject({ 'attributes-missing': true, attributes: {} });
  });

  it('is gone for good when its peer is no longer wanted, and the nodes with it that only it named', () => {
    const scene = new Scene();
    scene.establish(1);
    scene.put(1, nlri);
    expect(scene.graph.nodes.size).toBe(2);
    const peer = scene.graph.peer(1);
    scene.graph.setCircumstances(peer, { preference: 100, derivedLoss: null, gone: true }, 1);
    expect([scene.graph.objects.size, scene.graph.nodes.size]).toEqual([0, 0]);
    scene.graph.setCircumstances(peer, { preference: 100, derivedLoss: null, gone: false }, 2);
    expect([scene.graph.objects.size, scene.graph.nodes.size]).toEqual([1, 2]);
  });
});

describe('the life of a log', () => {
  const head = { epoch: 3, at: 1_000, staleMilliseconds: 120_000 };
  const alive = { wanted: true, preference: 100, writerBeatAt: 5_000, writerAlive: true, ownerEpoch: 3 };

  it('is believed only while its epoch owns the peer and its writer’s heart beats', () => {
    expect(derivedLoss(head, alive)).toBeNull();
    expect(derivedLoss(head, { ...alive, writerAlive: false })).toEqual({ at: 5_000, purgeAt: 125_000 });
    expect(derivedLoss(head, { ...alive, ownerEpoch: 4 })).toEqual({ at: 5_000, purgeAt: 125_000 });
    expect(derivedLoss(head, { ...alive, writerAlive: false, writerBeatAt: null })?.at).toBe(1_000);
  });

  it('sweeps at End-of-RIB, else after 30 s without UPDATE, at latest after the stale time; purges in the end', () => {
    const retention = new Retention();
    retention.established(0, 120);
    retention.updated(10_000);
    expect(retention.due(39_999)).toBeUndefined();
    expect(retention.due(40_000)).toMatchObject({ kind: 'purge', reason: 'sweep-timeout' });
    expect(retention.dueAt()).toBeUndefined();
    retention.established(100_000, 120);
    for (let at = 100_000; at < 219_000; at += 1_000) retention.updated(at);
    expect(retention.dueAt()).toBe(220_000);
    retention.endOfRib(219_500);
    expect(retention.dueAt()).toBeUndefined();
    expect(retention.lost(300_000, 120, 0)).toMatchObject({ purgeAt: 420_000 });
    expect(retention.due(420_000)).toMatchObject({ kind: 'purge', reason: 'expired' });
    expect(retention.lost(500_000, 120, 200)).toMatchObject({ purgeAt: 700_000 });
    expect(retention.lost(500_000, 0, 0)).toMatchObject({ purgeAt: 620_000 });
    expect(retention.lost(0, 0, 9_999)).toMatchObject({ purgeAt: 3_600_000 });
  });
});

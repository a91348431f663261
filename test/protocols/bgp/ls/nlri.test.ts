import { describe, expect, it } from 'vitest';
import { decodeNlri, type EncodableNlri, encodeNlri, splitNlris } from '../../../../protocols/bgp/ls/nlri.ts';
import { NlriScan } from '../../../../protocols/bgp/ls/nlri-scan.ts';

const LOCAL = { 'autonomous-system': 65000, 'bgp-ls-identifier': 0, 'igp-router-id': '0000.0000.0009' };
const REMOTE = { 'autonomous-system': 65000, 'igp-router-id': '0000.0000.0002.01' };

const objects: Record<string, EncodableNlri> = {
  'a node': { type: 'node', protocol: 'isis-level-2', identifier: 7n, localNode: LOCAL },
  'a pseudonode of OSPF in an area': {
    type: 'node',
    protocol: 'ospfv2',
    identifier: 0n,
    localNode: { 'ospf-area-id': '0.0.0.1', 'igp-router-id': '10.1.4.1:10.1.1.2' },
  },
  'a node that tells of itself, named by an IPv6 address': {
    type: 'node',
    protocol: 'direct',
    identifier: 0n,
    localNode: { 'autonomous-system': 65000, 'igp-router-id': '2001:db8::1' },
  },
  'a node of another protocol and an instance beyond 2^53': {
    type: 'node',
    protocol: 'protocol-201',
    identifier: 0xffff_ffff_ffff_fffen,
    localNode: { 'igp-router-id': '0102030405' },
  },
  'a BGP node in a confederation': {
    type: 'node',
    protocol: 'bgp',
    identifier: 0n,
    localNode: { 'autonomous-system': 65001, 'bgp-router-id': '10.0.0.1', 'bgp-confederation-member': 65010 },
  },
  'a link with every descriptor': {
    type: 'link',
    protocol: 'isis-level-1',
    identifier: 0n,
    localNode: LOCAL,
    remoteNode: REMOTE,
    descriptor: {
      'link-local-identifier': 1,
      'link-remote-identifier': 4294967295,
      'ipv4-interface-addresses': ['10.0.0.1', '10.0.0.5'],
      'ipv4-neighbor-addresses': ['10.0.0.2'],
      'ipv6-interface-addresses': ['2001:db8::1'],
      'ipv6-neighbor-addresses': ['2001:db8:0:1:1:1:1:1'],
      'multi-topology-id': 2,
    },
  },
  'a link of a VPN': {
    type: 'link',
    safi: 72,
    routeDistinguisher: '65000:99',
    protocol: 'ospfv3',
    identifier: 1n,
    localNode: { 'igp-router-id': '10.0.0.1' },
    remoteNode: { 'igp-router-id': '10.0.0.2' },
    descriptor: {
      'ipv4-interface-addresses': [],
      'ipv4-neighbor-addresses': [],
      'ipv6-interface-addresses': [],
      'ipv6-neighbor-addresses': [],
    },
  },
  'the IPv4 default route': {
    type: 'ipv4-prefix',
    protocol: 'isis-level-2',
    identifier: 0n,
    localNode: LOCAL,
    descriptor: { 'ip-reachability': '0.0.0.0/0' },
  },
  'an OSPF prefix': {
    type: 'ipv4-prefix',
    protocol: 'ospfv2',
    identifier: 0n,
    localNode: { 'igp-router-id': '10.0.0.1' },
    descriptor: { 'multi-topology-id': 0, 'ospf-route-type': 'nssa-2', 'ip-reachability': '10.128.0.0/9' },
  },
  'an IPv6 prefix': {
    type: 'ipv6-prefix',
    protocol: 'isis-level-2',
    identifier: 0n,
    localNode: LOCAL,
    descriptor: { 'ip-reachability': '2001:db8:8000::/33' },
  },
  'an SRv6 SID': {
    type: 'srv6-sid',
    protocol: 'isis-level-2',
    identifier: 0n,
    localNode: LOCAL,
    descriptor: { 'multi-topology-id': 2, sid: 'fd00::1' },
  },
  'an SR policy candidate path with an IPv6 endpoint': {
    type: 'sr-policy',
    protocol: 'segment-routing',
    identifier: 0n,
    localNode: { 'autonomous-system': 65000, 'bgp-router-id': '10.0.0.1' },
    descriptor: {
      'protocol-origin': 2,
      endpoint: '2001:db8::9',
      color: 100,
      'originator-as': 65000,
      originator: '10.0.0.1',
      discriminator: 1,
    },
  },
  'a stub link': {
    type: 'stub-link',
    protocol: 'direct',
    identifier: 0n,
    localNode: LOCAL,
    descriptor: {
      'ipv4-interface-addresses': ['192.0.2.1'],
      'ipv4-neighbor-addresses': [],
      'ipv6-interface-addresses': [],
      'ipv6-neighbor-addresses': [],
      'remote-as-number': 65010,
      'ipv4-remote-asbr-id': '192.0.2.2',
      'ipv6-remote-asbr-id': '2001:db8::2',
    },
  },
  'a type that nobody knows': { type: 'unknown', nlriType: 65001, value: '00000009cafe' },
};

describe('Link-State NLRIs', () => {
  it.each(Object.entries(objects))('decodes %s as it was encoded', (_name, object) => {
    const bytes = encodeNlri(object);
    const decoded = decodeNlri(bytes, object.safi ?? 71);
    expect(decoded.problems).toEqual([]);
    expect(decoded).toMatchObject(object);
    expect(encodeNlri(decoded)).toEqual(bytes);
  });

  it('frames a field of several, and stops where a length overruns it: RFC 9552 §8.2.2', () => {
    const field = Uint8Array.of(0, 1, 0, 1, 9, 0, 2, 0, 0, 0, 1, 0, 3, 1, 2);
    expect(splitNlris(field.subarray(0, 9), 71)).toEqual({
      ranges: [
        { start: 0, end: 5 },
        { start: 5, end: 9 },
      ],
    });
    expect(splitNlris(field, 71).problem).toEqual({
      code: 'nlri-overruns-field',
      action: 'afi-safi-disable',
      offset: 9,
      safi: 71,
    });
    expect(splitNlris(field.subarray(0, 7), 71).problem?.offset).toBe(5);
  });

  it('never finds an NLRI malformed for what it lacks: RFC 9552 §8.2.2', () => {
    const bare = Uint8Array.of(0, 2, 0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 5);
    const decoded = decodeNlri(bare, 71);
    expect(decoded).toMatchObject({ type: 'link', identifier: 5n, localNode: null, remoteNode: null });
    expect(decoded.problems.map(({ code, action, type }) => [code, action, type])).toEqual([
      ['missing-tlv', 'none', 256],
      ['missing-tlv', 'none', 257],
    ]);
  });

  it('discards an NLRI with two of one node descriptor sub-TLV: RFC 9552 §5.2.1.4', () => {
    const value = [2, 0, 0, 4, 0, 0, 0, 1, 2, 3, 0, 4, 1, 1, 1, 1, 2, 0, 0, 4, 0, 0, 0, 2];
    const body = [3, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, value.length, ...value];
    const decoded = decodeNlri(Uint8Array.of(0, 1, 0, body.length, ...body), 71);
    expect(decoded.problems).toEqual([
      { code: 'duplicate-node-descriptor-sub-tlv', action: 'nlri-discard', type: 512, offset: 33 },
    ]);
  });

  it('keeps unknown TLVs of a descriptor, and gives them back: RFC 9552 §5.1', () => {
    const object: EncodableNlri = {
      type: 'ipv4-prefix',
      protocol: 'static',
      identifier: 0n,
      localNode: { 'igp-router-id': '10.0.0.1', 'unknown-tlvs': [{ type: 599, value: '' }] },
      descriptor: { 'ip-reachability': '10.0.0.0/8', 'unknown-tlvs': [{ type: 65000, value: '00ff' }] },
    };
    const decoded = decodeNlri(encodeNlri(object), 71);
    expect(decoded).toMatchObject(object);
    expect(encodeNlri(decoded)).toEqual(encodeNlri(object));
  });

  it.each([
    ['shorter', -1],
    ['longer', 1],
  ])('reads no SR Policy CP Descriptor that is %s than its flags say: RFC 9857 §4', (_name, by) => {
    const value = '140000000a000002000000640000fde90101010100000001'; // 24 octets, both flags clear
    const sent = by < 0 ? value.slice(0, 2 * by) : `${value}5a`;
    const node = { 'ipv4-router-id': '10.0.0.1' };
    const unknown = [{ type: 554, value: sent }];
    const object: EncodableNlri = {
      type: 'sr-policy',
      protocol: 'segment-routing',
      localNode: node,
      descriptor: { 'unknown-tlvs': unknown },
    };
    const bytes = encodeNlri(object);
    const decoded = decodeNlri(bytes, 71);
    expect(decoded.descriptor).toEqual({ 'unknown-tlvs': unknown });
    expect(decoded.problems).toMatchObject([
      { code: 'wrong-length', action: 'none', type: 554 },
      { code: 'missing-tlv', action: 'none', type: 554 },
    ]);
    expect(encodeNlri(decoded)).toEqual(bytes);
  });

  it('masks the reserved bits of a multi-topology identifier: RFC 9552 §5.2.2.1', () => {
    const bytes = encodeNlri(objects['an SRv6 SID'] as EncodableNlri);
    const at = bytes.findIndex((_, index) => bytes[index] === 1 && bytes[index + 1] === 7) + 4;
    bytes[at] = 0xf0;
    expect(decodeNlri(bytes, 71).descriptor).toMatchObject({ 'multi-topology-id': 2 });
  });

  it('finds the exact bytes of both node descriptors, which make the identity of nodes', () => {
    const scanned = (object: EncodableNlri) => {
      const bytes = encodeNlri(object);
      const scan = new NlriScan();
      scan.scan(bytes, 0, bytes.length, 71);
      return {
        local: bytes.subarray(scan.localStart, scan.localEnd),
        remote: bytes.subarray(scan.remoteStart, scan.remoteEnd),
      };
    };
    const link = scanned(objects['a link with every descriptor'] as EncodableNlri);
    const nodeOf = (descriptor: typeof LOCAL | typeof REMOTE) =>
      scanned({ type: 'node', protocol: 'isis-level-1', localNode: descriptor }).local;
    expect(link.local).toEqual(nodeOf(LOCAL));
    expect(link.remote).toEqual(nodeOf(REMOTE));
  });

  it('shares equal node descriptors, and tells nodes apart that differ in any octet', () => {
    const nodes = [
      LOCAL,
      REMOTE,
      { ...LOCAL, 'autonomous-system': 65001 },
      { 'igp-router-id': '0000.0000.0009' },
    ];
    const decoded = () =>
      nodes.map((localNode) => decodeNlri(encodeNlri({ type: 'node', protocol: 'direct', localNode }), 71));
    for (const [index, { localNode }] of [...decoded(), ...decoded()].entries()) {
      expect(localNode).toEqual(nodes[index % nodes.length]);
    }
    const [first, again] = [decoded()[1], decoded()[1]];
    expect(again?.localNode).toBe(first?.localNode);
  });

  it('says again what is odd about a node that it has seen before', () => {
    const node = {
      type: 'node',
      protocol: 'direct',
      localNode: { 'unknown-tlvs': [{ type: 512, value: '01' }] },
    } as const;
    for (let time = 0; time < 2; time += 1) {
      const { problems, localNode } = decodeNlri(encodeNlri(node), 71);
      expect(problems).toMatchObject([{ code: 'wrong-length', action: 'none', type: 512 }]);
      expect(localNode).toEqual(node.localNode);
    }
  });
});

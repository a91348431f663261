import { describe, expect, it } from 'vitest';
import { TopologyObject } from '../../../core/topology/graph-object.ts';
import { readHalfLink } from '../../../core/topology/half-link.ts';
import { objectKey } from '../../../core/topology/identity.ts';
import type { LinkDescriptor } from '../../../protocols/bgp/ls/descriptor.ts';
import { decodeNlri, splitNlris } from '../../../protocols/bgp/ls/nlri.ts';
import { NlriScan } from '../../../protocols/bgp/ls/nlri-scan.ts';
import { formatHex } from '../../../protocols/bgp/ls/text.ts';
import { mutate } from '../../support/link-state-mutations.ts';
import { linkStateObjects } from '../../support/network/link-state-objects.ts';
import { SimulatedNetwork } from '../../support/network/simulated-network.ts';
import { Random, testSeed } from '../../support/random.ts';

describe('the marks of a half-link', () => {
  it('are those that the decoder finds, also where the octets are odd', () => {
    const random = new Random(testSeed('half links'));
    const links = (['isis', 'ospf'] as const).flatMap((igp) => {
      const options = {
        routers: 20,
        igp,
        identifier: 1n,
        number: 1,
        chords: 3,
        parallel: 0.3,
        unnumbered: 0.4,
      };
      const network = new SimulatedNetwork({ ...options, lansPerHundred: 10 }, random);
      return [...linkStateObjects(network).values()].filter(({ type }) => type === 'link');
    });
    const scan = new NlriScan();
    let odd = 0;
    for (let count = 0; count < 8_000; count += 1) {
      let { nlri } = random.pick(links);
      if (count > links.length) {
        const body = mutate(random, nlri.subarray(4));
        nlri = Uint8Array.of(0, 2, body.length >> 8, body.length & 255, ...body);
      }
      // What is not framed, or must be discarded, never comes to the graph.
      if (splitNlris(nlri, 71).ranges.length !== 1 || !scan.scan(nlri, 0, nlri.length, 71)) continue;
      odd += 1;
      const half = readHalfLink(new TopologyObject(objectKey(71, nlri), 71, nlri), null);
      const { localNode, remoteNode, descriptor } = decodeNlri(nlri, 71);
      const link = descriptor as LinkDescriptor;
      const [local, remote] = [localNode?.['autonomous-system'], remoteNode?.['autonomous-system']];
      expect(
        {
          topology: half.topology,
          identifiers: [half.localIdentifier, half.remoteIdentifier],
          addresses: [half.interface4, half.neighbor4].map((each) => each.map(ipv4)),
          count6: [half.interface6.length, half.neighbor6.length],
          between: half.betweenAutonomousSystems,
        },
        formatHex(nlri),
      ).toEqual({
        topology: link['multi-topology-id'] ?? 0,
        identifiers: [link['link-local-identifier'] ?? 0, link['link-remote-identifier'] ?? 0],
        addresses: [link['ipv4-interface-addresses'], link['ipv4-neighbor-addresses']],
        count6: [link['ipv6-interface-addresses'].length, link['ipv6-neighbor-addresses'].length],
        between: local !== undefined && remote !== undefined && local !== remote,
      });
    }
    expect(odd).toBeGreaterThan(1_000);
  });
});

function ipv4(octets: string): string {
  return [...octets].map((octet) => octet.charCodeAt(0)).join('.');
}

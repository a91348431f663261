/** Nodes of an IS-IS level 2 area in AS 65000, as a peer announces them. */
import { encodeAttribute } from '../../protocols/bgp/ls/attribute.ts';
import { encodeNlri } from '../../protocols/bgp/ls/nlri.ts';

/** The NLRI of the node with this number, of four digits at most, in SAFI 71. */
export function nodeNlri(number: number): Uint8Array {
  return encodeNlri({
    type: 'node',
    safi: 71,
    protocol: 'isis-level-2',
    identifier: 0n,
    localNode: {
      'autonomous-system': 65000,
      'igp-router-id': `0000.0000.${String(number).padStart(4, '0')}`,
    },
    descriptor: {},
  });
}

/** The BGP-LS Attribute of a node of this name. */
export function nodeNamed(name: string): Uint8Array {
  return encodeAttribute({ 'node-name': name }, { protocolId: 2, nlriType: 1 });
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeAttribute, encodeAttribute } from '../../../../protocols/bgp/ls/attribute.ts';
import type { LinkStateAttributes } from '../../../../protocols/bgp/ls/attributes.ts';
import type { LinkDescriptor, NodeDescriptor } from '../../../../protocols/bgp/ls/descriptor.ts';
import { type DecodedNlri, decodeNlri, encodeNlri } from '../../../../protocols/bgp/ls/nlri.ts';
import { linkStateUpdate, partsOf, updateBodies } from '../../../support/link-state-update.ts';

/**
 * ExaBGP's decoding cases, from the folder that `GRATICULE_VECTORS` names. Its expectation is translated into our
 * members; where ours says more, the value is written out here with the clause that it follows.
 */
const vectors = process.env['GRATICULE_VECTORS'];
const folder = vectors === undefined ? undefined : join(vectors, 'bgp-ls');
const names = folder === undefined ? [] : readdirSync(folder).filter((name) => name.startsWith('bgp-ls-'));
if (folder === undefined)
  console.log('exabgp-vectors: GRATICULE_VECTORS is unset; the public vectors are skipped');

interface Expectation {
  readonly 'protocol-id': number;
  readonly 'l3-routing-topology': number;
  readonly 'local-node-descriptors': readonly Record<string, number | string>[];
  readonly 'remote-node-descriptors': readonly Record<string, number | string>[];
  readonly 'interface-addresses': readonly string[];
  readonly 'neighbor-addresses': readonly string[];
  readonly 'multi-topology-ids': readonly number[];
  readonly 'link-identifiers': readonly { 'link-local-id': number; 'link-remote-id': number }[];
}

function read(name: string) {
  const [title, hex, json] = readFileSync(join(folder as string, name), 'utf8').split('\n') as [
    string,
    string,
    string,
  ];
  const bytes = Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
  const expected = JSON.parse(json);
  if (title.startsWith('nlri')) return { nlri: bytes, attribute: undefined, expected, attributes: undefined };
  const body = bytes[0] === 0xff ? (updateBodies(bytes)[0] as Uint8Array) : bytes;
  const update = partsOf(linkStateUpdate(body));
  const { announce, attribute } = expected.neighbor.message.update;
  const [announced] = Object.values(announce['bgp-ls bgp-ls'] as Record<string, Expectation[]>);
  return {
    nlri: update.reach as Uint8Array,
    attribute: update.attribute,
    expected: announced?.[0] as Expectation,
    attributes: attribute['bgp-ls'],
  };
}

function expectedNode(descriptors: readonly Record<string, number | string>[]): NodeDescriptor {
  const node: NodeDescriptor = {};
  for (const descriptor of descriptors) {
    if ('autonomous-system' in descriptor)
      node['autonomous-system'] = Number(descriptor['autonomous-system']);
    if ('bgp-ls-identifier' in descriptor)
      node['bgp-ls-identifier'] = Number(descriptor['bgp-ls-identifier']);
    if ('ospf-area-id' in descriptor) node['ospf-area-id'] = String(descriptor['ospf-area-id']);
    if ('router-id' in descriptor) {
      const id = String(descriptor['router-id']);
      const designated = descriptor['designated-router-id'];
      const dotted = id.replace(/^(.{4})(.{4})(.{4})$/, '$1.$2.$3');
      node['igp-router-id'] = designated === undefined ? dotted : `${id}:${designated}`;
    }
  }
  return node;
}

function describesTheSame(nlri: DecodedNlri, expected: Expectation) {
  expect(nlri.problems).toEqual([]);
  expect(nlri.type).toBe('link');
  expect(nlri.protocolId).toBe(expected['protocol-id']);
  expect(nlri.identifier).toBe(BigInt(expected['l3-routing-topology']));
  expect(nlri.localNode).toEqual(expectedNode(expected['local-node-descriptors']));
  expect(nlri.remoteNode).toEqual(expectedNode(expected['remote-node-descriptors']));
  const descriptor = nlri.descriptor as LinkDescriptor;
  expect(descriptor['ipv4-interface-addresses']).toEqual(expected['interface-addresses']);
  expect(descriptor['ipv4-neighbor-addresses']).toEqual(expected['neighbor-addresses']);
  expect(descriptor['multi-topology-id']).toBe(expected['multi-topology-ids'][0]);
  const [identifiers] = expected['link-identifiers'];
  expect(descriptor['link-local-identifier']).toBe(identifiers?.['link-local-id']);
  expect(descriptor['link-remote-identifier']).toBe(identifiers?.['link-remote-id']);
}

const lower = (flags: Record<string, number>) =>
  Object.fromEntries(
    Object.entries(flags)
      .filter(([name]) => name !== 'RSV')
      .map(([name, value]) => [name.toLowerCase(), value === 1]),
  );

interface ExabgpEndX {
  flags: Record<string, number>;
  behavior: number;
  algorithm: number;
  weight: number;
  sid: string;
  'srv6-sid-structure': Record<string, number>;
}

/** ExaBGP's members as ours. A member without a translation fails the test. */
function expectedAttributes(theirs: Record<string, unknown>): LinkStateAttributes {
  const ours: LinkStateAttributes = {};
  for (const [name, value] of Object.entries(theirs)) {
    const number = value as number;
    switch (name) {
      case 'igp-metric':
        ours['igp-metric'] = number;
        break;
      case 'te-metric':
        ours['te-default-metric'] = number;
        break;
      case 'admin-group-mask':
        ours['administrative-group'] = number;
        break;
      case 'maximum-link-bandwidth':
        ours['maximum-link-bandwidth-bytes-per-second'] = number;
        break;
      case 'maximum-reservable-link-bandwidth':
        ours['max-reservable-link-bandwidth-bytes-per-second'] = number;
        break;
      case 'unreserved-bandwidth':
        ours['unreserved-bandwidth-bytes-per-second'] = value as number[];
        break;
      case 'link-local-remote-identifiers': {
        const identifiers = value as { 'local-id': number; 'remote-id': number };
        ours['link-local-remote-identifiers'] = {
          'link-local-identifier': identifiers['local-id'],
          'link-remote-identifier': identifiers['remote-id'],
        };
        break;
      }
      case 'sr-adjs':
        ours['adjacency-sids'] = (
          value as { flags: Record<string, number>; sids: number[]; weight: number }[]
        ).map(({ flags, sids, weight }) => ({ flags: lower(flags), weight, label: sids[0] as number }));
        break;
      case 'local-router-ids':
        ours['ipv4-router-ids'] = (value as string[]).filter((id) => id.includes('.'));
        ours['ipv6-router-ids'] = (value as string[]).filter((id) => id.includes(':'));
        break;
      case 'remote-router-ids':
        ours['remote-ipv4-router-ids'] = (value as string[]).filter((id) => id.includes('.'));
        ours['remote-ipv6-router-ids'] = (value as string[]).filter((id) => id.includes(':'));
        break;
      case 'srv6-endx':
        ours['srv6-end-x-sids'] = (value as ExabgpEndX[]).map(
          ({ flags, behavior, algorithm, weight, sid, 'srv6-sid-structure': structure }) => ({
            behavior,
            flags: lower(flags) as { b: boolean; s: boolean; p: boolean },
            algorithm,
            weight,
            sid,
            'sid-structure': {
              'locator-block-bits': structure['loc_block_len'] as number,
              'locator-node-bits': structure['loc_node_len'] as number,
              'function-bits': structure['func_len'] as number,
              'argument-bits': structure['arg_len'] as number,
            },
          }),
        );
        break;
      case 'unidirectional-link-delay': {
        const delay = value as { 'delay-us': number; anomalous: boolean };
        ours['unidirectional-link-delay-microseconds'] = {
          anomalous: delay.anomalous,
          delay: delay['delay-us'],
        };
        break;
      }
      case 'minmax-unidirectional-link-delay': {
        const delay = value as { 'min-delay-us': number; 'max-delay-us': number; anomalous: boolean };
        ours['min-max-unidirectional-link-delay-microseconds'] = {
          anomalous: delay.anomalous,
          'min-delay': delay['min-delay-us'],
          'max-delay': delay['max-delay-us'],
        };
        break;
      }
      case 'unidirectional-delay-variation':
        ours['unidirectional-delay-variation-microseconds'] = number;
        break;
      case 'generic-lsid-1122':
        // ExaBGP leaves it in hex. By RFC 9294 §2: applications X of the standard ones, then two sub-TLVs.
        expect(value).toEqual(['0x040400001000000000000000044400040000000A045B00080000000A00000000']);
        ours['application-specific-link-attributes'] = [
          {
            'standard-applications': '10000000',
            'user-defined-applications': '00000000',
            applications: {
              'rsvp-te': false,
              'sr-policy': false,
              'loop-free-alternate': false,
              'flexible-algorithm': true,
            },
            attributes: {
              'te-default-metric': 10,
              'min-max-unidirectional-link-delay-microseconds': {
                anomalous: false,
                'min-delay': 10,
                'max-delay': 0,
              },
            },
          },
        ];
        break;
      default:
        throw new Error(`no translation for ${name}`);
    }
  }
  return ours;
}

/** TLVs as hex, in any order: the routers did not all sort theirs, which RFC 9552 §5.1 allows. */
function sortedTlvs(attribute: Uint8Array): string[] {
  const tlvs: string[] = [];
  for (let at = 0; at < attribute.length; ) {
    const end = at + 4 + (((attribute[at + 2] as number) << 8) | (attribute[at + 3] as number));
    tlvs.push(Buffer.from(attribute.subarray(at, end)).toString('hex'));
    at = end;
  }
  return tlvs.sort();
}

describe.skipIf(folder === undefined)("ExaBGP's decoding cases", () => {
  it('are there', () => {
    expect(names.length).toBeGreaterThan(0);
  });

  it.each(names)('%s: the NLRI says what ExaBGP reads in it, and encodes to the same bytes', (name) => {
    const { nlri: bytes, expected } = read(name);
    const nlri = decodeNlri(bytes, 71);
    describesTheSame(nlri, expected);
    expect(encodeNlri(nlri)).toEqual(bytes);
  });

  it.each(names)('%s: the attribute says what ExaBGP reads in it, and encodes to the same bytes', (name) => {
    const { attribute, nlri, attributes } = read(name);
    if (attribute === undefined) return;
    const context = decodeNlri(nlri, 71);
    const decoded = decodeAttribute(attribute, context);
    expect(decoded.problems).toEqual([]);
    expect(decoded.unknownTlvs).toEqual([]);
    expect(decoded.attributes).toEqual(expectedAttributes(attributes));
    const canonical = encodeAttribute(decoded.attributes, context);
    expect(decodeAttribute(canonical, context).attributes).toEqual(decoded.attributes);
    // An OSPF metric has two octets, RFC 9552 §5.3.2.4; the router of bgp-ls-2 and -3 sent three.
    const asSent = (tlv: string) => tlv.replace(/^0447000300(?=0001$)/, '04470002');
    const ospf = context.protocolId === 3;
    expect(sortedTlvs(canonical)).toEqual(sortedTlvs(attribute).map(ospf ? asSent : (tlv) => tlv));
  });
});

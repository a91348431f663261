import { describe, expect, it } from 'vitest';
import { decodeAttribute, encodeAttribute } from '../../../../protocols/bgp/ls/attribute.ts';
import type { LinkStateAttributes } from '../../../../protocols/bgp/ls/attributes.ts';
import { NlriType, ProtocolId } from '../../../../protocols/bgp/ls/code-point.ts';

const NODE = NlriType.node;
const LINK = NlriType.link;
const PREFIX = NlriType.ipv4Prefix;

function decode(hex: string, protocolId: number, nlriType: number) {
  const octets = Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
  return decodeAttribute(octets, { protocolId, nlriType });
}

function encode(attributes: LinkStateAttributes, protocolId: number, nlriType: number): string {
  return Buffer.from(encodeAttribute(attributes, { protocolId, nlriType })).toString('hex');
}

describe('what a TLV means by the protocol that it comes from', () => {
  const CAPABILITIES = '040a000c c000 00000a 04890003 003e80';

  it.each([
    ['IS-IS', ProtocolId.isisLevel1, true, '040a000cc000'],
    ['OSPFv2', ProtocolId.ospfv2, false, '040a000c0000'],
    ['OSPFv3', ProtocolId.ospfv3, false, '040a000c0000'],
  ])('SR Capabilities of %s: RFC 9085 §2.1.2 gives OSPF no flags', (_name, protocolId, isSet, begins) => {
    // Behind a TLV of a higher type, its row reads what is read in place otherwise.
    for (const hex of [CAPABILITIES, `040d000105${CAPABILITIES}`]) {
      const flags = decode(hex, protocolId, NODE).attributes['sr-capabilities']?.flags;
      expect(flags).toEqual({ 'mpls-ipv4': isSet, 'mpls-ipv6': isSet });
    }
    const flags = { 'mpls-ipv4': true, 'mpls-ipv6': true };
    const ranges = [{ size: 10, 'sid-label': 16_000 }];
    expect(encode({ 'sr-capabilities': { flags, ranges } }, protocolId, NODE)).toMatch(
      new RegExp(`^${begins}`),
    );
  });

  it.each([
    ['IS-IS', ProtocolId.isisLevel2, false, '0414000880000000'],
    ['OSPFv2', ProtocolId.ospfv2, true, '0414000880800000'],
    ['OSPFv3', ProtocolId.ospfv3, true, '0414000880800000'],
  ])(
    'Flexible Algorithm Prefix Metric of %s: RFC 9350 gives IS-IS no flags',
    (_name, protocolId, e, begins) => {
      const { attributes } = decode('04140008 80 80 0000 0000000a', protocolId, PREFIX);
      expect(attributes['flexible-algorithm-prefix-metrics']).toEqual([
        { 'flexible-algorithm': 128, flags: { e }, metric: 10 },
      ]);
      const metric = { 'flexible-algorithm': 128, flags: { e: true }, metric: 10 };
      const hex = encode({ 'flexible-algorithm-prefix-metrics': [metric] }, protocolId, PREFIX);
      expect(hex).toBe(`${begins}0000000a`);
    },
  );

  it.each([
    ['IS-IS level 1', '01', '0a0b', [10, 11]],
    ['IS-IS level 2', '02', '0a0b', [10, 11]],
    ['OSPFv2', '03', '0a0b', [2571]],
    ['OSPFv3', '06', '0a0b', [2571]],
  ])('what a definition of %s has that is not supported: RFC 9351 §3.6', (_name, protocol, hex, types) => {
    const sent = `040f000b80000064 04160003${protocol}${hex}`.replaceAll(' ', '');
    const { attributes, problems } = decode(sent, ProtocolId.isisLevel2, NODE);
    expect(problems).toEqual([]);
    expect(attributes['flexible-algorithm-definitions']?.[0]?.['unsupported-tlvs']).toEqual({
      'protocol-id': Number(protocol),
      types,
    });
    expect(encode(attributes, ProtocolId.isisLevel2, NODE)).toBe(sent);
  });
});

describe('a TLV of which an RFC wants one value at least', () => {
  it.each([
    [266, '010a', NODE, 'RFC 8814 §3'],
    [267, '010b', LINK, 'RFC 8814 §4'],
    [1032, '0408', NODE, 'RFC 9247'],
    [1035, '040b', NODE, 'RFC 9085 §2.1.3'],
    [1105, '0451', LINK, 'RFC 8169'],
    [1173, '0495', LINK, 'RFC 9104 §2'],
  ])(
    'is of the wrong length when it is empty: %i, and stays as it was sent',
    (code, type, nlriType, _rfc) => {
      const { attributes, unknownTlvs, problems } = decode(`${type}0000`, ProtocolId.isisLevel2, nlriType);
      expect(attributes).toEqual({});
      expect(unknownTlvs).toEqual([{ type: code, value: '' }]);
      expect(problems).toEqual([{ code: 'wrong-length', action: 'none', type: code, offset: 0 }]);
    },
  );

  it.each([
    [1034, '040a'],
    [1036, '040c'],
  ])('so without a range of labels: %i, RFC 9085 §2.1.2, §2.1.4', (code, type) => {
    const { attributes, unknownTlvs, problems } = decode(`${type}00028000`, ProtocolId.isisLevel2, NODE);
    expect(attributes).toEqual({});
    expect(unknownTlvs).toEqual([{ type: code, value: '8000' }]);
    expect(problems).toEqual([{ code: 'wrong-length', action: 'none', type: code, offset: 0 }]);
  });

  it.each([1040, 1041, 1042, 1045])('so in a Flexible Algorithm Definition: %i', (code) => {
    const sent = `040f000880000064${code.toString(16).padStart(4, '0')}0000`;
    const { attributes, problems } = decode(sent, ProtocolId.isisLevel2, NODE);
    expect(attributes['flexible-algorithm-definitions']?.[0]?.['unknown-tlvs']).toEqual([
      { type: code, value: '' },
    ]);
    expect(problems).toMatchObject([{ code: 'wrong-length', action: 'none', type: code }]);
  });

  it('so the SRLGs of a candidate path: RFC 9857 §5.6.2', () => {
    const sent = '04b4000c 0000 0000 0000 00 00 04b90000';
    const { attributes, problems } = decode(sent, ProtocolId.segmentRouting, NlriType.srPolicy);
    expect(attributes['candidate-path-constraints']).toMatchObject({
      'unknown-tlvs': [{ type: 1209, value: '' }],
    });
    expect(attributes['candidate-path-constraints']).not.toHaveProperty('shared-risk-link-groups');
    expect(problems).toMatchObject([{ code: 'wrong-length', action: 'none', type: 1209 }]);
  });
});

describe('of a TLV that may stand once in an SR Policy, the first that can be read counts: RFC 9857 §5', () => {
  it.each([
    ['a second one', '04b30001 61 04b30001 62', { 'candidate-path-name': 'a' }, 'duplicate-tlv'],
    [
      'a first one of the wrong length',
      '04b20001 00 04b20008 01 00 4000 00000064',
      { 'candidate-path-state': { priority: 1, preference: 100 } },
      'wrong-length',
    ],
  ])('%s', (_name, sent, expected, code) => {
    const { attributes, problems } = decode(sent, ProtocolId.segmentRouting, NlriType.srPolicy);
    expect(attributes).toMatchObject(expected);
    expect(problems).toMatchObject([{ code, action: 'none' }]);
  });
});

describe('an SRv6 SID Structure of more than 128 bits: RFC 9514 §8', () => {
  const STRUCTURE = '04e40004 40 20 10 11';
  const END_X = `0001 00 00 00 00 ${'00'.repeat(15)}01`;

  it('is told as invalid, and its lengths as they were sent', () => {
    const { attributes, problems } = decode(STRUCTURE, ProtocolId.isisLevel2, NlriType.srv6Sid);
    expect(attributes['sid-structure']).toEqual({
      'locator-block-bits': 64,
      'locator-node-bits': 32,
      'function-bits': 16,
      'argument-bits': 17,
    });
    expect(problems).toMatchObject([{ code: 'invalid-value', action: 'none', type: 1252 }]);
    expect(decode('04e40004 40201010', ProtocolId.isisLevel2, NlriType.srv6Sid).problems).toEqual([]);
  });

  it('so within an End.X SID', () => {
    const { attributes, problems } = decode(`0452001e ${END_X} ${STRUCTURE}`, ProtocolId.isisLevel2, LINK);
    expect(attributes['srv6-end-x-sids']?.[0]?.['sid-structure']?.['argument-bits']).toBe(17);
    expect(problems).toMatchObject([{ code: 'invalid-value', action: 'none', type: 1252 }]);
  });
});

describe('reserved octets', () => {
  it('beside a delay variation are zero when it is more than 24 bits hold: RFC 8571 §2.3', () => {
    const attributes = { 'unidirectional-delay-variation-microseconds': 0x1000001 };
    expect(encode(attributes, ProtocolId.isisLevel2, LINK)).toBe('045c000400000001');
  });
});

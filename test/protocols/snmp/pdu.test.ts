import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BerReader } from '../../../protocols/snmp/ber.ts';
import {
  decodeCommunityMessage,
  decodeV3Message,
  encodeCommunityMessage,
  versionOf,
} from '../../../protocols/snmp/message.ts';
import { formatOid, parseOid } from '../../../protocols/snmp/oid.ts';
import { decodePdu, encodePdu, type PduType } from '../../../protocols/snmp/pdu.ts';
import { decodeUsmMessage } from '../../../protocols/snmp/usm.ts';
import { decodeValue, formatValue, interpretValue, type SnmpValue } from '../../../protocols/snmp/value.ts';
import { Random, testSeed } from '../../support/random.ts';
import { mutate, randomPdu } from '../../support/snmp-agent/random-pdu.ts';

interface CommunityVector {
  name: string;
  hex: string;
  value: {
    version: string;
    community: string;
    type: PduType;
    'request-id': number;
    'error-status': number;
    'error-index': number;
    varbinds: string[];
  };
}

const { vectors }: { vectors: CommunityVector[] } = JSON.parse(
  readFileSync(new URL('../../vectors/snmp/community-messages.json', import.meta.url), 'utf8'),
);
const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));

describe.each(vectors)('the recorded $name', ({ hex, value }) => {
  it('says what the recording program printed', () => {
    const message = decodeCommunityMessage(bytes(hex));
    if (!message.ok) throw new Error(message.reason);
    const { version, community, pdu } = message.value;
    expect({
      version,
      community: Buffer.from(community).toString(),
      type: pdu.type,
      'request-id': pdu.requestId,
      'error-status': pdu.errorStatus,
      'error-index': pdu.errorIndex,
      varbinds: pdu.varbinds.map((varbind) =>
        `${formatOid(varbind.oid)} ${varbind.value.kind} ${formatValue(varbind.value)}`.trim(),
      ),
    }).toEqual(value);
    expect(versionOf(bytes(hex))).toBe(version);
  });

  it('is written back byte for byte', () => {
    const message = decodeCommunityMessage(bytes(hex));
    if (!message.ok) throw new Error(message.reason);
    expect(Buffer.from(encodeCommunityMessage(message.value)).toString('hex')).toBe(hex);
  });

  it('is refused at every length but its own', () => {
    const whole = bytes(hex);
    for (let length = 0; length < whole.length; length += 1) {
      expect(decodeCommunityMessage(whole.subarray(0, length)).ok, `${length} bytes`).toBe(false);
    }
  });
});

describe('a value', () => {
  const decoded = (text: string) => decodeValue(new BerReader(bytes(text)));

  it('keeps all 64 bits of a Counter64, with and without the zero that keeps it positive', () => {
    expect(decoded('460900ffffffffffffffff')).toEqual({ kind: 'counter64', value: 18446744073709551615n });
    expect(decoded('4608ffffffffffffffff')).toEqual({ kind: 'counter64', value: 18446744073709551615n });
    expect(decoded('4104ffffffff')).toEqual({ kind: 'counter32', value: 4294967295 });
    expect(decoded('020180')).toEqual({ kind: 'integer', value: -128 });
  });

  it('is kept as bytes when its tag does not allow its content', () => {
    for (const text of [
      '0200',
      '02050100000000',
      '41060000ffffffff',
      '460a00ffffffffffffffffff',
      '400301020f',
      '06022b80',
      '800101',
      '9f01ff',
    ]) {
      const value = decoded(text);
      expect(value.kind, text).toBe('unreadable');
    }
  });

  it('is shown as text only when it is text', () => {
    const shown = (text: string) => formatValue(interpretValue(0x04, bytes(text)));
    expect(shown('6c6f')).toBe('lo');
    expect(shown('c3a9')).toBe('é');
    expect(shown('001122334455')).toBe('0x001122334455');
    expect(shown('ff41')).toBe('0xff41');
    expect(formatValue({ kind: 'object-identifier', value: parseOid('1.3.6') ?? [] })).toBe('1.3.6');
  });
});

describe('any PDU', () => {
  it('survives being written and read', () => {
    const random = new Random(testSeed('pdu round trip'));
    for (let round = 0; round < 3_000; round += 1) {
      const pdu = randomPdu(random);
      const decoded = decodePdu(encodePdu(pdu));
      if (!decoded.ok) throw new Error(decoded.reason);
      expect(decoded.value).toEqual(pdu);
    }
  });

  it('however damaged, is read or refused, and never gives more varbinds than its bytes hold', () => {
    const random = new Random(testSeed('damaged messages'));
    const seen: Record<string, number> = { read: 0, refused: 0 };
    for (let round = 0; round < 20_000; round += 1) {
      const pdu = randomPdu(random);
      const message = mutate(
        random,
        encodeCommunityMessage({ version: 'v2c', community: bytes('7075626c6963'), pdu }),
      );
      const decoded = decodeCommunityMessage(message);
      decodeV3Message(message);
      decodeUsmMessage(message);
      seen[decoded.ok ? 'read' : 'refused'] = (seen[decoded.ok ? 'read' : 'refused'] ?? 0) + 1;
      if (decoded.ok) expect(decoded.value.pdu.varbinds.length * 4).toBeLessThanOrEqual(message.length);
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(100);
  });

  it('with a length that claims more than there is costs nothing', () => {
    for (const text of ['3084ffffffff', '30847fffffff00', '3080', '30850000000001', '30ff']) {
      expect(decodeCommunityMessage(bytes(text)).ok, text).toBe(false);
    }
  });
});

/** Kept here so that a new kind of value cannot be forgotten in `formatValue`. */
const everyKind: SnmpValue[] = [
  { kind: 'null' },
  { kind: 'no-such-object' },
  { kind: 'opaque', value: bytes('9f78043ede0000') },
];

it('shows an exception as nothing and an opaque value as hex', () => {
  expect(everyKind.map(formatValue)).toEqual(['', '', '0x9f78043ede0000']);
});

import { readFileSync } from 'node:fs';
import netSnmp from 'net-snmp';
import { describe, expect, it } from 'vitest';
import { decodeScopedPdu } from '../../../protocols/snmp/message.ts';
import { formatOid } from '../../../protocols/snmp/oid.ts';
import {
  authenticationKey,
  cipherKey,
  decodeUsmMessage,
  decryptScopedPdu,
  type LocalizedUser,
  sealUsmMessage,
  verifyDigest,
} from '../../../protocols/snmp/usm.ts';
import {
  AUTH_PROTOCOLS,
  type AuthProtocol,
  localizeKey,
  PRIV_PROTOCOLS,
  type PrivProtocol,
  passwordToKey,
  privacyKey,
} from '../../../protocols/snmp/usm-key.ts';
import { formatValue } from '../../../protocols/snmp/value.ts';

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const text = (value: string) => new TextEncoder().encode(value);
const hex = (value: Uint8Array) => Buffer.from(value).toString('hex');

interface UsmVector {
  name: string;
  user: string;
  auth: AuthProtocol;
  priv: PrivProtocol | null;
  'auth-password': string;
  'priv-password': string;
  request: string;
  response: string;
  value: string;
}

const { vectors }: { vectors: UsmVector[] } = JSON.parse(
  readFileSync(new URL('../../vectors/snmp/usm-messages.json', import.meta.url), 'utf8'),
);

describe('keys', () => {
  const engineId = bytes('000000000000000000000002');

  it('from the password maplesyrup are those of RFC 3414 A.3.1 and A.3.2', () => {
    const md5 = passwordToKey('md5', text('maplesyrup'));
    expect(hex(md5)).toBe('9faf3283884e92834ebc9847d8edd963');
    expect(hex(localizeKey('md5', md5, engineId))).toBe('526f5eed9fcce26f8964c2930787d82b');
    const sha = passwordToKey('sha-1', text('maplesyrup'));
    expect(hex(sha)).toBe('9fb5cc0381497b3793528939ff788d5d79145211');
    expect(hex(localizeKey('sha-1', sha, engineId))).toBe('6695febc9288e36282235fc7151f128497b38f3f');
  });

  it('are lengthened for AES-256 as npm net-snmp does, by either draft', () => {
    const { Encryption, AuthProtocols, PrivProtocols } = netSnmp;
    const { algorithms, generateLocalizedKeyBlumenthal, generateLocalizedKeyReeder } = Encryption;
    const engine = Buffer.from(engineId);
    const peers = [
      ['md5', AuthProtocols.md5],
      ['sha-1', AuthProtocols.sha],
      ['sha-256', AuthProtocols.sha256],
    ] as const;
    for (const [auth, peer] of peers) {
      const key = passwordToKey(auth, text('privpass1'));
      const blumenthal = algorithms[PrivProtocols.aes256b];
      expect(hex(privacyKey('aes-256', auth, key, engineId)), auth).toBe(
        hex(generateLocalizedKeyBlumenthal(blumenthal, peer, 'privpass1', engine)),
      );
      const reeder = algorithms[PrivProtocols.aes256r];
      expect(hex(privacyKey('aes-256-reeder', auth, key, engineId)), auth).toBe(
        hex(generateLocalizedKeyReeder(reeder, peer, 'privpass1', engine)),
      );
    }
  });

  it('for AES-192 are the first 24 bytes of those for AES-256 of the same draft', () => {
    const key = passwordToKey('md5', text('privpass1'));
    for (const draft of ['', '-reeder'] as const) {
      const long = privacyKey(`aes-256${draft}`, 'md5', key, engineId);
      expect(hex(privacyKey(`aes-192${draft}`, 'md5', key, engineId))).toBe(hex(long).slice(0, 48));
    }
  });
});

function userOf(vector: UsmVector, engineId: Uint8Array): LocalizedUser {
  const { auth, priv } = vector;
  const authKey = localizeKey(auth, passwordToKey(auth, text(vector['auth-password'])), engineId);
  return {
    name: text(vector.user),
    auth: authenticationKey(auth, authKey),
    ...(priv === null
      ? {}
      : {
          priv: cipherKey(
            priv,
            privacyKey(priv, auth, passwordToKey(auth, text(vector['priv-password'])), engineId),
          ),
        }),
  };
}

describe.each(vectors)('the recorded exchange with $name', (vector) => {
  it.each(['request', 'response'] as const)(
    'has a %s that is authentic, opens, and is sealed again to the same bytes',
    (direction) => {
      const message = bytes(vector[direction]);
      const decoded = decodeUsmMessage(message);
      if (!decoded.ok) throw new Error(decoded.reason);
      const { usm } = decoded.value;
      const user = userOf(vector, usm.engineId);
      expect(verifyDigest(message, decoded.value, user)).toBe(true);
      expect(hex(message)).toBe(vector[direction]);
      const plain = decryptScopedPdu(decoded.value, user);
      const scoped = decodeScopedPdu(plain ?? new Uint8Array());
      if (!scoped.ok) throw new Error(scoped.reason);
      const [varbind] = scoped.value.pdu.varbinds;
      if (varbind === undefined) throw new Error('no varbind');
      expect(`${formatOid(varbind.oid)} = ${formatValue(varbind.value)}`.replace(/ = $/, '')).toBe(
        direction === 'response' ? vector.value : '1.3.6.1.2.1.1.2.0',
      );
      const sealed = sealUsmMessage(
        {
          messageId: decoded.value.messageId,
          maxSize: decoded.value.maxSize,
          reportable: (decoded.value.flags & 4) !== 0,
          engineId: usm.engineId,
          engineBoots: usm.engineBoots,
          engineTime: usm.engineTime,
          salt: usm.privParameters,
        },
        user,
        plain ?? new Uint8Array(),
      );
      // Net-SNMP writes msgMaxSize and lengths as we do, so that only a wrong cipher or digest could differ.
      const again = decodeUsmMessage(sealed);
      if (!again.ok) throw new Error(again.reason);
      expect(hex(again.value.data)).toBe(hex(decoded.value.data));
      expect(verifyDigest(sealed, again.value, user)).toBe(true);
    },
  );

  it('is not authentic when any one byte differs, nor with another password', () => {
    const message = bytes(vector.response);
    const decoded = decodeUsmMessage(message);
    if (!decoded.ok) throw new Error(decoded.reason);
    const user = userOf(vector, decoded.value.usm.engineId);
    for (let at = message.length - 20; at < message.length; at += 1) {
      message[at] = (message[at] as number) ^ 1;
      expect(verifyDigest(message, decoded.value, user)).toBe(false);
      message[at] = (message[at] as number) ^ 1;
    }
    const stranger = userOf({ ...vector, 'auth-password': 'wrongpass' }, decoded.value.usm.engineId);
    expect(verifyDigest(message, decoded.value, stranger)).toBe(false);
  });
});

it('a digest is verified in a Buffer too, whose slices share its memory, and the message is left as it was', () => {
  const vector = vectors[0] as UsmVector;
  const message = Buffer.from(vector.response, 'hex');
  const decoded = decodeUsmMessage(message);
  if (!decoded.ok) throw new Error(decoded.reason);
  expect(verifyDigest(message, decoded.value, userOf(vector, decoded.value.usm.engineId))).toBe(true);
  expect(message.toString('hex')).toBe(vector.response);
});

it.each(Object.keys(PRIV_PROTOCOLS) as PrivProtocol[])(
  'messages of any length open one after another with %s',
  (priv) => {
    const engineId = bytes('000000000000000000000002');
    const key = passwordToKey('sha-1', text('privpass1'));
    const user: LocalizedUser = {
      name: text('mon'),
      auth: authenticationKey('sha-1', localizeKey('sha-1', key, engineId)),
      priv: cipherKey(priv, privacyKey(priv, 'sha-1', key, engineId)),
    };
    for (let length = 1; length <= 70; length += 1) {
      const plain = Uint8Array.from({ length }, (_, at) => at * length);
      const salt = Uint8Array.of(0, 0, 0, 7, 0, 0, 0, length);
      const header = {
        messageId: 1,
        maxSize: 65_507,
        reportable: true,
        engineId,
        engineBoots: 7,
        engineTime: length,
      };
      const decoded = decodeUsmMessage(sealUsmMessage({ ...header, salt }, user, plain));
      if (!decoded.ok) throw new Error(decoded.reason);
      // One that was cut short goes before it: what it leaves behind is nothing to the next.
      const cut = { ...decoded.value, data: decoded.value.data.subarray(0, -1) };
      decryptScopedPdu(cut, user);
      const opened = decryptScopedPdu(decoded.value, user);
      expect(hex(opened?.subarray(0, length) ?? new Uint8Array())).toBe(hex(plain));
    }
  },
);

it('every authentication and privacy protocol names the document that defines it', () => {
  for (const row of [...Object.values(AUTH_PROTOCOLS), ...Object.values(PRIV_PROTOCOLS)]) {
    expect(row.rfc).toMatch(/^(RFC \d+|draft-)/);
  }
});

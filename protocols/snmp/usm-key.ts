/**
 * Keys of the User-based Security Model: from a password, to an engine, to a cipher's length.
 * RFC 3414 §2.6 and appendix A.2 (MD5, SHA-1), RFC 7860 §4.1 (SHA-2), RFC 3826 §1.2 (AES-128).
 */
import { hash } from 'node:crypto';

export type AuthProtocol = 'md5' | 'sha-1' | 'sha-224' | 'sha-256' | 'sha-384' | 'sha-512';

export type PrivProtocol = 'des' | 'aes-128' | 'aes-192' | 'aes-256' | 'aes-192-reeder' | 'aes-256-reeder';

export interface AuthRow {
  /** The name that node:crypto gives the hash. */
  readonly hash: string;
  /** What the hash takes at a time. */
  readonly blockBytes: number;
  readonly keyBytes: number;
  /** How much of the HMAC a message carries. */
  readonly macBytes: number;
  readonly rfc: string;
}

export const AUTH_PROTOCOLS: Readonly<Record<AuthProtocol, AuthRow>> = {
  md5: { hash: 'md5', blockBytes: 64, keyBytes: 16, macBytes: 12, rfc: 'RFC 3414 §6' },
  'sha-1': { hash: 'sha1', blockBytes: 64, keyBytes: 20, macBytes: 12, rfc: 'RFC 3414 §7' },
  'sha-224': { hash: 'sha224', blockBytes: 64, keyBytes: 28, macBytes: 16, rfc: 'RFC 7860 §4.2.1' },
  'sha-256': { hash: 'sha256', blockBytes: 64, keyBytes: 32, macBytes: 24, rfc: 'RFC 7860 §4.2.2' },
  'sha-384': { hash: 'sha384', blockBytes: 128, keyBytes: 48, macBytes: 32, rfc: 'RFC 7860 §4.2.3' },
  'sha-512': { hash: 'sha512', blockBytes: 128, keyBytes: 64, macBytes: 48, rfc: 'RFC 7860 §4.2.4' },
};

export interface PrivRow {
  readonly keyBytes: number;
  /** How a key that the hash leaves too short is made longer. */
  readonly extension: 'none' | 'blumenthal' | 'reeder';
  readonly cipher: string;
  /** Also the length of an initial vector. */
  readonly blockBytes: number;
  readonly rfc: string;
}

/**
 * AES-192 and AES-256 were never standardised. Two drafts lengthen the key in two ways, and agents of either kind
 * are in the field: draft-blumenthal-aes-usm-04 §3.1.2.1 and draft-reeder-snmpv3-usm-3desede-00 §2.1.
 */
export const PRIV_PROTOCOLS: Readonly<Record<PrivProtocol, PrivRow>> = {
  // Half of the 16 bytes is the key, half the pre-IV. Single DES left OpenSSL 3; three times the same key is it.
  des: { keyBytes: 16, extension: 'none', cipher: 'des-ede3-cbc', blockBytes: 8, rfc: 'RFC 3414 §8' },
  'aes-128': { keyBytes: 16, extension: 'none', cipher: 'aes-128-cfb', blockBytes: 16, rfc: 'RFC 3826' },
  'aes-192': {
    keyBytes: 24,
    extension: 'blumenthal',
    cipher: 'aes-192-cfb',
    blockBytes: 16,
    rfc: 'draft-blumenthal',
  },
  'aes-256': {
    keyBytes: 32,
    extension: 'blumenthal',
    cipher: 'aes-256-cfb',
    blockBytes: 16,
    rfc: 'draft-blumenthal',
  },
  'aes-192-reeder': {
    keyBytes: 24,
    extension: 'reeder',
    cipher: 'aes-192-cfb',
    blockBytes: 16,
    rfc: 'draft-reeder',
  },
  'aes-256-reeder': {
    keyBytes: 32,
    extension: 'reeder',
    cipher: 'aes-256-cfb',
    blockBytes: 16,
    rfc: 'draft-reeder',
  },
};

/** RFC 3414 §11.2 asks for passwords of at least 8 characters; agents refuse to hold shorter ones. */
export const MINIMUM_PASSWORD_BYTES = 8;

/** What is hashed to make a key (RFC 3414 A.2): the password repeated to this length. */
const STRETCHED_BYTES = 1_048_576;

/** The user's key before it is bound to an engine, Ku. Costs about a millisecond: keep it per password. */
export function passwordToKey(protocol: AuthProtocol, password: Uint8Array): Uint8Array {
  const stretched = Buffer.alloc(STRETCHED_BYTES, password.length === 0 ? 0 : password);
  return digest(protocol, stretched);
}

/** The key of one user at one engine, Kul = H(Ku ‖ snmpEngineID ‖ Ku). */
export function localizeKey(protocol: AuthProtocol, key: Uint8Array, engineId: Uint8Array): Uint8Array {
  return digest(protocol, Buffer.concat([key, engineId, key]));
}

/** The localized key cut or lengthened to what the cipher takes. `key` is the privacy password's Ku. */
export function privacyKey(
  priv: PrivProtocol,
  auth: AuthProtocol,
  key: Uint8Array,
  engineId: Uint8Array,
): Uint8Array {
  const { keyBytes, extension } = PRIV_PROTOCOLS[priv];
  const localized = localizeKey(auth, key, engineId);
  let whole: Uint8Array = localized;
  let last: Uint8Array = localized;
  while (whole.length < keyBytes) {
    last =
      extension === 'reeder'
        ? // The localized key taken as a password, stretched and localized again.
          localizeKey(auth, passwordToKey(auth, last), engineId)
        : // The hash of all that there is so far.
          digest(auth, whole);
    whole = Buffer.concat([whole, last]);
  }
  return whole.subarray(0, keyBytes);
}

function digest(protocol: AuthProtocol, data: Uint8Array): Uint8Array {
  return hash(AUTH_PROTOCOLS[protocol].hash, data, 'buffer');
}

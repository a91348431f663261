/** The User-based Security Model: what guards a v3 message (RFC 3414, RFC 3826, RFC 7860). */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type Decipheriv,
  hash,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { BerReader, BerWriter, Tag } from './ber.ts';
import {
  decodeV3Message,
  MessageFlag,
  USM_SECURITY_MODEL,
  type V3Message,
  VERSION_NUMBER,
} from './message.ts';
import type { Decoded } from './pdu.ts';
import { AUTH_PROTOCOLS, type AuthProtocol, PRIV_PROTOCOLS, type PrivProtocol } from './usm-key.ts';

/** RFC 3414 §2.2.3: messages further off than this are out of the time window. */
export const TIME_WINDOW_SECONDS = 150;

export const MAX_ENGINE_BOOTS = 0x7fff_ffff;

/** A user's keys at one engine. Without `auth` the level is noAuthNoPriv, without `priv` authNoPriv. */
export interface LocalizedUser {
  readonly name: Uint8Array;
  readonly auth?: MacKey;
  readonly priv?: CipherKey;
}

/** An authentication key as HMAC takes it (RFC 2104 §2): mixed with either pad, one block each. */
interface MacKey {
  readonly protocol: AuthProtocol;
  readonly innerBlock: Uint8Array;
  readonly outerBlock: Uint8Array;
}

/** A privacy key as the cipher takes it. */
interface CipherKey {
  readonly protocol: PrivProtocol;
  readonly key: KeyObject;
  /** DES: what the salt is mixed with. */
  readonly preIv: Uint8Array;
  /**
   * Decrypts message after message. In CFB and in CBC a block is decrypted with the block before it, so that an initial
   * vector is no more than a block that goes before the message: 1,400 octets take 3.3 µs, by a cipher of their own 4.2.
   */
  readonly decryptor: Decipheriv;
}

/** From a localized key (`localizeKey`). Two calls of `hash` take half to two thirds of what `createHmac` does. */
export function authenticationKey(protocol: AuthProtocol, key: Uint8Array): MacKey {
  const whole = new Uint8Array(AUTH_PROTOCOLS[protocol].blockBytes);
  whole.set(key);
  return {
    protocol,
    innerBlock: whole.map((byte) => byte ^ 0x36),
    outerBlock: whole.map((byte) => byte ^ 0x5c),
  };
}

/** From a localized key (`privacyKey`). The key is made into an object once: OpenSSL takes octets for 8 to 10 µs more a message. */
export function cipherKey(protocol: PrivProtocol, localized: Uint8Array): CipherKey {
  const isDes = protocol === 'des';
  const des = localized.subarray(0, 8);
  const key = createSecretKey(isDes ? Buffer.concat([des, des, des]) : localized);
  const { cipher, blockBytes } = PRIV_PROTOCOLS[protocol];
  const decryptor = createDecipheriv(cipher, key, new Uint8Array(blockBytes)).setAutoPadding(false);
  return { protocol, key, preIv: isDes ? localized.slice(8, 16) : EMPTY, decryptor };
}

/** RFC 3414 §2.4, usmSecurityParameters. */
export interface UsmParameters {
  readonly engineId: Uint8Array;
  readonly engineBoots: number;
  readonly engineTime: number;
  readonly userName: Uint8Array;
  readonly authParameters: Uint8Array;
  readonly privParameters: Uint8Array;
}

export interface UsmMessage extends V3Message {
  readonly usm: UsmParameters;
}

/** Takes a v3 message and its USM parameters apart; nothing is verified or decrypted. */
export function decodeUsmMessage(bytes: Uint8Array): Decoded<UsmMessage> {
  const message = decodeV3Message(bytes);
  if (!message.ok) return message;
  if (message.value.securityModel !== USM_SECURITY_MODEL) {
    return { ok: false, reason: `security model ${message.value.securityModel}` };
  }
  const reader = new BerReader(message.value.securityParameters).readConstructed(Tag.sequence);
  const usm: UsmParameters = {
    engineId: reader.readBytes(Tag.octetString),
    engineBoots: reader.readInteger(),
    engineTime: reader.readInteger(),
    userName: reader.readBytes(Tag.octetString),
    authParameters: reader.readBytes(Tag.octetString),
    privParameters: reader.readBytes(Tag.octetString),
  };
  if (reader.failure !== undefined) return { ok: false, reason: reader.failure };
  if (usm.engineBoots < 0 || usm.engineTime < 0)
    return { ok: false, reason: 'negative engine boots or time' };
  return { ok: true, value: { ...message.value, usm } };
}

export interface UsmHeader {
  readonly messageId: number;
  readonly maxSize: number;
  readonly reportable: boolean;
  readonly engineId: Uint8Array;
  readonly engineBoots: number;
  readonly engineTime: number;
  /** Eight bytes that never repeat under one key: the salt of DES and AES. Unused without privacy. */
  readonly salt: Uint8Array;
}

/** Encrypts, wraps and signs a scoped PDU at the level that the user's keys give (RFC 3414 §3.1). */
export function sealUsmMessage(header: UsmHeader, user: LocalizedUser, scopedPdu: Uint8Array): Uint8Array {
  const writer = new BerWriter(scopedPdu.length + 192);
  let privParameters: Uint8Array = EMPTY;
  if (user.priv === undefined) {
    writer.raw(scopedPdu);
  } else {
    privParameters = header.salt;
    writer.primitive(Tag.octetString, encrypt(user.priv, header, scopedPdu));
  }
  const macBytes = user.auth === undefined ? 0 : AUTH_PROTOCOLS[user.auth.protocol].macBytes;
  const parameters = writer.length;
  writer.primitive(Tag.octetString, privParameters);
  writer.raw(ZEROS.subarray(0, macBytes));
  const macFromEnd = writer.length;
  writer.header(Tag.octetString, macBytes);
  writer.primitive(Tag.octetString, user.name);
  writer.integer(header.engineTime);
  writer.integer(header.engineBoots);
  writer.primitive(Tag.octetString, header.engineId);
  writer.wrap(Tag.sequence, parameters);
  writer.wrap(Tag.octetString, parameters);
  const globalData = writer.length;
  writer.integer(USM_SECURITY_MODEL);
  writer.primitive(
    Tag.octetString,
    Uint8Array.of(
      (user.auth === undefined ? 0 : MessageFlag.auth) |
        (user.priv === undefined ? 0 : MessageFlag.priv) |
        (header.reportable ? MessageFlag.reportable : 0),
    ),
  );
  writer.integer(header.maxSize);
  writer.integer(header.messageId);
  writer.wrap(Tag.sequence, globalData);
  writer.integer(VERSION_NUMBER.v3);
  writer.wrap(Tag.sequence, 0);
  const message = writer.finish();
  if (user.auth !== undefined) {
    const at = message.length - macFromEnd;
    message.set(mac(user.auth, message, at), at);
  }
  return message;
}

/** Whether the message carries the digest that this user's key gives (RFC 3414 §6.3.2, §7.3.2). */
export function verifyDigest(bytes: Uint8Array, message: UsmMessage, user: LocalizedUser): boolean {
  if (user.auth === undefined) return false;
  const carried = message.usm.authParameters;
  if (carried.length !== AUTH_PROTOCOLS[user.auth.protocol].macBytes) return false;
  const expected = mac(user.auth, bytes, carried.byteOffset - bytes.byteOffset);
  return timingSafeEqual(expected, carried);
}

/** The scoped PDU of a message in clear, a cipher's padding possibly behind it; undefined when it cannot be. */
export function decryptScopedPdu(message: UsmMessage, user: LocalizedUser): Uint8Array | undefined {
  if (!message.encrypted) return message.data;
  if (user.priv === undefined || message.usm.privParameters.length !== 8) return undefined;
  return decrypt(user.priv, message.usm, message.data);
}

interface CipherTime {
  readonly engineBoots: number;
  readonly engineTime: number;
}

function encrypt(priv: CipherKey, header: CipherTime & { salt: Uint8Array }, plain: Uint8Array): Uint8Array {
  const { cipher } = PRIV_PROTOCOLS[priv.protocol];
  const encryptor = createCipheriv(cipher, priv.key, initialVector(priv, header, header.salt));
  if (priv.protocol !== 'des') return encryptor.update(plain);
  encryptor.setAutoPadding(false);
  // RFC 3414 §8.1.1.2: any padding to whole blocks; the inner length tells where the PDU ends.
  const padded = new Uint8Array(Math.ceil(plain.length / 8) * 8);
  padded.set(plain);
  return encryptor.update(padded);
}

function decrypt(priv: CipherKey, usm: UsmParameters, data: Uint8Array): Uint8Array | undefined {
  const { blockBytes } = PRIV_PROTOCOLS[priv.protocol];
  if (priv.protocol === 'des' && (data.length % blockBytes !== 0 || data.length === 0)) return undefined;
  // Whole blocks, so that the next message begins one.
  const length = blockBytes + Math.ceil(data.length / blockBytes) * blockBytes;
  const blocks = new Uint8Array(length);
  blocks.set(initialVector(priv, usm, usm.privParameters));
  blocks.set(data, blockBytes);
  return priv.decryptor.update(blocks).subarray(blockBytes, blockBytes + data.length);
}

function initialVector(priv: CipherKey, time: CipherTime, salt: Uint8Array): Uint8Array {
  // RFC 3414 §8.1.1.1: pre-IV XOR salt.
  if (priv.protocol === 'des') return Uint8Array.from(priv.preIv, (byte, at) => byte ^ (salt[at] as number));
  // RFC 3826 §3.1.2.1: boots ‖ time ‖ salt.
  const iv = Buffer.allocUnsafe(16);
  iv.writeUInt32BE(time.engineBoots, 0);
  iv.writeUInt32BE(time.engineTime, 4);
  iv.set(salt, 8);
  return iv;
}

/** The HMAC of a message, cut to what messages carry, with zeros at [`at`, `at` + its length): it was made so (RFC 3414 §6.3.1). */
function mac({ protocol, innerBlock, outerBlock }: MacKey, message: Uint8Array, at: number): Uint8Array {
  const { hash: algorithm, blockBytes, macBytes } = AUTH_PROTOCOLS[protocol];
  const inner = Buffer.allocUnsafe(blockBytes + message.length);
  inner.set(innerBlock);
  inner.set(message, blockBytes);
  inner.fill(0, blockBytes + at, blockBytes + at + macBytes);
  // As text of one octet a character: `hash` gives a Buffer at twice the time.
  const innerHash = hash(algorithm, inner, 'binary');
  const outer = Buffer.allocUnsafe(blockBytes + innerHash.length);
  outer.set(outerBlock);
  outer.write(innerHash, blockBytes, 'latin1');
  return Buffer.from(hash(algorithm, outer, 'binary'), 'latin1').subarray(0, macBytes);
}

const EMPTY = new Uint8Array(0);
const ZEROS = new Uint8Array(64);

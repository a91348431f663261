/**
 * SNMP messages: the community wrapper of v1 and v2c (RFC 1157 §4, RFC 1901 §3) and the header of v3
 * (RFC 3412 §6). What lies inside a v3 message's security parameters is usm.ts's.
 */
import { BerReader, BerWriter, copyBytes, Tag } from './ber.ts';
import { type Decoded, type Pdu, readPdu, writePdu } from './pdu.ts';

/** The version number on the wire. */
export const VERSION_NUMBER = { v1: 0, v2c: 1, v3: 3 } as const;

export type SnmpVersion = keyof typeof VERSION_NUMBER;

/** Any message under this is answered in one datagram by every agent (RFC 3417 §3.2.1, msgMaxSize's minimum). */
export const MINIMUM_MESSAGE_BYTES = 484;

/** The largest payload of a UDP datagram over IPv4. */
export const MAXIMUM_MESSAGE_BYTES = 65_507;

export const USM_SECURITY_MODEL = 3;

/** RFC 3412 §6.4, msgFlags. */
export const MessageFlag = { auth: 1, priv: 2, reportable: 4 } as const;

export interface CommunityMessage {
  readonly version: 'v1' | 'v2c';
  readonly community: Uint8Array;
  readonly pdu: Pdu;
}

export interface V3Header {
  readonly messageId: number;
  readonly maxSize: number;
  readonly flags: number;
  readonly securityModel: number;
}

export interface ScopedPdu {
  readonly contextEngineId: Uint8Array;
  readonly contextName: Uint8Array;
  readonly pdu: Pdu;
}

/** A v3 message before security: parameters and data are views on the message's own bytes. */
export interface V3Message extends V3Header {
  readonly securityParameters: Uint8Array;
  /** The scoped PDU with its tag and length, or the content of the OCTET STRING that hides it. */
  readonly data: Uint8Array;
  readonly encrypted: boolean;
}

/** The version of any message, undefined when it is none of ours. */
export function versionOf(message: Uint8Array): SnmpVersion | undefined {
  const reader = new BerReader(message).readConstructed(Tag.sequence);
  const number = reader.readInteger();
  if (reader.failure !== undefined) return undefined;
  return number === 0 ? 'v1' : number === 1 ? 'v2c' : number === 3 ? 'v3' : undefined;
}

export function decodeCommunityMessage(bytes: Uint8Array): Decoded<CommunityMessage> {
  const reader = new BerReader(bytes).readConstructed(Tag.sequence);
  const number = reader.readInteger();
  if (number > 1 || number < 0) reader.fail(`version ${number} in a community message`);
  const community = copyBytes(reader.readBytes(Tag.octetString));
  const pdu = readPdu(reader);
  if (reader.failure !== undefined) return { ok: false, reason: reader.failure };
  return { ok: true, value: { version: number === 0 ? 'v1' : 'v2c', community, pdu } };
}

export function encodeCommunityMessage(message: CommunityMessage): Uint8Array {
  const writer = new BerWriter();
  writePdu(writer, message.pdu);
  writer.primitive(Tag.octetString, message.community);
  writer.integer(VERSION_NUMBER[message.version]);
  writer.wrap(Tag.sequence, 0);
  return writer.finish();
}

export function decodeV3Message(bytes: Uint8Array): Decoded<V3Message> {
  const reader = new BerReader(bytes).readConstructed(Tag.sequence);
  const version = reader.readInteger();
  if (version !== VERSION_NUMBER.v3) reader.fail(`version ${version} in a v3 message`);
  const header = reader.readConstructed(Tag.sequence);
  const messageId = header.readInteger();
  const maxSize = header.readInteger();
  const flagBytes = header.readBytes(Tag.octetString);
  if (flagBytes.length !== 1) header.fail('msgFlags is not one byte');
  const securityModel = header.readInteger();
  const securityParameters = reader.readBytes(Tag.octetString);
  const flags = flagBytes[0] ?? 0;
  const encrypted = (flags & MessageFlag.priv) !== 0;
  const start = reader.offset;
  const content = reader.readBytes(encrypted ? Tag.octetString : Tag.sequence);
  const data = encrypted ? content : bytes.subarray(start, reader.offset);
  const failure = reader.failure ?? header.failure;
  if (failure !== undefined) return { ok: false, reason: failure };
  return {
    ok: true,
    value: { messageId, maxSize, flags, securityModel, securityParameters, data, encrypted },
  };
}

export function encodeV3Message(message: V3Message): Uint8Array {
  const writer = new BerWriter(message.data.length + 160);
  if (message.encrypted) writer.primitive(Tag.octetString, message.data);
  else writer.raw(message.data);
  writer.primitive(Tag.octetString, message.securityParameters);
  const header = writer.length;
  writer.integer(message.securityModel);
  writer.primitive(Tag.octetString, Uint8Array.of(message.flags));
  writer.integer(message.maxSize);
  writer.integer(message.messageId);
  writer.wrap(Tag.sequence, header);
  writer.integer(VERSION_NUMBER.v3);
  writer.wrap(Tag.sequence, 0);
  return writer.finish();
}

export function decodeScopedPdu(bytes: Uint8Array): Decoded<ScopedPdu> {
  // Bytes may follow: a block cipher's padding (RFC 3414 §8.1.1.2).
  const reader = new BerReader(bytes).readConstructed(Tag.sequence);
  const contextEngineId = copyBytes(reader.readBytes(Tag.octetString));
  const contextName = copyBytes(reader.readBytes(Tag.octetString));
  const pdu = readPdu(reader);
  if (reader.failure !== undefined) return { ok: false, reason: reader.failure };
  return { ok: true, value: { contextEngineId, contextName, pdu } };
}

export function encodeScopedPdu(scoped: ScopedPdu): Uint8Array {
  const writer = new BerWriter();
  writePdu(writer, scoped.pdu);
  writer.primitive(Tag.octetString, scoped.contextName);
  writer.primitive(Tag.octetString, scoped.contextEngineId);
  writer.wrap(Tag.sequence, 0);
  return writer.finish();
}

/**
 * The id by which an answer finds its request, without decoding the rest: the request id of v1 and v2c, the message
 * id of v3. Undefined when there is none to read.
 */
export function requestIdOf(datagram: Uint8Array): number | undefined {
  const reader = new BerReader(datagram);
  reader.readHeader(Tag.sequence);
  const version = reader.readInteger();
  if (version === VERSION_NUMBER.v3) {
    reader.readHeader(Tag.sequence);
  } else {
    const communityLength = reader.readHeader(Tag.octetString);
    reader.offset += communityLength;
    reader.readHeader(reader.peekTag());
  }
  const id = reader.readInteger();
  return reader.failure === undefined ? id : undefined;
}

import { type BgpError, bgpError, ERROR_CODE, MESSAGE_HEADER_SUBCODE } from './error.ts';
import { viewOf } from './octet-words.ts';
import { octetsOf } from './octet-writer.ts';

/*
 * RFC 4271 §4.1
 *
 *   0                   1                   2                   3
 *   +---------------------------------------------------------------+
 *   |                       Marker (16 octets, all ones)            |
 *   +-------------------------------+---------------+---------------+
 *   |            Length             |     Type      |
 *   +-------------------------------+---------------+
 */

export const HEADER_LENGTH = 19;
export const MARKER_LENGTH = 16;
/** RFC 4271 §4.1; also for OPEN and KEEPALIVE where extended messages are agreed (RFC 8654 §4). */
export const MAXIMUM_MESSAGE_LENGTH = 4096;
/** RFC 8654 §4. */
export const EXTENDED_MAXIMUM_MESSAGE_LENGTH = 65535;

export const MESSAGE_TYPE = { open: 1, update: 2, notification: 3, keepalive: 4, routeRefresh: 5 } as const;
export type MessageType = (typeof MESSAGE_TYPE)[keyof typeof MESSAGE_TYPE];

/** The least length of each message, RFC 4271 §6.1 and RFC 2918 §3. */
const MINIMUM_LENGTH: Record<MessageType, number> = { 1: 29, 2: 23, 3: 21, 4: 19, 5: 23 };

export interface Header {
  readonly type: MessageType;
  /** Of the whole message, header included. */
  readonly length: number;
}

/**
 * Decodes the 19 octets at `offset`, which the caller has made sure are there.
 * Errors are those of RFC 4271 §6.1, with its data: the Length field, or the Type field.
 * @param maximumLength 4096, or 65535 where we announced extended messages.
 */
export function decodeHeader(octets: Uint8Array, offset: number, maximumLength: number): Header | BgpError {
  const view = viewOf(octets);
  const marker =
    view.getInt32(offset) &
    view.getInt32(offset + 4) &
    view.getInt32(offset + 8) &
    view.getInt32(offset + 12);
  if (marker !== -1) {
    return bgpError(
      ERROR_CODE.messageHeaderError,
      MESSAGE_HEADER_SUBCODE.connectionNotSynchronized,
      'the Marker is not all ones: what the peer sends is not BGP, or octets were lost',
    );
  }
  const length = ((octets[offset + 16] as number) << 8) | (octets[offset + 17] as number);
  const type = octets[offset + 18] as number;
  if (length < HEADER_LENGTH || length > maximumLength) return badLength(length, type);
  if (!isMessageType(type)) {
    return bgpError(
      ERROR_CODE.messageHeaderError,
      MESSAGE_HEADER_SUBCODE.badMessageType,
      `message type ${type} is not known`,
      octetsOf([type, 1]),
    );
  }
  const tooLongForItsType =
    (type === MESSAGE_TYPE.keepalive && length !== HEADER_LENGTH) ||
    (type === MESSAGE_TYPE.open && length > MAXIMUM_MESSAGE_LENGTH);
  if (length < MINIMUM_LENGTH[type] || tooLongForItsType) return badLength(length, type);
  return { type, length };
}

/** A message of this type around `body`. */
export function encodeMessage(type: MessageType, body: Uint8Array): Uint8Array {
  const message = new Uint8Array(HEADER_LENGTH + body.length);
  message.fill(0xff, 0, MARKER_LENGTH);
  message[16] = message.length >> 8;
  message[17] = message.length & 0xff;
  message[18] = type;
  message.set(body, HEADER_LENGTH);
  return message;
}

/** The name that RFC 4271 §4.1 gives the type, or its number. */
export function nameMessage(type: number): string {
  return ['OPEN', 'UPDATE', 'NOTIFICATION', 'KEEPALIVE', 'ROUTE-REFRESH'][type - 1] ?? `type ${type}`;
}

function isMessageType(type: number): type is MessageType {
  return type >= MESSAGE_TYPE.open && type <= MESSAGE_TYPE.routeRefresh;
}

function badLength(length: number, type: number): BgpError {
  return bgpError(
    ERROR_CODE.messageHeaderError,
    MESSAGE_HEADER_SUBCODE.badMessageLength,
    `a ${nameMessage(type)} message of ${length} octets`,
    octetsOf([length, 2]),
  );
}

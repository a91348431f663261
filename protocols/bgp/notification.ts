import { type BgpError, CEASE_SUBCODE, ERROR_CODE } from './error.ts';
import { encodeMessage, HEADER_LENGTH, MESSAGE_TYPE } from './header.ts';
import { concatenate } from './octet-writer.ts';

/** RFC 4271 §4.5: error code, subcode, data to the end of the message. */
export interface Notification {
  readonly code: number;
  readonly subcode: number;
  readonly data: Uint8Array;
}

/** RFC 9003 §2: the text's length is one octet. */
export const SHUTDOWN_TEXT_OCTETS = 255;

/** Decodes a whole message; the header was checked, so code and subcode are there (RFC 4271 §6.1, at least 21 octets). */
export function decodeNotification(octets: Uint8Array): Notification {
  return {
    code: octets[HEADER_LENGTH] ?? 0,
    subcode: octets[HEADER_LENGTH + 1] ?? 0,
    // A copy: it is kept as `last-notification-received` when the receive buffer is long gone.
    data: octets.slice(HEADER_LENGTH + 2),
  };
}

/** Data that would take the message over its maximum is cut (RFC 4271 §4.1, RFC 8654 §4). */
export function encodeNotification(
  error: Pick<BgpError, 'code' | 'subcode' | 'data'>,
  maximumLength: number,
): Uint8Array {
  const data = error.data.subarray(0, maximumLength - HEADER_LENGTH - 2);
  return encodeMessage(
    MESSAGE_TYPE.notification,
    concatenate(Uint8Array.of(error.code, error.subcode), data),
  );
}

/** The data of a Cease with a text for the peer's operator (RFC 9003 §2); cut at a character to 255 octets. */
export function encodeShutdownText(text: string): Uint8Array {
  if (text === '') return new Uint8Array(0);
  const encoder = new TextEncoder();
  const octets = new Uint8Array(1 + SHUTDOWN_TEXT_OCTETS);
  const { written } = encoder.encodeInto(text, octets.subarray(1));
  octets[0] = written;
  return octets.subarray(0, 1 + written);
}

/**
 * The text that a Cease carries: RFC 9003 for Administrative Shutdown and Reset, also inside a Hard Reset (RFC 8538 §3.1).
 * `""` when there is none, or when it is not what the RFC says (its octets are shown as hex anyway).
 */
export function decodeShutdownText(notification: Notification): string {
  if (notification.code !== ERROR_CODE.cease) return '';
  const inner = hardResetReason(notification);
  if (inner !== undefined) return decodeShutdownText(inner);
  const carriesText =
    notification.subcode === CEASE_SUBCODE.administrativeShutdown ||
    notification.subcode === CEASE_SUBCODE.administrativeReset;
  const [length] = notification.data;
  if (!carriesText || length === undefined || length === 0 || length > notification.data.length - 1)
    return '';
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(notification.data.subarray(1, 1 + length));
  } catch {
    return '';
  }
}

/** What a Hard Reset is for: the NOTIFICATION inside it (RFC 8538 §3.1). Undefined for all else, and one inside another. */
export function hardResetReason({ code, subcode, data }: Notification): Notification | undefined {
  if (code !== ERROR_CODE.cease || subcode !== CEASE_SUBCODE.hardReset) return undefined;
  const [innerCode, innerSubcode] = data;
  if (innerCode === undefined || innerSubcode === undefined) return undefined;
  if (innerCode === ERROR_CODE.cease && innerSubcode === CEASE_SUBCODE.hardReset) return undefined;
  return { code: innerCode, subcode: innerSubcode, data: data.subarray(2) };
}

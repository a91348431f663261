import { encodeMessage, MESSAGE_TYPE } from './header.ts';

/** RFC 4271 §4.4: a header and nothing else. */
export function encodeKeepalive(): Uint8Array {
  return encodeMessage(MESSAGE_TYPE.keepalive, new Uint8Array(0));
}

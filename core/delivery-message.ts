/** One request of a delivery: what a receiver gets as one body. */
export interface PackedRequest {
  readonly body: Uint8Array;
  /** Records in the body: 1, or those of a cycle. */
  readonly records: number;
  readonly deviceId: number;
}

/** What a queue message says beside its payload; enough to count it when the payload cannot be had. */
export interface DeliveryHead {
  /** Made by the packer, so that a message sent twice by a retry is still one delivery. */
  readonly id: string;
  /** When the oldest of its records was collected, ms since the epoch. */
  readonly packedAt: number;
  readonly requests: number;
  readonly records: number;
}

/** A queue message: the compressed requests, or the key of the S3 object that holds them. */
export type DeliveryMessage = DeliveryHead &
  ({ readonly payload: Uint8Array } | { readonly objectKey: string });

/** The version of the message; a sender refuses a newer one, which then stays in the queue. */
export const DELIVERY_MESSAGE_VERSION = 1;

/** Before each body: its length, its records (4 bytes each) and its device (8 bytes, a double: ids are exact in it). */
const REQUEST_HEAD_BYTES = 16;

/** The bytes that requests take before compression. */
export function packedLength(requests: readonly PackedRequest[]): number {
  return requests.reduce((sum, { body }) => sum + REQUEST_HEAD_BYTES + body.length, 0);
}

/** Requests back to back, in order. */
export function encodeRequests(requests: readonly PackedRequest[]): Uint8Array {
  const bytes = new Uint8Array(packedLength(requests));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { body, records, deviceId } of requests) {
    view.setUint32(at, body.length);
    view.setUint32(at + 4, records);
    view.setFloat64(at + 8, deviceId);
    bytes.set(body, at + REQUEST_HEAD_BYTES);
    at += REQUEST_HEAD_BYTES + body.length;
  }
  return bytes;
}

/** The requests of encodeRequests, their bodies as views into `bytes`; undefined when the bytes are not such. */
export function decodeRequests(bytes: Uint8Array): PackedRequest[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const requests: PackedRequest[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + REQUEST_HEAD_BYTES > bytes.length) return undefined;
    const end = at + REQUEST_HEAD_BYTES + view.getUint32(at);
    if (end > bytes.length) return undefined;
    requests.push({
      body: bytes.subarray(at + REQUEST_HEAD_BYTES, end),
      records: view.getUint32(at + 4),
      deviceId: view.getFloat64(at + 8),
    });
    at = end;
  }
  return requests;
}

/** The text of a queue message. */
export function formatDeliveryMessage(message: DeliveryMessage): string {
  const { id, packedAt, requests, records } = message;
  return JSON.stringify({
    v: DELIVERY_MESSAGE_VERSION,
    id,
    'packed-at': packedAt,
    requests,
    records,
    ...('payload' in message
      ? { payload: Buffer.from(message.payload).toString('base64') }
      : { 'object-key': message.objectKey }),
  });
}

/** Reads a queue message. Throws when it is none, or of a newer version. */
export function parseDeliveryMessage(text: string): DeliveryMessage {
  const value = JSON.parse(text) as Record<string, unknown>;
  if (typeof value['v'] !== 'number' || value['v'] > DELIVERY_MESSAGE_VERSION) {
    throw new Error(
      `a delivery message has version ${value['v']}; this code reads up to ${DELIVERY_MESSAGE_VERSION}`,
    );
  }
  const head: DeliveryHead = {
    id: textMember(value, 'id'),
    packedAt: countMember(value, 'packed-at'),
    requests: countMember(value, 'requests'),
    records: countMember(value, 'records'),
  };
  return value['object-key'] === undefined
    ? { ...head, payload: Buffer.from(textMember(value, 'payload'), 'base64') }
    : { ...head, objectKey: textMember(value, 'object-key') };
}

function textMember(value: Record<string, unknown>, name: string): string {
  const member = value[name];
  if (typeof member !== 'string') throw new Error(`a delivery message has no ${name}`);
  return member;
}

function countMember(value: Record<string, unknown>, name: string): number {
  const member = value[name];
  if (!Number.isSafeInteger(member) || (member as number) < 0)
    throw new Error(`a delivery message has no ${name}`);
  return member as number;
}

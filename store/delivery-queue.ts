import { constants } from 'node:zlib';
import { ChangeMessageVisibilityCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { BUCKETS } from '../contract/buckets.ts';
import { ENV } from '../contract/env.ts';
import { LIMITS } from '../contract/limits.ts';
import {
  type DeliveryHead,
  type DeliveryMessage,
  decodeRequests,
  encodeRequests,
  formatDeliveryMessage,
  type PackedRequest,
} from '../core/delivery-message.ts';
import { sqs } from './clients.ts';
import { compressZstd, decompressZstd } from './compression.ts';
import type { ObjectPlace } from './object-store.ts';

/** Level 1 packs records as well as 3 does, in half the time. */
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** No message of ours opens to more: a cycle of this size has millions of records. */
const OPENED_LIMIT_BYTES = 1_073_741_824;

/** Opened in pieces of this size, of which nearly every message has one: each piece is a turn of the event loop. */
const OPENED_PIECE_BYTES = 2_097_152;

/** Puts requests into the queue as one message, through an S3 object when they are too large for one. */
export async function sendDelivery(
  head: Pick<DeliveryHead, 'id' | 'packedAt'>,
  requests: readonly PackedRequest[],
): Promise<void> {
  const payload = await compressZstd(encodeRequests(requests), COMPRESSION);
  const whole: DeliveryHead = {
    ...head,
    requests: requests.length,
    records: requests.reduce((sum, request) => sum + request.records, 0),
  };
  let text = formatDeliveryMessage({ ...whole, payload });
  if (text.length > LIMITS.messageBytes) {
    const objectKey = `deliveries/${head.id}`;
    const { putObject } = await import('./object-store.ts');
    await putObject(placeOf(objectKey), payload);
    text = formatDeliveryMessage({ ...whole, objectKey });
  }
  await sqs().send(new SendMessageCommand({ QueueUrl: queueUrl(), MessageBody: text }));
}

/** The requests of a message. Throws when they are not what its head says. */
export async function openDelivery(message: DeliveryMessage): Promise<PackedRequest[]> {
  const compressed = 'payload' in message ? message.payload : await readPayload(message.objectKey);
  const limits = { maxOutputLength: OPENED_LIMIT_BYTES, chunkSize: OPENED_PIECE_BYTES };
  const requests = decodeRequests(await decompressZstd(compressed, limits));
  if (requests?.length !== message.requests) {
    throw new Error(
      `delivery ${message.id} holds ${requests?.length ?? 'no'} requests of ${message.requests}`,
    );
  }
  return requests;
}

/** Removes what a message that is done with has left in S3; what this misses, the bucket's own expiry takes. */
export async function removePayload(message: DeliveryMessage): Promise<void> {
  if ('payload' in message) return;
  const { removeObject } = await import('./object-store.ts');
  await removeObject(placeOf(message.objectKey));
}

/**
 * Makes a received message visible again after so many seconds, instead of after the rest of its timeout. At least one:
 * at zero the emulator of the local run (fauxqs 2.4.1, on SQLite) answers an error and forgets the message until it restarts.
 */
export async function showDeliveryAgain(receiptHandle: string, afterSeconds: number): Promise<void> {
  await sqs().send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: queueUrl(),
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: Math.max(1, afterSeconds),
    }),
  );
}

async function readPayload(objectKey: string): Promise<Uint8Array> {
  const { readObject } = await import('./object-store.ts');
  return readObject(placeOf(objectKey));
}

function queueUrl(): string {
  return process.env[ENV.deliveriesQueue] ?? '';
}

function placeOf(key: string): ObjectPlace {
  return { bucket: process.env[ENV.payloadsBucket] ?? BUCKETS.payloads.name, key };
}

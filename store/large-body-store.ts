/** Answers that are too large for API Gateway wait in S3 for the caller who asked for them. */
import { randomUUID } from 'node:crypto';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { BUCKETS } from '../contract/buckets.ts';
import { s3 } from './clients.ts';

/** Long enough to follow a redirect on a slow line; the body itself may take longer to arrive. */
const LINK_LIFE_SECONDS = 300;

export interface LargeBody {
  readonly octets: Uint8Array;
  readonly contentType: string;
  /** `gzip`, or undefined for octets as they are. */
  readonly contentEncoding: string | undefined;
}

/** A body may be given again as the same octets: it is stored once, for less than the day after which the bucket drops it. */
const STORED_FOR_MILLISECONDS = 60 * 60 * 1000;
const stored = new WeakMap<Uint8Array, { readonly key: string; readonly at: number }>();

/** Stores a body and returns an address that gives it to whoever has the address, for some minutes. */
export async function putLargeBody(body: LargeBody): Promise<string> {
  const bucket = process.env[BUCKETS.topology.environment] ?? BUCKETS.topology.name;
  const before = stored.get(body.octets);
  const isKept = before !== undefined && Date.now() - before.at < STORED_FOR_MILLISECONDS;
  const key = isKept ? before.key : randomUUID();
  if (!isKept) await putObject(bucket, key, body);
  return getSignedUrl(s3(), new GetObjectCommand({ Bucket: bucket, Key: key }), {
    expiresIn: LINK_LIFE_SECONDS,
  });
}

async function putObject(bucket: string, key: string, body: LargeBody): Promise<void> {
  await s3().send(
    new PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Body: body.octets,
      ContentType: body.contentType,
      ...(body.contentEncoding === undefined ? {} : { ContentEncoding: body.contentEncoding }),
    }),
  );
  stored.set(body.octets, { key, at: Date.now() });
}

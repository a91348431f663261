/**
 * Objects in S3. To load its client takes 15 ms of processor time, so this file is reached by `import()` alone, when an object is
 * wanted, and the bundles have it as a file of its own (decision 0114).
 */
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { intercepted } from './call-interception.ts';

let client: S3Client | undefined;

function s3(): S3Client {
  client ??= intercepted(new S3Client({ maxAttempts: 3 }));
  return client;
}

/** Where an object is. */
export interface ObjectPlace {
  readonly bucket: string;
  readonly key: string;
}

/** What HTTP says of an object to who reads it by a link. */
export interface ObjectHeaders {
  readonly contentType: string;
  /** `gzip`, or undefined for octets as they are. */
  readonly contentEncoding: string | undefined;
}

export async function putObject(
  { bucket, key }: ObjectPlace,
  octets: Uint8Array,
  headers?: ObjectHeaders,
): Promise<void> {
  await s3().send(
    new PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Body: octets,
      ...(headers === undefined ? {} : { ContentType: headers.contentType }),
      ...(headers?.contentEncoding === undefined ? {} : { ContentEncoding: headers.contentEncoding }),
    }),
  );
}

export async function readObject({ bucket, key }: ObjectPlace): Promise<Uint8Array> {
  const { Body } = await s3().send(new GetObjectCommand({ Bucket: bucket, Key: key }));
  if (Body === undefined) throw new Error(`the object ${key} has no body`);
  return Body.transformToByteArray();
}

export async function removeObject({ bucket, key }: ObjectPlace): Promise<void> {
  await s3().send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
}

/** An address that gives the object to whoever has the address, for so many seconds. Made without a call. */
export async function linkToObject({ bucket, key }: ObjectPlace, lifeSeconds: number): Promise<string> {
  return getSignedUrl(s3(), new GetObjectCommand({ Bucket: bucket, Key: key }), { expiresIn: lifeSeconds });
}

import { ENV } from './env.ts';

export interface Bucket {
  /** The name's beginning; in AWS, where names are the world's, the account and region follow. */
  readonly name: string;
  /** The variable that holds the bucket's whole name. */
  readonly environment: string;
  /** Objects older than this are removed by the bucket itself; absent: whoever wrote them removes them. */
  readonly expireDays?: number;
}

export type BucketName = 'payloads' | 'topology';

export const BUCKETS: Readonly<Record<BucketName, Bucket>> = {
  /** Packed requests that are too large for a queue's message, parts of snapshots that are too large for an item. */
  payloads: { name: 'graticule-payloads', environment: ENV.payloadsBucket, expireDays: 2 },
  /** Answers of the API that are too large for API Gateway, until their callers have fetched them. */
  topology: { name: 'graticule-topology', environment: ENV.topologyBucket, expireDays: 1 },
};

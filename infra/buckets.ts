import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { BUCKETS, type BucketName } from '../contract/buckets.ts';
import { grant, type Runtime } from './grant.ts';
import type { Settings } from './settings.ts';

/** What is too large for a queue's message or for API Gateway: private, encrypted, over TLS only, gone after days. */
export class Buckets extends Construct {
  readonly buckets: Readonly<Record<BucketName, Bucket>>;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const make = (name: BucketName, constructId: string): Bucket => {
      const { expireDays } = BUCKETS[name];
      return new Bucket(this, constructId, {
        encryption: BucketEncryption.S3_MANAGED,
        blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
        objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
        enforceSSL: true,
        minimumTLSVersion: 1.2,
        lifecycleRules: [
          {
            ...(expireDays === undefined ? {} : { expiration: Duration.days(expireDays) }),
            abortIncompleteMultipartUploadAfter: Duration.days(1),
          },
        ],
        removalPolicy: settings.stage === 'production' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      });
    };
    this.buckets = { payloads: make('payloads', 'Payloads'), topology: make('topology', 'Topology') };
  }

  grantTo(runtime: Runtime): void {
    for (const [name, bucket] of Object.entries(this.buckets) as [BucketName, Bucket][]) {
      grant(runtime, {
        resource: `bucket:${name}`,
        environment: { [BUCKETS[name].environment]: bucket.bucketName },
        // Objects have names that nobody knows beforehand; only listing is asked of the bucket itself.
        arnFor: (action) => (action === 's3:ListBucket' ? bucket.bucketArn : bucket.arnForObjects('*')),
      });
    }
  }
}

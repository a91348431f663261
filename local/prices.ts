/**
 * List prices of AWS in us-east-1, US dollars, as public pages gave them on the day named. They change: look again before
 * you rely on them. No free tier, no savings plan and no tax is in them.
 */
export const PRICES_AS_OF = '2026-11-21';

export interface Price {
  readonly dollars: number;
  /** What one of them is. */
  readonly per: string;
  /** Where it was read. */
  readonly source: string;
}

const FARGATE = 'https://www.vantage.sh/blog/fargate-pricing (Linux/ARM)';
const DYNAMODB =
  'https://airbyte.com/data-engineering-resources/dynamodb-pricing (US East, after November 2024)';
const NETWORK = 'https://cloudburn.io/blog/aws-nat-gateway-pricing (24 February 2026)';
const LAMBDA = 'https://aws.amazon.com/lambda/pricing/ (Arm, first tier)';

export const PRICES = {
  fargateCpuHour: { dollars: 0.03238, per: 'vCPU-hour', source: FARGATE },
  fargateGigabyteHour: { dollars: 0.00356, per: 'GB-hour', source: FARGATE },
  publicAddressHour: { dollars: 0.005, per: 'public IPv4 address-hour', source: NETWORK },
  natGatewayHour: { dollars: 0.045, per: 'NAT gateway-hour', source: NETWORK },
  natGatewayGigabyte: { dollars: 0.045, per: 'GB through a NAT gateway', source: NETWORK },
  interfaceEndpointHour: {
    dollars: 0.01,
    per: 'interface endpoint-hour and zone',
    source:
      'https://www.factualminds.com/blog/amazon-vpc-pricing-endpoints-peering-transit-gateway/ (13 June 2026)',
  },
  dynamodbWriteUnit: { dollars: 0.625e-6, per: 'write request unit', source: DYNAMODB },
  dynamodbReadUnit: { dollars: 0.125e-6, per: 'read request unit', source: DYNAMODB },
  sqsRequest: {
    dollars: 0.4e-6,
    per: 'request of a standard queue',
    source: 'https://adhdecode-articles-4.pages.dev/articles/sqs/sqs-cost-per-million-messages-pricing',
  },
  lambdaRequest: { dollars: 0.2e-6, per: 'invocation', source: LAMBDA },
  lambdaGigabyteSecond: { dollars: 0.0000133334, per: 'GB-second', source: LAMBDA },
  customMetric: {
    dollars: 0.3,
    per: 'metric and month',
    source: 'https://002-workshop-application-performance-monitoring.huyanh.click/5-optimization',
  },
  alarm: {
    dollars: 0.1,
    per: 'metric that an alarm watches, and month',
    source: 'https://002-workshop-application-performance-monitoring.huyanh.click/5-optimization',
  },
  logGigabyte: {
    dollars: 0.5,
    per: 'GB of log taken in',
    source: 'https://002-workshop-application-performance-monitoring.huyanh.click/5-optimization',
  },
  secret: {
    dollars: 0.4,
    per: 'secret and month',
    source: 'https://hivebook.wiki/wiki/aws-secrets-manager-rotated-secrets-dynamic-db-credentials-kms',
  },
  apiRequest: {
    dollars: 1e-6,
    per: 'request of an HTTP API',
    source: 'https://go-cloud.io/aws-api-gateway-pricing (2026)',
  },
  outGigabyte: {
    dollars: 0.09,
    per: 'GB to the internet',
    source: 'https://cloudpipelines.pages.dev/guides/aws-nat-gateway-pricing-2026/',
  },
} as const satisfies Record<string, Price>;

export type PriceName = keyof typeof PRICES;

/** Limits that the product sets itself or that AWS sets for it, in the unit that each name ends with. */
export const LIMITS = {
  /** A request body of ours: larger is a 413. */
  requestBodyBytes: 1_048_576,
  /** What a Lambda may take or give in one invocation, envelope included (AWS Lambda quotas). */
  lambdaPayloadBytes: 6_291_456,
  /** An answer's body, compressed if it is, that goes out directly; a larger one is a redirect to S3. */
  directBodyBytes: 4_194_304,
  /** Request line and headers of one API Gateway HTTP API request (AWS API Gateway quotas). */
  gatewayHeaderBytes: 10_240,
  /** An API Gateway HTTP API integration answers within this time, or the caller gets a 503. */
  gatewayTimeoutMilliseconds: 30_000,
  /** What API Gateway itself takes or gives as one body (AWS API Gateway quotas). */
  gatewayPayloadBytes: 10_485_760,
  /** One DynamoDB item, attribute names included. */
  itemBytes: 409_600,
  partitionKeyBytes: 2_048,
  sortKeyBytes: 1_024,
  /** What one DynamoDB Query or Scan call reads before it gives a LastEvaluatedKey. */
  pageBytes: 1_048_576,
  batchWriteItems: 25,
  batchGetKeys: 100,
  transactItems: 100,
  /** All items of one DynamoDB transaction together. */
  transactBytes: 4_194_304,
  /** One expression of a DynamoDB call: condition, update, projection, filter or key condition. */
  expressionBytes: 4_096,
  /** What DynamoDB takes for one partition in a second, however the table is billed. */
  partitionWriteUnitsPerSecond: 1_000,
  /** One SQS message, or one batch of them, with attributes. */
  messageBytes: 1_048_576,
  messageBatchEntries: 10,
  /** One value of AWS Secrets Manager. */
  secretBytes: 65_536,
} as const;

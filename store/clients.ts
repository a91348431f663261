/** Clients that are made by their first use. S3's is in `object-store.ts`, which is loaded when it is wanted. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { intercepted } from './call-interception.ts';

const clients: {
  dynamodb?: DynamoDBClient;
  secretsManager?: SecretsManagerClient;
  sqs?: SQSClient;
} = {};

/**
 * The process's one DynamoDB client. Its middleware is put together once for each command: with the logger's left out,
 * a call costs 0.23 ms of processor time in place of 0.27 ms, and 0.33 ms in place of 0.58 ms in a young process.
 * Endpoint, region and credentials come from the standard AWS environment.
 */
export function dynamodb(): DynamoDBClient {
  clients.dynamodb ??= intercepted(new DynamoDBClient({ maxAttempts: 3, cacheMiddleware: true }));
  return clients.dynamodb;
}

/** The process's one Secrets Manager client. */
export function secretsManager(): SecretsManagerClient {
  clients.secretsManager ??= intercepted(new SecretsManagerClient({ maxAttempts: 3 }));
  return clients.secretsManager;
}

/** The process's one SQS client. */
export function sqs(): SQSClient {
  clients.sqs ??= intercepted(new SQSClient({ maxAttempts: 3 }));
  return clients.sqs;
}

import type { BucketName } from './buckets.ts';
import type { QueueFunction, QueueName } from './queues.ts';
import type { ApiFunction } from './routes.ts';

/** The Lambda functions that a schedule or a person invokes. */
export type OperationFunction = 'rotate-keyring';

/** Who calls AWS: each Lambda function by its name, the worker, and the one-off set-up of a stack. */
export type Principal = ApiFunction | QueueFunction | OperationFunction | 'worker' | 'setup';

/** A table, a secret, a queue or a bucket. */
export type Resource =
  | 'config'
  | 'runtime'
  | 'keyring'
  | 'token'
  | `queue:${QueueName}`
  | `bucket:${BucketName}`;

export type Action =
  | 'dynamodb:GetItem'
  | 'dynamodb:BatchGetItem'
  | 'dynamodb:Query'
  | 'dynamodb:PutItem'
  | 'dynamodb:UpdateItem'
  | 'dynamodb:DeleteItem'
  | 'dynamodb:BatchWriteItem'
  | 'dynamodb:ConditionCheckItem'
  | 'secretsmanager:GetSecretValue'
  | 'secretsmanager:CreateSecret'
  | 'secretsmanager:PutSecretValue'
  | 'sqs:SendMessage'
  | 'sqs:ReceiveMessage'
  | 'sqs:DeleteMessage'
  | 'sqs:ChangeMessageVisibility'
  | 'sqs:GetQueueAttributes'
  | 's3:GetObject'
  | 's3:PutObject'
  | 's3:DeleteObject'
  | 's3:ListBucket';

export type Grants = Partial<Record<Resource, readonly Action[]>>;

const READ = ['dynamodb:GetItem', 'dynamodb:Query'] as const;
const WRITE = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'] as const;

/** What Lambda's polling of a queue needs of the function's role. */
const CONSUME = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'] as const;

/**
 * What each principal may call, and nothing else: IAM policies are made from these rows, and the quota guard of the
 * local run and of the tests refuses whatever is not in them.
 */
export const GRANTS: Readonly<Record<Principal, Grants>> = {
  peers: {
    config: [...READ, ...WRITE],
    runtime: [...READ, 'dynamodb:PutItem'],
    keyring: ['secretsmanager:GetSecretValue'],
  },
  topology: {
    config: READ,
    runtime: ['dynamodb:Query'],
    'bucket:topology': ['s3:GetObject', 's3:PutObject'],
  },
  models: {
    config: [...READ, ...WRITE],
    runtime: [...READ, 'dynamodb:PutItem'],
    'queue:jobs': ['sqs:SendMessage'],
    'bucket:payloads': ['s3:GetObject', 's3:DeleteObject'],
    'bucket:topology': ['s3:GetObject', 's3:PutObject'],
  },
  devices: {
    config: [...READ, ...WRITE],
    runtime: ['dynamodb:Query'],
    keyring: ['secretsmanager:GetSecretValue'],
  },
  subscriptions: { config: [...READ, ...WRITE], runtime: ['dynamodb:Query'] },
  engine: { config: [...READ, 'dynamodb:PutItem', 'dynamodb:UpdateItem'], runtime: ['dynamodb:Query'] },
  tokens: { config: [...READ, ...WRITE] },
  outputs: {
    config: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
    runtime: [...READ, 'dynamodb:PutItem'],
    keyring: ['secretsmanager:GetSecretValue'],
  },
  worker: {
    config: READ,
    runtime: [...READ, ...WRITE],
    keyring: ['secretsmanager:GetSecretValue'],
    'queue:deliveries': ['sqs:SendMessage'],
    'queue:jobs': ['sqs:ReceiveMessage', 'sqs:DeleteMessage'],
    'bucket:payloads': ['s3:PutObject'],
  },
  'deliver-webhook': {
    config: ['dynamodb:GetItem'],
    runtime: ['dynamodb:PutItem', 'dynamodb:UpdateItem'],
    keyring: ['secretsmanager:GetSecretValue'],
    'queue:deliveries': [...CONSUME, 'sqs:ChangeMessageVisibility'],
    'bucket:payloads': ['s3:GetObject', 's3:DeleteObject'],
  },
  'count-undelivered': {
    runtime: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
    'queue:undelivered': CONSUME,
  },
  'rotate-keyring': {
    config: ['dynamodb:Query', 'dynamodb:UpdateItem'],
    keyring: ['secretsmanager:GetSecretValue', 'secretsmanager:PutSecretValue'],
  },
  setup: {
    config: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
    keyring: [
      'secretsmanager:GetSecretValue',
      'secretsmanager:PutSecretValue',
      'secretsmanager:CreateSecret',
    ],
    // In AWS, where nobody has a terminal to print the bootstrap token to.
    token: ['secretsmanager:GetSecretValue', 'secretsmanager:PutSecretValue'],
  },
};

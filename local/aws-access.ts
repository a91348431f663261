import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Action } from '../contract/grants.ts';
import { TABLES } from '../contract/tables.ts';

type Item = Readonly<Record<string, AttributeValue>>;
type Input = Readonly<Record<string, unknown>>;

/** One thing that a call does to one table or secret. A batch or a transaction does several. */
export interface AwsAccess {
  /** The IAM action that permits it. */
  readonly action: Action;
  /** The table's or bucket's name, the queue's URL or the secret's id, as the call gives it. */
  readonly target: string;
  readonly key?: { readonly partition: AttributeValue; readonly sort: AttributeValue | undefined };
  /** What is written whole; an update's result is not known before it is made. */
  readonly item?: Item;
  readonly expressions: readonly string[];
  readonly inTransaction: boolean;
}

const EXPRESSIONS = [
  'ConditionExpression',
  'UpdateExpression',
  'ProjectionExpression',
  'FilterExpression',
  'KeyConditionExpression',
] as const;

const SINGLE = new Set(['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query']);
const SECRETS = new Set(['GetSecretValue', 'CreateSecret', 'PutSecretValue']);

/** IAM knows one action for the single form of an SQS command and for its batch. */
const QUEUE_ACTIONS: Readonly<Record<string, Action>> = {
  SendMessage: 'sqs:SendMessage',
  SendMessageBatch: 'sqs:SendMessage',
  ReceiveMessage: 'sqs:ReceiveMessage',
  DeleteMessage: 'sqs:DeleteMessage',
  DeleteMessageBatch: 'sqs:DeleteMessage',
  ChangeMessageVisibility: 'sqs:ChangeMessageVisibility',
  ChangeMessageVisibilityBatch: 'sqs:ChangeMessageVisibility',
  GetQueueAttributes: 'sqs:GetQueueAttributes',
};

const BUCKET_ACTIONS: Readonly<Record<string, Action>> = {
  GetObject: 's3:GetObject',
  HeadObject: 's3:GetObject',
  PutObject: 's3:PutObject',
  DeleteObject: 's3:DeleteObject',
  DeleteObjects: 's3:DeleteObject',
  ListObjectsV2: 's3:ListBucket',
};

/**
 * What a call does, by IAM's names. IAM has no action for a transaction: each part of it asks for its own, and a
 * condition check for `dynamodb:ConditionCheckItem`. Empty for a command that no row of the grants can permit.
 */
export function accessesOf(command: string, input: Input): AwsAccess[] {
  if (SECRETS.has(command)) {
    const target = String(input['SecretId'] ?? input['Name'] ?? '');
    return [{ action: `secretsmanager:${command}` as Action, target, expressions: [], inTransaction: false }];
  }
  const plain = QUEUE_ACTIONS[command] ?? BUCKET_ACTIONS[command];
  if (plain !== undefined) {
    const target = String(input['QueueUrl'] ?? input['Bucket'] ?? '');
    return [{ action: plain, target, expressions: [], inTransaction: false }];
  }
  if (SINGLE.has(command)) return [access(command, input, false)];
  switch (command) {
    case 'BatchGetItem':
      return perTable(input).flatMap(([target, request]) =>
        ((request as { Keys?: Item[] }).Keys ?? []).map((key) =>
          access(command, { TableName: target, Key: key }, false),
        ),
      );
    case 'BatchWriteItem':
      return perTable(input).flatMap(([target, requests]) =>
        (requests as { PutRequest?: Input; DeleteRequest?: Input }[]).map((request) =>
          access(command, { TableName: target, ...(request.PutRequest ?? request.DeleteRequest) }, false),
        ),
      );
    case 'TransactWriteItems':
    case 'TransactGetItems':
      return ((input['TransactItems'] ?? []) as Record<string, Input>[]).flatMap((part) =>
        Object.entries(part).map(([operation, operand]) =>
          access(operation === 'ConditionCheck' ? 'ConditionCheckItem' : `${operation}Item`, operand, true),
        ),
      );
    default:
      return [];
  }
}

function perTable(input: Input): [string, unknown][] {
  return Object.entries((input['RequestItems'] ?? {}) as Record<string, unknown>);
}

function access(operation: string, input: Input, inTransaction: boolean): AwsAccess {
  const item = input['Item'] as Item | undefined;
  const key = (input['Key'] as Item | undefined) ?? item;
  const partition = key?.[TABLES.config.partitionKey];
  return {
    action: `dynamodb:${operation}` as Action,
    target: String(input['TableName'] ?? ''),
    ...(partition === undefined ? {} : { key: { partition, sort: key?.[TABLES.config.sortKey] } }),
    ...(item === undefined ? {} : { item }),
    expressions: EXPRESSIONS.map((name) => input[name]).filter((value) => typeof value === 'string'),
    inTransaction,
  };
}

import { type AttributeValue, DynamoDBServiceException, ThrottlingException } from '@aws-sdk/client-dynamodb';
import { S3ServiceException } from '@aws-sdk/client-s3';
import { SecretsManagerServiceException } from '@aws-sdk/client-secrets-manager';
import { SQSServiceException } from '@aws-sdk/client-sqs';
import { type Action, GRANTS, type Grants, type Principal, type Resource } from '../contract/grants.ts';
import { LIMITS } from '../contract/limits.ts';
import type { AwsCall, CallInterceptor } from '../store/call-interception.ts';
import { type AwsAccess, accessesOf } from './aws-access.ts';
import { itemBytes } from './item-size.ts';

/**
 * Refuses what AWS would refuse and the emulators let through, with the errors that the SDK would give, and counts every
 * call. Always on in the local run and in tests, so that a limit is met on a laptop before it is met in an account.
 */
export interface QuotaGuard {
  readonly intercept: CallInterceptor;
  /** What was called since the start or the last `reset`, one row for each principal, command and resource. */
  counts(): CallCount[];
  reset(): void;
}

export interface CallCount {
  readonly principal: Principal;
  /** Without its ending, e.g. `PutItem`. */
  readonly command: string;
  readonly resource: Resource | 'unknown';
  readonly calls: number;
  /** Of `calls`, those that the guard refused. */
  readonly refused: number;
  /** DynamoDB's capacity units, as the emulator reckons them. */
  readonly readUnits: number;
  readonly writeUnits: number;
}

export interface QuotaGuardOptions {
  /** Whose call it is; undefined is refused, since in AWS nothing runs without a role. */
  readonly principal: () => Principal | undefined;
  /** The resource that a table's name or a secret's id stands for; undefined if it is none of ours. */
  readonly resource: (nameOrId: string) => Resource | undefined;
  /** Those of the contract, but for tests of the guard itself. */
  readonly grants?: Readonly<Record<Principal, Grants>>;
  /** For benches: also refuses more write units a second for one partition key than a partition takes. */
  readonly throttle?: { readonly now: () => number };
}

const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems']);

export function createQuotaGuard(options: QuotaGuardOptions): QuotaGuard {
  let rows = new Map<string, { -readonly [Member in keyof CallCount]: CallCount[Member] }>();
  const partitions = new Map<string, { second: number; units: number }>();

  const row = (principal: Principal, command: string, resource: CallCount['resource']) => {
    const key = `${principal} ${command} ${resource}`;
    let found = rows.get(key);
    if (found === undefined) {
      found = { principal, command, resource, calls: 0, refused: 0, readUnits: 0, writeUnits: 0 };
      rows.set(key, found);
    }
    return found;
  };

  const intercept: CallInterceptor = async (call, proceed) => {
    const command = call.command.replace(/Command$/, '');
    const accesses = accessesOf(command, call.input);
    const principal = options.principal();
    if (principal === undefined)
      throw refusal(call, 'AccessDeniedException', `${command} is called by nobody`);
    const resources = new Set(accesses.map((access) => options.resource(access.target) ?? 'unknown'));
    const counted = [...resources].map((resource) => row(principal, command, resource));
    for (const count of counted) count.calls += 1;
    try {
      refuseWithoutGrant(call, command, principal, accesses, options);
      if (call.client === 'DynamoDBClient') refuseOverLimits(call, command, accesses);
      if (call.client === 'SQSClient') refuseLongMessages(call, command);
      if (options.throttle !== undefined) {
        refuseHotPartition(accesses, options.throttle.now(), partitions);
      }
    } catch (error) {
      for (const count of counted) count.refused += 1;
      throw error;
    }
    if (call.client === 'DynamoDBClient') call.input['ReturnConsumedCapacity'] ??= 'TOTAL';
    const output = (await proceed()) as CapacityOutput & { Items?: Record<string, AttributeValue>[] };
    for (const consumed of [output.ConsumedCapacity ?? []].flat()) {
      const count = row(principal, command, options.resource(consumed.TableName ?? '') ?? 'unknown');
      const units = consumed.CapacityUnits ?? 0;
      if (WRITES.has(command)) count.writeUnits += units;
      else count.readUnits += units;
    }
    refuseLongPage(call, command, output.Items);
    return output;
  };

  return {
    intercept,
    counts: () => [...rows.values()].map((count) => ({ ...count })),
    reset: () => {
      rows = new Map();
    },
  };
}

interface ConsumedCapacity {
  readonly TableName?: string;
  readonly CapacityUnits?: number;
}

interface CapacityOutput {
  readonly ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[];
}

/** Every action on every resource of the call must be in the principal's row. */
function refuseWithoutGrant(
  call: AwsCall,
  command: string,
  principal: Principal,
  accesses: readonly AwsAccess[],
  options: QuotaGuardOptions,
): void {
  if (accesses.length === 0) {
    throw refusal(call, 'AccessDeniedException', `${principal} has no grant that covers ${command}`);
  }
  for (const { action, target } of accesses) {
    const resource = options.resource(target);
    const grants = (options.grants ?? GRANTS)[principal];
    const granted: readonly Action[] = (resource === undefined ? undefined : grants[resource]) ?? [];
    if (granted.includes(action)) continue;
    throw refusal(
      call,
      'AccessDeniedException',
      `User: ${principal} is not authorized to perform: ${action} on resource: ${target} because no identity-based policy allows the ${action} action`,
    );
  }
}

/** DynamoDB's limits on one request, in the words that it uses itself where they are known. */
function refuseOverLimits(call: AwsCall, command: string, accesses: readonly AwsAccess[]): void {
  const most =
    command === 'BatchWriteItem'
      ? LIMITS.batchWriteItems
      : command === 'BatchGetItem'
        ? LIMITS.batchGetKeys
        : command.startsWith('Transact')
          ? LIMITS.transactItems
          : 1;
  if (accesses.length > most) {
    throw refusal(
      call,
      'ValidationException',
      `Too many items requested for the ${command} call: ${accesses.length}, at most ${most}`,
    );
  }
  let written = 0;
  for (const { key, item, expressions } of accesses) {
    if (item !== undefined) {
      const bytes = itemBytes(item);
      written += bytes;
      if (bytes > LIMITS.itemBytes) {
        throw refusal(
          call,
          'ValidationException',
          `Item size has exceeded the maximum allowed size: ${bytes} bytes of ${LIMITS.itemBytes}`,
        );
      }
    }
    refuseBadKey(call, key);
    for (const expression of expressions) {
      if (Buffer.byteLength(expression) > LIMITS.expressionBytes) {
        throw refusal(
          call,
          'ValidationException',
          `Expression size has exceeded the maximum allowed size of ${LIMITS.expressionBytes} bytes`,
        );
      }
    }
  }
  if (command === 'TransactWriteItems' && written > LIMITS.transactBytes) {
    throw refusal(
      call,
      'ValidationException',
      `The items of one transaction are ${written} bytes, at most ${LIMITS.transactBytes}`,
    );
  }
}

interface OutgoingMessage {
  readonly MessageBody?: string;
  readonly MessageAttributes?: Record<
    string,
    { DataType?: string; StringValue?: string; BinaryValue?: Uint8Array }
  >;
}

/** SQS counts bodies with attribute names, types and values, and a batch as the sum of its messages. */
function refuseLongMessages(call: AwsCall, command: string): void {
  if (command !== 'SendMessage' && !command.endsWith('Batch')) return;
  const entries = (call.input['Entries'] ?? [call.input]) as OutgoingMessage[];
  if (entries.length > LIMITS.messageBatchEntries) {
    throw refusal(
      call,
      'AWS.SimpleQueueService.TooManyEntriesInBatchRequest',
      `Maximum number of entries per request are ${LIMITS.messageBatchEntries}. You have sent ${entries.length}.`,
    );
  }
  const bytes = entries.reduce((sum, entry) => sum + messageBytes(entry), 0);
  if (bytes > LIMITS.messageBytes) {
    throw refusal(
      call,
      command === 'SendMessage' ? 'InvalidParameterValue' : 'AWS.SimpleQueueService.BatchRequestTooLong',
      `One or more parameters are invalid. Reason: Message must be shorter than ${LIMITS.messageBytes} bytes; it has ${bytes}.`,
    );
  }
}

function messageBytes(message: OutgoingMessage): number {
  let bytes = Buffer.byteLength(message.MessageBody ?? '');
  for (const [name, value] of Object.entries(message.MessageAttributes ?? {})) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value.DataType ?? '');
    bytes += Buffer.byteLength(value.StringValue ?? '') + (value.BinaryValue?.byteLength ?? 0);
  }
  return bytes;
}

function refuseBadKey(call: AwsCall, key: AwsAccess['key']): void {
  if (key === undefined) return;
  const { partition, sort } = key;
  for (const value of [partition, sort]) {
    if (value !== undefined && keyBytes(value) === 0) {
      throw refusal(
        call,
        'ValidationException',
        'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty value.',
      );
    }
  }
  if (keyBytes(partition) > LIMITS.partitionKeyBytes || keyBytes(sort) > LIMITS.sortKeyBytes) {
    throw refusal(
      call,
      'ValidationException',
      `One or more parameter values were invalid: a partition key has at most ${LIMITS.partitionKeyBytes} bytes, a sort key ${LIMITS.sortKeyBytes}`,
    );
  }
}

function keyBytes(value: AttributeValue | undefined): number {
  if (value === undefined) return Number.NaN;
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  return value.B?.byteLength ?? Number.NaN;
}

/** One partition takes a thousand write units a second; a whole kilobyte of an item is one, a transaction doubles it. */
function refuseHotPartition(
  accesses: readonly AwsAccess[],
  now: number,
  partitions: Map<string, { second: number; units: number }>,
): void {
  const second = Math.floor(now / 1000);
  for (const { action, target, key, item, inTransaction } of accesses) {
    if (!/PutItem|UpdateItem|DeleteItem|BatchWriteItem|ConditionCheckItem/.test(action)) continue;
    const name = `${target} ${key?.partition.S ?? key?.partition.N ?? ''}`;
    const bytes = item === undefined ? 1 : itemBytes(item);
    const units = Math.max(1, Math.ceil(bytes / 1024)) * (inTransaction ? 2 : 1);
    const used = partitions.get(name);
    const before = used?.second === second ? used.units : 0;
    if (before + units > LIMITS.partitionWriteUnitsPerSecond) {
      throw new ThrottlingException({
        message: `Throughput exceeds the limit of one partition: ${name}`,
        $metadata: { httpStatusCode: 400 },
        throttlingReasons: [{ reason: 'TableWriteKeyRangeThroughputExceeded', resource: target }],
      });
    }
    partitions.set(name, { second, units: before + units });
  }
}

/** DynamoDB ends a page at 1 MiB; an emulator that gives more hides a missing loop over pages. */
function refuseLongPage(
  call: AwsCall,
  command: string,
  items: readonly Record<string, AttributeValue>[] | undefined,
): void {
  if (items === undefined || (command !== 'Query' && command !== 'Scan')) return;
  const bytes = items.reduce((total, item) => total + itemBytes(item), 0);
  if (bytes <= LIMITS.pageBytes) return;
  throw refusal(
    call,
    'InternalServerError',
    `the emulator gave a page of ${bytes} bytes; DynamoDB ends a page at ${LIMITS.pageBytes}`,
  );
}

function refusal(call: AwsCall, name: string, message: string): Error {
  const fields = {
    name,
    message,
    $fault: 'client' as const,
    $metadata: { httpStatusCode: 400, requestId: 'quota-guard' },
  };
  switch (call.client) {
    case 'SecretsManagerClient':
      return new SecretsManagerServiceException(fields);
    case 'SQSClient':
      return new SQSServiceException(fields);
    case 'S3Client':
      return new S3ServiceException(fields);
    default:
      return new DynamoDBServiceException(fields);
  }
}

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { BUCKETS, type BucketName } from '../../contract/buckets.ts';
import type { Action, Grants, Principal, Resource } from '../../contract/grants.ts';
import { GRANTS } from '../../contract/grants.ts';
import { LIMITS } from '../../contract/limits.ts';
import { QUEUES, type QueueName } from '../../contract/queues.ts';
import { createQuotaGuard, type QuotaGuardOptions } from '../../local/quota-guard.ts';

type Item = Record<string, AttributeValue>;

const EVERYTHING: Grants = {
  config: [
    'dynamodb:GetItem',
    'dynamodb:BatchGetItem',
    'dynamodb:Query',
    'dynamodb:PutItem',
    'dynamodb:UpdateItem',
    'dynamodb:DeleteItem',
    'dynamodb:BatchWriteItem',
    'dynamodb:ConditionCheckItem',
  ],
  keyring: ['secretsmanager:GetSecretValue', 'secretsmanager:PutSecretValue'],
};

const QUEUE_ACTIONS: readonly Action[] = [
  'sqs:SendMessage',
  'sqs:ReceiveMessage',
  'sqs:DeleteMessage',
  'sqs:ChangeMessageVisibility',
  'sqs:GetQueueAttributes',
];
const BUCKET_ACTIONS: readonly Action[] = [
  's3:GetObject',
  's3:PutObject',
  's3:DeleteObject',
  's3:ListBucket',
];

const RESOURCES: Record<string, Resource> = {
  Config: 'config',
  Runtime: 'runtime',
  Keyring: 'keyring',
  Token: 'token',
  ...Object.fromEntries(Object.keys(QUEUES).map((name) => [name, `queue:${name as QueueName}` as const])),
  ...Object.fromEntries(
    Object.keys(BUCKETS).map((name) => [`${name}-bucket`, `bucket:${name as BucketName}` as const]),
  ),
};

/** A guard whose calls, once let through, are answered with `output`. */
function guarded(options: Partial<QuotaGuardOptions> = {}, output: unknown = {}) {
  const guard = createQuotaGuard({
    principal: () => 'setup',
    resource: (name) => RESOURCES[name],
    grants: { ...GRANTS, setup: EVERYTHING },
    ...options,
  });
  const call = (command: string, input: Record<string, unknown>, client = 'DynamoDBClient') =>
    guard.intercept({ client, command: `${command}Command`, input }, async () => output);
  return { guard, call };
}

const KEY = { pk: { S: 'P' }, sk: { S: 'S' } };

/** An item of exactly this many bytes by DynamoDB's rules: six for the key's names and values, one for `x`. */
function itemOf(bytes: number, key: Item = KEY): Item {
  return { ...key, x: { S: 'x'.repeat(bytes - 6 - 1) } };
}

const put = (item: Item) => ({ Put: { TableName: 'Config', Item: item } });
const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);

/** Each limit: a call that is just within it, and the same call just over it. */
const LIMIT_CASES: {
  limit: string;
  command: string;
  within: Record<string, unknown>;
  over: Record<string, unknown>;
  message: RegExp;
}[] = [
  {
    limit: 'an item of 400 KB',
    command: 'PutItem',
    within: { TableName: 'Config', Item: itemOf(LIMITS.itemBytes) },
    over: { TableName: 'Config', Item: itemOf(LIMITS.itemBytes + 1) },
    message: /Item size has exceeded/,
  },
  {
    limit: 'an item of 400 KB in a transaction',
    command: 'TransactWriteItems',
    within: { TransactItems: [put(itemOf(LIMITS.itemBytes))] },
    over: { TransactItems: [put(itemOf(LIMITS.itemBytes + 1))] },
    message: /Item size has exceeded/,
  },
  {
    limit: 'an item of 400 KB in a batch',
    command: 'BatchWriteItem',
    within: { RequestItems: { Config: [{ PutRequest: { Item: itemOf(LIMITS.itemBytes) } }] } },
    over: { RequestItems: { Config: [{ PutRequest: { Item: itemOf(LIMITS.itemBytes + 1) } }] } },
    message: /Item size has exceeded/,
  },
  {
    limit: '25 writes in a batch',
    command: 'BatchWriteItem',
    within: { RequestItems: { Config: times(25, { DeleteRequest: { Key: KEY } }) } },
    over: { RequestItems: { Config: times(26, { DeleteRequest: { Key: KEY } }) } },
    message: /Too many items.*26, at most 25/,
  },
  {
    limit: '100 keys in a batch',
    command: 'BatchGetItem',
    within: { RequestItems: { Config: { Keys: times(100, KEY) } } },
    over: { RequestItems: { Config: { Keys: times(101, KEY) } } },
    message: /Too many items.*101, at most 100/,
  },
  {
    limit: '100 writes in a transaction',
    command: 'TransactWriteItems',
    within: { TransactItems: times(100, put(KEY)) },
    over: { TransactItems: times(101, put(KEY)) },
    message: /Too many items.*101, at most 100/,
  },
  {
    limit: '100 reads in a transaction',
    command: 'TransactGetItems',
    within: { TransactItems: times(100, { Get: { TableName: 'Config', Key: KEY } }) },
    over: { TransactItems: times(101, { Get: { TableName: 'Config', Key: KEY } }) },
    message: /Too many items.*101, at most 100/,
  },
  {
    limit: '4 MB in a transaction',
    command: 'TransactWriteItems',
    within: { TransactItems: times(16, put(itemOf(LIMITS.transactBytes / 16))) },
    over: { TransactItems: [...times(16, put(itemOf(LIMITS.transactBytes / 16))), put(KEY)] },
    message: /at most 4194304$/,
  },
  {
    limit: 'a partition key that is not empty',
    command: 'GetItem',
    within: { TableName: 'Config', Key: { pk: { S: 'P' }, sk: { S: 'S' } } },
    over: { TableName: 'Config', Key: { pk: { S: '' }, sk: { S: 'S' } } },
    message: /cannot contain an empty value/,
  },
  {
    limit: 'a sort key that is not empty',
    command: 'UpdateItem',
    within: { TableName: 'Config', Key: { pk: { S: 'P' }, sk: { S: 'S' } } },
    over: { TableName: 'Config', Key: { pk: { S: 'P' }, sk: { S: '' } } },
    message: /cannot contain an empty value/,
  },
  {
    limit: 'a partition key of 2,048 bytes',
    command: 'GetItem',
    within: { TableName: 'Config', Key: { pk: { S: 'é'.repeat(1_024) }, sk: { S: 'S' } } },
    over: { TableName: 'Config', Key: { pk: { S: `${'é'.repeat(1_024)}x` }, sk: { S: 'S' } } },
    message: /a partition key has at most 2048 bytes/,
  },
  {
    limit: 'a sort key of 1,024 bytes',
    command: 'PutItem',
    within: { TableName: 'Config', Item: { pk: { S: 'P' }, sk: { S: 's'.repeat(1_024) } } },
    over: { TableName: 'Config', Item: { pk: { S: 'P' }, sk: { S: 's'.repeat(1_025) } } },
    message: /a sort key 1024/,
  },
  {
    limit: 'an expression of 4 KB',
    command: 'UpdateItem',
    within: { TableName: 'Config', Key: KEY, UpdateExpression: 'x'.repeat(4_096) },
    over: { TableName: 'Config', Key: KEY, UpdateExpression: 'x'.repeat(4_097) },
    message: /Expression size/,
  },
];

describe('the quota guard', () => {
  for (const { limit, command, within, over, message } of LIMIT_CASES) {
    it(`lets ${limit} through and refuses more, as the SDK would`, async () => {
      const { call } = guarded();
      await expect(call(command, within)).resolves.toBeDefined();
      await expect(call(command, over)).rejects.toMatchObject({
        name: 'ValidationException',
        $fault: 'client',
        message: expect.stringMatching(message),
      });
    });
  }

  it('lets a page of 1 MB through and refuses an emulator that gives more', async () => {
    const page = (bytes: number) => ({ Items: times(16, itemOf(bytes / 16)) });
    const within = guarded({}, page(LIMITS.pageBytes));
    await expect(within.call('Query', { TableName: 'Config' })).resolves.toBeDefined();
    const over = guarded({}, { Items: [...page(LIMITS.pageBytes).Items, KEY] });
    await expect(over.call('Query', { TableName: 'Config' })).rejects.toThrow(/ends a page at 1048576/);
  });

  it('refuses a call outside every row of the grants, and one made by nobody', async () => {
    const { call } = guarded();
    for (const command of ['Scan', 'CreateTable', 'ExecuteStatement', 'DeleteTable']) {
      await expect(call(command, { TableName: 'Config' })).rejects.toMatchObject({
        name: 'AccessDeniedException',
      });
    }
    const nobody = guarded({ principal: () => undefined });
    await expect(nobody.call('GetItem', { TableName: 'Config', Key: KEY })).rejects.toMatchObject({
      name: 'AccessDeniedException',
    });
  });

  it('refuses a table or secret that is none of ours', async () => {
    const { call } = guarded();
    await expect(call('GetItem', { TableName: 'Other', Key: KEY })).rejects.toThrow(
      /not authorized to perform: dynamodb:GetItem on resource: Other/,
    );
    await expect(call('GetSecretValue', { SecretId: 'Other' }, 'SecretsManagerClient')).rejects.toThrow(
      /not authorized to perform: secretsmanager:GetSecretValue/,
    );
  });

  it('asks each part of a transaction for its own grant', async () => {
    const without = (action: Action): Grants => ({
      config: (EVERYTHING.config ?? []).filter((granted) => granted !== action),
    });
    const check = { ConditionCheck: { TableName: 'Config', Key: KEY, ConditionExpression: 'x' } };
    const parts: [Action, Record<string, unknown>][] = [
      ['dynamodb:PutItem', put(KEY)],
      ['dynamodb:UpdateItem', { Update: { TableName: 'Config', Key: KEY } }],
      ['dynamodb:DeleteItem', { Delete: { TableName: 'Config', Key: KEY } }],
      ['dynamodb:ConditionCheckItem', check],
    ];
    const TransactItems = parts.map(([, part]) => part);
    await expect(guarded().call('TransactWriteItems', { TransactItems })).resolves.toBeDefined();
    for (const [action] of parts) {
      const { call } = guarded({ grants: { ...GRANTS, setup: without(action) } });
      await expect(call('TransactWriteItems', { TransactItems })).rejects.toThrow(
        `not authorized to perform: ${action}`,
      );
    }
  });

  for (const principal of Object.keys(GRANTS) as Principal[]) {
    it(`gives ${principal} its row of the contract and nothing else`, async () => {
      const allowed: string[] = [];
      for (const [table, resource] of Object.entries(RESOURCES)) {
        for (const action of [
          ...(EVERYTHING.config ?? []),
          ...(EVERYTHING.keyring ?? []),
          ...QUEUE_ACTIONS,
          ...BUCKET_ACTIONS,
        ]) {
          const command = action === 's3:ListBucket' ? 'ListObjectsV2' : action.replace(/^\w+:/, '');
          const { call } = guarded({ principal: () => principal, grants: GRANTS });
          const target = { TableName: table, SecretId: table, QueueUrl: table, Bucket: table, Key: KEY };
          const batch = { RequestItems: { [table]: command === 'BatchGetItem' ? { Keys: [KEY] } : [{}] } };
          const check = { TransactItems: [{ ConditionCheck: target }] };
          const made =
            command === 'ConditionCheckItem'
              ? call('TransactWriteItems', check)
              : call(command, command.startsWith('Batch') ? batch : target);
          const passed = await made.then(
            () => true,
            () => false,
          );
          if (passed) allowed.push(`${resource} ${action}`);
        }
      }
      const row = Object.entries(GRANTS[principal]).flatMap(([resource, actions]) =>
        actions
          .filter((action) => action !== 'secretsmanager:CreateSecret')
          .map((action) => `${resource} ${action}`),
      );
      expect(allowed.sort()).toEqual(row.sort());
    });
  }

  it('lets a thousand write units a second into one partition, on a bench, and refuses the next', async () => {
    let now = 5_000;
    const { call } = guarded({ throttle: { now: () => now } });
    const write = (item: Item) => call('PutItem', { TableName: 'Config', Item: item });
    for (let unit = 0; unit < 999; unit += 1) await write(KEY);
    await write(itemOf(1_024));
    await expect(write(KEY)).rejects.toMatchObject({ name: 'ThrottlingException' });
    await expect(write({ ...KEY, pk: { S: 'another' } })).resolves.toBeDefined();
    now += 1_000;
    // A transaction writes everything twice: two units for a kilobyte.
    for (let unit = 0; unit < 500; unit += 1) await call('TransactWriteItems', { TransactItems: [put(KEY)] });
    await expect(call('TransactWriteItems', { TransactItems: [put(KEY)] })).rejects.toMatchObject({
      name: 'ThrottlingException',
    });
  });

  it('counts calls, refusals and capacity units by principal, command and resource', async () => {
    const { guard, call } = guarded({}, { ConsumedCapacity: { TableName: 'Config', CapacityUnits: 2.5 } });
    await call('GetItem', { TableName: 'Config', Key: KEY });
    await call('GetItem', { TableName: 'Config', Key: KEY });
    await call('PutItem', { TableName: 'Config', Item: KEY });
    await call('PutItem', { TableName: 'Config', Item: itemOf(LIMITS.itemBytes + 1) }).catch(() => {});
    const at = { principal: 'setup', resource: 'config', refused: 0, readUnits: 0, writeUnits: 0 };
    expect(guard.counts()).toEqual([
      { ...at, command: 'GetItem', calls: 2, readUnits: 5 },
      { ...at, command: 'PutItem', calls: 2, refused: 1, writeUnits: 2.5 },
    ]);
    guard.reset();
    expect(guard.counts()).toEqual([]);
  });
});

import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactionConflictException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, type NativeAttributeValue, unmarshall } from '@aws-sdk/util-dynamodb';
import { ENV } from '../contract/env.ts';
import { type Key, TABLES } from '../contract/tables.ts';
import { dynamodb } from './clients.ts';

export type TableName = keyof typeof TABLES;
export type Attributes = Record<string, NativeAttributeValue>;
export type Item = Attributes & Key & { v: number };

/** The schema version of every item written today; an item with a higher one was written by newer code. */
export const SCHEMA_VERSION = 1;

/** A condition did not hold. `index` is the operation's place in its transaction; `item` what stands there now. */
export class ConditionFailed extends Error {
  readonly index: number;
  readonly item: Item | undefined;

  constructor(index: number, item: Item | undefined) {
    super('a condition of a write did not hold');
    this.name = 'ConditionFailed';
    this.index = index;
    this.item = item;
  }
}

/** Another write touched the same items at the same time; nothing was written, and a retry may succeed. */
export class WriteConflict extends Error {
  constructor() {
    super('another write touched the same items at the same time');
    this.name = 'WriteConflict';
  }
}

export interface Condition {
  /** A DynamoDB condition expression; every name is a `#placeholder` of its own attribute name. */
  readonly expression: string;
  readonly values?: Attributes;
}

export type Write =
  | { readonly put: Item; readonly table: TableName; readonly condition?: Condition }
  | { readonly delete: Key; readonly table: TableName; readonly condition?: Condition }
  | {
      /** Adds to numbers of an item and sets other attributes of it, making what is absent. */
      readonly update: Key;
      readonly table: TableName;
      readonly add: Readonly<Record<string, number>>;
      readonly set?: Attributes;
      readonly condition?: Condition;
    };

/** Nothing stands at the key yet. */
export const ABSENT: Condition = { expression: 'attribute_not_exists(#pk)' };

/** The item there has this revision. */
export function atRevision(revision: number): Condition {
  return { expression: '#revision = :expected', values: { ':expected': revision } };
}

/** One item, read consistently, or undefined. Throws when newer code wrote it. */
export async function getItem(table: TableName, key: Key): Promise<Item | undefined> {
  const { Item: found } = await dynamodb().send(
    new GetItemCommand({
      TableName: tableName(table),
      Key: marshall({ pk: key.pk, sk: key.sk }),
      ConsistentRead: true,
    }),
  );
  return found === undefined ? undefined : readable(unmarshall(found));
}

export interface QueryOptions {
  /** Only sort keys after this one. */
  readonly after?: string;
  /** Only sort keys that begin so; not together with `after`. */
  readonly prefix?: string;
  /** At most this many items. */
  readonly limit?: number;
}

/** The items of a partition in the order of their sort keys, all pages of them, read consistently. */
export async function queryItems(
  table: TableName,
  partition: string,
  options: QueryOptions = {},
): Promise<Item[]> {
  const items: Item[] = [];
  let start: Record<string, AttributeValue> | undefined;
  const range =
    options.prefix !== undefined
      ? ' AND begins_with(sk, :from)'
      : options.after !== undefined
        ? ' AND sk > :from'
        : '';
  const from = options.prefix ?? options.after;
  do {
    const page = await dynamodb().send(
      new QueryCommand({
        TableName: tableName(table),
        KeyConditionExpression: `pk = :partition${range}`,
        ExpressionAttributeValues: marshall({
          ':partition': partition,
          ...(from === undefined ? {} : { ':from': from }),
        }),
        ConsistentRead: true,
        ...(options.limit === undefined ? {} : { Limit: options.limit - items.length }),
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      }),
    );
    for (const item of page.Items ?? []) items.push(readable(unmarshall(item)));
    start = page.LastEvaluatedKey;
  } while (start !== undefined && (options.limit === undefined || items.length < options.limit));
  return items;
}

/** Writes one item whole. Throws ConditionFailed (index 0) when the condition does not hold. */
export async function putItem(table: TableName, item: Item, condition?: Condition): Promise<void> {
  await translated(() =>
    dynamodb().send(
      new PutItemCommand({
        TableName: tableName(table),
        Item: marshall(item, { removeUndefinedValues: true }),
        ...conditionInput(condition),
        ...(condition === undefined ? {} : { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }),
      }),
    ),
  );
}

/**
 * Puts `next` where an attribute, or a member of a map that is one, has the value `previous`, and touches nothing else of
 * the item. Throws ConditionFailed when another value stands there, or none.
 */
export async function replaceAttribute(
  table: TableName,
  key: Key,
  attribute: readonly string[],
  previous: NativeAttributeValue,
  next: NativeAttributeValue,
): Promise<void> {
  const path = attribute.map((_, index) => `#n${index}`).join('.');
  await translated(() =>
    dynamodb().send(
      new UpdateItemCommand({
        TableName: tableName(table),
        Key: marshall({ pk: key.pk, sk: key.sk }),
        UpdateExpression: `SET ${path} = :next`,
        ConditionExpression: `${path} = :previous`,
        ExpressionAttributeNames: Object.fromEntries(attribute.map((name, index) => [`#n${index}`, name])),
        ExpressionAttributeValues: marshall({ ':next': next, ':previous': previous }),
      }),
    ),
  );
}

/** Removes one item, if it is there. */
export async function deleteItem(table: TableName, key: Key, condition?: Condition): Promise<void> {
  await translated(() =>
    dynamodb().send(
      new DeleteItemCommand({
        TableName: tableName(table),
        Key: marshall({ pk: key.pk, sk: key.sk }),
        ...conditionInput(condition),
        ...(condition === undefined ? {} : { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }),
      }),
    ),
  );
}

/** Adds to a number of an item, making the item and the number when absent; returns the new number. */
export async function addToNumber(
  table: TableName,
  key: Key,
  attribute: string,
  amount: number,
): Promise<number> {
  const { Attributes: updated } = await dynamodb().send(
    new UpdateItemCommand({
      TableName: tableName(table),
      Key: marshall({ pk: key.pk, sk: key.sk }),
      UpdateExpression: 'ADD #attribute :amount SET #v = :v',
      ExpressionAttributeNames: { '#attribute': attribute, '#v': 'v' },
      ExpressionAttributeValues: marshall({ ':amount': amount, ':v': SCHEMA_VERSION }),
      ReturnValues: 'UPDATED_NEW',
    }),
  );
  return unmarshall(updated ?? {})[attribute] as number;
}

/**
 * All of the writes, or none. Throws ConditionFailed for the first condition that does not hold and WriteConflict
 * when another write was faster to the same items. A transaction that is sent again with the same `token` within ten
 * minutes is made once.
 */
export async function transact(writes: readonly Write[], token?: string): Promise<void> {
  const items = writes.map((write): TransactWriteItem => {
    const common = {
      TableName: tableName(write.table),
      ...conditionInput(write.condition),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
    if ('update' in write) return { Update: { ...common, ...updateInput(write) } };
    return 'put' in write
      ? { Put: { ...common, Item: marshall(write.put, { removeUndefinedValues: true }) } }
      : { Delete: { ...common, Key: marshall({ pk: write.delete.pk, sk: write.delete.sk }) } };
  });
  await translated(() =>
    dynamodb().send(
      new TransactWriteItemsCommand({
        TransactItems: items,
        ...(token === undefined ? {} : { ClientRequestToken: token }),
      }),
    ),
  );
}

/**
 * Repeats what met a WriteConflict, up to six times over about a second, with full jitter.
 * The last conflict is thrown.
 */
export async function retryingConflicts<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof WriteConflict) || tries === 6) throw error;
      const longestWaitMilliseconds = 15 * 2 ** tries;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * longestWaitMilliseconds));
    }
  }
}

function updateInput(write: Extract<Write, { update: Key }>) {
  const names: Record<string, string> = { '#v': 'v' };
  const values: Attributes = { ':v': SCHEMA_VERSION };
  const clause = (attributes: Attributes, prefix: string, joint: string) =>
    Object.entries(attributes).map(([name, value], index) => {
      names[`#${prefix}${index}`] = name;
      values[`:${prefix}${index}`] = value;
      return `#${prefix}${index}${joint}:${prefix}${index}`;
    });
  const added = clause(write.add, 'a', ' ');
  const set = ['#v = :v', ...clause(write.set ?? {}, 's', ' = ')];
  const condition = conditionInput(write.condition);
  return {
    Key: marshall({ pk: write.update.pk, sk: write.update.sk }),
    UpdateExpression: `SET ${set.join(', ')}${added.length > 0 ? ` ADD ${added.join(', ')}` : ''}`,
    ...condition,
    ExpressionAttributeNames: { ...condition.ExpressionAttributeNames, ...names },
    ExpressionAttributeValues: {
      ...condition.ExpressionAttributeValues,
      ...marshall(values, { removeUndefinedValues: true }),
    },
  };
}

interface ConditionInput {
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, AttributeValue>;
}

function conditionInput(condition: Condition | undefined): ConditionInput {
  if (condition === undefined) return {};
  const names = [...new Set(condition.expression.match(/#[a-zA-Z]+/g) ?? [])];
  return {
    ConditionExpression: condition.expression,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [name, name.slice(1)])),
    ...(condition.values === undefined ? {} : { ExpressionAttributeValues: marshall(condition.values) }),
  };
}

async function translated(send: () => Promise<unknown>): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) {
      throw new ConditionFailed(0, error.Item === undefined ? undefined : (unmarshall(error.Item) as Item));
    }
    if (error instanceof TransactionConflictException) throw new WriteConflict();
    if (error instanceof TransactionCanceledException) {
      const reasons = error.CancellationReasons ?? [];
      const failed = reasons.findIndex((reason) => reason.Code === 'ConditionalCheckFailed');
      if (failed >= 0) {
        const item = reasons[failed]?.Item;
        throw new ConditionFailed(failed, item === undefined ? undefined : (unmarshall(item) as Item));
      }
      if (reasons.some((reason) => reason.Code === 'TransactionConflict')) throw new WriteConflict();
    }
    throw error;
  }
}

function readable(item: Attributes): Item {
  const found = item as Item;
  if (found.v > SCHEMA_VERSION) {
    throw new Error(
      `item ${found.pk} ${found.sk} has schema version ${found.v}; this code reads up to ${SCHEMA_VERSION}`,
    );
  }
  return found;
}

/** The table's name in this installation. */
export function tableName(table: TableName): string {
  return process.env[table === 'config' ? ENV.configTable : ENV.runtimeTable] ?? TABLES[table].name;
}

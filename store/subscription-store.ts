import { CONFIG_KEYS } from '../contract/tables.ts';
import { invalidBody, Problem } from '../core/problem.ts';
import { withMembersOf } from '../core/stored-members.ts';
import { SUBSCRIPTION_MEMBERS, type Subscription } from '../core/subscription.ts';
import { type PageOfIds, pageOfIds } from './resource-store.ts';
import {
  ABSENT,
  atRevision,
  ConditionFailed,
  getItem,
  type Item,
  queryItems,
  retryingConflicts,
  SCHEMA_VERSION,
  transact,
  type Write,
} from './table.ts';
import { markUsed, type UsedKind } from './use-store.ts';
import { announceChange } from './version-store.ts';

/** A model or device that a subscription begins to use. */
export interface NewUse {
  readonly kind: UsedKind;
  readonly id: number;
}

/** DynamoDB takes 100 items in one transaction; more uses than this are marked before it. */
const MAX_USES_IN_TRANSACTION = 90;

export async function createSubscription(subscription: Subscription, uses: readonly NewUse[]): Promise<void> {
  await write({ put: toItem(subscription), table: 'config', condition: ABSENT }, uses);
}

/** Stores `next` in place of `previous`. Throws `stale-etag` when `previous` is no longer what is stored. */
export async function replaceSubscription(
  previous: Subscription,
  next: Subscription,
  uses: readonly NewUse[],
): Promise<void> {
  await write({ put: toItem(next), table: 'config', condition: atRevision(previous.revision) }, uses);
}

/** Removes a subscription. Throws `stale-etag` when it is no longer what is stored. */
export async function removeSubscription({ id, revision }: Subscription): Promise<void> {
  await write({ delete: CONFIG_KEYS.subscription(id), table: 'config', condition: atRevision(revision) }, []);
}

export async function getSubscription(id: number): Promise<Subscription | undefined> {
  const item = await getItem('config', CONFIG_KEYS.subscription(id));
  return item === undefined ? undefined : fromItem(item);
}

/** Subscriptions in the order of their ids: all, or at most `limit` of those after the id `after`. */
export async function listSubscriptions(page: PageOfIds = {}): Promise<Subscription[]> {
  return (await queryItems('config', CONFIG_KEYS.subscriptions, pageOfIds(page))).map(fromItem);
}

async function write(subscription: Write, uses: readonly NewUse[]): Promise<void> {
  try {
    // A subscription of very many devices marks some of them in transactions of their own: a removal of one of these
    // in between leaves an id that no device has, which selects nothing.
    for (let first = MAX_USES_IN_TRANSACTION; first < uses.length; first += MAX_USES_IN_TRANSACTION) {
      await mark([], uses.slice(first, first + MAX_USES_IN_TRANSACTION));
    }
    await mark([subscription], uses.slice(0, MAX_USES_IN_TRANSACTION));
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw new Problem('stale-etag', 'the subscription was changed or removed meanwhile; read it again');
  }
  await announceChange('subscription');
}

async function mark(first: readonly Write[], uses: readonly NewUse[]): Promise<void> {
  const writes = [...first, ...uses.map(({ kind, id }) => markUsed(kind, id))];
  try {
    await retryingConflicts(() => transact(writes));
  } catch (error) {
    const gone = error instanceof ConditionFailed ? uses[error.index - first.length] : undefined;
    throw gone === undefined ? error : unknownReference(gone);
  }
}

/** 400 for a model or device that is not there (or no longer). */
export function unknownReference({ kind, id }: NewUse): Problem {
  const pointer = kind === 'model' ? '/model-version' : '/devices/ids';
  return invalidBody([{ pointer, code: 'unknown-reference', detail: `there is no ${kind} ${id}` }]);
}

function toItem(subscription: Subscription): Item {
  return { ...CONFIG_KEYS.subscription(subscription.id), v: SCHEMA_VERSION, ...subscription };
}

function fromItem(item: Item): Subscription {
  return {
    id: item['id'],
    revision: item['revision'],
    configuration: withMembersOf(SUBSCRIPTION_MEMBERS, item['configuration']),
    pinnedModelId: item['pinnedModelId'],
  };
}

import { type Key, paddedId, type VersionKind } from '../contract/tables.ts';
import { Problem } from '../core/problem.ts';
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
import { announceChange } from './version-store.ts';

/** Something that people configure, that has an id, a revision, and an identity that no other of its kind may have. */
export interface ResourceKind<Resource extends { readonly id: number; readonly revision: number }> {
  readonly kind: VersionKind;
  readonly partition: string;
  key(id: number): Key;
  /** The item that whoever has this identity holds. */
  identity(resource: Resource): Key;
  /** What two of the same identity share, for the sentence "device 7 has …". */
  readonly identityIs: string;
  /** What may have happened to it between reading and writing, for the sentence "the device was …". */
  readonly mayHaveBeen: string;
  fromItem(item: Item): Resource;
}

/** A part of a list that is ordered by id: at most `limit` of those after the id `after`. */
export interface PageOfIds {
  readonly after?: number;
  readonly limit?: number;
}

export interface ResourceStore<Resource> {
  /** Stores a new one, with `also` in the same transaction. Throws a `conflict` Problem when its identity is taken. */
  create(resource: Resource, also?: readonly Write[]): Promise<void>;
  /**
   * Stores `next` in place of `previous`. Throws `stale-etag` when `previous` is no longer what is stored, and
   * `conflict` when the new identity is another one's.
   */
  replace(previous: Resource, next: Resource): Promise<void>;
  /** Removes it, with `also` in the same transaction. Throws `stale-etag` when it, or `also`, is not as it was read. */
  remove(resource: Resource, also?: readonly Write[]): Promise<void>;
  get(id: number): Promise<Resource | undefined>;
  /** In the order of their ids. */
  list(page?: PageOfIds): Promise<Resource[]>;
}

/**
 * How peers, models and devices are stored: the item and its identity's guard change in one transaction, nothing
 * shared is in it, and workers are told once it is committed.
 */
export function resourceStore<Resource extends { readonly id: number; readonly revision: number }>(
  of: ResourceKind<Resource>,
): ResourceStore<Resource> {
  const toItem = (resource: Resource): Item => ({ ...of.key(resource.id), v: SCHEMA_VERSION, ...resource });

  const takeIdentity = (resource: Resource): Write => ({
    put: { ...of.identity(resource), v: SCHEMA_VERSION, id: resource.id },
    table: 'config',
    condition: ABSENT,
  });

  const releaseIdentity = (resource: Resource): Write => ({
    delete: of.identity(resource),
    table: 'config',
    condition: { expression: '#id = :holder', values: { ':holder': resource.id } },
  });

  async function write(writes: readonly Write[]): Promise<void> {
    try {
      await retryingConflicts(() => transact(writes));
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      const failed = writes[error.index];
      if (failed !== undefined && 'put' in failed && failed.put['pk'] !== of.partition) {
        const holder = error.item?.['id'] as number;
        throw new Problem('conflict', `${of.kind} ${holder} has ${of.identityIs}`, { conflictingId: holder });
      }
      throw new Problem('stale-etag', `the ${of.kind} was ${of.mayHaveBeen} meanwhile; read it again`);
    }
    await announceChange(of.kind);
  }

  return {
    create: (resource, also = []) =>
      write([{ put: toItem(resource), table: 'config', condition: ABSENT }, takeIdentity(resource), ...also]),

    replace(previous, next) {
      const [before, after] = [of.identity(previous), of.identity(next)];
      const isSame = before.pk === after.pk && before.sk === after.sk;
      return write([
        { put: toItem(next), table: 'config', condition: atRevision(previous.revision) },
        ...(isSame ? [] : [takeIdentity(next), releaseIdentity(previous)]),
      ]);
    },

    remove: (resource, also = []) =>
      write([
        { delete: of.key(resource.id), table: 'config', condition: atRevision(resource.revision) },
        releaseIdentity(resource),
        ...also,
      ]),

    async get(id) {
      const item = await getItem('config', of.key(id));
      return item === undefined ? undefined : of.fromItem(item);
    },

    async list(page = {}) {
      return (await queryItems('config', of.partition, pageOfIds(page))).map((item) => of.fromItem(item));
    },
  };
}

/** The page as the sort keys have it. */
export function pageOfIds({ after, limit }: PageOfIds): { after?: string; limit?: number } {
  return {
    ...(after === undefined ? {} : { after: paddedId(after) }),
    ...(limit === undefined ? {} : { limit }),
  };
}

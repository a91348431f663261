import { CONFIG_KEYS } from '../contract/tables.ts';
import { Problem } from '../core/problem.ts';
import { isLastAdmin, type Token } from '../core/token.ts';
import { nextId } from './id-store.ts';
import {
  ABSENT,
  type Condition,
  ConditionFailed,
  getItem,
  type Item,
  queryItems,
  retryingConflicts,
  SCHEMA_VERSION,
  transact,
  type Write,
} from './table.ts';

/** Stores a new token; false when one with this hash is there already. */
export async function createToken(token: Omit<Token, 'id'>): Promise<Token | undefined> {
  if ((await findToken(token.hash)) !== undefined) return undefined;
  const created = { ...token, id: await nextId('token') };
  await changeTokenSet(async () => ({
    put: { ...CONFIG_KEYS.token(token.hash), v: SCHEMA_VERSION, ...created },
    table: 'config',
    condition: ABSENT,
  }));
  return created;
}

export async function findToken(hash: string): Promise<Token | undefined> {
  const item = await getItem('config', CONFIG_KEYS.token(hash));
  return item === undefined ? undefined : fromItem(item);
}

/** All tokens in the order of their ids. */
export async function listTokens(): Promise<Token[]> {
  const items = await queryItems('config', CONFIG_KEYS.tokens);
  return items.map(fromItem).sort((a, b) => a.id - b.id);
}

/** Whether a token was ever made in this stack, also when all are gone. */
export async function hasHadTokens(): Promise<boolean> {
  return (await getItem('config', CONFIG_KEYS.tokenSet())) !== undefined;
}

/** Removes a token. Throws `not-found`, or `last-admin-token` when nobody could make tokens afterwards. */
export async function removeToken(id: number, nowMilliseconds: number): Promise<void> {
  await changeTokenSet(async () => {
    const tokens = await listTokens();
    const leaving = tokens.find((token) => token.id === id);
    if (leaving === undefined) throw new Problem('not-found', `there is no token ${id}`);
    if (isLastAdmin(leaving, tokens, nowMilliseconds)) {
      throw new Problem('last-admin-token', 'make another admin token before you remove the last one');
    }
    return { delete: CONFIG_KEYS.token(leaving.hash), table: 'config' };
  });
}

/** Decides on a write from what is stored, and makes it only if the set of tokens is still the one decided upon. */
async function changeTokenSet(decide: () => Promise<Write>): Promise<void> {
  await retryingConflicts(async () => {
    for (let tries = 1; ; tries += 1) {
      const head = await getItem('config', CONFIG_KEYS.tokenSet());
      const revision = (head?.['revision'] as number | undefined) ?? 0;
      const condition: Condition =
        head === undefined
          ? ABSENT
          : { expression: '#revision = :expected', values: { ':expected': revision } };
      const write = await decide();
      try {
        await transact([
          write,
          {
            put: { ...CONFIG_KEYS.tokenSet(), v: SCHEMA_VERSION, revision: revision + 1 },
            table: 'config',
            condition,
          },
        ]);
        return;
      } catch (error) {
        if (!(error instanceof ConditionFailed) || tries === 5) throw error;
      }
    }
  });
}

function fromItem(item: Item): Token {
  return {
    id: item['id'],
    name: item['name'],
    scope: item['scope'],
    createdAt: item['createdAt'],
    expiresAt: item['expiresAt'] ?? null,
    hash: item['hash'],
  };
}

/** The Config table and the keyring as one text, for who runs without AWS's own backups, or moves. */
import { type AttributeValue, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { CONFIG_KEYS } from '../contract/tables.ts';
import { PRODUCT_VERSION } from '../contract/version.ts';
import { dynamodb, secretsManager } from './clients.ts';
import { currentValue, putValue } from './first-secret.ts';
import { type KeyringKey, keyringSecretId } from './keyring.ts';
import { BOOTSTRAP_TOKEN } from './setup.ts';
import { deleteItem, tableName } from './table.ts';
import { createToken, findToken } from './token-store.ts';
import { announceChange } from './version-store.ts';

const FORMAT = 'graticule-backup/1';

/** Reading the table again and again until nothing changed while it was read. */
const TRIES = 10;

interface Head {
  readonly format: string;
  readonly version: string;
  readonly 'taken-at': string;
  readonly items: number;
  readonly keyring: string;
}

/**
 * One JSON value a line: a head with the keyring, then the items as DynamoDB writes them. Two readings in a row that
 * are equal show one moment; throws when writers do not pause for that long.
 */
export async function exportBackup(now: Date): Promise<{ text: string; items: number }> {
  const { SecretString = '[]' } = await secretsManager().send(
    new GetSecretValueCommand({ SecretId: keyringSecretId() }),
  );
  let lines = await scanConfig();
  for (let tries = 1; ; tries += 1) {
    const again = await scanConfig();
    if (again.join('\n') === lines.join('\n')) break;
    if (tries === TRIES) throw new Error('the configuration is being written; try again');
    lines = again;
  }
  const head: Head = {
    format: FORMAT,
    version: PRODUCT_VERSION,
    'taken-at': now.toISOString(),
    items: lines.length,
    keyring: SecretString,
  };
  return { text: `${[JSON.stringify(head), ...lines].join('\n')}\n`, items: lines.length };
}

/**
 * Puts a backup into an installation that nobody has configured yet: an empty one, or one that has its first values and
 * no more. Those give way, but for its own token and key, which stay beside those of the backup. Throws when there is a
 * configuration, or the text is not whole.
 */
export async function importBackup(text: string): Promise<number> {
  const [first = '', ...lines] = text.trimEnd().split('\n');
  const head = JSON.parse(first) as Head;
  if (head.format !== FORMAT) throw new Error(`this is no backup of the form ${FORMAT}`);
  if (lines.length !== head.items) throw new Error(`${lines.length} of ${head.items} items are there`);
  const items = lines.map(parsedItem);
  const present = (await scanConfig()).map(parsedItem);
  if (!present.every(isFirstValue) || present.filter(({ pk }) => pk?.S === CONFIG_KEYS.tokens).length > 1)
    throw new Error('there is a configuration already; nothing was changed');
  await addToKeyring(JSON.parse(head.keyring) as KeyringKey[]);
  for (const Item of items) {
    await dynamodb().send(new PutItemCommand({ TableName: tableName('config'), Item }));
  }
  const ownHash = present.find(({ pk }) => pk?.S === CONFIG_KEYS.tokens)?.['sk']?.S;
  const isInBackup = items.some(({ pk, sk }) => pk?.S === CONFIG_KEYS.tokens && sk?.S === ownHash);
  if (ownHash !== undefined && !isInBackup) await renumberToken(ownHash);
  // A worker that runs already has read the first settings.
  if (present.length > 0) await announceChange('engine');
  return lines.length;
}

/** What `setUp` writes, as long as nobody changed it. */
function isFirstValue(item: RawItem): boolean {
  switch (item['pk']?.S) {
    case CONFIG_KEYS.engine().pk:
      return item['revision']?.N === '1';
    case CONFIG_KEYS.tokens:
      return item['name']?.S === BOOTSTRAP_TOKEN;
    case CONFIG_KEYS.tokenSet().pk:
      return true;
    case CONFIG_KEYS.lastId('token').pk:
      return item['sk']?.S === CONFIG_KEYS.lastId('token').sk;
    default:
      return false;
  }
}

/** The stack's own token under an id that no token of the backup has. */
async function renumberToken(hash: string): Promise<void> {
  const token = await findToken(hash);
  if (token === undefined) return;
  await deleteItem('config', CONFIG_KEYS.token(hash));
  await createToken(token);
}

/**
 * The keyring first: secrets without their keys would be of no use, keys without secrets do no harm. The stack's own keys
 * stay: a function that runs may encrypt with one of them for some minutes more.
 */
async function addToKeyring(keys: readonly KeyringKey[]): Promise<void> {
  const id = keyringSecretId();
  const own = JSON.parse((await currentValue(id)) || '[]') as KeyringKey[];
  const others = keys.filter((key) => !own.some((mine) => mine.id === key.id));
  await putValue(id, JSON.stringify([...own, ...others]));
}

type RawItem = Record<string, AttributeValue>;

function parsedItem(line: string): RawItem {
  return JSON.parse(line, revived) as RawItem;
}

/** Every item as a line of DynamoDB's JSON, in order. */
async function scanConfig(): Promise<string[]> {
  const lines: string[] = [];
  let start: Record<string, AttributeValue> | undefined;
  do {
    const page = await dynamodb().send(
      new ScanCommand({
        TableName: tableName('config'),
        ConsistentRead: true,
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      }),
    );
    for (const item of page.Items ?? []) lines.push(JSON.stringify(sorted(item)));
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  return lines.sort();
}

/** Members in one order, octets as base64, so that equal items are equal lines. */
function sorted(value: unknown): unknown {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

/** The inverse of `sorted`; a value of DynamoDB is `{B: {base64}}`, and no attribute value has a member `base64`. */
function revived(_name: string, value: unknown): unknown {
  const base64 = (value as { base64?: unknown } | null)?.base64;
  return typeof base64 === 'string' ? new Uint8Array(Buffer.from(base64, 'base64')) : value;
}

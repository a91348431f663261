/** The Config table and the keyring as one text, for who runs without AWS's own backups, or moves. */
import { type AttributeValue, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceExistsException,
} from '@aws-sdk/client-secrets-manager';
import { PRODUCT_VERSION } from '../contract/version.ts';
import { dynamodb, secretsManager } from './clients.ts';
import { keyringSecretId } from './keyring.ts';
import { tableName } from './table.ts';

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

/** Puts a backup into an installation without configuration. Throws when there is one, or the text is not whole. */
export async function importBackup(text: string): Promise<number> {
  const [first = '', ...lines] = text.trimEnd().split('\n');
  const head = JSON.parse(first) as Head;
  if (head.format !== FORMAT) throw new Error(`this is no backup of the form ${FORMAT}`);
  if (lines.length !== head.items) throw new Error(`${lines.length} of ${head.items} items are there`);
  if ((await scanConfig()).length > 0)
    throw new Error('there is a configuration already; nothing was changed');
  await putKeyring(head.keyring);
  for (const line of lines) {
    const Item = JSON.parse(line, revived) as Record<string, AttributeValue>;
    await dynamodb().send(new PutItemCommand({ TableName: tableName('config'), Item }));
  }
  return lines.length;
}

/** The keyring first: secrets without their keys would be of no use, keys without secrets do no harm. */
async function putKeyring(value: string): Promise<void> {
  const id = keyringSecretId();
  try {
    await secretsManager().send(new CreateSecretCommand({ Name: id, SecretString: value }));
  } catch (error) {
    if (!(error instanceof ResourceExistsException)) throw error;
    await secretsManager().send(new PutSecretValueCommand({ SecretId: id, SecretString: value }));
  }
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

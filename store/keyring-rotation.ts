/**
 * Gives the keyring a new key and brings every stored secret under it. Each step can be the last: whatever a run that
 * died has left, keys and secrets fit, and the next run goes on from there.
 */
import { createHash } from 'node:crypto';
import { GetSecretValueCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { CONFIG_KEYS, type Key as ItemKey } from '../contract/tables.ts';
import { secretsManager } from './clients.ts';
import {
  type KeyringKey,
  keyIdOf,
  keyringSecretId,
  newestKey,
  newKey,
  reencryptSecret,
  type SecretPlace,
} from './keyring.ts';
import { KeyringFault } from './keyring-fault.ts';
import { ConditionFailed, type Item, queryItems, replaceAttribute } from './table.ts';
import { WEBHOOK_SECRETS } from './webhook-store.ts';

/**
 * A key that encrypts nothing any more is kept so long: as long as DynamoDB's point-in-time recovery reaches back, so
 * that tables put back to any moment of it can be read.
 */
export const KEEP_MILLISECONDS = 35 * 86_400_000;

/**
 * A run within this time of the newest key goes on with that one, where secrets are still under others: the run that
 * made it died. Later it is only that some writer was slow, and a new key is due.
 */
const RESUME_MILLISECONDS = 86_400_000;

/** Writers believe the keyring that they read for five minutes: what they wrote meanwhile needs another look. */
const PASSES = 5;

export interface RotationResult {
  /** The key under which every secret is now, unless `left` says otherwise. */
  readonly keyId: string;
  /** Whether this run made that key; a run that finishes another's does not. */
  readonly added: boolean;
  readonly reencrypted: number;
  /** Secrets under an older key that other writers stored meanwhile; the next run takes them. */
  readonly left: number;
  /** Secrets that no key of the keyring opens, as `owner field`; they stay as they are, and so do all keys. */
  readonly unreadable: readonly string[];
  /** Ids of keys that were dropped. */
  readonly dropped: readonly string[];
}

/** Another run changed the keyring at the same moment; it does what this one wanted to. */
export class RotationConflict extends Error {
  constructor() {
    super('another rotation has changed the keyring meanwhile; run again if it should have failed');
    this.name = 'RotationConflict';
  }
}

interface KeyringVersion {
  readonly versionId: string;
  readonly keys: readonly KeyringKey[];
}

/**
 * One rotation, or the rest of one that did not end: a new key is made only when every secret is under the newest.
 * Revisions and versions are not touched, so no session, stream or ETag notices. `keepMilliseconds` 0 drops old keys as
 * soon as nothing is under them: for a key that leaked.
 */
export async function rotateKeyring(
  now: Date,
  keepMilliseconds: number = KEEP_MILLISECONDS,
): Promise<RotationResult> {
  let keyring = await readVersion();
  const before = await listSecrets();
  const isFinished = before.every(({ stored }) => keyIdOf(stored) === newestKey(keyring.keys).id);
  const age = now.getTime() - Date.parse(newestKey(keyring.keys).created);
  const isResumed = keyring.keys.length > 1 && !isFinished && age < RESUME_MILLISECONDS;
  if (!isResumed) keyring = await writeVersion(keyring, [...keyring.keys, newKey(now, keyring.keys)]);
  const key = newestKey(keyring.keys);

  let reencrypted = 0;
  let older: StoredSecret[] = [];
  const unreadable = new Set<string>();
  for (let pass = 0; pass < PASSES; pass += 1) {
    older = (await listSecrets()).filter(
      (secret) => keyIdOf(secret.stored) !== key.id && !unreadable.has(nameOf(secret)),
    );
    if (older.length === 0) break;
    for (const secret of older) {
      try {
        if (await reencrypt(secret, key, keyring.keys)) reencrypted += 1;
      } catch (error) {
        if (!(error instanceof KeyringFault)) throw error;
        unreadable.add(nameOf(secret));
      }
    }
  }
  const isClean = older.length === 0 && unreadable.size === 0;
  const dropped = isClean ? await dropUnused(keyring, now, keepMilliseconds) : [];
  return {
    keyId: key.id,
    added: !isResumed,
    reencrypted,
    left: older.length,
    unreadable: [...unreadable],
    dropped,
  };
}

/** One secret where it is stored. */
interface StoredSecret {
  readonly place: SecretPlace;
  readonly key: ItemKey;
  /** The attribute's name, and the member within it, if it is a map. */
  readonly attribute: readonly string[];
  readonly stored: string;
}

async function listSecrets(): Promise<StoredSecret[]> {
  const [peers, devices, outputs] = await Promise.all([
    queryItems('config', CONFIG_KEYS.peers),
    queryItems('config', CONFIG_KEYS.devices),
    queryItems('config', CONFIG_KEYS.webhook().pk),
  ]);
  return [
    ...peers.flatMap((item) => secretAt(item, ['encryptedPassword'], `peer/${item['id']}`, 'auth-password')),
    ...devices.flatMap((item) =>
      Object.keys((item['encryptedSecrets'] as object | undefined) ?? {}).flatMap((field) =>
        secretAt(item, ['encryptedSecrets', field], `device/${item['id']}`, field),
      ),
    ),
    ...outputs.flatMap((item) =>
      Object.entries(WEBHOOK_SECRETS).flatMap(([attribute, { owner, field }]) =>
        secretAt(item, [attribute], owner, field),
      ),
    ),
  ];
}

function secretAt(item: Item, attribute: readonly string[], owner: string, field: string): StoredSecret[] {
  let value: unknown = item;
  for (const name of attribute) value = (value as Record<string, unknown>)[name];
  if (typeof value !== 'string') return [];
  return [{ place: { owner, field }, key: { pk: item.pk, sk: item.sk }, attribute, stored: value }];
}

function nameOf({ place }: StoredSecret): string {
  return `${place.owner} ${place.field}`;
}

/** Whether the secret was replaced: not when somebody changed it meanwhile, whose own write is left alone. */
async function reencrypt(
  secret: StoredSecret,
  key: KeyringKey,
  keys: readonly KeyringKey[],
): Promise<boolean> {
  const sealed = reencryptSecret(secret.stored, secret.place, key, keys);
  try {
    await replaceAttribute('config', secret.key, secret.attribute, secret.stored, sealed);
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}

/** Drops keys that were replaced long enough ago. Nothing is under them: that has just been looked at. */
async function dropUnused(
  keyring: KeyringVersion,
  now: Date,
  keepMilliseconds: number,
): Promise<readonly string[]> {
  const ascending = keyring.keys.toSorted((a, b) => a.created.localeCompare(b.created));
  const dropped = ascending.filter((_, index) => {
    const successor = ascending[index + 1];
    return successor !== undefined && now.getTime() - Date.parse(successor.created) >= keepMilliseconds;
  });
  if (dropped.length > 0) {
    await writeVersion(
      keyring,
      keyring.keys.filter((key) => !dropped.includes(key)),
    );
  }
  return dropped.map(({ id }) => id);
}

async function readVersion(): Promise<KeyringVersion> {
  const { SecretString, VersionId } = await secretsManager().send(
    new GetSecretValueCommand({ SecretId: keyringSecretId() }),
  );
  if (VersionId === undefined) throw new Error('Secrets Manager gave no version id');
  return { versionId: VersionId, keys: JSON.parse(SecretString ?? '[]') as KeyringKey[] };
}

/**
 * Compare-and-swap, which Secrets Manager has not: the token of the version that follows `previous` is made from the
 * id of `previous`, so of two that follow the same one the second has the token of a version with another value, and
 * is refused.
 */
async function writeVersion(previous: KeyringVersion, keys: readonly KeyringKey[]): Promise<KeyringVersion> {
  const token = createHash('sha256')
    .update(`graticule-keyring\0${previous.versionId}`)
    .digest('hex')
    .slice(0, 32);
  try {
    await secretsManager().send(
      new PutSecretValueCommand({
        SecretId: keyringSecretId(),
        SecretString: JSON.stringify(keys),
        ClientRequestToken: token,
      }),
    );
  } catch (error) {
    if ((error as Error).name === 'ResourceExistsException') throw new RotationConflict();
    throw error;
  }
  return { versionId: token, keys };
}

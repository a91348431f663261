import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { ENV } from '../contract/env.ts';
import { secretsManager } from './clients.ts';
import { firstSecretValue } from './first-secret.ts';
import { KeyringFault, tellKeyringFault } from './keyring-fault.ts';

/** One key of the keyring secret, whose value is a JSON array of these. */
export interface KeyringKey {
  readonly id: string;
  /** ISO 8601; the newest key encrypts. */
  readonly created: string;
  /** 32 bytes, base64. */
  readonly key: string;
}

/** What a secret belongs to; it decrypts for no other owner and field. */
export interface SecretPlace {
  /** e.g. `peer/7` */
  readonly owner: string;
  /** e.g. `auth-password` */
  readonly field: string;
}

const KEYRING_LIFE_MILLISECONDS = 5 * 60_000;
const FORMAT = 'aes-256-gcm/1';

let cached: { readonly keys: readonly KeyringKey[]; readonly readAt: number } | undefined;

/**
 * AES-256-GCM under the newest key, with owner and field as associated data; text that is safe to store. Throws a
 * KeyringFault.
 */
export function encryptSecret(plaintext: string, place: SecretPlace): Promise<string> {
  return told(place, () => encrypt(plaintext, place));
}

/** What encryptSecret was given. Throws a KeyringFault when the text, the place or the key is not the one it was made with. */
export function decryptSecret(stored: string, place: SecretPlace): Promise<string> {
  return told(place, () => decrypt(stored, place));
}

/** Whatever fails in `work` leaves as a KeyringFault that the process's watcher has heard of. */
async function told(place: SecretPlace, work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    const why = error instanceof KeyringFault ? message : `${name}: ${message}`;
    const fault = new KeyringFault(`the ${place.field} of ${place.owner}: ${why}`, { cause: error });
    tellKeyringFault(fault);
    throw fault;
  }
}

async function encrypt(plaintext: string, place: SecretPlace): Promise<string> {
  return seal(plaintext, place, newestKey(await readKeyring()), randomBytes(12));
}

async function decrypt(stored: string, place: SecretPlace): Promise<string> {
  const parsed = parseStored(stored);
  const { keyId } = parsed;
  const key = (await findKey(keyId)) ?? (await findKey(keyId, { refetch: true }));
  if (key === undefined) throw new KeyringFault(`the keyring has no key ${keyId}`);
  return open(parsed, place, key);
}

/**
 * The same secret under another key. The nonce stays: it has not been used with that key, and by it
 * (`secretIdentity`) everybody sees that the secret is the one that it was. Throws a KeyringFault.
 */
export function reencryptSecret(
  stored: string,
  place: SecretPlace,
  key: KeyringKey,
  keys: readonly KeyringKey[],
): string {
  const parsed = parseStored(stored);
  const before = keys.find(({ id }) => id === parsed.keyId);
  if (before === undefined) throw new KeyringFault(`the keyring has no key ${parsed.keyId}`);
  return seal(open(parsed, place, before), place, key, parsed.nonce);
}

/** The key that a stored secret is under. */
export function keyIdOf(stored: string): string {
  return parseStored(stored).keyId;
}

/** The key that encrypts. */
export function newestKey(keys: readonly KeyringKey[]): KeyringKey {
  const newest = keys.toSorted((a, b) => b.created.localeCompare(a.created))[0];
  if (newest === undefined) throw new KeyringFault('the keyring has no key');
  return newest;
}

/** A key that is newer than all the others, also when the clock is behind that of who made them. */
export function newKey(now: Date, others: readonly KeyringKey[]): KeyringKey {
  const newest = others.length === 0 ? 0 : Date.parse(newestKey(others).created);
  return {
    id: randomBytes(6).toString('hex'),
    created: new Date(Math.max(now.getTime(), newest + 1)).toISOString(),
    key: randomBytes(32).toString('base64'),
  };
}

interface StoredSecret {
  readonly keyId: string;
  readonly nonce: Buffer;
  /** The text, then the authentication tag. */
  readonly sealed: Buffer;
}

function parseStored(stored: string): StoredSecret {
  const [format, keyId, nonce, sealed] = stored.split(':');
  if (format !== FORMAT || keyId === undefined || nonce === undefined || sealed === undefined) {
    throw new KeyringFault('it is stored in a form that this code does not know');
  }
  return { keyId, nonce: Buffer.from(nonce, 'base64url'), sealed: Buffer.from(sealed, 'base64url') };
}

function seal(plaintext: string, place: SecretPlace, key: KeyringKey, nonce: Buffer): string {
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(key.key, 'base64'), nonce);
  cipher.setAAD(associatedData(place));
  const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return [FORMAT, key.id, nonce.toString('base64url'), sealed.toString('base64url')].join(':');
}

function open({ nonce, sealed }: StoredSecret, place: SecretPlace, key: KeyringKey): string {
  try {
    const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key.key, 'base64'), nonce);
    decipher.setAAD(associatedData(place));
    decipher.setAuthTag(sealed.subarray(-16));
    return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]).toString('utf8');
  } catch (error) {
    throw new KeyringFault(`key ${key.id} does not open it`, { cause: error });
  }
}

/** Makes the keyring with one key, unless there is one. */
export async function createKeyring(now: Date): Promise<void> {
  await firstSecretValue(keyringSecretId(), () => JSON.stringify([newKey(now, [])]));
}

async function findKey(
  id: string,
  options: { refetch: boolean } = { refetch: false },
): Promise<KeyringKey | undefined> {
  return (await readKeyring(options)).find((key) => key.id === id);
}

async function readKeyring(
  options: { refetch: boolean } = { refetch: false },
): Promise<readonly KeyringKey[]> {
  const now = performance.now();
  if (cached === undefined || options.refetch || now - cached.readAt > KEYRING_LIFE_MILLISECONDS) {
    const { SecretString } = await secretsManager().send(
      new GetSecretValueCommand({ SecretId: keyringSecretId() }),
    );
    cached = { keys: JSON.parse(SecretString ?? '[]') as KeyringKey[], readAt: now };
  }
  return cached.keys;
}

function associatedData(place: SecretPlace): Buffer {
  return Buffer.from(`${place.owner}\0${place.field}`, 'utf8');
}

/** The secret's name, or in AWS its ARN. */
export function keyringSecretId(): string {
  return process.env[ENV.keyringSecret] ?? 'graticule-keyring';
}

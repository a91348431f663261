import { isObject } from './json-text.ts';

/** Where a secret is kept: a declarative file names the place, never the value. */
export type SecretReference = {
  /** Raised by whoever changed the value behind the name, so that it is sent again. */
  readonly version?: string;
} & (
  | { readonly from: 'env'; readonly name: string }
  | {
      readonly from: 'secrets-manager';
      /** Name or ARN. */
      readonly id: string;
      /** A member of the secret's JSON text; without it the whole text. */
      readonly key?: string;
    }
);

export const REFERENCE_HINT = 'write { env: NAME } or { secrets-manager: NAME-OR-ARN, key: MEMBER }';

/** Reads `{ env }` or `{ secrets-manager, key }`; a sentence when it is neither. */
export function parseSecretReference(value: unknown): SecretReference | string {
  if (!isObject(value)) return `this is no reference to a secret; ${REFERENCE_HINT}`;
  const { env, 'secrets-manager': id, key, version, ...rest } = value;
  const unknown = Object.keys(rest)[0];
  if (unknown !== undefined) return `${unknown} is no member of a reference to a secret; ${REFERENCE_HINT}`;
  if ((env === undefined) === (id === undefined)) return `name one place; ${REFERENCE_HINT}`;
  const raised =
    typeof version === 'string' || typeof version === 'number' ? { version: String(version) } : {};
  if (version !== undefined && raised.version === undefined) return 'version is a number or text';
  if (env !== undefined) {
    if (key !== undefined) return 'key belongs to secrets-manager';
    if (typeof env !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(env))
      return 'env is the name of an environment variable: letters, digits and _';
    return { from: 'env', name: env, ...raised };
  }
  if (typeof id !== 'string' || id === '') return 'secrets-manager is the name or ARN of a secret';
  if (key !== undefined && typeof key !== 'string') return 'key is the name of a member';
  return { from: 'secrets-manager', id, ...(key === undefined ? {} : { key }), ...raised };
}

/** The reference as one word: for people, and in the state file, where a different word means "send it again". */
export function formatSecretReference(reference: SecretReference): string {
  const version = reference.version === undefined ? '' : ` version ${reference.version}`;
  if (reference.from === 'env') return `env ${reference.name}${version}`;
  const key = reference.key === undefined ? '' : ` key ${reference.key}`;
  return `secrets-manager ${reference.id}${key}${version}`;
}

import { randomBytes } from 'node:crypto';
import { routerIdFrom } from '../core/engine-settings.ts';
import { hashToken } from '../core/token.ts';
import { seedEngineSettings } from './engine-store.ts';
import { createKeyring } from './keyring.ts';
import { createToken, hasHadTokens } from './token-store.ts';

/** The name of a stack's first token. */
export const BOOTSTRAP_TOKEN = 'bootstrap';

/** What a new stack starts with. */
export interface FirstValues {
  /** The bootstrap token, of scope admin; made anew with `newToken` by whoever sets the stack up. */
  readonly apiToken: string;
  /** Someone named this very token: it is made valid even where tokens exist already. */
  readonly apiTokenIsGiven: boolean;
  /** `''`: each session uses its peer's AS. */
  readonly localAs: string;
  /** `''`: one is made from chance. */
  readonly routerId: string;
}

/**
 * Gives an empty stack its keyring, engine settings and first token. What is there already stays: settings, keys and
 * the token are seeded once, so that a bootstrap token which its owner removed does not come back by a restart.
 */
export async function setUp(first: FirstValues, now: Date): Promise<void> {
  await createKeyring(now);
  await seedEngineSettings({
    revision: 1,
    'local-as': first.localAs,
    'router-id': first.routerId === '' ? routerIdFrom(randomBytes(3)) : first.routerId,
    'stale-time': 120,
    'max-nlri': 5_000_000,
  });
  if (!first.apiTokenIsGiven && (await hasHadTokens())) return;
  await createToken({
    name: BOOTSTRAP_TOKEN,
    scope: 'admin',
    createdAt: now.toISOString(),
    expiresAt: null,
    hash: hashToken(first.apiToken),
  });
}

/** A token nobody can guess: 256 bits of chance. */
export function newToken(): string {
  return `grt_${randomBytes(32).toString('base64url')}`;
}

import { bearerToken, hashToken, isExpired, type Token } from '../core/token.ts';
import { findToken } from '../store/token-store.ts';

const CACHE_LIFE_MILLISECONDS = 10_000;
const CACHE_LIMIT = 1_000;

const cache = new Map<string, { readonly token: Token; readonly readAt: number }>();

/**
 * The token that an Authorization header carries, or undefined when it is missing, malformed, unknown or expired.
 * A known token is believed for up to ten seconds after it was read, so a removed one works that much longer.
 */
export async function authenticate(header: string | undefined, now: Date): Promise<Token | undefined> {
  const bearer = bearerToken(header);
  if (bearer === undefined) return undefined;
  const hash = hashToken(bearer);
  const token = cached(hash) ?? (await findToken(hash));
  if (token === undefined) return undefined;
  remember(hash, token);
  return isExpired(token, now.getTime()) ? undefined : token;
}

function cached(hash: string): Token | undefined {
  const entry = cache.get(hash);
  if (entry === undefined) return undefined;
  if (performance.now() - entry.readAt < CACHE_LIFE_MILLISECONDS) return entry.token;
  cache.delete(hash);
  return undefined;
}

function remember(hash: string, token: Token): void {
  if (cache.has(hash)) return;
  const oldest = cache.keys().next();
  if (cache.size >= CACHE_LIMIT && !oldest.done) cache.delete(oldest.value);
  cache.set(hash, { token, readAt: performance.now() });
}

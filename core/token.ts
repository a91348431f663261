import { createHash } from 'node:crypto';
import type { Scope } from '../contract/routes.ts';

/** From the least to the most. */
export const SCOPES = ['read', 'write', 'admin'] as const;

/** A token as stored: never the token itself, only its hash. */
export interface Token {
  readonly id: number;
  readonly name: string;
  readonly scope: Scope;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  /** Hex SHA-256 of the bearer token. */
  readonly hash: string;
}

export function hashToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}

/** The token of an `Authorization: Bearer` header (RFC 6750 §2.1), or undefined when there is none to be read. */
export function bearerToken(header: string | undefined): string | undefined {
  return /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(header ?? '')?.[1];
}

export function isExpired(token: Token, nowMilliseconds: number): boolean {
  return token.expiresAt !== null && Date.parse(token.expiresAt) <= nowMilliseconds;
}

/** Scopes nest: `admin` may do what `write` may, and `write` what `read` may. */
export function scopeAllows(granted: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(granted) >= SCOPES.indexOf(needed);
}

/** Whether `leaving` is the only admin token that is not expired: without it nobody could make another. */
export function isLastAdmin(leaving: Token, tokens: readonly Token[], nowMilliseconds: number): boolean {
  const admins = tokens.filter((token) => token.scope === 'admin' && !isExpired(token, nowMilliseconds));
  return admins.length === 1 && admins[0]?.id === leaving.id;
}

/** A token as the API lists it. */
export function viewToken(token: Token): Record<string, unknown> {
  return {
    id: token.id,
    name: token.name,
    scope: token.scope,
    'created-at': token.createdAt,
    'expires-at': token.expiresAt,
  };
}

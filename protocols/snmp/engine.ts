/**
 * What we know of one authoritative SNMP engine: its id, its clock, a user's keys there (RFC 3414 §2.3, §3.2, §4).
 * The clock is the engine's own; `now` is ours, monotonic, in milliseconds.
 */
import {
  authenticationKey,
  cipherKey,
  type LocalizedUser,
  MAX_ENGINE_BOOTS,
  TIME_WINDOW_SECONDS,
} from './usm.ts';
import { type AuthProtocol, localizeKey, type PrivProtocol, privacyKey } from './usm-key.ts';

/** A user as configured, the passwords already made into keys that no engine is bound to yet (`passwordToKey`). */
export interface UsmUser {
  readonly name: Uint8Array;
  readonly auth?: { readonly protocol: AuthProtocol; readonly key: Uint8Array };
  readonly priv?: { readonly protocol: PrivProtocol; readonly key: Uint8Array };
}

export type ClockJudgement = 'in-window' | 'restarted' | 'outside-window';

export class AuthoritativeEngine {
  readonly id: Uint8Array;
  readonly user: LocalizedUser;
  boots: number;
  private time: number;
  private knownAt: number;
  /** Discovery's clock came in clear; the first authenticated message replaces it, whatever it was. */
  private confirmed = false;

  constructor(id: Uint8Array, user: UsmUser, boots: number, time: number, now: number) {
    this.id = id;
    this.user = localizeUser(user, id);
    this.boots = boots;
    this.time = time;
    this.knownAt = now;
  }

  /** The engine's clock as it should stand at `now`, in seconds. */
  timeAt(now: number): number {
    return this.time + Math.floor((now - this.knownAt) / 1000);
  }

  /** RFC 3414 §3.2 step 7b, for an authenticated message: learns a later clock, and refuses an old one. */
  judge(boots: number, time: number, now: number): ClockJudgement {
    const restarted = this.confirmed && boots > this.boots;
    if (!this.confirmed || restarted || (boots === this.boots && time > this.time)) {
      this.boots = boots;
      this.time = time;
      this.knownAt = now;
      this.confirmed = true;
    }
    if (this.boots === MAX_ENGINE_BOOTS || boots < this.boots) return 'outside-window';
    if (time + TIME_WINDOW_SECONDS < this.timeAt(now)) return 'outside-window';
    return restarted ? 'restarted' : 'in-window';
  }
}

function localizeUser(user: UsmUser, engineId: Uint8Array): LocalizedUser {
  const { name, auth, priv } = user;
  if (auth === undefined) return { name };
  const key = localizeKey(auth.protocol, auth.key, engineId);
  const localized: LocalizedUser = { name, auth: authenticationKey(auth.protocol, key) };
  if (priv === undefined) return localized;
  return {
    ...localized,
    priv: cipherKey(priv.protocol, privacyKey(priv.protocol, auth.protocol, priv.key, engineId)),
  };
}

/**
 * When a peer's objects become stale and when they go: the times that the worker writes into the log. Deviates from
 * RFC 4271's immediate delete and RFC 4724's F bit: what the network looked like a minute ago is worth more, marked
 * as stale, than nothing.
 */
import type { LogEntry, PurgeReason } from './log.ts';

/** Used when the engine's `stale-time` is 0. */
export const DEFAULT_STALE_TIME_SECONDS = 120;
/** No peer's restart time keeps its objects longer than this. */
export const LONGEST_STALE_TIME_SECONDS = 3_600;
/** A peer that says no End-of-RIB is taken to have said everything after this long without an UPDATE. */
export const QUIET_BEFORE_SWEEP_MILLISECONDS = 30_000;

/** How long the objects of a lost session stay: the greater of the two, in milliseconds. */
export function staleMilliseconds(staleTimeSeconds: number, restartTimeSeconds: number): number {
  const own = staleTimeSeconds === 0 ? DEFAULT_STALE_TIME_SECONDS : staleTimeSeconds;
  return Math.min(Math.max(own, restartTimeSeconds), LONGEST_STALE_TIME_SECONDS) * 1000;
}

/** Turns what happens to a session into log entries. All times are milliseconds of one clock. */
export class Retention {
  #state: 'down' | 'syncing' | 'synced' = 'down';
  #lastUpdateAt = 0;
  /** When what is stale goes; undefined when nothing can be. */
  #deadline: number | undefined;

  /** Goes on where a log stopped, e.g. with another worker. */
  resume(state: 'down' | 'syncing' | 'synced', deadline: number | null, now: number): void {
    this.#state = state;
    this.#deadline = deadline ?? undefined;
    this.#lastUpdateAt = now;
  }

  established(now: number, staleTimeSeconds: number): LogEntry {
    this.#state = 'syncing';
    this.#lastUpdateAt = now;
    this.#deadline = now + staleMilliseconds(staleTimeSeconds, 0);
    return { kind: 'session-established', at: now, sweepBy: this.#deadline };
  }

  /** An UPDATE came, of any content. */
  updated(now: number): void {
    this.#lastUpdateAt = now;
  }

  endOfRib(now: number): LogEntry {
    this.#state = 'synced';
    this.#deadline = undefined;
    return { kind: 'end-of-rib', at: now };
  }

  /** `restartTimeSeconds` is what the peer's graceful-restart capability said, 0 without one. RFC 4724 §3. */
  lost(now: number, staleTimeSeconds: number, restartTimeSeconds: number): LogEntry {
    this.#state = 'down';
    this.#deadline = now + staleMilliseconds(staleTimeSeconds, restartTimeSeconds);
    return { kind: 'session-lost', at: now, purgeAt: this.#deadline };
  }

  purged(now: number, reason: PurgeReason): LogEntry {
    this.#deadline = undefined;
    return { kind: 'purge', at: now, reason };
  }

  /** The entry that time alone makes due, if one is. */
  due(now: number): LogEntry | undefined {
    const at = this.dueAt();
    if (at === undefined || now < at) return undefined;
    const reason = this.#state === 'down' ? 'expired' : 'sweep-timeout';
    if (this.#state === 'syncing') this.#state = 'synced';
    return this.purged(now, reason);
  }

  /** When `due` should be asked next; undefined while nothing waits. */
  dueAt(): number | undefined {
    if (this.#deadline === undefined) return undefined;
    if (this.#state === 'syncing') {
      return Math.min(this.#deadline, this.#lastUpdateAt + QUIET_BEFORE_SWEEP_MILLISECONDS);
    }
    return this.#deadline;
  }
}

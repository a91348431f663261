/**
 * Whether what a log says of a peer can still be believed. The worker that wrote it may be dead, and a dead worker
 * writes no `session-lost`: readers conclude it from ownership, epoch and heartbeat.
 */
import { LONGEST_STALE_TIME_SECONDS } from './retention.ts';

/** What a reader knows besides the log. Times are milliseconds since 1970. */
export interface PeerCircumstances {
  /** The peer exists and `enabled` is true; otherwise its objects are gone, whoever has written so or not. */
  readonly wanted: boolean;
  /** Lower wins; zero has been replaced by its default. */
  readonly preference: number;
  /** Of the worker that writes the log now; null: it has no item. */
  readonly writerBeatAt: number | null;
  /** The writer's heart beats, by the rule of ownership. */
  readonly writerAlive: boolean;
  /** The epoch of the ownership item; null when there is none. */
  readonly ownerEpoch: number | null;
}

/** The part of the head pointer that liveness depends on. */
export interface LogHead {
  readonly epoch: number;
  /** When the head was last moved. */
  readonly at: number;
  /** How long this writer would have kept the objects of a lost session. */
  readonly staleMilliseconds: number;
}

export interface DerivedLoss {
  readonly at: number;
  readonly purgeAt: number;
}

/**
 * The loss that nobody wrote down, or null while the log is current. It is dated by the dead writer's last sign of
 * life; objects then stay as long as after any other loss.
 */
export function derivedLoss(head: LogHead, circumstances: PeerCircumstances): DerivedLoss | null {
  const owned = circumstances.ownerEpoch === head.epoch;
  if (owned && circumstances.writerAlive) return null;
  const at = Math.max(head.at, circumstances.writerBeatAt ?? 0);
  return { at, purgeAt: at + Math.min(head.staleMilliseconds, LONGEST_STALE_TIME_SECONDS * 1000) };
}

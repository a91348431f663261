import type { EngineSettings } from '../core/engine-settings.ts';
import type { Peer } from '../core/peer.ts';
import type { PeerStatus } from '../core/peer-status.ts';

/** Why a worker lets go of a peer; decides what the other side is told (RFC 4486) and what becomes of the routes. */
export type StopReason =
  /** The peer was removed. */
  | 'deleted'
  /** This worker ends; another one, or its successor, takes over. */
  | 'shutdown'
  /** This worker may not act any more: nothing is sent or written, sockets just close. */
  | 'fenced';

/** Runs one peer that this worker owns: its session, its table, its part of the topology log. */
export interface PeerRunner {
  readonly epoch: number;
  /** Takes the peer's configuration and the engine's, now or again; restarts the session only if it must. */
  configure(peer: Peer, engine: EngineSettings): Promise<void>;
  /** About once a second: what time alone makes due. */
  tick(): void;
  command(command: 'reset' | 'refresh'): void;
  stop(reason: StopReason): Promise<void>;
  status(): PeerStatus;
  /** When the oldest change that readers cannot see yet was told, milliseconds since 1970; undefined: they see all. */
  pendingSince(): number | undefined;
}

/** Makes the runner of a peer that was just taken; `before` is the last word of whoever ran it before. */
export type StartPeer = (
  peerId: number,
  ownership: { readonly worker: string; readonly epoch: number },
  before: PeerStatus | undefined,
) => PeerRunner;

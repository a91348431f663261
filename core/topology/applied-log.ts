/**
 * What the entries of a peer's log come to: the state of its session, and rules for its copies. How copies are kept is
 * left to those who extend it: a reader keeps them to be looked at, the worker to be small.
 */
import type { LinkStateSafi } from '../../protocols/bgp/ls/code-point.ts';
import type { LogEntry } from './log.ts';

/** One object as one peer tells it. Times are milliseconds since 1970 by the worker's clock. */
export interface CopyContent {
  readonly safi: LinkStateSafi;
  readonly nlri: Uint8Array;
  /** The BGP-LS Attribute as received; null: absent or discarded. */
  readonly attribute: Uint8Array | null;
  /** When this peer first told it, since it last did not. */
  readonly firstSeen: number;
  /** When it was last received anew: at first, changed, or for the first time in a session. */
  readonly receivedAt: number;
  /** When its octets last changed as told by this peer. */
  readonly changedAt: number;
  /** The session in which it was last received. */
  readonly session: number;
}

export type EntryOf<Kind extends LogEntry['kind']> = LogEntry & { readonly kind: Kind };

/** `stale`: the same, but not yet in this session. */
export type Said = 'same' | 'stale' | 'other';

export abstract class AppliedLog {
  /** Counts the sessions that were established; 0 before the first. */
  session = 0;
  established = false;
  establishedAt: number | null = null;
  /** Of the current or the last session. */
  endOfRibAt: number | null = null;
  lostAt: number | null = null;
  /** When what is stale will be dropped at the latest; null when nothing is. */
  purgeAt: number | null = null;
  /** The time of the last entry. */
  lastAt = 0;
  /** When each session was lost of which copies may be left. */
  readonly losses = new Map<number, number>();

  /** Copies that there are. */
  abstract get size(): number;
  /** All copies. Between two steps entries may be applied: a copy that is there throughout comes. */
  abstract contents(): Iterable<CopyContent>;
  /** Takes a copy from a snapshot. */
  abstract restore(content: CopyContent): void;
  /** What a peer that announces this says, next to what it said before. */
  abstract compare(safi: LinkStateSafi, nlri: Uint8Array, attribute: Uint8Array | null): Said;
  abstract has(safi: LinkStateSafi, nlri: Uint8Array): boolean;

  protected abstract put(entry: EntryOf<'put'>): void;
  protected abstract confirm(entry: EntryOf<'confirm'>): void;
  protected abstract remove(entry: EntryOf<'remove'>): void;
  protected abstract dropStale(entry: LogEntry): void;
  protected abstract dropAll(entry: LogEntry): void;
  protected abstract sessionChanged(entry: LogEntry): void;

  /** Makes an empty one the same as this. */
  copyTo<Rib extends AppliedLog>(empty: Rib): Rib {
    const { session, established, establishedAt, endOfRibAt, lostAt, purgeAt, lastAt } = this;
    Object.assign(empty, { session, established, establishedAt, endOfRibAt, lostAt, purgeAt, lastAt });
    for (const [each, at] of this.losses) empty.losses.set(each, at);
    for (const content of this.contents()) empty.restore(content);
    return empty;
  }

  /** Byte strings of the entry may be kept as they are: a caller that reuses their memory passes copies. */
  apply(entry: LogEntry): void {
    this.lastAt = Math.max(this.lastAt, entry.at);
    switch (entry.kind) {
      case 'put':
        this.put(entry);
        break;
      case 'confirm':
        this.confirm(entry);
        break;
      case 'remove':
        this.remove(entry);
        break;
      case 'session-established':
        this.session += 1;
        this.established = true;
        this.establishedAt = entry.at;
        this.endOfRibAt = null;
        this.purgeAt = this.size === 0 ? null : entry.sweepBy;
        this.sessionChanged(entry);
        break;
      case 'end-of-rib':
        this.endOfRibAt = entry.at;
        this.#sweep(entry);
        this.sessionChanged(entry);
        break;
      case 'session-lost':
        if (this.established) this.losses.set(this.session, entry.at);
        this.established = false;
        this.lostAt = entry.at;
        this.purgeAt = entry.purgeAt;
        this.sessionChanged(entry);
        break;
      case 'purge':
        if (entry.reason === 'expired' || entry.reason === 'sweep-timeout') this.#sweep(entry);
        else this.dropAll(entry);
        this.purgeAt = null;
        break;
    }
  }

  /** Whether the log alone makes a copy of this session stale; a reader may know more, see `liveness.ts`. */
  protected isOver(session: number): boolean {
    // A copy from a snapshot may be ahead of the entries that are applied after it; it is none of the older ones.
    return !this.established || session < this.session;
  }

  #sweep(entry: LogEntry): void {
    this.dropStale(entry);
    this.losses.clear();
    if (this.established) this.purgeAt = null;
  }
}

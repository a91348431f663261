/**
 * What one peer has said and is believed to say still: RFC 4271's Adj-RIB-In, kept through lost sessions with the
 * marks that say so. It is a pure function of the peer's log: the worker and every reader come to the same state.
 */
import type { LinkStateSafi } from '../../protocols/bgp/ls/code-point.ts';
import { objectKey } from './identity.ts';
import type { LogEntry } from './log.ts';

/** One object as one peer tells it. Times are milliseconds since 1970 by the worker's clock. */
export interface Copy {
  readonly rib: AdjRibIn;
  readonly key: string;
  readonly safi: LinkStateSafi;
  readonly nlri: Uint8Array;
  /** The BGP-LS Attribute as received; null: absent or discarded. */
  attribute: Uint8Array | null;
  /** When this peer first told it, since it last did not. */
  firstSeen: number;
  /** When it was last received anew: at first, changed, or for the first time in a session. */
  receivedAt: number;
  /** When its octets last changed as told by this peer. */
  changedAt: number;
  /** The session in which it was last received. */
  session: number;
}

/** Told of every change while an entry is applied, after the change. */
export interface AdjRibInListener {
  added(copy: Copy, at: number): void;
  changed(copy: Copy, before: Uint8Array | null, at: number): void;
  /** Said again in a new session, octets as before: no longer stale. */
  confirmed(copy: Copy, at: number): void;
  removed(copy: Copy, entry: LogEntry): void;
  /** All copies may have become stale, or less so. */
  sessionChanged(rib: AdjRibIn, entry: LogEntry): void;
}

export class AdjRibIn {
  readonly peerId: number;
  readonly copies = new Map<string, Copy>();
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
  readonly #listener: AdjRibInListener | undefined;

  constructor(peerId: number, listener?: AdjRibInListener) {
    this.peerId = peerId;
    this.#listener = listener;
  }

  /** Whether the log alone makes this copy stale; a reader may know more, see `liveness.ts`. */
  isStale(copy: Copy): boolean {
    // A copy from a snapshot may be ahead of the entries that are applied after it; it is none of the older ones.
    return !this.established || copy.session < this.session;
  }

  /** When a stale copy became so. */
  staleSince(copy: Copy): number | null {
    return this.isStale(copy) ? (this.losses.get(copy.session) ?? this.lostAt) : null;
  }

  find(safi: LinkStateSafi, nlri: Uint8Array): Copy | undefined {
    return this.copies.get(objectKey(safi, nlri));
  }

  /**
   * Byte strings of the entry are kept as they are: a caller that reuses their memory passes copies. `key` is the
   * `objectKey` of an entry that names an object, for a caller that has it already.
   */
  apply(entry: LogEntry, key = 'nlri' in entry ? objectKey(entry.safi, entry.nlri) : ''): void {
    this.lastAt = Math.max(this.lastAt, entry.at);
    switch (entry.kind) {
      case 'put':
        this.#put(entry, key);
        break;
      case 'confirm': {
        const copy = this.copies.get(key);
        if (copy !== undefined) this.#refresh(copy, entry.at);
        break;
      }
      case 'remove': {
        const copy = this.copies.get(key);
        if (copy !== undefined) this.#remove(copy, entry);
        break;
      }
      case 'session-established':
        this.session += 1;
        this.established = true;
        this.establishedAt = entry.at;
        this.endOfRibAt = null;
        this.purgeAt = this.copies.size === 0 ? null : entry.sweepBy;
        this.#listener?.sessionChanged(this, entry);
        break;
      case 'end-of-rib':
        this.endOfRibAt = entry.at;
        this.#sweep(entry);
        this.#listener?.sessionChanged(this, entry);
        break;
      case 'session-lost':
        if (this.established) this.losses.set(this.session, entry.at);
        this.established = false;
        this.lostAt = entry.at;
        this.purgeAt = entry.purgeAt;
        this.#listener?.sessionChanged(this, entry);
        break;
      case 'purge':
        if (entry.reason === 'expired' || entry.reason === 'sweep-timeout') this.#sweep(entry);
        else for (const copy of [...this.copies.values()]) this.#remove(copy, entry);
        this.purgeAt = null;
        break;
    }
  }

  /** Takes a copy from a snapshot, without telling the listener of a change. */
  restore(copy: Omit<Copy, 'rib' | 'key'>): Copy {
    const restored: Copy = { rib: this, key: objectKey(copy.safi, copy.nlri), ...copy };
    this.copies.set(restored.key, restored);
    return restored;
  }

  #put(entry: LogEntry & { kind: 'put' }, key: string): void {
    const copy = this.copies.get(key);
    if (copy === undefined) {
      const added: Copy = {
        rib: this,
        key,
        safi: entry.safi,
        nlri: entry.nlri,
        attribute: entry.attribute,
        firstSeen: entry.at,
        receivedAt: entry.at,
        changedAt: entry.at,
        session: this.session,
      };
      this.copies.set(key, added);
      this.#listener?.added(added, entry.at);
      return;
    }
    if (sameOctets(copy.attribute, entry.attribute)) {
      this.#refresh(copy, entry.at);
      return;
    }
    const before = copy.attribute;
    copy.attribute = entry.attribute;
    copy.receivedAt = entry.at;
    copy.changedAt = entry.at;
    copy.session = this.session;
    this.#listener?.changed(copy, before, entry.at);
  }

  /** Nothing new, unless the copy had been stale. */
  #refresh(copy: Copy, at: number): void {
    if (copy.session >= this.session) return;
    copy.session = this.session;
    copy.receivedAt = at;
    this.#listener?.confirmed(copy, at);
  }

  /** Drops what is stale. */
  #sweep(entry: LogEntry): void {
    for (const copy of this.copies.values()) {
      if (this.isStale(copy)) this.#remove(copy, entry);
    }
    this.losses.clear();
    if (this.established) this.purgeAt = null;
  }

  #remove(copy: Copy, entry: LogEntry): void {
    this.copies.delete(copy.key);
    this.#listener?.removed(copy, entry);
  }
}

/** Whether two attributes are the same octet for octet. */
export function sameOctets(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}

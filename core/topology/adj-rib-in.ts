/**
 * What one peer has said and is believed to say still: RFC 4271's Adj-RIB-In, kept through lost sessions with the
 * marks that say so. It is a pure function of the peer's log: the worker and every reader come to the same state.
 */
import type { LinkStateSafi } from '../../protocols/bgp/ls/code-point.ts';
import { AppliedLog, type CopyContent, type EntryOf, type Said } from './applied-log.ts';
import { objectKey } from './identity.ts';
import type { LogEntry } from './log.ts';

/** One object as one peer tells it, in place. */
export interface Copy extends CopyContent {
  readonly rib: AdjRibIn;
  readonly key: string;
  attribute: Uint8Array | null;
  receivedAt: number;
  changedAt: number;
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

export class AdjRibIn extends AppliedLog {
  readonly peerId: number;
  readonly copies = new Map<string, Copy>();
  readonly #listener: AdjRibInListener | undefined;

  constructor(peerId: number, listener?: AdjRibInListener) {
    super();
    this.peerId = peerId;
    this.#listener = listener;
  }

  get size(): number {
    return this.copies.size;
  }

  contents(): Iterable<CopyContent> {
    return this.copies.values();
  }

  isStale(copy: Copy): boolean {
    return this.isOver(copy.session);
  }

  /** When a stale copy became so. */
  staleSince(copy: Copy): number | null {
    return this.isStale(copy) ? (this.losses.get(copy.session) ?? this.lostAt) : null;
  }

  find(safi: LinkStateSafi, nlri: Uint8Array): Copy | undefined {
    return this.copies.get(objectKey(safi, nlri));
  }

  compare(safi: LinkStateSafi, nlri: Uint8Array, attribute: Uint8Array | null): Said {
    const copy = this.find(safi, nlri);
    if (copy === undefined || !sameOctets(copy.attribute, attribute)) return 'other';
    return this.isStale(copy) ? 'stale' : 'same';
  }

  has(safi: LinkStateSafi, nlri: Uint8Array): boolean {
    return this.find(safi, nlri) !== undefined;
  }

  /** Without telling the listener of a change; byte strings are kept as they are. */
  restore(content: CopyContent): void {
    const key = objectKey(content.safi, content.nlri);
    this.copies.set(key, { rib: this, key, ...content });
  }

  protected put(entry: EntryOf<'put'>): void {
    const key = objectKey(entry.safi, entry.nlri);
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

  protected confirm(entry: EntryOf<'confirm'>): void {
    const copy = this.find(entry.safi, entry.nlri);
    if (copy !== undefined) this.#refresh(copy, entry.at);
  }

  protected remove(entry: EntryOf<'remove'>): void {
    const copy = this.find(entry.safi, entry.nlri);
    if (copy !== undefined) this.#drop(copy, entry);
  }

  protected dropStale(entry: LogEntry): void {
    for (const copy of this.copies.values()) {
      if (this.isStale(copy)) this.#drop(copy, entry);
    }
  }

  protected dropAll(entry: LogEntry): void {
    for (const copy of [...this.copies.values()]) this.#drop(copy, entry);
  }

  protected sessionChanged(entry: LogEntry): void {
    this.#listener?.sessionChanged(this, entry);
  }

  /** Nothing new, unless the copy had been stale. */
  #refresh(copy: Copy, at: number): void {
    if (copy.session >= this.session) return;
    copy.session = this.session;
    copy.receivedAt = at;
    this.#listener?.confirmed(copy, at);
  }

  #drop(copy: Copy, entry: LogEntry): void {
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

/** What is believed of a peer and of what it tells, beside what its log says. */
import type { AdjRibIn, Copy } from './adj-rib-in.ts';
import type { DerivedLoss } from './liveness.ts';

/** One peer's part of the graph. */
export class GraphPeer {
  readonly id: number;
  rib: AdjRibIn;
  preference = 100;
  /** A loss that readers conclude because nobody wrote it. */
  derivedLoss: DerivedLoss | null = null;
  /** Nobody has it configured any longer: what is left is its log, which tells of its end for a while. */
  deleted = false;
  /** Its copies are in the merged objects; not so once they are gone in all but the log. */
  attached = true;

  constructor(id: number, rib: AdjRibIn) {
    this.id = id;
    this.rib = rib;
  }

  /** What is not in the log, as one number: when it changes, the flags of all its objects may have changed. */
  get beliefs(): number {
    const loss = this.derivedLoss === null ? 0 : 1 + (Math.floor(this.derivedLoss.at / 1000) % 65_536);
    return (loss * 2 + (this.attached ? 0 : 1)) * 65_536 + this.preference;
  }

  isLive(copy: Copy): boolean {
    return this.derivedLoss === null && !this.rib.isStale(copy);
  }

  staleSince(copy: Copy): number | null {
    return this.rib.staleSince(copy) ?? this.derivedLoss?.at ?? null;
  }

  purgeAt(copy: Copy): number | null {
    if (this.rib.isStale(copy)) return this.rib.purgeAt;
    return this.derivedLoss?.purgeAt ?? null;
  }
}

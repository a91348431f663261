/**
 * The Adj-RIB-In of link state: what one peer has told and not withdrawn, as the exact bytes of each NLRI and of its
 * attribute. RFC 4271 §3.2, RFC 9552 §5.
 *
 * Nothing is decoded on the way in; objects are decoded when somebody asks.
 */
import { isAttributeFramed } from './attribute-scan.ts';
import {
  LINK_STATE_SAFI,
  LINK_STATE_VPN_SAFI,
  type LinkStateSafi,
  NlriType,
  type NlriTypeName,
  nlriTypeName,
} from './code-point.ts';
import { NlriScan, nlriEnd } from './nlri-scan.ts';
import { NlriStore, NONE } from './nlri-store.ts';
import { MOST_PROBLEMS, type ProblemAction, strongestAction, type UpdateProblem } from './problem.ts';

/** Where an UPDATE's NLRIs of one family stand, one behind the other. */
export interface NlriField {
  readonly safi: LinkStateSafi;
  readonly start: number;
  readonly end: number;
}

/** The link-state part of an UPDATE, where it stands in `octets`: what is kept is copied. */
export interface LinkStateUpdate {
  readonly octets: Uint8Array;
  readonly reach?: NlriField | undefined;
  readonly unreach?: NlriField | undefined;
  /** The value of path attribute 29. Absent when it was not sent, or discarded on the way: the objects stay. */
  readonly linkStateAttribute?: { readonly start: number; readonly end: number } | undefined;
}

export type ChangeAction = 'added' | 'changed' | 'unchanged' | 'removed';

/** What happened to one NLRI. The object and its arrays are good until the callback returns; copy what is to be kept. */
export interface LinkStateChange {
  readonly action: ChangeAction;
  readonly safi: LinkStateSafi;
  readonly type: NlriTypeName;
  /** The whole NLRI: type, length and body. */
  readonly nlri: Uint8Array;
  /** undefined when the object has none, and when it has been removed. */
  readonly attribute: Uint8Array | undefined;
}

/** What came of an UPDATE, besides changes. */
export interface UpdateOutcome {
  /** The strongest: on `afi-safi-disable` a session whose only family this is resets. RFC 9552 §8.2.2. */
  readonly action: ProblemAction;
  readonly problems: readonly UpdateProblem[];
}

export interface LinkStateEntry {
  readonly safi: LinkStateSafi;
  readonly type: NlriTypeName;
  readonly nlri: Uint8Array;
  readonly attribute: Uint8Array | undefined;
  /** When the peer last told it, and when its bytes last became others; as given to `applyUpdate`. */
  readonly receivedAt: number;
  readonly changedAt: number;
}

export interface LinkStateTableOptions {
  /** More NLRIs than this are withheld and counted. RFC 9552 §8.2.6. */
  readonly maxNlri?: number;
  /** Any number; keeps a peer from choosing NLRIs that collide. */
  readonly hashSeed?: number;
}

const NOTHING_WRONG: UpdateOutcome = Object.freeze({ action: 'none', problems: Object.freeze([]) });
const NO_PROBLEMS: readonly UpdateProblem[] = NOTHING_WRONG.problems;
const NO_BYTES = new Uint8Array(0);

/** So much a table may keep at most, however large the attributes are that a peer sends. */
const MOST_BYTES = 1.5 * 2 ** 30;

export class LinkStateTable {
  private readonly maxNlri: number;
  private readonly scan = new NlriScan();
  private readonly store: NlriStore;
  private readonly change = new Change();
  /** What was wrong with the UPDATE in hand. */
  private problems: readonly UpdateProblem[] = NO_PROBLEMS;
  private readonly countsByType = new Uint32Array(NlriType.stubLink + 1);
  private entryCount = 0;
  private malformed = 0;
  private beyondMax = 0;
  private discardedAttributes = 0;
  private outOfOrder = 0;
  private readonly round: Record<LinkStateSafi, number> = {
    [LINK_STATE_SAFI]: 0,
    [LINK_STATE_VPN_SAFI]: 0,
  };

  constructor(options: LinkStateTableOptions = {}) {
    this.maxNlri = options.maxNlri ?? Number.POSITIVE_INFINITY;
    this.store = new NlriStore(options.hashSeed ?? 0);
  }

  /** NLRIs in the table. */
  get size(): number {
    return this.entryCount;
  }

  /** NLRIs in the table by type. */
  get nlris(): Record<NlriTypeName, number> {
    const count = (code: number) => this.countsByType[code] as number;
    return {
      node: count(1),
      link: count(2),
      'ipv4-prefix': count(3),
      'ipv6-prefix': count(4),
      'sr-policy': count(5),
      'srv6-sid': count(6),
      'stub-link': count(7),
      unknown: count(0),
    };
  }

  /** NLRIs received and not kept, since the table was made. */
  get withheld(): { readonly malformed: number; readonly 'max-nlri': number } {
    return { malformed: this.malformed, 'max-nlri': this.beyondMax };
  }

  /** NLRIs received whose TLVs are not in order; they are kept. RFC 9552 §5.1. */
  get outOfOrderCount(): number {
    return this.outOfOrder;
  }

  /** Attributes received whose lengths make no sense; the objects are kept without. RFC 9552 §8.2.2. */
  get attributeDiscards(): number {
    return this.discardedAttributes;
  }

  /** Octets of all arrays of the table, in use or in reserve. */
  get retainedBytes(): number {
    return this.store.retainedBytes;
  }

  /**
   * Applies an UPDATE: withdrawals first, then what is announced. `report` hears of each NLRI that could be applied.
   * Never throws on what a peer sends.
   */
  applyUpdate(
    update: LinkStateUpdate,
    now: number,
    report?: (change: LinkStateChange) => void,
  ): UpdateOutcome {
    const { reach, unreach } = update;
    this.problems = NO_PROBLEMS;
    if (unreach !== undefined) this.withdraw(update.octets, unreach, report);
    if (reach !== undefined) this.announce(update, reach, now, report);
    const { problems } = this;
    return problems.length === 0 ? NOTHING_WRONG : { action: strongestAction(problems), problems };
  }

  /** What is not announced again until `sweep` was lost while nobody listened: RFC 7313 §4, RFC 4724 §4.2. */
  beginRefresh(safi: LinkStateSafi): void {
    this.round[safi] = (this.round[safi] + 1) & 0xff;
  }

  /** Removes the NLRIs of a family that were not announced since `beginRefresh`. */
  sweep(safi: LinkStateSafi, report?: (change: LinkStateChange) => void): void {
    const { store } = this;
    for (let id = 0; id < store.bound; id += 1) {
      if (store.isFree(id) || store.safiOf(id) !== safi || store.roundOf(id) === this.round[safi]) continue;
      const nlri = store.nlriOf(id);
      store.find(nlri, 0, nlri.length, safi);
      this.removeFound(typeCodeAt(nlri, 0));
      if (report !== undefined) this.tell(report, 'removed', safi, nlri, 0, nlri.length);
    }
  }

  /**
   * Every entry, as copies. Between two steps the table may change: an entry that is there throughout comes exactly
   * once.
   */
  *entries(): Generator<LinkStateEntry> {
    for (let id = 0; id < this.store.bound; id += 1) {
      if (!this.store.isFree(id)) yield this.entryOf(id);
    }
  }

  /** The entry of exactly this NLRI, as copies. */
  get(safi: LinkStateSafi, nlri: Uint8Array): LinkStateEntry | undefined {
    const id = this.store.find(nlri, 0, nlri.length, safi);
    return id < 0 ? undefined : this.entryOf(id);
  }

  private announce(
    update: LinkStateUpdate,
    { safi, start: fieldStart, end: fieldEnd }: NlriField,
    now: number,
    report: ((change: LinkStateChange) => void) | undefined,
  ): void {
    const { octets, linkStateAttribute } = update;
    let attributeStart = NONE;
    let attributeEnd = NONE;
    if (linkStateAttribute !== undefined) {
      const { start, end } = linkStateAttribute;
      if (isAttributeFramed(octets, start, end)) {
        attributeStart = start;
        attributeEnd = end;
      } else {
        this.discardedAttributes += 1;
        this.addProblem({ code: 'tlv-overruns', action: 'attribute-discard', offset: 0, safi });
      }
    }
    const { store } = this;
    const isFull = store.liveBytes > MOST_BYTES;
    for (let start = fieldStart; start < fieldEnd; ) {
      const end = nlriEnd(octets, start, fieldEnd);
      if (end < 0) {
        this.addOverrun(start - fieldStart, safi);
        break;
      }
      const nlri = start;
      start = end;
      if (!this.isSound(octets, nlri, end, fieldStart, safi)) continue;
      if (this.scan.outOfOrder) this.outOfOrder += 1;
      let action: ChangeAction = 'changed';
      if (store.find(octets, nlri, end, safi) < 0) {
        if (isFull || this.entryCount >= this.maxNlri) {
          this.beyondMax += 1;
          continue;
        }
        action = 'added';
        this.count(typeCodeAt(octets, nlri), 1);
      } else if (store.hasAttribute(octets, attributeStart, attributeEnd)) {
        action = 'unchanged';
      }
      if (action !== 'unchanged') {
        if (isFull) attributeStart = NONE;
        const isAlone = nlri === fieldStart && end === fieldEnd;
        store.put(octets, nlri, attributeStart, attributeEnd, isAlone);
      }
      store.touch(now, this.round[safi], action !== 'unchanged');
      if (report !== undefined) {
        this.tell(report, action, safi, octets, nlri, end, attributeStart, attributeEnd);
      }
    }
    store.endUpdate();
  }

  private withdraw(
    octets: Uint8Array,
    { safi, start: fieldStart, end: fieldEnd }: NlriField,
    report: ((change: LinkStateChange) => void) | undefined,
  ): void {
    for (let start = fieldStart; start < fieldEnd; ) {
      const end = nlriEnd(octets, start, fieldEnd);
      if (end < 0) {
        this.addOverrun(start - fieldStart, safi);
        return;
      }
      const nlri = start;
      start = end;
      if (!this.isSound(octets, nlri, end, fieldStart, safi)) continue;
      if (this.store.find(octets, nlri, end, safi) < 0) continue;
      this.removeFound(typeCodeAt(octets, nlri));
      if (report !== undefined) this.tell(report, 'removed', safi, octets, nlri, end);
    }
  }

  private addOverrun(offset: number, safi: LinkStateSafi): void {
    this.addProblem({ code: 'nlri-overruns-field', action: 'afi-safi-disable', offset, safi });
  }

  /** Scans an NLRI; one that cannot be kept is counted. A field of many is told by its first few. */
  private isSound(
    octets: Uint8Array,
    start: number,
    end: number,
    fieldStart: number,
    safi: LinkStateSafi,
  ): boolean {
    const { scan } = this;
    if (scan.scan(octets, start, end, safi)) return true;
    this.malformed += 1;
    if (this.problems.length < MOST_PROBLEMS) {
      this.addProblem({
        code: scan.malformed ?? 'nlri-too-short',
        action: 'nlri-discard',
        offset: scan.malformedAt - fieldStart,
        type: scan.malformedType,
        safi,
      });
    }
    return false;
  }

  private addProblem(problem: UpdateProblem): void {
    this.problems = [...this.problems, problem];
  }

  private removeFound(typeCode: number): void {
    this.store.remove();
    this.count(typeCode, -1);
  }

  private count(type: number, difference: 1 | -1): void {
    this.entryCount += difference;
    this.countsByType[type] = (this.countsByType[type] as number) + difference;
  }

  private entryOf(id: number): LinkStateEntry {
    const { store } = this;
    const nlri = store.nlriOf(id);
    return {
      safi: store.safiOf(id),
      type: nlriTypeName(typeCodeAt(nlri, 0)),
      nlri,
      attribute: store.attributeOf(id),
      receivedAt: store.receivedAt(id),
      changedAt: store.changedAt(id),
    };
  }

  private tell(
    report: (change: LinkStateChange) => void,
    action: ChangeAction,
    safi: LinkStateSafi,
    octets: Uint8Array,
    start: number,
    end: number,
    attributeStart = NONE,
    attributeEnd = NONE,
  ): void {
    const { change } = this;
    change.action = action;
    change.safi = safi;
    change.typeCode = typeCodeAt(octets, start);
    change.octets = octets;
    change.start = start;
    change.end = end;
    change.attributeStart = attributeStart;
    change.attributeEnd = attributeEnd;
    report(change);
  }
}

/** One object for all reports; its views are made when asked for, since most who listen need not. */
class Change implements LinkStateChange {
  action: ChangeAction = 'unchanged';
  safi: LinkStateSafi = LINK_STATE_SAFI;
  typeCode = 0;
  octets: Uint8Array = NO_BYTES;
  start = 0;
  end = 0;
  attributeStart = NONE;
  attributeEnd = NONE;

  get type(): NlriTypeName {
    return nlriTypeName(this.typeCode);
  }

  get nlri(): Uint8Array {
    return this.octets.subarray(this.start, this.end);
  }

  get attribute(): Uint8Array | undefined {
    return this.attributeStart === NONE
      ? undefined
      : this.octets.subarray(this.attributeStart, this.attributeEnd);
  }
}

/** The code of an NLRI's type; 0 when it is not one that is known. */
function typeCodeAt(octets: Uint8Array, start: number): number {
  const code = ((octets[start] as number) << 8) | (octets[start + 1] as number);
  return code <= NlriType.stubLink ? code : 0;
}

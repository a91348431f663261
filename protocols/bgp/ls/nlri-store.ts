/**
 * Where a table's NLRIs stand, with their attributes, under ids. An NLRI is found by its bytes; its node descriptors,
 * which each link and prefix of a node repeats, are interned, and what is left of it are its own bytes. See docs/decisions/0052.
 *
 * `find` leaves what it found out in members: the calls behind it are about the same NLRI.
 */
import { ByteStore } from './byte-store.ts';
import { LINK_STATE_SAFI, LINK_STATE_VPN_SAFI, type LinkStateSafi } from './code-point.ts';
import { WordColumns } from './column.ts';
import { HashIndex } from './hash-index.ts';
import {
  LOCAL_NODE_DESCRIPTORS,
  type NlriScan,
  PROTOCOL_AND_IDENTIFIER,
  REMOTE_NODE_DESCRIPTORS,
} from './nlri-scan.ts';
import { copyOctets, hashOfMixed, mixOctets, sameOctets } from './octet-words.ts';
import { IdPool, InternedBytes, SharedBytes } from './shared-bytes.ts';

/** Where something would begin that is not there. */
export const NONE = -1;

/** The flags of an NLRI: three bits of type, and where its parts are. */
export const TYPE = 0x07;
const VPN = 0x08;
/** The Local, the Remote Node Descriptors are interned, and the own bytes are without them. */
const LOCAL_APART = 0x10;
const REMOTE_APART = 0x20;
const FREE = 0xff;

/** The words of an NLRI. Ids of other stores are kept plus one, 0 being none. */
const FLAGS = 0;
/** Of which refresh it was told last. */
const ROUND = 1;
const LOCAL_NODE = 2;
const REMOTE_NODE = 3;
const ATTRIBUTE = 4;
/** So many octets of the byte string are the NLRI's own. */
const OWN_LENGTH = 5;
/** Two words each. */
const RECEIVED_AT = 6;
const CHANGED_AT = 8;
const WORDS = 10;

/** What ATTRIBUTE says when the attribute stands behind the own bytes, being of no other NLRI. */
const BEHIND = 0xffffffff;
/** So long may both together be; what one message brings is shorter. */
const LONGEST_TOGETHER = 0xffff;

const TLV_HEADER = 4;
const HIGH_WORD = 2 ** 32;

export class NlriStore {
  private readonly seed: number;
  private readonly scan: NlriScan;
  private readonly ids = new IdPool();
  private readonly index = new HashIndex();
  private readonly words = new WordColumns(WORDS);
  private readonly bytes = new ByteStore();
  private readonly nodes: InternedBytes;
  /** Those of UPDATEs with several NLRIs. */
  private readonly attributes = new SharedBytes();
  /** The copy of the attribute that an earlier NLRI of the UPDATE in hand made, held once for those behind it. */
  private shared = NONE;

  /** The NLRI in hand: its flags, its hash and those of its nodes, its local node if that was at hand, else NONE. */
  private flags = 0;
  private hash = 0;
  private localHash = 0;
  private remoteHash = 0;
  private localNode = NONE;
  /** Its own bytes: what stands before the node descriptors, and from here to the end what stands behind. */
  private headEnd = 0;
  private tailStart = 0;

  /** @param scan what it last scanned is the NLRI that `find` is asked for. */
  constructor(scan: NlriScan, seed: number) {
    this.scan = scan;
    this.seed = seed;
    this.nodes = new InternedBytes(seed);
  }

  /** All ids in use are below this. */
  get bound(): number {
    return this.ids.bound;
  }

  /** What is kept, without what arrays hold in reserve. */
  get liveBytes(): number {
    return this.bytes.liveBytes + this.attributes.store.liveBytes + this.nodes.store.liveBytes;
  }

  /** Octets of all arrays, in use or in reserve. */
  get retainedBytes(): number {
    return (
      this.words.retainedBytes +
      this.index.retainedBytes +
      this.bytes.retainedBytes +
      this.attributes.retainedBytes +
      this.nodes.retainedBytes
    );
  }

  /**
   * The id of the NLRI that has just been scanned, `octets[start, end)`, or NONE. Its hash is of bytes alone, not of
   * the ids of its nodes: those would have to be found first, and each step of that search waits for memory.
   */
  find(octets: Uint8Array, start: number, end: number, safi: LinkStateSafi): number {
    this.takeApart(octets, end, safi);
    const { scan, nodes, flags } = this;
    let mixed = this.seed ^ (flags & VPN);
    if (flags & LOCAL_APART) {
      const { localStart, localEnd } = scan;
      const local = nodes.findRecent(octets, localStart, localEnd);
      this.localNode = local;
      this.localHash = local < 0 ? nodes.hashOf(octets, localStart, localEnd) : nodes.hashOfRecent;
      mixed ^= Math.imul(this.localHash, 0x85ebca6b);
    }
    if (flags & REMOTE_APART) {
      this.remoteHash = nodes.hashOf(octets, scan.remoteStart, scan.remoteEnd);
      mixed ^= Math.imul(this.remoteHash, 0xc2b2ae35);
    }
    const head = mixOctets(octets, start, this.headEnd, mixed);
    const hash = hashOfMixed(mixOctets(octets, this.tailStart, end, head));
    this.hash = hash;
    for (let id = this.index.first(hash); id >= 0; id = this.index.next(hash)) {
      if (this.isInHand(id, octets, start, end)) return id;
    }
    return NONE;
  }

  /** Adds the NLRI that `find` did not find. Its attribute is to be set next. */
  add(octets: Uint8Array): number {
    const { scan, flags, nodes } = this;
    let local = NONE;
    let remote = NONE;
    if (flags & LOCAL_APART) {
      local = this.localNode;
      if (local >= 0) nodes.hold(local);
      else {
        local = this.intern(this.localHash, octets, scan.localStart, scan.localEnd);
        nodes.makeRecent(local, this.localHash);
      }
    }
    if (flags & REMOTE_APART) {
      remote = this.intern(this.remoteHash, octets, scan.remoteStart, scan.remoteEnd);
    }
    const id = this.ids.take();
    const words = this.words.blockOf(id);
    const at = this.words.placeOf(id);
    words[at + FLAGS] = flags;
    words[at + LOCAL_NODE] = local + 1;
    words[at + REMOTE_NODE] = remote + 1;
    words[at + ATTRIBUTE] = 0;
    this.index.insert(this.hash, id);
    return id;
  }

  /**
   * Keeps the own bytes of the NLRI in hand, and its attribute `octets[attributeStart, attributeEnd)`. That of an NLRI
   * that came alone stands behind the own bytes: one byte string where there would be two, with a header, a position
   * and a count of references less. NLRIs that came together share one copy.
   */
  put(
    id: number,
    octets: Uint8Array,
    start: number,
    end: number,
    attributeStart: number,
    attributeEnd: number,
    isAlone: boolean,
  ): void {
    const { headEnd, tailStart } = this;
    const words = this.words.blockOf(id);
    const at = this.words.placeOf(id);
    const before = words[at + ATTRIBUTE] as number;
    const headLength = headEnd - start;
    const ownLength = headLength + end - tailStart;
    const attributeLength = attributeEnd - attributeStart;
    const isBehind = attributeStart !== NONE && isAlone && ownLength + attributeLength <= LONGEST_TOGETHER;
    const kept = this.bytes.resize(id, isBehind ? ownLength + attributeLength : ownLength);
    const { offset } = this.bytes;
    copyOctets(octets, start, headEnd, kept, offset);
    copyOctets(octets, tailStart, end, kept, offset + headLength);
    if (isBehind) copyOctets(octets, attributeStart, attributeEnd, kept, offset + ownLength);
    words[at + OWN_LENGTH] = ownLength;
    words[at + ATTRIBUTE] = isBehind ? BEHIND : this.share(octets, attributeStart, attributeEnd) + 1;
    if (before !== 0 && before !== BEHIND) this.attributes.release(before - 1);
  }

  /** To be called behind each UPDATE: what its NLRIs shared is no longer held for more of them. */
  endUpdate(): void {
    if (this.shared >= 0) this.attributes.release(this.shared);
    this.shared = NONE;
  }

  /** Whether this is the attribute that is kept; `start` is NONE when there is none. */
  hasAttribute(id: number, octets: Uint8Array, start: number, end: number): boolean {
    const words = this.words.blockOf(id);
    const at = this.words.placeOf(id);
    const kept = words[at + ATTRIBUTE] as number;
    if (start === NONE || kept === 0) return start === NONE && kept === 0;
    if (kept !== BEHIND) return this.attributes.store.equals(kept - 1, octets, start, end);
    const bytes = this.bytes.locate(id);
    const { offset, length } = this.bytes;
    const ownLength = words[at + OWN_LENGTH] as number;
    return length - ownLength === end - start && sameOctets(octets, start, end, bytes, offset + ownLength);
  }

  /** Removes the NLRI that `find` has just found. */
  remove(id: number): void {
    const words = this.words.blockOf(id);
    const at = this.words.placeOf(id);
    const local = (words[at + LOCAL_NODE] as number) - 1;
    const remote = (words[at + REMOTE_NODE] as number) - 1;
    this.index.remove(this.hash, id);
    this.bytes.remove(id);
    if (local >= 0) this.nodes.release(local);
    if (remote >= 0) this.nodes.release(remote);
    const attribute = words[at + ATTRIBUTE] as number;
    if (attribute !== 0 && attribute !== BEHIND) this.attributes.release(attribute - 1);
    words[at + FLAGS] = FREE;
    this.ids.giveBack(id);
  }

  /** Takes note of when an NLRI was told, and in which round of refreshing. */
  touch(id: number, now: number, round: number, hasChanged: boolean): void {
    const words = this.words.blockOf(id);
    const at = this.words.placeOf(id);
    const high = Math.floor(now / HIGH_WORD);
    words[at + ROUND] = round;
    words[at + RECEIVED_AT] = high;
    words[at + RECEIVED_AT + 1] = now;
    if (!hasChanged) return;
    words[at + CHANGED_AT] = high;
    words[at + CHANGED_AT + 1] = now;
  }

  isFree(id: number): boolean {
    return this.words.get(id) === FREE;
  }

  roundOf(id: number): number {
    return this.words.blockOf(id)[this.words.placeOf(id) + ROUND] as number;
  }

  safiOf(id: number): LinkStateSafi {
    return this.words.get(id) & VPN ? LINK_STATE_VPN_SAFI : LINK_STATE_SAFI;
  }

  /** The code of its type; 0 when it is not one that is known. */
  typeOf(id: number): number {
    return this.words.get(id) & TYPE;
  }

  /** The code of the type of the NLRI in hand; 0 when it is not one that is known. */
  get typeInHand(): number {
    return this.flags & TYPE;
  }

  receivedAt(id: number): number {
    return this.longOf(id, RECEIVED_AT);
  }

  changedAt(id: number): number {
    return this.longOf(id, CHANGED_AT);
  }

  /** A copy of an NLRI's attribute. */
  attributeOf(id: number): Uint8Array | undefined {
    const words = this.words.blockOf(id);
    const at = this.words.placeOf(id);
    const attribute = words[at + ATTRIBUTE] as number;
    if (attribute === 0) return undefined;
    if (attribute !== BEHIND) return this.attributes.store.copyOf(attribute - 1);
    return this.bytes.copyOf(id).subarray(words[at + OWN_LENGTH]);
  }

  /** The exact bytes of an NLRI, put together again. */
  nlriOf(id: number): Uint8Array {
    const words = this.words.blockOf(id);
    const at = this.words.placeOf(id);
    const own = this.bytes.copyOf(id).subarray(0, words[at + OWN_LENGTH]);
    const local = (words[at + LOCAL_NODE] as number) - 1;
    if (local < 0) return own;
    const remote = (words[at + REMOTE_NODE] as number) - 1;
    const head = headLength(this.safiOf(id));
    const parts = [own.subarray(0, head), ...this.nodeTlv(LOCAL_NODE_DESCRIPTORS, local)];
    if (remote >= 0) parts.push(...this.nodeTlv(REMOTE_NODE_DESCRIPTORS, remote));
    parts.push(own.subarray(head));
    return joined(parts);
  }

  private nodeTlv(type: number, node: number): [header: Uint8Array, value: Uint8Array] {
    const value = this.nodes.store.copyOf(node);
    return [Uint8Array.of(type >>> 8, type, value.length >>> 8, value.length), value];
  }

  private longOf(id: number, word: number): number {
    const words = this.words.blockOf(id);
    const at = this.words.placeOf(id) + word;
    return (words[at] as number) * HIGH_WORD + (words[at + 1] as number);
  }

  /** Whether an id is that of the NLRI in hand. */
  private isInHand(id: number, octets: Uint8Array, start: number, end: number): boolean {
    const { headEnd, tailStart, flags, scan } = this;
    const words = this.words.blockOf(id);
    const at = this.words.placeOf(id);
    const headLength = headEnd - start;
    if (words[at + FLAGS] !== flags || words[at + OWN_LENGTH] !== headLength + end - tailStart) return false;
    if (flags & LOCAL_APART) {
      const local = (words[at + LOCAL_NODE] as number) - 1;
      if (local !== this.localNode) {
        if (!this.nodes.store.equals(local, octets, scan.localStart, scan.localEnd)) return false;
        this.nodes.makeRecent(local, this.localHash);
      }
    }
    if (flags & REMOTE_APART) {
      const remote = (words[at + REMOTE_NODE] as number) - 1;
      if (!this.nodes.store.equals(remote, octets, scan.remoteStart, scan.remoteEnd)) return false;
    }
    const kept = this.bytes.locate(id);
    const { offset } = this.bytes;
    return (
      sameOctets(octets, start, headEnd, kept, offset) &&
      sameOctets(octets, tailStart, end, kept, offset + headLength)
    );
  }

  /**
   * Says what of the NLRI are its own bytes. Its node descriptors are taken out only where they stand in the order of
   * RFC 9552 §5.2, so that the exact bytes can be put together again.
   */
  private takeApart(octets: Uint8Array, end: number, safi: LinkStateSafi): void {
    const { scan } = this;
    let flags = safi === LINK_STATE_VPN_SAFI ? VPN : 0;
    if (scan.nlriType <= TYPE) flags |= scan.nlriType;
    const head = scan.bodyStart + PROTOCOL_AND_IDENTIFIER;
    this.headEnd = end;
    this.tailStart = end;
    if (scan.localStart === head + TLV_HEADER && u16(octets, head) === LOCAL_NODE_DESCRIPTORS) {
      flags |= LOCAL_APART;
      this.headEnd = head;
      this.tailStart = scan.localEnd;
      if (
        scan.remoteStart === scan.localEnd + TLV_HEADER &&
        u16(octets, scan.localEnd) === REMOTE_NODE_DESCRIPTORS
      ) {
        flags |= REMOTE_APART;
        this.tailStart = scan.remoteEnd;
      }
    }
    this.flags = flags;
  }

  /** The id of a node, new or held once more. */
  private intern(hash: number, octets: Uint8Array, start: number, end: number): number {
    const known = this.nodes.find(hash, octets, start, end);
    if (known < 0) return this.nodes.add(hash, octets, start, end);
    this.nodes.hold(known);
    return known;
  }

  /** The id of the copy that the NLRIs of an UPDATE share, held once more; NONE when there is no attribute. */
  private share(octets: Uint8Array, start: number, end: number): number {
    if (start === NONE) return NONE;
    if (this.shared < 0) this.shared = this.attributes.add(octets, start, end);
    this.attributes.hold(this.shared);
    return this.shared;
  }
}

/** Type and length, the RD of SAFI 72, Protocol-ID and Identifier. */
function headLength(safi: LinkStateSafi): number {
  return TLV_HEADER + (safi === LINK_STATE_VPN_SAFI ? 8 : 0) + PROTOCOL_AND_IDENTIFIER;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function u16(octets: Uint8Array, at: number): number {
  return ((octets[at] as number) << 8) | (octets[at + 1] as number);
}

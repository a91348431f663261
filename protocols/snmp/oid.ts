/**
 * Object identifiers: dotted text, arcs, and the bytes that BER gives them (X.690 §8.19, RFC 2578 §3.5).
 *
 * An `Oid` is a list of arcs. On the wire the first two arcs share one subidentifier; what follows a column
 * (an *index*) is subidentifiers alone, so that a column's bytes plus an index's bytes are an instance's bytes.
 */

/** Arcs of an object identifier, each 0 to 2³²−1, or of a part of one such as an index. */
export type Oid = readonly number[];

/** RFC 2578 §3.5: at most 128 sub-identifiers. */
export const MAX_ARCS = 128;

const MAX_ARC = 0xffff_ffff;

/** Reads `1.3.6.1.2.1` or `.1.3.6.1.2.1`; undefined when it is no object identifier of at least two arcs. */
export function parseOid(text: string): Oid | undefined {
  const arcs = parseArcs(text.startsWith('.') ? text.slice(1) : text);
  if (arcs === undefined || arcs.length < 2) return undefined;
  const [first, second] = arcs as [number, number];
  return first > 2 || (first < 2 && second > 39) ? undefined : arcs;
}

/** Reads dotted arcs without the rule for the first two, as an index is written; `""` has none. */
export function parseArcs(text: string): Oid | undefined {
  if (text === '') return [];
  const arcs: number[] = [];
  for (const part of text.split('.')) {
    if (!/^(0|[1-9][0-9]{0,9})$/.test(part)) return undefined;
    const arc = Number(part);
    if (arc > MAX_ARC) return undefined;
    arcs.push(arc);
  }
  return arcs.length > MAX_ARCS ? undefined : arcs;
}

/** Dotted text without a leading dot. */
export function formatOid(oid: Oid): string {
  return oid.join('.');
}

/** Content bytes of an OBJECT IDENTIFIER value, without tag and length. */
export function encodeOid(oid: Oid): Uint8Array {
  const [first = 0, second = 0, ...rest] = oid;
  return encodeArcs([first * 40 + second, ...rest]);
}

/** Subidentifiers as BER writes them: base 128, high bit on all but the last byte. */
export function encodeArcs(arcs: Oid): Uint8Array {
  const bytes: number[] = [];
  for (const arc of arcs) {
    for (let shift = 28; shift > 0; shift -= 7) {
      // An arc of the first two may exceed 32 bits by 80 (2.4294967295); shifts would lose that.
      const digits = Math.floor(arc / 2 ** shift);
      if (digits > 0) bytes.push((digits % 128) | 0x80);
    }
    bytes.push(arc % 128);
  }
  return Uint8Array.from(bytes);
}

/** The arcs of content bytes [start, end), undefined when they are no object identifier. */
export function decodeOid(bytes: Uint8Array, start = 0, end = bytes.length): Oid | undefined {
  if (start === end) return undefined;
  const arcs = decodeArcs(bytes, start, end, MAX_ARC + 80);
  if (arcs === undefined) return undefined;
  const [first = 0] = arcs;
  const root = Math.min(2, Math.floor(first / 40));
  const oid = [root, first - root * 40, ...arcs.slice(1)];
  return oid.length > MAX_ARCS || arcs.slice(1).some((arc) => arc > MAX_ARC) ? undefined : oid;
}

/** The subidentifiers in [start, end), undefined when one is cut, padded or over `maxArc`, or they are too many. */
export function decodeArcs(
  bytes: Uint8Array,
  start = 0,
  end = bytes.length,
  maxArc = MAX_ARC,
): Oid | undefined {
  const arcs: number[] = [];
  let arc = 0;
  let begun = false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (!begun && byte === 0x80) return undefined;
    arc = arc * 128 + (byte & 0x7f);
    if (arc > maxArc) return undefined;
    begun = byte >= 0x80;
    if (!begun) {
      if (arcs.push(arc) > MAX_ARCS) return undefined;
      arc = 0;
    }
  }
  return begun ? undefined : arcs;
}

/** Dotted text of subidentifier bytes that were checked before, such as the index of a row. */
export function formatArcs(bytes: Uint8Array, start = 0, end = bytes.length): string {
  let text = '';
  let arc = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    arc = arc * 128 + (byte & 0x7f);
    if (byte < 0x80) {
      text += text === '' ? `${arc}` : `.${arc}`;
      arc = 0;
    }
  }
  return text;
}

/** Whether bytes [start, end) are whole subidentifiers of at most 32 bits, none padded (X.690 §8.19.2). */
export function validArcBytes(bytes: Uint8Array, start: number, end: number): boolean {
  let length = 0;
  let arcs = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (length === 0 && byte === 0x80) return false;
    length += 1;
    if (byte < 0x80) {
      // Five bytes hold 35 bits; the first of them may carry only 4.
      if (length > 5 || (length === 5 && (bytes[at - 4] as number) > 0x8f)) return false;
      arcs += 1;
      length = 0;
    }
  }
  return length === 0 && arcs <= MAX_ARCS;
}

/** Order of two object identifiers, arc by arc (RFC 3416 §2.2.1): negative, zero or positive. */
export function compareOids(left: Oid, right: Oid): number {
  const shared = Math.min(left.length, right.length);
  for (let at = 0; at < shared; at += 1) {
    const difference = (left[at] as number) - (right[at] as number);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** The same order told from valid encoded bytes, without decoding what is equal. */
export function compareArcBytes(
  left: Uint8Array,
  leftStart: number,
  leftEnd: number,
  right: Uint8Array,
  rightStart: number,
  rightEnd: number,
): number {
  const shared = Math.min(leftEnd - leftStart, rightEnd - rightStart);
  let at = 0;
  while (at < shared && left[leftStart + at] === right[rightStart + at]) at += 1;
  if (at === shared) return leftEnd - leftStart - (rightEnd - rightStart);
  // Back to the first byte of the arc that differs: in a longer arc an early byte alone does not decide.
  while (at > 0 && (left[leftStart + at - 1] as number) >= 0x80) at -= 1;
  return arcAt(left, leftStart + at, leftEnd) - arcAt(right, rightStart + at, rightEnd);
}

/** Whether `oid` lies below `root` or is it. */
export function startsWith(oid: Oid, root: Oid): boolean {
  return oid.length >= root.length && root.every((arc, at) => oid[at] === arc);
}

function arcAt(bytes: Uint8Array, start: number, end: number): number {
  let arc = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    arc = arc * 128 + (byte & 0x7f);
    if (byte < 0x80) break;
  }
  return arc;
}

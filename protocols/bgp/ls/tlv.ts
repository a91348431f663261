/** What a TLV row is, and the loop that decodes a sequence of TLVs by rows. RFC 9552 §5.1. */
import type { LinkStateAttributes } from './attributes.ts';
import type { ProblemAction, ProblemList } from './problem.ts';
import type { TlvReader } from './reader.ts';
import { formatHex, parseHex } from './text.ts';
import { TlvWriter } from './writer.ts';

/** Where a TLV stands. One code point can stand in several places and mean different things: 263, 1252. */
export type TlvPlace =
  | 'nlri'
  | 'node-descriptor'
  | 'link-descriptor'
  | 'prefix-descriptor'
  | 'srv6-sid-descriptor'
  | 'sr-policy-descriptor'
  | 'stub-link-descriptor'
  | 'attribute'
  | 'flexible-algorithm-definition'
  | 'srv6-sid'
  | 'sr-policy-constraints'
  | 'segment-list'
  | 'segment';

/** What a value's reading depends on, besides its bytes: flags differ from protocol to protocol. */
export interface TlvContext {
  /** RFC 9552 §5.2, table 2. */
  readonly protocolId: number;
  readonly nlriType: number;
}

/** What encoding carries along: `attributes` as in `TlvScope`. */
export interface TlvEncoding extends TlvContext {
  readonly attributes: TlvTable<LinkStateAttributes>;
}

export interface UnknownTlv {
  readonly type: number;
  /** Lower-case hex. */
  readonly value: string;
}

/** Members by name. Each place has its own typed view of it; the loop below only knows names. */
export type TlvMembers = object;

/** One code point in one place: its registry name, the member that it becomes, and how. */
export interface TlvRow<Members extends TlvMembers = never> {
  readonly code: number;
  readonly in: TlvPlace;
  /** The member of the decoded object: a key of the API. */
  readonly name: string;
  /** The name in IANA's registry. */
  readonly title: string;
  readonly rfc: string;
  /** The length that the RFC fixes, in octets; absent when it varies. */
  readonly length?: number;
  /** The TLV may stand several times: the member is an array with one element for each. */
  readonly repeats?: true;
  /** The array is there even when the TLV is not. */
  readonly always?: true;
  /**
   * Sets the member (or, when the TLV repeats, appends to it) from a reader whose window is the TLV's value.
   * It may read beyond the window, which marks the reader, or call `reject`: then the caller takes the member back.
   */
  decode(reader: TlvReader, members: Members, scope: TlvScope): void;
  /** Writes the value of one TLV from the member, or from one of its elements when the TLV repeats. */
  encode(writer: TlvWriter, value: never, context: TlvEncoding, members: Members): void;
}

/** What one decoding call carries along: the context, the places of sub-TLVs, what has been found wrong. */
export interface TlvScope extends TlvContext {
  readonly problems: ProblemList;
  /** How many containers the current TLV stands in; bounded, since some may hold others. */
  depth: number;
  /** The rows of the BGP-LS Attribute, for containers whose sub-TLVs are attribute TLVs again. */
  readonly attributes: TlvTable<LinkStateAttributes>;
}

/**
 * Decodes TLVs between the reader's position and its limit, until one that it does not know or whose code is not above
 * `previous`; leaves the reader before that. Returns the code of the last that it decoded, `previous` when none.
 */
export type UsualTlvs<Members> = (
  reader: TlvReader,
  members: Members,
  context: TlvContext,
  previous: number,
) => number;

/** Type and length. */
export const TLV_HEADER = 4;

/** Containers in containers that the RFCs define go three deep: bundle member, ASLA or SID, SID structure. */
export const DEEPEST = 4;

/** A row as the decoding loop reads it: every member is there, so that all rows have one shape in memory. */
interface TableRow<Members extends TlvMembers>
  extends Omit<TlvRow<Members>, 'length' | 'repeats' | 'always'> {
  /** ANY_LENGTH when it varies. */
  readonly length: number;
  readonly repeats: boolean;
  readonly always: boolean;
}

const ANY_LENGTH = -1;

/** Rows by code point: an array, since code points are small and finding a row is the decoder's commonest step. */
export type TlvTable<Members extends TlvMembers> = readonly (TableRow<Members> | undefined)[];

export function tlvTable<Members extends TlvMembers>(rows: readonly TlvRow<Members>[]): TlvTable<Members> {
  const highest = Math.max(-1, ...rows.map((row) => row.code));
  const table = new Array<TableRow<Members> | undefined>(highest + 1).fill(undefined);
  for (const row of rows) {
    if (table[row.code] !== undefined) throw new Error(`two rows for TLV ${row.code} in ${row.in}`);
    table[row.code] = { length: ANY_LENGTH, repeats: false, always: false, ...row };
  }
  return table;
}

/**
 * Decodes the TLVs between the reader's position and its limit into `members`; appends those without a row, and
 * those that their row could not read, to what it returns (undefined when there is none). A TLV that overruns its
 * container ends the loop with `overrunAction`. Unordered TLVs are legal here. RFC 9552 §5.1, §8.2.2.
 * @param last the code of the last TLV that was read before, when these are the rest of a sequence.
 * @param usual reads what it can, and is asked again behind each TLV that it left.
 */
export function decodeTlvs<Members extends TlvMembers>(
  reader: TlvReader,
  table: TlvTable<Members>,
  members: Members,
  scope: TlvScope,
  overrunAction: ProblemAction,
  last = -1,
  usual?: UsualTlvs<Members>,
): UnknownTlv[] | undefined {
  const { bytes, limit: end } = reader;
  let unknown: UnknownTlv[] | undefined;
  let previous = last;
  let at = reader.position;
  while (at < end) {
    const start = at + TLV_HEADER;
    const code = start <= end ? u16(bytes, at) : 0;
    const next = start <= end ? start + u16(bytes, at + 2) : start;
    reader.steps += 2;
    if (next > end) {
      scope.problems.add(scope.depth > 0 ? 'sub-tlv-overruns' : 'tlv-overruns', overrunAction, at, code);
      reader.position = end;
      return unknown;
    }
    const row = code < table.length ? table[code] : undefined;
    if (row === undefined || !decodeTlv(row, reader, start, next, code <= previous, members, scope)) {
      reader.steps += next - start;
      unknown ??= [];
      unknown.push({ type: code, value: formatHex(bytes, start, next) });
    }
    if (row !== undefined && code > previous) previous = code;
    at = next;
    if (usual === undefined) continue;
    reader.position = at;
    reader.limit = end;
    previous = usual(reader, members, scope, previous);
    at = reader.position;
  }
  reader.position = at;
  reader.limit = end;
  return unknown;
}

/** Decodes one TLV by its row; false when its value cannot be read, or was not asked for, and is to be kept as it is. */
function decodeTlv<Members extends TlvMembers>(
  row: TableRow<Members>,
  reader: TlvReader,
  start: number,
  end: number,
  mayStandTwice: boolean,
  members: Members,
  scope: TlvScope,
): boolean {
  reader.position = start;
  reader.limit = end;
  const { code, length } = row;
  if (mayStandTwice && !row.repeats && row.name in members) {
    // Only for what may be wrong with its sub-TLVs: the first stands.
    row.decode(reader, {} as Members, scope);
    reader.overrun = false;
    scope.problems.add('duplicate-tlv', 'none', start - TLV_HEADER, code);
    return false;
  }
  if (length !== ANY_LENGTH && length !== end - start) {
    scope.problems.add('wrong-length', 'none', start - TLV_HEADER, code);
    return false;
  }
  row.decode(reader, members, scope);
  if (!reader.overrun) return true;
  reader.overrun = false;
  scope.problems.add('wrong-length', 'none', start - TLV_HEADER, code);
  takeBack(members as Record<string, unknown>, row);
  return false;
}

/**
 * Decodes the rest of a TLV's value as sub-TLVs into `members`; those without a row go to `holder`, the object that
 * the TLV becomes.
 */
export function decodeSubTlvs<Members extends TlvMembers>(
  reader: TlvReader,
  table: TlvTable<Members>,
  members: Members,
  scope: TlvScope,
  holder: { 'unknown-tlvs'?: readonly UnknownTlv[] } = members,
): void {
  if (reader.overrun || scope.depth >= DEEPEST) {
    reader.reject();
    return;
  }
  scope.depth += 1;
  const unknown = decodeTlvs(reader, table, members, scope, 'attribute-discard');
  if (unknown !== undefined) holder['unknown-tlvs'] = unknown;
  scope.depth -= 1;
}

/** For rows that repeat: the member with one more element. */
export function appended<Element>(elements: Element[] | undefined, element: Element): Element[] {
  if (elements === undefined) return [element];
  elements.push(element);
  return elements;
}

/** Undoes what a row did before its value turned out to be too short. */
function takeBack(
  members: Record<string, unknown>,
  row: { readonly name: string; readonly repeats: boolean; readonly always: boolean },
): void {
  const member = members[row.name];
  if (row.repeats && Array.isArray(member)) {
    member.pop();
    if (member.length > 0 || row.always) return;
  }
  delete members[row.name];
}

/**
 * Writes the members that have rows, and the unknown TLVs among them, in ascending order of type. Within an NLRI,
 * TLVs of one type go by length, then value; within the attribute they keep their order. RFC 9552 §5.1.
 */
export function encodeTlvs<Members extends TlvMembers>(
  writer: TlvWriter,
  table: TlvTable<Members>,
  members: Members,
  unknown: readonly UnknownTlv[],
  context: TlvEncoding,
  within: 'nlri' | 'attribute',
): void {
  const tlvs: { code: number; value: Uint8Array }[] = unknown.map(({ type, value }) => ({
    code: type,
    value: parseHex(value),
  }));
  const named = members as Record<string, unknown>;
  for (const row of table) {
    if (row === undefined) continue;
    const member = named[row.name];
    if (member === undefined) continue;
    for (const element of row.repeats ? (member as unknown[]) : [member]) {
      const value = new TlvWriter();
      row.encode(value, element as never, context, members);
      tlvs.push({ code: row.code, value: value.finish() });
    }
  }
  tlvs.sort((a, b) => a.code - b.code || (within === 'nlri' ? compareValues(a.value, b.value) : 0));
  for (const { code, value } of tlvs) writer.tlv(code, () => writer.put(value));
}

/** The order of two values of one type: the shorter first, then lexicographic. RFC 9552 §5.1. */
export function compareValues(a: Uint8Array, b: Uint8Array): number {
  if (a.length !== b.length) return a.length - b.length;
  for (let index = 0; index < a.length; index += 1) {
    const difference = (a[index] as number) - (b[index] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

function u16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

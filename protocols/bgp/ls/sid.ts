/** Parts that TLVs of segment routing share: SIDs, their flags, the label ranges of a node. RFC 9085 §2. */
import { isIsis, isOspf } from './code-point.ts';
import { type FlagField, flagField } from './flags.ts';
import type { ProblemList } from './problem.ts';
import type { TlvReader } from './reader.ts';
import type { TlvContext } from './tlv.ts';
import type { TlvWriter } from './writer.ts';

/** A SID of three octets is a label, of which 20 bits count; of four an index. RFC 9085 §2.1.1. */
export interface LabelOrIndex {
  label?: number;
  index?: number;
}

/** The rest of a TLV that ends in a SID, which makes the whole of it 3 or 4 octets longer. */
export function readSid<Sid extends LabelOrIndex>(reader: TlvReader, sid: Sid): Sid {
  const octets = reader.remaining;
  if (octets === 3) sid.label = reader.u24() & 0xfffff;
  else if (octets === 4) sid.index = reader.u32();
  else reader.reject();
  return sid;
}

export function writeSid(writer: TlvWriter, sid: LabelOrIndex): void {
  if (sid.label !== undefined) writer.u24(sid.label);
  else writer.u32(sid.index ?? 0);
}

export interface LabelRange {
  size: number;
  /** The first label; a value beyond 20 bits is an index that was sent in its place. */
  'sid-label': number;
}

const SID_LABEL = 1161;

/** Ranges, each 24 bits of size and a SID/Label TLV (1161), to the end of the value: one at least. RFC 9085 §2.1.2. */
export function readRanges(reader: TlvReader, problems: ProblemList): LabelRange[] {
  if (reader.remaining === 0) reader.reject();
  const ranges: LabelRange[] = [];
  while (reader.remaining > 0) {
    const at = reader.position;
    const size = reader.u24();
    const type = reader.u16();
    const octets = reader.u16();
    if (reader.overrun || octets > reader.remaining) {
      problems.add('sub-tlv-overruns', 'attribute-discard', at, SID_LABEL);
      reader.reject();
      return ranges;
    }
    if (type !== SID_LABEL || (octets !== 3 && octets !== 4)) {
      reader.reject();
      return ranges;
    }
    ranges.push({ size, 'sid-label': octets === 3 ? reader.u24() & 0xfffff : reader.u32() });
  }
  return ranges;
}

export function writeRanges(writer: TlvWriter, ranges: readonly LabelRange[]): void {
  for (const range of ranges) {
    const first = range['sid-label'];
    writer.u24(range.size);
    writer.tlv(SID_LABEL, () => (first <= 0xfffff ? writer.u24(first) : writer.u32(first)));
  }
}

/** Flags by letter, as the IGP that they come from defines them; `bits` where no RFC says what they are. */
export type SidFlags = Readonly<Record<string, boolean | number>>;

const ISIS_ADJACENCY = flagField(1, ['f', 'b', 'v', 'l', 's', 'p']); // RFC 8667 §2.2.1
const OSPF_ADJACENCY = flagField(1, ['b', 'v', 'l', 'g', 'p']); // RFC 8665 §6.1, RFC 8666 §7.1
const ISIS_PREFIX = flagField(1, ['r', 'n', 'p', 'e', 'v', 'l']); // RFC 8667 §2.1.1
const OSPF_PREFIX = flagField(1, [null, 'np', 'm', 'e', 'v', 'l']); // RFC 8665 §5, RFC 8666 §6
const ISIS_RANGE = flagField(1, ['f', 'm', 's', 'd', 'a']); // RFC 8667 §2.4.1
const OSPF_RANGE = flagField(1, ['ia']); // RFC 8665 §4, RFC 8666 §5

/** The same octet as IS-IS and as OSPF define it. */
interface SidFlagFields {
  readonly isis: FlagField<string>;
  readonly ospf: FlagField<string>;
}

export const ADJACENCY_FLAGS: SidFlagFields = { isis: ISIS_ADJACENCY, ospf: OSPF_ADJACENCY };
export const PREFIX_FLAGS: SidFlagFields = { isis: ISIS_PREFIX, ospf: OSPF_PREFIX };
export const RANGE_FLAGS: SidFlagFields = { isis: ISIS_RANGE, ospf: OSPF_RANGE };

export function sidFlags(fields: SidFlagFields, bits: number, context: TlvContext): SidFlags {
  if (isIsis(context.protocolId)) return fields.isis.of(bits);
  return isOspf(context.protocolId) ? fields.ospf.of(bits) : { bits };
}

export function sidFlagBits(fields: SidFlagFields, flags: SidFlags, context: TlvContext): number {
  if (typeof flags['bits'] === 'number') return flags['bits'];
  const field = isOspf(context.protocolId) ? fields.ospf : fields.isis;
  return field.bits(flags as Record<string, boolean>);
}

const ISIS_PREFIX_ATTRIBUTE = flagField(1, ['x', 'r', 'n', 'e', 'a']); // RFC 7794 §2.1, RFC 9088 §3, RFC 9352 §6
const OSPFV2_PREFIX = flagField(1, ['a', 'n', 'e']); // RFC 7684 §2.1, RFC 9089 §3
// RFC 5340 §A.4.1.1, RFC 8362 §3.1, RFC 9089 §3, RFC 9513 §6
const OSPFV3_PREFIX = flagField(1, ['ac', 'e', 'n', 'dn', 'p', null, 'la', 'nu']);
const OSPFV2 = 3;
const OSPFV3 = 6;

function prefixAttributeField(protocolId: number) {
  if (isIsis(protocolId)) return ISIS_PREFIX_ATTRIBUTE;
  if (protocolId === OSPFV2) return OSPFV2_PREFIX;
  return protocolId === OSPFV3 ? OSPFV3_PREFIX : undefined;
}

export function prefixAttributeFlags(bits: number, { protocolId }: TlvContext): SidFlags {
  return prefixAttributeField(protocolId)?.of(bits) ?? { bits };
}

export function prefixAttributeFlagBits(flags: SidFlags, { protocolId }: TlvContext): number {
  const field = prefixAttributeField(protocolId);
  return field?.bits(flags as Record<string, boolean>) ?? Number(flags['bits'] ?? 0);
}

/**
 * The TLVs that nearly every node, link, prefix and SID has, read in place: as long as they stand in ascending order, each
 * once and at the length that it should have. Any other TLV is its row's business. A row
 * is called through a table, reads through a `TlvReader` and sees every shape of object; each function here sees few.
 * Both set the same members to the same values: a test holds one against the other.
 *
 * Each reads from the reader's position on, leaves it before the first TLV that it did not read, and returns the code
 * of the last that it did, `last` when there was none.
 */
import type { LinkStateAttributes } from './attributes.ts';
import { NlriType } from './code-point.ts';
import type { TlvReader } from './reader.ts';
import { ADJACENCY_FLAGS, type LabelRange, PREFIX_FLAGS, prefixAttributeFlags, sidFlags } from './sid.ts';
import { asciiAt, formatIpv4, hexOctet, ipv6At, isisAreaAt } from './text.ts';
import { appended, TLV_HEADER, type TlvContext } from './tlv.ts';
import { NODE_FLAG_BITS } from './tlv-node.ts';
import { type Msd, srCapabilityFlags } from './tlv-sr.ts';
import { END_X_SID, isSidStructure, type Srv6SidStructure } from './tlv-srv6.ts';
import { ANOMALOUS } from './tlv-te.ts';

export function decodeUsualTlvs(
  reader: TlvReader,
  to: LinkStateAttributes,
  context: TlvContext,
  last: number,
): number {
  switch (context.nlriType) {
    case NlriType.node:
      return decodeNodeTlvs(reader, to, context, last);
    case NlriType.link:
      return decodeLinkTlvs(reader, to, context, last);
    case NlriType.ipv4Prefix:
    case NlriType.ipv6Prefix:
      return decodePrefixTlvs(reader, to, context, last);
    case NlriType.srv6Sid:
      return decodeSidTlvs(reader, to, last);
    default:
      return last;
  }
}

const SHARED_RISK_LINK_GROUP = 1096;
const ADJACENCY_SID = 1099;

/** The ranges of labels, the algorithms and the area are those of most nodes: one range, few algorithms. */
function decodeNodeTlvs(
  reader: TlvReader,
  to: LinkStateAttributes,
  context: TlvContext,
  last: number,
): number {
  const { bytes, view, limit } = reader;
  let previous = last;
  let at = reader.position;
  for (; at + TLV_HEADER <= limit; ) {
    const header = view.getInt32(at);
    const code = header >> 16;
    const value = at + TLV_HEADER;
    const next = value + (header & 0xffff);
    if (code <= previous || next > limit) break;
    switch (code) {
      case 1024:
        if (next - value !== 1) return left(reader, at, previous);
        to['node-flag-bits'] = NODE_FLAG_BITS.of(bytes[value] as number);
        break;
      case 1026: {
        const name = asciiAt(bytes, value, next);
        if (name === undefined) return left(reader, at, previous);
        to['node-name'] = name;
        break;
      }
      case 1028:
        if (next - value !== 4) return left(reader, at, previous);
        to['ipv4-router-ids'] = [formatIpv4(view.getUint32(value))];
        break;
      case 1029:
        if (next - value !== 16) return left(reader, at, previous);
        to['ipv6-router-ids'] = [ipv6At(view, value)];
        break;
      case 1034: {
        const range = rangeAt(view, value, next);
        if (range === undefined) return left(reader, at, previous);
        const flags = srCapabilityFlags(bytes[value] as number, context);
        to['sr-capabilities'] = { flags, ranges: [range] };
        break;
      }
      case 1035: {
        if (next === value) return left(reader, at, previous);
        const algorithms: number[] = [];
        for (let index = value; index < next; index += 1) algorithms.push(bytes[index] as number);
        to['sr-algorithms'] = algorithms;
        break;
      }
      case 1036: {
        const range = rangeAt(view, value, next);
        if (range === undefined) return left(reader, at, previous);
        to['sr-local-block'] = [range];
        break;
      }
      case 263: {
        if ((next - value) % 2 !== 0) return left(reader, at, previous);
        const ids: number[] = [];
        for (let index = value; index < next; index += 2) ids.push(view.getUint16(index) & 0x0fff);
        to['multi-topology-ids'] = ids;
        break;
      }
      case 266: {
        if ((next - value) % 2 !== 0 || next === value) return left(reader, at, previous);
        const msds: Msd[] = [];
        for (let index = value; index < next; index += 2)
          msds.push({ type: bytes[index] as number, value: bytes[index + 1] as number });
        to['node-msds'] = msds;
        break;
      }
      case 1027:
        to['isis-area-identifiers'] = [isisAreaAt(bytes, value, next)];
        break;
      default:
        return left(reader, at, previous);
    }
    previous = code;
    at = next;
  }
  return left(reader, at, previous);
}

function decodeLinkTlvs(
  reader: TlvReader,
  to: LinkStateAttributes,
  context: TlvContext,
  last: number,
): number {
  const { bytes, view, limit } = reader;
  let previous = last;
  let at = reader.position;
  for (; at + TLV_HEADER <= limit; ) {
    // Type and length as one number, so that finding a TLV is also knowing its length.
    const header = view.getInt32(at);
    const code = header >> 16;
    const value = at + TLV_HEADER;
    const next = value + (header & 0xffff);
    if (code < previous || next > limit) break;
    // An adjacency often has two SIDs, one of them protected; no other of these stands twice.
    if (code === previous && code !== ADJACENCY_SID) break;
    switch (header) {
      case (1028 << 16) | 4:
        to['ipv4-router-ids'] = [formatIpv4(view.getUint32(value))];
        break;
      case (1029 << 16) | 16:
        to['ipv6-router-ids'] = [ipv6At(view, value)];
        break;
      case (1030 << 16) | 4:
        to['remote-ipv4-router-ids'] = [formatIpv4(view.getUint32(value))];
        break;
      case (1031 << 16) | 16:
        to['remote-ipv6-router-ids'] = [ipv6At(view, value)];
        break;
      case (1088 << 16) | 4:
        to['administrative-group'] = view.getUint32(value);
        break;
      case (1089 << 16) | 4: {
        const bandwidth = view.getFloat32(value);
        if (!Number.isFinite(bandwidth)) return left(reader, at, previous);
        to['maximum-link-bandwidth-bytes-per-second'] = bandwidth;
        break;
      }
      case (1090 << 16) | 4: {
        const bandwidth = view.getFloat32(value);
        if (!Number.isFinite(bandwidth)) return left(reader, at, previous);
        to['max-reservable-link-bandwidth-bytes-per-second'] = bandwidth;
        break;
      }
      case (1091 << 16) | 32: {
        const bandwidths = bandwidthsAt(view, value);
        if (bandwidths === undefined) return left(reader, at, previous);
        to['unreserved-bandwidth-bytes-per-second'] = bandwidths;
        break;
      }
      case (1092 << 16) | 4:
        to['te-default-metric'] = view.getUint32(value);
        break;
      case (1095 << 16) | 2:
        to['igp-metric'] = view.getUint16(value);
        break;
      case (1095 << 16) | 3:
        to['igp-metric'] = u24(view, value);
        break;
      case (ADJACENCY_SID << 16) | 7:
        to['adjacency-sids'] = appended(code === previous ? to['adjacency-sids'] : undefined, {
          flags: sidFlags(ADJACENCY_FLAGS, bytes[value] as number, context),
          weight: bytes[value + 1] as number,
          label: u24(view, value + 4) & 0xfffff,
        });
        break;
      case (ADJACENCY_SID << 16) | 8:
        to['adjacency-sids'] = appended(code === previous ? to['adjacency-sids'] : undefined, {
          flags: sidFlags(ADJACENCY_FLAGS, bytes[value] as number, context),
          weight: bytes[value + 1] as number,
          index: view.getUint32(value + 4),
        });
        break;
      case (1106 << 16) | 30: {
        if (view.getInt32(value + 22) !== ((1252 << 16) | 4)) return left(reader, at, previous);
        const structure = sidStructureAt(bytes, value + 26);
        if (!isSidStructure(structure)) return left(reader, at, previous);
        to['srv6-end-x-sids'] = [
          {
            behavior: view.getUint16(value),
            flags: END_X_SID.of(bytes[value + 2] as number),
            algorithm: bytes[value + 3] as number,
            weight: bytes[value + 4] as number,
            sid: ipv6At(view, value + 6),
            'sid-structure': structure,
          },
        ];
        break;
      }
      case (1114 << 16) | 4:
        to['unidirectional-link-delay-microseconds'] = {
          anomalous: ((bytes[value] as number) & ANOMALOUS) !== 0,
          delay: u24(view, value + 1),
        };
        break;
      case (1115 << 16) | 8:
        to['min-max-unidirectional-link-delay-microseconds'] = {
          anomalous: ((bytes[value] as number) & ANOMALOUS) !== 0,
          'min-delay': u24(view, value + 1),
          'max-delay': u24(view, value + 5),
        };
        break;
      default:
        if (code !== SHARED_RISK_LINK_GROUP || (next - value) % 4 !== 0) return left(reader, at, previous);
        to['shared-risk-link-groups'] = wordsAt(view, value, next);
    }
    previous = code;
    at = next;
  }
  return left(reader, at, previous);
}

function decodePrefixTlvs(
  reader: TlvReader,
  to: LinkStateAttributes,
  context: TlvContext,
  last: number,
): number {
  const { bytes, view, limit } = reader;
  let previous = last;
  let at = reader.position;
  for (; at + TLV_HEADER <= limit; ) {
    const header = view.getInt32(at);
    const code = header >> 16;
    const value = at + TLV_HEADER;
    const next = value + (header & 0xffff);
    if (code <= previous || next > limit) break;
    switch (header) {
      case (1155 << 16) | 4:
        to['prefix-metric'] = view.getUint32(value);
        break;
      case (1158 << 16) | 7:
        to['prefix-sids'] = [
          {
            flags: sidFlags(PREFIX_FLAGS, bytes[value] as number, context),
            algorithm: bytes[value + 1] as number,
            label: u24(view, value + 4) & 0xfffff,
          },
        ];
        break;
      case (1158 << 16) | 8:
        to['prefix-sids'] = [
          {
            flags: sidFlags(PREFIX_FLAGS, bytes[value] as number, context),
            algorithm: bytes[value + 1] as number,
            index: view.getUint32(value + 4),
          },
        ];
        break;
      case (1162 << 16) | 8:
        to['srv6-locator'] = {
          flags: bytes[value] as number,
          algorithm: bytes[value + 1] as number,
          metric: view.getUint32(value + 4),
        };
        break;
      case (1170 << 16) | 1: {
        const flags = bytes[value] as number;
        to['prefix-attribute-flags'] = {
          flags: prefixAttributeFlags(flags, context),
          value: hexOctet(flags),
        };
        break;
      }
      case (1171 << 16) | 4:
        to['source-router-identifier'] = formatIpv4(view.getUint32(value));
        break;
      default:
        return left(reader, at, previous);
    }
    previous = code;
    at = next;
  }
  return left(reader, at, previous);
}

function decodeSidTlvs(reader: TlvReader, to: LinkStateAttributes, last: number): number {
  const { bytes, view, limit } = reader;
  let previous = last;
  let at = reader.position;
  for (; at + TLV_HEADER <= limit; ) {
    const header = view.getInt32(at);
    const code = header >> 16;
    const value = at + TLV_HEADER;
    const next = value + (header & 0xffff);
    if (code <= previous || next > limit) break;
    switch (header) {
      case (1250 << 16) | 4:
        to['endpoint-behavior'] = {
          behavior: view.getUint16(value),
          flags: bytes[value + 2] as number,
          algorithm: bytes[value + 3] as number,
        };
        break;
      case (1252 << 16) | 4: {
        const structure = sidStructureAt(bytes, value);
        if (!isSidStructure(structure)) return left(reader, at, previous);
        to['sid-structure'] = structure;
        break;
      }
      default:
        return left(reader, at, previous);
    }
    previous = code;
    at = next;
  }
  return left(reader, at, previous);
}

function wordsAt(view: DataView, start: number, end: number): number[] {
  const words: number[] = [];
  for (let at = start; at < end; at += 4) words.push(view.getUint32(at));
  return words;
}

function left(reader: TlvReader, at: number, previous: number): number {
  reader.steps += at - reader.position;
  reader.position = at;
  return previous;
}

/** The three octets behind one that belongs to the same TLV. */
function u24(view: DataView, at: number): number {
  return view.getUint32(at - 1) & 0xffffff;
}

/** The one range of SR Capabilities or SR Local Block, when it is one and begins with a label. RFC 9085 §2.1.2. */
function rangeAt(view: DataView, at: number, end: number): LabelRange | undefined {
  if (end - at !== 12 || view.getInt32(at + 5) !== ((1161 << 16) | 3)) return undefined;
  return { size: u24(view, at + 2), 'sid-label': u24(view, at + 9) & 0xfffff };
}

function sidStructureAt(bytes: Uint8Array, at: number): Srv6SidStructure {
  return {
    'locator-block-bits': bytes[at] as number,
    'locator-node-bits': bytes[at + 1] as number,
    'function-bits': bytes[at + 2] as number,
    'argument-bits': bytes[at + 3] as number,
  };
}

/** Of the eight priorities; undefined when one is no finite number. */
function bandwidthsAt(view: DataView, at: number): number[] | undefined {
  const bandwidths = [
    view.getFloat32(at),
    view.getFloat32(at + 4),
    view.getFloat32(at + 8),
    view.getFloat32(at + 12),
    view.getFloat32(at + 16),
    view.getFloat32(at + 20),
    view.getFloat32(at + 24),
    view.getFloat32(at + 28),
  ];
  let sum = 0;
  for (const bandwidth of bandwidths) sum += bandwidth;
  // Of binary32 numbers eight cannot exceed binary64: the sum is finite when all of them are.
  return Number.isFinite(sum) ? bandwidths : undefined;
}

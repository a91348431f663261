/**
 * What stands behind the node descriptors of most NLRIs, read in one walk that is its validation, too: TLVs that an
 * NLRI of this type has, in ascending order, each once and at its length. undefined for anything else, which is for
 * the rows. Both make the same objects: a test holds one against the other.
 */
import { NlriType } from './code-point.ts';
import {
  type Descriptor,
  emptyLinkDescriptor,
  ospfRouteType,
  type PrefixDescriptor,
  type Srv6SidDescriptor,
} from './descriptor.ts';
import { formatIpv4, formatIpv6, ipv6At } from './text.ts';
import { TLV_HEADER } from './tlv.ts';

const MULTI_TOPOLOGY_ID = 0x0fff;

/** @param start where the node descriptors end. */
export function decodeUsualDescriptor(
  view: DataView,
  nlriType: number,
  start: number,
  end: number,
): Descriptor | undefined {
  switch (nlriType) {
    case NlriType.link:
      return decodeLink(view, start, end);
    case NlriType.ipv4Prefix:
      return decodePrefix(view, start, end, false);
    case NlriType.ipv6Prefix:
      return decodePrefix(view, start, end, true);
    case NlriType.srv6Sid:
      return decodeSid(view, start, end);
    case NlriType.node:
      return start === end ? {} : undefined;
    default:
      return undefined;
  }
}

function decodeLink(view: DataView, start: number, end: number): Descriptor | undefined {
  const to = emptyLinkDescriptor();
  let previous = 0;
  for (let at = start; at < end; ) {
    const value = at + TLV_HEADER;
    if (value > end) return undefined;
    // Type and length as one number: ascending types make ascending numbers.
    const header = view.getInt32(at);
    at = value + (header & 0xffff);
    if (at > end || header <= previous) return undefined;
    previous = header | 0xffff;
    switch (header) {
      case (258 << 16) | 8:
        to['link-local-identifier'] = view.getUint32(value);
        to['link-remote-identifier'] = view.getUint32(value + 4);
        break;
      case (259 << 16) | 4:
        to['ipv4-interface-addresses'] = [formatIpv4(view.getUint32(value))];
        break;
      case (260 << 16) | 4:
        to['ipv4-neighbor-addresses'] = [formatIpv4(view.getUint32(value))];
        break;
      case (261 << 16) | 16:
        to['ipv6-interface-addresses'] = [ipv6At(view, value)];
        break;
      case (262 << 16) | 16:
        to['ipv6-neighbor-addresses'] = [ipv6At(view, value)];
        break;
      case (263 << 16) | 2:
        to['multi-topology-id'] = view.getUint16(value) & MULTI_TOPOLOGY_ID;
        break;
      default:
        return undefined;
    }
  }
  return to;
}

function decodePrefix(
  view: DataView,
  start: number,
  end: number,
  isIpv6: boolean,
): PrefixDescriptor | undefined {
  const to: PrefixDescriptor = {};
  let previous = 0;
  for (let at = start; at < end; ) {
    const value = at + TLV_HEADER;
    if (value > end) return undefined;
    const header = view.getInt32(at);
    const code = header >> 16;
    at = value + (header & 0xffff);
    if (at > end || code <= previous) return undefined;
    previous = code;
    if (header === ((263 << 16) | 2)) to['multi-topology-id'] = view.getUint16(value) & MULTI_TOPOLOGY_ID;
    else if (header === ((264 << 16) | 1)) to['ospf-route-type'] = ospfRouteType(view.getUint8(value));
    else if (code === 265) {
      const prefix = prefixAt(view, value, at, isIpv6);
      if (prefix === undefined) return undefined;
      to['ip-reachability'] = prefix;
    } else return undefined;
  }
  return to['ip-reachability'] === undefined ? undefined : to;
}

function decodeSid(view: DataView, start: number, end: number): Srv6SidDescriptor | undefined {
  const to: Srv6SidDescriptor = {};
  let at = start;
  if (at + TLV_HEADER + 2 <= end && view.getInt32(at) === ((263 << 16) | 2)) {
    to['multi-topology-id'] = view.getUint16(at + TLV_HEADER) & MULTI_TOPOLOGY_ID;
    at += TLV_HEADER + 2;
  }
  if (end - at !== TLV_HEADER + 16 || view.getInt32(at) !== ((518 << 16) | 16)) return undefined;
  to.sid = ipv6At(view, at + TLV_HEADER);
  return to;
}

/** A length in bits and the octets that hold them, all of the value. */
function prefixAt(view: DataView, at: number, end: number, isIpv6: boolean): string | undefined {
  if (at === end) return undefined;
  const bits = view.getUint8(at);
  const octets = (bits + 7) >> 3;
  if (at + 1 + octets !== end || octets > (isIpv6 ? 16 : 4)) return undefined;
  if (!isIpv6) return `${formatIpv4(wordAt(view, at + 1, bits))}/${bits}`;
  const first = wordAt(view, at + 1, bits);
  const second = wordAt(view, at + 5, bits - 32);
  const third = wordAt(view, at + 9, bits - 64);
  return `${formatIpv6(first, second, third, wordAt(view, at + 13, bits - 96))}/${bits}`;
}

/**
 * The 32 bits at `at`, of which so many count: the others are zero. The octets before, of which an NLRI has enough,
 * are read with those that are there, since there may be fewer than four.
 */
function wordAt(view: DataView, at: number, bits: number): number {
  if (bits <= 0) return 0;
  if (bits >= 32) return view.getUint32(at);
  const octets = (bits + 7) >> 3;
  const value = view.getUint32(at + octets - 4) << (8 * (4 - octets));
  return ((value >>> (32 - bits)) << (32 - bits)) >>> 0;
}

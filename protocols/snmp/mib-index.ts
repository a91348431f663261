/** What the index of a row says: the arcs behind a column as the values of its index objects (RFC 2578 §7.7). */
import { type IndexObject, indexOf, type MibObject } from './mib.ts';
import type { Oid } from './oid.ts';
import { formatInetAddress, formatMac, INET_ADDRESS_BYTES, isText } from './textual-convention.ts';

export interface IndexValue {
  /** The index object's name, `ifIndex`. */
  readonly object: MibObject;
  /** Integers as numbers, strings and addresses as bytes, identifiers as arcs. */
  readonly value: number | Uint8Array | Oid;
  /** The value as people write it: `3`, `10.0.0.1`, `2001:db8::1`, `00:11:22:33:44:55`, `eth0`. */
  readonly text: string;
}

export type DecodedIndex =
  | { readonly ok: true; readonly values: readonly IndexValue[] }
  | { readonly ok: false; readonly reason: string };

/** Lengths that a convention fixes, so that no length stands before them in an index. */
const FIXED_BYTES: Readonly<Record<string, number>> = {
  MacAddress: 6,
  InetAddressIPv4: 4,
  InetAddressIPv6: 16,
  InetAddressIPv4z: 8,
  InetAddressIPv6z: 20,
};

/** Takes the index of a row of `object`'s table apart. Arcs that are left over or missing are a reason, not a guess. */
export function decodeIndex(object: MibObject, index: Oid): DecodedIndex {
  const objects = indexOf(object);
  if (objects.length === 0) return { ok: false, reason: `${object.name} has no index in the curated tables` };
  const values: IndexValue[] = [];
  let rest = index;
  let addressType: number | undefined;
  for (const [place, part] of objects.entries()) {
    const taken = takeOne(part, rest, addressType, place === objects.length - 1);
    if (taken === undefined) return { ok: false, reason: `the index ends within ${part.object.name}` };
    values.push({
      object: part.object,
      value: taken.value,
      text: textOf(part.object, taken.value, addressType),
    });
    rest = rest.slice(taken.arcs);
    addressType = part.object.convention === 'InetAddressType' ? (taken.value as number) : undefined;
  }
  if (rest.length > 0) return { ok: false, reason: `${rest.length} arcs are left behind the index` };
  return { ok: true, values };
}

interface Taken {
  readonly value: IndexValue['value'];
  readonly arcs: number;
}

function takeOne(
  { object, implied }: IndexObject,
  rest: Oid,
  addressType: number | undefined,
  last: boolean,
): Taken | undefined {
  switch (object.syntax) {
    case 'IpAddress':
      return takeBytes(rest, 0, 4);
    case 'OctetString':
    case 'Bits':
    case 'Opaque': {
      const fixed = FIXED_BYTES[object.convention ?? ''];
      if (fixed !== undefined) return takeBytes(rest, 0, fixed);
      if (implied) return takeBytes(rest, 0, rest.length);
      const length = rest[0];
      const taken = length === undefined ? undefined : takeBytes(rest, 1, length);
      const whole = taken !== undefined && (!last || taken.arcs === rest.length);
      if (whole || addressType === undefined) return taken;
      // Agents in the field leave the length out before an address whose type tells it.
      return takeBytes(rest, 0, INET_ADDRESS_BYTES[addressType] ?? -1) ?? taken;
    }
    case 'ObjectIdentifier': {
      if (implied) return { value: rest, arcs: rest.length };
      const length = rest[0];
      if (length === undefined || length > rest.length - 1) return undefined;
      return { value: rest.slice(1, length + 1), arcs: length + 1 };
    }
    default: {
      const [value] = rest;
      return value === undefined ? undefined : { value, arcs: 1 };
    }
  }
}

function takeBytes(rest: Oid, from: number, length: number): Taken | undefined {
  const arcs = rest.slice(from, from + length);
  if (length < 0 || arcs.length < length || arcs.some((arc) => arc > 0xff)) return undefined;
  return { value: Uint8Array.from(arcs), arcs: from + length };
}

function textOf(object: MibObject, value: IndexValue['value'], addressType: number | undefined): string {
  if (typeof value === 'number') return `${value}`;
  if (!(value instanceof Uint8Array)) return value.join('.');
  if (object.syntax === 'IpAddress') return value.join('.');
  if (addressType !== undefined) return formatInetAddress(addressType, value) ?? formatMac(value);
  if (object.convention !== 'MacAddress' && object.convention !== 'PhysAddress' && isText(value)) {
    return new TextDecoder().decode(value);
  }
  return formatMac(value);
}

import { type BgpError, bgpError, ERROR_CODE } from './error.ts';
import type { Family } from './family.ts';
import { encodeMessage, HEADER_LENGTH, MESSAGE_TYPE } from './header.ts';
import { OctetReader } from './octet-reader.ts';
import { octetsOf } from './octet-writer.ts';

/** RFC 7313 §3.2: 0 asks, 1 and 2 mark where the routes that answer begin and end. */
export const ROUTE_REFRESH_SUBTYPE = {
  request: 0,
  beginningOfRouteRefresh: 1,
  endOfRouteRefresh: 2,
} as const;

/** RFC 2918 §3 with RFC 7313's subtype in what was reserved. */
export interface RouteRefresh extends Family {
  readonly subtype: number;
}

export function encodeRouteRefresh({ afi, safi, subtype }: RouteRefresh): Uint8Array {
  return encodeMessage(MESSAGE_TYPE.routeRefresh, octetsOf([afi, 2], [subtype, 1], [safi, 1]));
}

/**
 * Decodes a whole message. Subtypes 1 and 2 of a wrong length are RFC 7313 §5's error, with the message as data;
 * what follows a request (an ORF list, RFC 5291) is not looked at, since nothing is ever advertised.
 */
export function decodeRouteRefresh(octets: Uint8Array): RouteRefresh | BgpError {
  const reader = new OctetReader(octets, HEADER_LENGTH);
  const afi = reader.u16();
  const subtype = reader.u8();
  const safi = reader.u8();
  const isMark =
    subtype === ROUTE_REFRESH_SUBTYPE.beginningOfRouteRefresh ||
    subtype === ROUTE_REFRESH_SUBTYPE.endOfRouteRefresh;
  if (reader.short || (isMark && reader.remaining > 0)) {
    return bgpError(
      ERROR_CODE.routeRefreshMessageError,
      1,
      `a ROUTE-REFRESH of subtype ${subtype} with ${octets.length} octets`,
      octets.slice(),
    );
  }
  return { afi, safi, subtype };
}

/** The link-state part of UPDATE messages, read independently of the product's own UPDATE decoder. */
import type { LinkStateSafi } from '../../protocols/bgp/ls/code-point.ts';
import type { LinkStateUpdate } from '../../protocols/bgp/ls/table.ts';

const LINK_STATE_AFI = 16388;
const HEADER = 19;

/** Cuts a run of whole messages, as a capture holds them, into UPDATE bodies without headers. */
export function updateBodies(messages: Uint8Array): Uint8Array[] {
  const bodies: Uint8Array[] = [];
  for (let at = 0; at < messages.length; ) {
    const length = u16(messages, at + 16);
    if (messages[at + 18] === 2) bodies.push(messages.subarray(at + HEADER, at + length));
    at += length;
  }
  return bodies;
}

/** What an UPDATE body says of AFI 16388. RFC 4271 §4.3, RFC 4760 §3 and §4. */
export function linkStateUpdate(body: Uint8Array): LinkStateUpdate {
  const update: { -readonly [Key in keyof LinkStateUpdate]: LinkStateUpdate[Key] } = { octets: body };
  let at = 2 + u16(body, 0);
  const end = at + 2 + u16(body, at);
  at += 2;
  while (at < end) {
    const extended = ((body[at] as number) & 0x10) !== 0;
    const type = body[at + 1] as number;
    const length = extended ? u16(body, at + 2) : (body[at + 2] as number);
    const start = at + (extended ? 4 : 3);
    at = start + length;
    if (type === 29) update.linkStateAttribute = { start, end: at };
    if ((type !== 14 && type !== 15) || u16(body, start) !== LINK_STATE_AFI) continue;
    const safi = body[start + 2] as LinkStateSafi;
    if (type === 15) update.unreach = { safi, start: start + 3, end: at };
    else update.reach = { safi, start: start + 5 + (body[start + 3] as number), end: at };
  }
  return update;
}

/** NLRIs told with an attribute or without, as they would stand in a message. */
export function announcement(safi: LinkStateSafi, nlri: Uint8Array, attribute?: Uint8Array): LinkStateUpdate {
  const start = HEADER;
  const end = start + nlri.length;
  const octets = Uint8Array.of(...new Array(start).fill(0xff), ...nlri, ...(attribute ?? []), 0xff, 0xff);
  const linkStateAttribute =
    attribute === undefined ? undefined : { start: end, end: end + attribute.length };
  return { octets, reach: { safi, start, end }, linkStateAttribute };
}

export function withdrawal(safi: LinkStateSafi, nlri: Uint8Array): LinkStateUpdate {
  const { octets, reach } = announcement(safi, nlri);
  return { octets, unreach: reach };
}

/** The parts of an update as views. */
export function partsOf({ octets, reach, unreach, linkStateAttribute }: LinkStateUpdate) {
  const view = (range: { readonly start: number; readonly end: number } | undefined) =>
    range && octets.subarray(range.start, range.end);
  return { reach: view(reach), unreach: view(unreach), attribute: view(linkStateAttribute) };
}

function u16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

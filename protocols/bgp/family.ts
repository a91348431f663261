/** An address family as OPEN and UPDATE name it: AFI and SAFI. https://www.iana.org/assignments/address-family-numbers */
export interface Family {
  readonly afi: number;
  readonly safi: number;
}

/** A family that a session offers; without a required one the session is refused with 2/7. */
export interface OfferedFamily extends Family {
  readonly required: boolean;
}

export const AFI = { ipv4: 1, ipv6: 2, linkState: 16388 } as const;
export const SAFI = { unicast: 1, linkState: 71, linkStateVpn: 72 } as const;

/** What Graticule asks of each peer: link state (RFC 9552 §5), and link state of VPNs when the peer has it. */
export const LINK_STATE_FAMILIES: readonly OfferedFamily[] = [
  { afi: AFI.linkState, safi: SAFI.linkState, required: true },
  { afi: AFI.linkState, safi: SAFI.linkStateVpn, required: false },
];

export function sameFamily(one: Family, other: Family): boolean {
  return one.afi === other.afi && one.safi === other.safi;
}

export function includesFamily(families: readonly Family[], family: Family): boolean {
  for (const each of families) if (sameFamily(each, family)) return true;
  return false;
}

/** `16388/71`, as `capabilities-sent` shows it. */
export function formatFamily(family: Family): string {
  return `${family.afi}/${family.safi}`;
}

/** The name that vendors' configuration guides use, for sentences that people read. */
export function nameFamily(family: Family): string {
  const name = FAMILY_NAMES[formatFamily(family)];
  return name === undefined ? `AFI ${family.afi} SAFI ${family.safi}` : `${name} (${formatFamily(family)})`;
}

const FAMILY_NAMES: Record<string, string> = {
  '1/1': 'IPv4 unicast',
  '2/1': 'IPv6 unicast',
  '16388/71': 'link-state',
  '16388/72': 'link-state VPN',
};

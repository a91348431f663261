/** Code points of IANA's "Border Gateway Protocol - Link State (BGP-LS) Parameters" that are not TLVs. */

export const LINK_STATE_AFI = 16388;
export const LINK_STATE_SAFI = 71;
export const LINK_STATE_VPN_SAFI = 72;
/** The path attribute type. RFC 9552 §5.3. */
export const LINK_STATE_ATTRIBUTE = 29;

export type LinkStateSafi = typeof LINK_STATE_SAFI | typeof LINK_STATE_VPN_SAFI;

/** https://www.iana.org/assignments/bgp-ls-parameters: BGP-LS NLRI Types. */
export const NlriType = {
  node: 1, // RFC 9552 §5.2
  link: 2, // RFC 9552 §5.2
  ipv4Prefix: 3, // RFC 9552 §5.2
  ipv6Prefix: 4, // RFC 9552 §5.2
  srPolicy: 5, // RFC 9857 §3
  srv6Sid: 6, // RFC 9514 §6
  stubLink: 7, // draft-ietf-idr-bgpls-inter-as-topology-ext
} as const;

export type NlriTypeName =
  | 'node'
  | 'link'
  | 'ipv4-prefix'
  | 'ipv6-prefix'
  | 'sr-policy'
  | 'srv6-sid'
  | 'stub-link'
  | 'unknown';

const NLRI_TYPE_NAMES: readonly NlriTypeName[] = [
  'unknown',
  'node',
  'link',
  'ipv4-prefix',
  'ipv6-prefix',
  'sr-policy',
  'srv6-sid',
  'stub-link',
];

export function nlriTypeName(code: number): NlriTypeName {
  return NLRI_TYPE_NAMES[code] ?? 'unknown';
}

/** The code of a named type; undefined for `unknown`, whose code only the bytes know. */
export function nlriTypeCode(name: NlriTypeName): number | undefined {
  const code = NLRI_TYPE_NAMES.indexOf(name);
  return code > 0 ? code : undefined;
}

/** BGP-LS Protocol-IDs. */
export const ProtocolId = {
  isisLevel1: 1, // RFC 9552 §5.2
  isisLevel2: 2, // RFC 9552 §5.2
  ospfv2: 3, // RFC 9552 §5.2
  direct: 4, // RFC 9552 §5.2
  static: 5, // RFC 9552 §5.2
  ospfv3: 6, // RFC 9552 §5.2
  bgp: 7, // RFC 9086 §3
  rsvpTe: 8, // draft-ietf-idr-bgp-ls-te-path
  segmentRouting: 9, // RFC 9857 §3
} as const;

const PROTOCOL_NAMES: readonly (string | undefined)[] = [
  undefined,
  'isis-level-1',
  'isis-level-2',
  'ospfv2',
  'direct',
  'static',
  'ospfv3',
  'bgp',
  'rsvp-te',
  'segment-routing',
];

const UNNAMED_PROTOCOLS = Array.from(
  { length: 256 },
  (_, code) => PROTOCOL_NAMES[code] ?? `protocol-${code}`,
);

/** The API's name of a Protocol-ID: `isis-level-2`; `protocol-200` for those without one. */
export function protocolName(code: number): string {
  return UNNAMED_PROTOCOLS[code] as string;
}

export function protocolCode(name: string): number {
  const code = UNNAMED_PROTOCOLS.indexOf(name);
  if (code < 0) throw new RangeError(`no BGP-LS protocol is named ${name}`);
  return code;
}

export function isIsis(protocolId: number): boolean {
  return protocolId === ProtocolId.isisLevel1 || protocolId === ProtocolId.isisLevel2;
}

export function isOspf(protocolId: number): boolean {
  return protocolId === ProtocolId.ospfv2 || protocolId === ProtocolId.ospfv3;
}

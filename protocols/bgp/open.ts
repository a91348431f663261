import { twoOctetAs } from './as-number.ts';
import {
  announcedFourOctetAs,
  announcedGracefulRestart,
  announces,
  CAPABILITY,
  type Capability,
  decodeCapabilities,
  encodeCapabilities,
  flag,
  fourOctetAs,
  type GracefulRestart,
  gracefulRestartWithoutFamilies,
  multiprotocol,
  multiprotocolFamilies,
} from './capability.ts';
import { type BgpError, bgpError, ERROR_CODE, OPEN_MESSAGE_SUBCODE } from './error.ts';
import { AFI, type Family, includesFamily, nameFamily, SAFI } from './family.ts';
import { encodeMessage, HEADER_LENGTH, MESSAGE_TYPE } from './header.ts';
import { formatIdentifier, parseIdentifier } from './identifier.ts';
import { OctetReader } from './octet-reader.ts';
import { concatenate, octetsOf } from './octet-writer.ts';
import type { PeerSettings } from './peer-settings.ts';

/** RFC 4271 §4.2. */
export const BGP_VERSION = 4;
/** RFC 5492 §4: the only optional parameter left. */
const CAPABILITIES_PARAMETER = 2;
/** RFC 9072 §2: this length and this first type say that two-octet lengths follow. */
const EXTENDED_LENGTH = 255;
/** A parameter of RFC 5492 holds at most this much, and without RFC 9072 all of them together do. */
const SHORT_PARAMETERS_LENGTH = 255;

/** RFC 4271 §4.2, with the capabilities of all its Capabilities parameters in order. */
export interface Open {
  readonly version: number;
  /** The 2-octet field; AS_TRANS when the AS needs four (RFC 6793). */
  readonly myAutonomousSystem: number;
  readonly holdTimeSeconds: number;
  readonly bgpIdentifier: number;
  readonly capabilities: readonly Capability[];
}

/** What two OPENs agree on; everything that decodes or encodes later takes it as an argument. */
export interface Negotiated {
  /** 0: neither hold timer nor KEEPALIVEs (RFC 4271 §4.2). */
  readonly holdTimeSeconds: number;
  readonly peerAs: number;
  readonly peerIdentifier: number;
  readonly internal: boolean;
  readonly fourOctetAs: boolean;
  /** We may send messages over 4,096 octets (RFC 8654). */
  readonly extendedMessage: boolean;
  readonly routeRefresh: boolean;
  readonly enhancedRouteRefresh: boolean;
  readonly families: readonly Family[];
  /** Undefined when the peer did not announce it. */
  readonly gracefulRestart: GracefulRestart | undefined;
}

/** How much of what we can do is announced; `reduced` is for a peer that refused the whole with 2/7. */
export type Announcement = 'full' | 'reduced';

export function offeredCapabilities(settings: PeerSettings, announcement: Announcement): Capability[] {
  const always = [...settings.families.map(multiprotocol), fourOctetAs(settings.localAs)];
  if (announcement === 'reduced') return always;
  return [
    ...always,
    flag(CAPABILITY.routeRefresh),
    flag(CAPABILITY.enhancedRouteRefresh),
    flag(CAPABILITY.extendedMessage),
    gracefulRestartWithoutFamilies({ notification: true }),
  ];
}

export function openFor(settings: PeerSettings, announcement: Announcement): Open {
  return {
    version: BGP_VERSION,
    myAutonomousSystem: twoOctetAs(settings.localAs),
    holdTimeSeconds: settings.holdTimeSeconds,
    bgpIdentifier: parseIdentifier(settings.localIdentifier) ?? 0,
    capabilities: offeredCapabilities(settings, announcement),
  };
}

/** Encodes RFC 9072's form when the parameters do not fit into one octet of length. */
export function encodeOpen(open: Open): Uint8Array {
  const fixed = octetsOf(
    [open.version, 1],
    [open.myAutonomousSystem, 2],
    [open.holdTimeSeconds, 2],
    [open.bgpIdentifier, 4],
  );
  const capabilities = encodeCapabilities(open.capabilities);
  return encodeMessage(MESSAGE_TYPE.open, concatenate(fixed, encodeParameters(capabilities)));
}

function encodeParameters(capabilities: Uint8Array): Uint8Array {
  if (capabilities.length === 0) return Uint8Array.of(0);
  if (capabilities.length + 2 <= SHORT_PARAMETERS_LENGTH) {
    return concatenate(
      Uint8Array.of(capabilities.length + 2, CAPABILITIES_PARAMETER, capabilities.length),
      capabilities,
    );
  }
  return concatenate(
    octetsOf([EXTENDED_LENGTH, 1], [EXTENDED_LENGTH, 1], [capabilities.length + 3, 2]),
    octetsOf([CAPABILITIES_PARAMETER, 1], [capabilities.length, 2]),
    capabilities,
  );
}

/**
 * Decodes a whole message. A version that is not ours is reported before anything else, because what follows the
 * version may have another shape (RFC 4271 §6.2; the data is the version that we speak).
 */
export function decodeOpen(octets: Uint8Array): Open | BgpError {
  const reader = new OctetReader(octets, HEADER_LENGTH);
  const version = reader.u8();
  if (version !== BGP_VERSION) {
    return openError(
      OPEN_MESSAGE_SUBCODE.unsupportedVersionNumber,
      `the peer speaks BGP version ${version}`,
      octetsOf([BGP_VERSION, 2]),
    );
  }
  const myAutonomousSystem = reader.u16();
  const holdTimeSeconds = reader.u16();
  const bgpIdentifier = reader.u32();
  const capabilities = decodeParameters(reader);
  if ('code' in capabilities) return capabilities;
  return {
    version,
    myAutonomousSystem,
    holdTimeSeconds,
    bgpIdentifier,
    capabilities: capabilities.capabilities,
  };
}

function decodeParameters(reader: OctetReader): { capabilities: Capability[] } | BgpError {
  let length = reader.u8();
  // RFC 9072 §2: the type decides; the one-octet length should be 255 and is not looked at, but 0 is no parameters.
  const extended = length !== 0 && reader.octets[reader.offset] === EXTENDED_LENGTH;
  if (extended) {
    reader.u8();
    length = reader.u16();
  }
  if (reader.short || length !== reader.remaining) {
    return malformedOpen(`optional parameters of ${length} octets, where ${reader.remaining} follow`);
  }
  const capabilities: Capability[] = [];
  while (reader.remaining > 0) {
    const type = reader.u8();
    const value = reader.take(extended ? reader.u16() : reader.u8());
    if (reader.short) return malformedOpen('an optional parameter reaches past the end of the message');
    if (type !== CAPABILITIES_PARAMETER) {
      return openError(
        OPEN_MESSAGE_SUBCODE.unsupportedOptionalParameter,
        `optional parameter type ${type} is not supported`,
      );
    }
    const decoded = decodeCapabilities(value);
    if (decoded === undefined) return malformedOpen('a capability reaches past the end of its parameter');
    capabilities.push(...decoded);
  }
  return { capabilities };
}

/**
 * Checks a readable OPEN against what is configured and gives what the two sides agree on, or the NOTIFICATION to
 * answer with (RFC 4271 §6.2, RFC 6286 §2.2, RFC 5492 §5). The errors' texts are for the peer's and our operators.
 */
export function validateOpen(
  open: Open,
  settings: PeerSettings,
  announced: readonly Capability[],
): Negotiated | BgpError {
  const announcedAs = announcedFourOctetAs(open.capabilities);
  const peerAs = announcedAs ?? open.myAutonomousSystem;
  if (peerAs !== settings.peerAs || peerAs === 0) {
    return openError(
      OPEN_MESSAGE_SUBCODE.badPeerAs,
      `we expect AS ${settings.peerAs} and the peer's OPEN says AS ${peerAs}; correct user-peer-as here, or the AS configured on the peer`,
    );
  }
  const internal = settings.localAs === settings.peerAs;
  const localIdentifier = parseIdentifier(settings.localIdentifier);
  if (open.bgpIdentifier === 0) {
    return openError(
      OPEN_MESSAGE_SUBCODE.badBgpIdentifier,
      "the peer's BGP Identifier is 0.0.0.0; give it a router id",
    );
  }
  if (internal && open.bgpIdentifier === localIdentifier) {
    return openError(
      OPEN_MESSAGE_SUBCODE.badBgpIdentifier,
      `the peer's BGP Identifier ${formatIdentifier(open.bgpIdentifier)} is our own, which two speakers of one AS may not share; change router-id in /api/engine or the router id on the peer`,
    );
  }
  if (open.holdTimeSeconds === 1 || open.holdTimeSeconds === 2) {
    return openError(
      OPEN_MESSAGE_SUBCODE.unacceptableHoldTime,
      `the peer proposes a hold time of ${open.holdTimeSeconds} s; RFC 4271 allows 0, or 3 and more`,
    );
  }
  const peerFamilies = multiprotocolFamilies(open.capabilities);
  // RFC 4760 §8 leaves IPv4 unicast to those who announce no multiprotocol capability at all.
  if (peerFamilies.length === 0) peerFamilies.push({ afi: AFI.ipv4, safi: SAFI.unicast });
  const missing = settings.families.filter(
    (family) => family.required && !includesFamily(peerFamilies, family),
  );
  if (missing.length > 0) {
    return openError(
      OPEN_MESSAGE_SUBCODE.unsupportedCapability,
      `the peer does not offer the ${missing.map(nameFamily).join(' and ')} address family; activate it for this neighbor on the peer (it offers ${peerFamilies.map(nameFamily).join(', ')})`,
      encodeCapabilities(missing.map(multiprotocol)),
    );
  }
  const both = (code: number) => announces(announced, code) && announces(open.capabilities, code);
  return {
    holdTimeSeconds: Math.min(open.holdTimeSeconds, settings.holdTimeSeconds),
    peerAs,
    peerIdentifier: open.bgpIdentifier,
    internal,
    fourOctetAs: announcedAs !== undefined,
    extendedMessage: both(CAPABILITY.extendedMessage),
    routeRefresh: both(CAPABILITY.routeRefresh),
    enhancedRouteRefresh: both(CAPABILITY.enhancedRouteRefresh),
    families: settings.families.filter((family) => includesFamily(peerFamilies, family)),
    gracefulRestart: announces(announced, CAPABILITY.gracefulRestart)
      ? announcedGracefulRestart(open.capabilities)
      : undefined,
  };
}

function openError(subcode: number, text: string, data?: Uint8Array): BgpError {
  return bgpError(ERROR_CODE.openMessageError, subcode, text, data);
}

function malformedOpen(text: string): BgpError {
  return openError(OPEN_MESSAGE_SUBCODE.unspecific, text);
}

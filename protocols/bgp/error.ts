import { formatHex } from './octet-writer.ts';

/** NOTIFICATION error codes. https://www.iana.org/assignments/bgp-parameters/bgp-parameters.xhtml#bgp-parameters-3 */
export const ERROR_CODE = {
  messageHeaderError: 1,
  openMessageError: 2,
  updateMessageError: 3,
  holdTimerExpired: 4,
  finiteStateMachineError: 5,
  cease: 6,
  routeRefreshMessageError: 7,
  sendHoldTimerExpired: 8,
} as const;

export const MESSAGE_HEADER_SUBCODE = {
  connectionNotSynchronized: 1,
  badMessageLength: 2,
  badMessageType: 3,
} as const;

export const OPEN_MESSAGE_SUBCODE = {
  unspecific: 0,
  unsupportedVersionNumber: 1,
  badPeerAs: 2,
  badBgpIdentifier: 3,
  unsupportedOptionalParameter: 4,
  unacceptableHoldTime: 6,
  unsupportedCapability: 7,
} as const;

export const UPDATE_MESSAGE_SUBCODE = {
  malformedAttributeList: 1,
  unrecognizedWellKnownAttribute: 2,
  missingWellKnownAttribute: 3,
  attributeFlagsError: 4,
  attributeLengthError: 5,
  invalidOrigin: 6,
  invalidNextHop: 8,
  optionalAttributeError: 9,
  invalidNetworkField: 10,
  malformedAsPath: 11,
} as const;

/** RFC 6608 §3. */
export const FSM_SUBCODE = { unspecified: 0, openSent: 1, openConfirm: 2, established: 3 } as const;

/** RFC 4486 §3, RFC 8538 §3.1 (hard reset). */
export const CEASE_SUBCODE = {
  maximumNumberOfPrefixesReached: 1,
  administrativeShutdown: 2,
  peerDeconfigured: 3,
  administrativeReset: 4,
  connectionRejected: 5,
  otherConfigurationChange: 6,
  connectionCollisionResolution: 7,
  outOfResources: 8,
  hardReset: 9,
  bfdDown: 10,
} as const;

/** A NOTIFICATION to be sent, or one received: what went wrong, as data. `text` is for people and is not sent. */
export interface BgpError {
  readonly code: number;
  readonly subcode: number;
  readonly data: Uint8Array;
  readonly text: string;
}

const NO_DATA = new Uint8Array(0);

export function bgpError(code: number, subcode: number, text: string, data: Uint8Array = NO_DATA): BgpError {
  return { code, subcode, data, text };
}

const CODE_NAMES: Record<number, string> = {
  1: 'Message Header Error',
  2: 'OPEN Message Error',
  3: 'UPDATE Message Error',
  4: 'Hold Timer Expired',
  5: 'Finite State Machine Error',
  6: 'Cease',
  7: 'ROUTE-REFRESH Message Error',
  8: 'Send Hold Timer Expired',
};

const SUBCODE_NAMES: Record<string, string> = {
  '1/1': 'Connection Not Synchronized',
  '1/2': 'Bad Message Length',
  '1/3': 'Bad Message Type',
  '2/1': 'Unsupported Version Number',
  '2/2': 'Bad Peer AS',
  '2/3': 'Bad BGP Identifier',
  '2/4': 'Unsupported Optional Parameter',
  '2/5': 'Authentication Failure',
  '2/6': 'Unacceptable Hold Time',
  '2/7': 'Unsupported Capability',
  '2/11': 'Role Mismatch',
  '3/1': 'Malformed Attribute List',
  '3/2': 'Unrecognized Well-known Attribute',
  '3/3': 'Missing Well-known Attribute',
  '3/4': 'Attribute Flags Error',
  '3/5': 'Attribute Length Error',
  '3/6': 'Invalid ORIGIN Attribute',
  '3/7': 'AS Routing Loop',
  '3/8': 'Invalid NEXT_HOP Attribute',
  '3/9': 'Optional Attribute Error',
  '3/10': 'Invalid Network Field',
  '3/11': 'Malformed AS_PATH',
  '5/1': 'Receive Unexpected Message in OpenSent State',
  '5/2': 'Receive Unexpected Message in OpenConfirm State',
  '5/3': 'Receive Unexpected Message in Established State',
  '6/1': 'Maximum Number of Prefixes Reached',
  '6/2': 'Administrative Shutdown',
  '6/3': 'Peer De-configured',
  '6/4': 'Administrative Reset',
  '6/5': 'Connection Rejected',
  '6/6': 'Other Configuration Change',
  '6/7': 'Connection Collision Resolution',
  '6/8': 'Out of Resources',
  '6/9': 'Hard Reset',
  '6/10': 'BFD Down',
  '7/1': 'Invalid Message Length',
};

/** `Cease / Administrative Shutdown (6/2)`; numbers alone where the registry has no name. */
export function nameError(code: number, subcode: number): string {
  const codeName = CODE_NAMES[code] ?? `error code ${code}`;
  const subcodeName = SUBCODE_NAMES[`${code}/${subcode}`];
  return `${codeName}${subcodeName === undefined ? '' : ` / ${subcodeName}`} (${code}/${subcode})`;
}

/** One error in one line, for logs: its name, its data as hex and what was found. */
export function formatError(error: BgpError): string {
  const data = error.data.length === 0 ? '' : `, data ${formatHex(error.data)}`;
  return `${nameError(error.code, error.subcode)}${data}: ${error.text}`;
}

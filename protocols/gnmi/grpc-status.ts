/** gRPC status codes (grpc.github.io, "Status codes and their use in gRPC"), and what they mean to a user. */

export const GrpcStatus = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

/** Stands in a message where the target repeated our password. */
export const PASSWORD_MASK = '********';

/** The codes of a failed test or stream that gNMI can have. */
export const GNMI_FAULT_CODES = [
  'no-settings',
  'blocked-address',
  'dns',
  'connection-refused',
  'unreachable',
  'timeout',
  'tls-untrusted',
  'tls-name-mismatch',
  'tls-not-spoken',
  'authentication',
  'permission',
  'unimplemented',
  'invalid-path',
  'unknown-origin',
  'path-not-found',
  'encoding-unsupported',
  'no-updates',
  'stream-not-closed',
  'too-large',
  'protocol-error',
] as const;

export type GnmiFaultCode = (typeof GNMI_FAULT_CODES)[number];

/** Why an RPC gave nothing. `detail` is for people and may hold the target's own words. */
export interface GnmiFault {
  readonly code: GnmiFaultCode;
  readonly detail: string;
}

/**
 * The fault of an RPC's status. Targets use few codes for many things, so the words count where the code
 * says little: UNIMPLEMENTED about an encoding is not UNIMPLEMENTED about Subscribe.
 */
export function faultOfStatus(status: number, message: string): GnmiFault {
  const words = message.toLowerCase();
  const detail = `${statusName(status)}${message === '' ? '' : `: ${message}`}`;
  const fault = (code: GnmiFaultCode): GnmiFault => ({ code, detail });
  switch (status) {
    case GrpcStatus.unauthenticated:
      return fault('authentication');
    case GrpcStatus.permissionDenied:
      // gnxi's target and several NOS say PermissionDenied about a wrong password.
      return fault(
        words.includes(PASSWORD_MASK) || /password|credential|username|authenticat|login/.test(words)
          ? 'authentication'
          : 'permission',
      );
    case GrpcStatus.notFound:
      return fault('path-not-found');
    case GrpcStatus.deadlineExceeded:
      return fault('timeout');
    case GrpcStatus.unavailable:
      return fault('unreachable');
    case GrpcStatus.resourceExhausted:
      return fault(/larger|size|too big|message length/.test(words) ? 'too-large' : 'unreachable');
    case GrpcStatus.invalidArgument:
    case GrpcStatus.unimplemented:
    case GrpcStatus.unknown:
    case GrpcStatus.failedPrecondition:
    case GrpcStatus.aborted:
    case GrpcStatus.outOfRange:
    case GrpcStatus.internal:
      if (/origin/.test(words)) return fault('unknown-origin');
      if (/encoding/.test(words)) return fault('encoding-unsupported');
      if (/authenticat|password|unauthorized/.test(words)) return fault('authentication');
      if (/not found|no such|does not exist|unknown (element|path)|no sysdb paths/.test(words)) {
        return fault('path-not-found');
      }
      if (status === GrpcStatus.unimplemented) return fault('unimplemented');
      return fault(
        status === GrpcStatus.invalidArgument || /path|xpath|key/.test(words)
          ? 'invalid-path'
          : 'protocol-error',
      );
    default:
      return fault('protocol-error');
  }
}

export function statusName(status: number): string {
  const found = Object.entries(GrpcStatus).find(([, number]) => number === status)?.[0];
  return found === undefined ? `status ${status}` : found.replace(/[A-Z]/g, '_$&').toUpperCase();
}

/** Percent-decodes a grpc-message header (gRPC over HTTP/2, "Responses"); broken escapes stay as they are. */
export function decodeGrpcMessage(header: string): string {
  const bytes: number[] = [];
  const source = new TextEncoder().encode(header);
  for (let at = 0; at < source.length; at += 1) {
    const hex = source[at] === 0x25 ? /^%([0-9a-fA-F]{2})/.exec(header.slice(at, at + 3))?.[1] : undefined;
    if (hex === undefined) bytes.push(source[at] as number);
    else {
      bytes.push(Number.parseInt(hex, 16));
      at += 2;
    }
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

/** Every kind of error answer, with its HTTP status and title. The names are stable: clients match on them. */
export const PROBLEMS = {
  'invalid-json': { status: 400, title: 'The body is not JSON' },
  'invalid-body': { status: 400, title: 'The body is not valid' },
  'invalid-query': { status: 400, title: 'The query is not valid' },
  unauthenticated: { status: 401, title: 'A valid token is needed' },
  'insufficient-scope': { status: 403, title: "The token's scope does not allow this" },
  'not-found': { status: 404, title: 'There is nothing here' },
  'method-not-allowed': { status: 405, title: 'This path does not take that method' },
  conflict: { status: 409, title: 'Something that exists is in the way' },
  'last-admin-token': { status: 409, title: 'This is the last admin token' },
  'peer-disabled': { status: 409, title: 'The peer is disabled' },
  'not-established': { status: 409, title: 'The session is not established' },
  'capability-not-negotiated': { status: 409, title: 'The peer did not offer the capability' },
  'no-saved-url': { status: 409, title: 'No URL is saved' },
  'version-expired': { status: 410, title: 'This version is no longer in the log' },
  'stale-etag': { status: 412, title: 'The resource has changed' },
  'body-too-large': { status: 413, title: 'The body is too large' },
  'unsupported-media-type': { status: 415, title: 'The body must be application/json' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Something went wrong inside' },
  'no-worker': { status: 503, title: 'No worker is running' },
  busy: { status: 503, title: 'Too much is changing at once' },
} as const;

export type ProblemType = keyof typeof PROBLEMS;

/** What is wrong with one member of a body; stable, for programs. */
export const MEMBER_ERROR_CODES = [
  'required',
  'wrong-type',
  'out-of-range',
  'invalid-format',
  'unknown-member',
  'duplicate',
  'immutable',
  'unknown-reference',
  'mask-without-secret',
  'secret-for-new-address',
  'address-not-allowed',
] as const;

export type MemberErrorCode = (typeof MEMBER_ERROR_CODES)[number];

export interface MemberError {
  /** JSON Pointer (RFC 6901) into the body. */
  readonly pointer: string;
  readonly code: MemberErrorCode;
  /** One sentence for a person. */
  readonly detail: string;
}

interface ProblemExtras {
  readonly errors?: readonly MemberError[];
  /** The id of the resource in the way (409). */
  readonly conflictingId?: number;
  /** The methods that the path takes (405). */
  readonly allow?: readonly string[];
  readonly retryAfterSeconds?: number;
}

/** An error that a caller is told of, as RFC 9457 problem details. Anything else that is thrown becomes `internal`. */
export class Problem extends Error {
  readonly type: ProblemType;
  readonly status: number;
  readonly extras: ProblemExtras;

  constructor(type: ProblemType, detail: string, extras: ProblemExtras = {}) {
    super(detail);
    this.name = 'Problem';
    this.type = type;
    this.status = PROBLEMS[type].status;
    this.extras = extras;
  }

  /** The body of the answer (RFC 9457 §3). `instance` is the request's path. */
  body(instance: string, requestId: string): Record<string, unknown> {
    return {
      type: `urn:graticule:problem:${this.type}`,
      title: PROBLEMS[this.type].title,
      status: this.status,
      detail: this.message,
      instance,
      'request-id': requestId,
      ...(this.extras.errors === undefined ? {} : { errors: this.extras.errors }),
      ...(this.extras.conflictingId === undefined ? {} : { 'conflicting-id': this.extras.conflictingId }),
    };
  }
}

/** A 400 for one or more members of a body, all named at once. */
export function invalidBody(errors: readonly MemberError[]): Problem {
  const detail =
    errors.length === 1 ? (errors[0] as MemberError).detail : `${errors.length} members are wrong`;
  return new Problem('invalid-body', detail, { errors });
}

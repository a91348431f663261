/** Why a record was not delivered; the keys of `failed-by-reason`. */
export const FAILURE_REASONS = [
  'dns',
  'connect',
  'tls',
  'timeout',
  'reset',
  'blocked',
  'http-4xx',
  'http-5xx',
  'http-other',
  'invalid-method',
  'interrupted',
  'expired',
  'disabled',
  'not-queued',
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

/** Why no answer came at all. */
export type NoAnswerReason = Extract<
  FailureReason,
  'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'blocked'
>;

/** What became of one attempt to send one request. */
export type Attempt =
  | { readonly status: number; readonly milliseconds: number }
  | {
      readonly status: null;
      readonly reason: NoAnswerReason;
      /** One sentence, without anything that was sent. */
      readonly detail: string;
      readonly milliseconds: number;
      /** Whether bytes of the request may have left. */
      readonly wasSent: boolean;
    };

/** The failure that a status is, or undefined for a delivery: 400 or higher is a failure. */
export function statusFailure(status: number): FailureReason | undefined {
  if (status < 400) return undefined;
  if (status < 500) return 'http-4xx';
  return status < 600 ? 'http-5xx' : 'http-other';
}

export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

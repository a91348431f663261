import { ProxyFailed } from './tunnel-agent.ts';

/** Why no answer came, as a sentence that says what to look at. */
export function unreachableSentence(error: unknown, url: URL): string {
  if (error instanceof ProxyFailed) return error.message;
  const { code, message } = firstError(error);
  const at = url.host;
  const known: Readonly<Record<string, string>> = {
    ECONNREFUSED: `nothing listens at ${at}; is the stack running, and is the URL right?`,
    ENOTFOUND: `there is no host called ${url.hostname}; check the URL`,
    EAI_AGAIN: `the name ${url.hostname} cannot be looked up now; check the network`,
    ECONNRESET: `${at} closed the connection without an answer`,
    EPIPE: `${at} closed the connection without an answer`,
    ETIMEDOUT: `${at} cannot be reached: the connection timed out`,
    EHOSTUNREACH: `there is no way to ${at}; check the network`,
    ENETUNREACH: `there is no way to ${at}; check the network`,
    CERT_HAS_EXPIRED: `the certificate of ${at} has expired; it has to be renewed there`,
    CERT_NOT_YET_VALID: `the certificate of ${at} is not valid yet; is this machine's clock right?`,
    ERR_TLS_CERT_ALTNAME_INVALID: `the certificate of ${at} is for another name; check the URL`,
    ERR_SSL_WRONG_VERSION_NUMBER: `${at} does not speak TLS; is its URL http:// rather than https://?`,
    EPROTO: `${at} does not speak TLS; is its URL http:// rather than https://?`,
  };
  if (known[code] !== undefined) return known[code];
  if (/^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/.test(code)) {
    return `the certificate of ${at} is signed by nobody whom this machine trusts; name its authority with --ca-file`;
  }
  if (/^HPE_/.test(code)) return `${at} does not answer in HTTP; check the URL`;
  return `no answer from ${at}: ${message}`;
}

/** Of several addresses tried (happy eyeballs), the last is as good as any. */
function firstError(error: unknown): { code: string; message: string } {
  const inner = error instanceof AggregateError ? (error.errors.at(-1) as unknown) : error;
  const { code, message } = inner as { code?: unknown; message?: unknown };
  return { code: String(code ?? ''), message: String(message ?? inner) };
}

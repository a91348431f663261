/** Why a connection to a receiver failed, as a sentence for the person who configured it; the code stands behind it. */

const UNTRUSTED = 'the authority of its certificate is not trusted here';
const NOT_TLS = 'what listens there does not speak TLS';

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while the request was sent',
  ETIMEDOUT: 'nothing answers there',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  EADDRNOTAVAIL: 'there is no local port or address left to connect from',
  EMFILE: 'too many connections are open here',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for other names',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NOT_TLS,
};

/** e.g. `its certificate has expired (CERT_HAS_EXPIRED)`; of an error that is not known, its code or its message. */
export function describeFault(error: unknown): string {
  const code = errorCode(error);
  const sentence = SENTENCES[code];
  return sentence === undefined ? code : `${sentence} (${code})`;
}

/** Node's name of an error, e.g. `ENOTFOUND`; the message where it has none. */
export function errorCode(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message ?? String(error);
}

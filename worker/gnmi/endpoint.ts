/** From a device's address to an open socket, TLS included; every way in which that fails has its code. */

import { promises as dns } from 'node:dns';
import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net';
import {
  type ConnectionOptions,
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
} from 'node:tls';
import type { GnmiFault } from '../../protocols/gnmi/grpc-status.ts';

/** A device's gNMI settings, secrets in clear. PEM texts may be `''`. */
export interface GnmiEndpoint {
  /** A name or a literal. */
  readonly address: string;
  readonly port: number;
  readonly tls: 'verify' | 'skip-verify' | 'off';
  /** Certificates to trust instead of the system's. */
  readonly ca: string;
  readonly clientCertificate: string;
  readonly clientKey: string;
  /** The name that the certificate must have, when it is not `address`. */
  readonly serverName: string;
  readonly username: string;
  readonly password: string;
  /** The prefix's target; `''` sends none. */
  readonly target: string;
}

/** Says why an address must not be dialled, or undefined. It is asked about the resolved address. */
export type DialGuard = (address: string) => string | undefined;

export type OpenedSocket = { readonly socket: Socket } | { readonly fault: GnmiFault };

/**
 * Resolves, asks the guard, connects and shakes hands, all within the time. Never rejects.
 * @param onread as of `net.connect`: where the socket reads into.
 */
export async function openSocket(
  endpoint: GnmiEndpoint,
  guard: DialGuard,
  timeoutMilliseconds: number,
  onread: OnReadOpts,
): Promise<OpenedSocket> {
  const deadline = performance.now() + timeoutMilliseconds;
  const addresses = await resolve(endpoint.address, timeoutMilliseconds);
  if (!Array.isArray(addresses)) return { fault: addresses };
  let last: GnmiFault = { code: 'dns', detail: `${endpoint.address} has no address` };
  for (const address of addresses) {
    const refusal = guard(address);
    if (refusal !== undefined) {
      last = { code: 'blocked-address', detail: refusal };
      continue;
    }
    const left = Math.max(1, deadline - performance.now());
    const opened = await openTo(address, endpoint, left, onread);
    if ('socket' in opened) return opened;
    last = opened.fault;
    // What one address answers in TLS, another of the same device will answer too.
    if (last.code.startsWith('tls-')) break;
  }
  return { fault: last };
}

async function resolve(address: string, timeoutMilliseconds: number): Promise<string[] | GnmiFault> {
  const literal = address.replace(/^\[(.*)\]$/, '$1');
  if (isIP(literal) !== 0) return [literal];
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<GnmiFault>((done) => {
    timer = setTimeout(
      () => done({ code: 'timeout', detail: `${address} was not resolved in time` }),
      timeoutMilliseconds,
    );
  });
  try {
    const found = dns.lookup(address, { all: true }).then((all) => all.map((each) => each.address));
    return await Promise.race([found, tooLate]);
  } catch (error) {
    return { code: 'dns', detail: `${address}: ${codeOf(error)}` };
  } finally {
    clearTimeout(timer);
  }
}

function openTo(
  address: string,
  endpoint: GnmiEndpoint,
  timeoutMilliseconds: number,
  onread: OnReadOpts,
): Promise<OpenedSocket> {
  return new Promise((done) => {
    const at = `${address} port ${endpoint.port}`;
    const isSecure = endpoint.tls !== 'off';
    let isShaking = false;
    const timer = setTimeout(() => {
      const what = isShaking ? 'did not finish the TLS handshake' : 'did not accept the connection';
      fail({ code: 'timeout', detail: `${at} ${what} within ${Math.round(timeoutMilliseconds)} ms` });
    }, timeoutMilliseconds);
    const fail = (fault: GnmiFault): void => {
      clearTimeout(timer);
      // What a socket still has to say after this is of no interest, but must not be unheard.
      socket?.on('error', () => undefined).destroy();
      done({ fault });
    };
    // The kernel's own keepalive finds a vanished host; no server counts it against us (decision 0101).
    const how = {
      host: address,
      port: endpoint.port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
    };
    let socket: Socket | undefined;
    try {
      socket = isSecure
        ? connectTls({ ...how, onread, ...tlsOptions(endpoint) } as ConnectionOptions)
        : connectTcp({ ...how, onread });
    } catch (error) {
      const detail = `the device's certificate settings are unusable: ${codeOf(error)}`;
      fail({ code: 'tls-untrusted', detail });
      return;
    }
    const opened = socket;
    const onError = (error: Error): void => fail(faultOfSocketError(error, at));
    const onClose = (): void =>
      fail({ code: 'tls-not-spoken', detail: `${at} closed during the TLS handshake` });
    opened.on('error', onError);
    opened.on('close', onClose);
    opened.once('connect', () => {
      isShaking = true;
    });
    opened.once(isSecure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      opened.off('error', onError);
      opened.off('close', onClose);
      done({ socket: opened });
    });
  });
}

function tlsOptions(endpoint: GnmiEndpoint): ConnectionOptions {
  const expectedName = endpoint.serverName || endpoint.address.replace(/^\[(.*)\]$/, '$1');
  const context = createSecureContext({
    ...(endpoint.ca === '' ? {} : { ca: endpoint.ca }),
    ...(endpoint.clientCertificate === ''
      ? {}
      : { cert: endpoint.clientCertificate, key: endpoint.clientKey }),
  });
  return {
    secureContext: context,
    ALPNProtocols: ['h2'],
    // SNI carries names only (RFC 6066 §3).
    ...(isIP(expectedName) === 0 ? { servername: expectedName } : {}),
    rejectUnauthorized: endpoint.tls === 'verify',
    checkServerIdentity: (_host, certificate) => checkServerIdentity(expectedName, certificate),
  };
}

/** OpenSSL's verification results, as Node names them, that mean "not one we trust". */
const UNTRUSTED =
  /SELF_SIGNED|UNABLE_TO_(VERIFY|GET|DECRYPT|DECODE)|CERT_|CRL_|INVALID_(CA|PURPOSE)|PATH_LENGTH|HOSTNAME_MISMATCH/;

const NO_ISSUER = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/;
const CA_HINT = "give the CA that signed the device's certificate in gnmi.ca, or set gnmi.tls to skip-verify";
const NO_TLS_HINT =
  'what answers on this port does not speak TLS as we do; set gnmi.tls to off for a device without TLS';

/** The fault of an error that a TCP or TLS socket gave, also later in a connection's life. */
export function faultOfSocketError(error: unknown, at: string): GnmiFault {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const detail = `${at}: ${message.split('\n')[0]}`;
  if (code === 'ECONNREFUSED') return { code: 'connection-refused', detail };
  if (code === 'ETIMEDOUT') return { code: 'timeout', detail };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return { code: 'tls-name-mismatch', detail };
  if (
    /CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_(EXPIRED|UNKNOWN|REVOKED)/.test(
      code + message.toUpperCase().replaceAll(' ', '_'),
    ) &&
    /ALERT/i.test(code + message)
  ) {
    return {
      code: 'authentication',
      detail: `${at} does not accept our certificate: ${message.split('\n')[0]}`,
    };
  }
  if (UNTRUSTED.test(code)) {
    // Node goes on with advice for who started it, which nobody who reads this did.
    const reason = `${at}: ${message.split(/[;\n]/)[0]}`;
    return { code: 'tls-untrusted', detail: NO_ISSUER.test(code) ? `${reason}; ${CA_HINT}` : reason };
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) {
    // Without OpenSSL's own line, which is addresses and source files around this reason.
    const reason = (error as { readonly reason?: string }).reason;
    return { code: 'tls-not-spoken', detail: `${at}: ${reason ?? code}; ${NO_TLS_HINT}` };
  }
  return { code: 'unreachable', detail };
}

function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code ?? (error instanceof Error ? error.message : String(error));
}

import { Resolver, promises as systemDns } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { ENV } from '../contract/env.ts';
import type { NoAnswerReason } from '../core/delivery-outcome.ts';
import { parseCidrs, type WebhookDialRules, webhookDialRefusal } from '../core/dial-guard.ts';
import { formatIpAddress, parseIpAddress } from '../core/ip-address.ts';
import { describeFault, errorCode } from './webhook-fault.ts';

/** The addresses of a name. Rejects when it has none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

export interface DialOptions {
  readonly rules: WebhookDialRules;
  readonly resolve: ResolveName;
}

/** Why there is no connection. */
export class DialFailure extends Error {
  readonly reason: NoAnswerReason;
  constructor(reason: NoAnswerReason, detail: string) {
    super(detail);
    this.name = 'DialFailure';
    this.reason = reason;
  }
}

/** The rules and the resolver that the environment asks for. */
export function dialOptionsFrom(environment: NodeJS.ProcessEnv): DialOptions {
  return {
    rules: {
      isLocalRun: environment[ENV.allowLoopback] === '1',
      allow: parseCidrs(environment[ENV.webhookAllow] ?? ''),
    },
    resolve: resolverFor(environment[ENV.webhookDnsServers] ?? ''),
  };
}

/** The system's own resolution (hosts file included), or that of the name servers given as `address:port`, comma-separated. */
export function resolverFor(servers: string): ResolveName {
  if (servers === '') {
    return async (name) => (await systemDns.lookup(name, { all: true })).map(({ address }) => address);
  }
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers(servers.split(',').map((server) => server.trim()));
  const ask = (name: string, type: 'A' | 'AAAA') =>
    new Promise<string[]>((resolve, reject) => {
      resolver.resolve(name, type, (error, addresses) =>
        error === null ? resolve(addresses as string[]) : reject(error),
      );
    });
  return async (name) => {
    const answers = await Promise.allSettled([ask(name, 'A'), ask(name, 'AAAA')]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    throw (answers[0] as PromiseRejectedResult).reason;
  };
}

/** Where every socket's bytes arrive: they are taken out before the next are read, on whichever socket. */
const ARRIVING = Buffer.allocUnsafeSlow(65_536);

/** A socket on its way to being connected. `cancel` ends it, whatever it does; `connected` then never settles. */
export interface Dialling {
  readonly connected: Promise<Socket>;
  cancel(): void;
}

/**
 * Connects to the host of a URL, with TLS for https. The guard sees the very addresses that are then dialled: a name
 * that meant something harmless when the configuration was written gets no second meaning here. Rejects with DialFailure.
 *
 * `onBytes` gets what arrives on the socket, which has no `data` events: a character for each byte (latin1).
 */
export function dial(url: URL, options: DialOptions, onBytes: (bytes: string) => void): Dialling {
  let socket: Socket | undefined;
  let isCancelled = false;
  const connected = (async () => {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const addresses = await allowedAddresses(host, options);
    if (isCancelled) return new Promise<never>(() => {});
    return openSocket(url, host, addresses, onBytes, (opened) => {
      socket = opened;
    });
  })();
  return {
    connected,
    cancel() {
      isCancelled = true;
      socket?.destroy();
    },
  };
}

async function allowedAddresses(host: string, options: DialOptions): Promise<string[]> {
  // The URL parser has already turned decimal, octal and hexadecimal spellings of IPv4 into dotted quads.
  const found = isIP(host) === 0 ? await resolved(host, options.resolve) : [host];
  const allowed: string[] = [];
  let refusal = '';
  for (const text of found) {
    const address = parseIpAddress(text.split('%')[0] as string);
    const wrong =
      address === undefined ? `${text} is no address` : webhookDialRefusal(address, options.rules);
    if (wrong !== undefined) refusal = wrong;
    else if (address !== undefined) allowed.push(formatIpAddress(address));
  }
  if (allowed.length === 0) throw new DialFailure('blocked', refusal || `${host} has no address`);
  return allowed;
}

async function resolved(host: string, resolve: ResolveName): Promise<readonly string[]> {
  try {
    const addresses = await resolve(host);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    throw new DialFailure('dns', `${host} has no address (${errorCode(error)})`);
  }
  throw new DialFailure('dns', `${host} has no address`);
}

function openSocket(
  url: URL,
  host: string,
  addresses: readonly string[],
  onBytes: (bytes: string) => void,
  opened: (socket: Socket) => void,
): Promise<Socket> {
  const isTls = url.protocol === 'https:';
  const lookup: LookupFunction = (_name, lookupOptions, callback) => {
    const all = addresses.map((address) => ({ address, family: isIP(address) }));
    if (lookupOptions.all === true) callback(null, all);
    else callback(null, all[0]?.address ?? '', all[0]?.family);
  };
  const target = {
    host,
    port: Number(url.port) || (isTls ? 443 : 80),
    noDelay: true,
    keepAlive: true,
    // Node tries the addresses in turn (RFC 8305); it asks for them here and gets only those that passed the guard.
    lookup,
    // Bytes go past the stream, which would cost as much again for each answer.
    onread: {
      buffer: ARRIVING,
      callback(length: number) {
        onBytes(ARRIVING.toString('latin1', 0, length));
        return true;
      },
    },
  };
  return new Promise((resolve, reject) => {
    let isConnected = false;
    const socket = isTls
      ? connectTls({
          ...target,
          secureContext: systemTrust(),
          ALPNProtocols: ['http/1.1'],
          ...(isIP(host) === 0 ? { servername: host } : {}),
        })
      : connectTcp(target);
    opened(socket);
    const fail = (detail: string) => {
      socket.destroy();
      reject(new DialFailure(isConnected ? 'tls' : 'connect', detail));
    };
    const onError = (error: Error) => fail(describeFault(error));
    const onClose = () => fail('the connection was closed');
    socket.once('connect', () => {
      isConnected = true;
      if (!isTls) finish();
    });
    socket.once('secureConnect', finish);
    socket.once('error', onError);
    socket.once('close', onClose);
    function finish() {
      socket.removeListener('error', onError);
      socket.removeListener('close', onClose);
      resolve(socket);
    }
  });
}

let trust: SecureContext | undefined;

/**
 * The certificates that the machine trusts, with NODE_EXTRA_CA_CERTS; Node would use its own
 * list. Read once: a context takes tens of milliseconds to make.
 */
function systemTrust(): SecureContext {
  trust ??= createSecureContext({ ca: [...getCACertificates('system'), ...getCACertificates('extra')] });
  return trust;
}

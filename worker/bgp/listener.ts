import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import type { PeerDriver } from './peer-driver.ts';
import { socketOptions } from './socket-options.ts';

export interface ListenAddress {
  /** A literal; its family is the listener's. */
  readonly address: string;
  readonly port: number;
}

/** Connections that may wait in the kernel while the event loop is busy: all peers at once, after an outage. */
const BACKLOG = 1024;

/**
 * Takes connections that peers make, on one address. Strangers are closed without an OPEN (RFC 4271 §8.2.1), before
 * they cost anything; which driver a connection is for is told by its source address.
 */
export class Listener {
  readonly #server: Server;
  readonly #descriptor: number | undefined;
  /** Where it listens, the port being the one the kernel chose when 0 was asked for. */
  readonly address: ListenAddress;

  private constructor(server: Server, descriptor: number | undefined, address: ListenAddress) {
    this.#server = server;
    this.#descriptor = descriptor;
    this.address = address;
  }

  /**
   * Starts to listen; rejects with the system's error when it cannot.
   * @param find the driver of the enabled peer at this source address that may be reached at this local address.
   */
  static open(
    wanted: ListenAddress,
    find: (peerAddress: string, localAddress: string) => PeerDriver | undefined,
  ): Promise<Listener> {
    const server = createServer({ noDelay: true }, (socket) => accept(socket, find));
    const descriptor = openDescriptor(wanted);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      const opened = () => {
        server.off('error', reject);
        // A later error of accept(2), such as too many open files, ends a connection and not the listener.
        server.on('error', () => {});
        const bound = server.address();
        const port = typeof bound === 'object' && bound !== null ? bound.port : wanted.port;
        resolve(new Listener(server, descriptor, { ...wanted, port }));
      };
      if (descriptor === undefined) {
        server.listen({ host: wanted.address, port: wanted.port, backlog: BACKLOG, ipv6Only: true }, opened);
      } else {
        server.listen({ fd: descriptor, backlog: BACKLOG }, opened);
      }
    });
  }

  /** Whether connections from this address reach this listener at all. */
  serves(peerAddress: string): boolean {
    return isIPv6(peerAddress) === isIPv6(this.address.address);
  }

  /**
   * The TCP-MD5 key of connections from this address from now on, on the running listener; `''` is none. Connections
   * that are made keep theirs. False where this platform has no such option.
   */
  setPassword(peerAddress: string, password: string): boolean {
    const options = socketOptions();
    if (options === undefined || this.#descriptor === undefined) return password === '';
    return options.setMd5Key(this.#descriptor, peerAddress, password) === '';
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

function accept(
  socket: Socket,
  find: (peerAddress: string, localAddress: string) => PeerDriver | undefined,
): void {
  const driver = find(socket.remoteAddress ?? '', socket.localAddress ?? '');
  if (driver === undefined) socket.destroy();
  else driver.accept(socket);
}

/**
 * A bound descriptor of our own, because keys can only be set where the number is known. Undefined where there are no
 * socket options, and where binding fails: Node then tries itself and gives the error its usual form.
 */
function openDescriptor({ address, port }: ListenAddress): number | undefined {
  const options = socketOptions();
  if (options === undefined) return undefined;
  const descriptor = options.openSocket(address);
  if (typeof descriptor === 'string') return undefined;
  const failed = options.setListening(descriptor, address) || options.bind(descriptor, address, port);
  if (failed === '') return descriptor;
  options.close(descriptor);
  return undefined;
}

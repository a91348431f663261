import { connect, type OnReadOpts, type Socket } from 'node:net';
import type { Endpoints } from '../../protocols/bgp/session-effect.ts';
import { type DialTarget, dialProtected } from './protected-dial.ts';
import { socketOptions } from './socket-options.ts';

/** What a driver learns of one TCP connection. */
export interface TcpConnectionEvents {
  connected(endpoints: Endpoints): void;
  received(octets: Uint8Array): void;
  /** All that was written has been taken by the kernel. */
  flushed(): void;
  /** Once; `errno` is `''` when the peer closed in an orderly way. Never after `close`. */
  disconnected(errno: string): void;
}

/** How long a closing connection may take to send its NOTIFICATION before it is cut. */
const FLUSH_MILLISECONDS = 1000;
/**
 * What may wait to be sent to a peer that does not read. We send a handful of octets every few seconds, so this is
 * days of KEEPALIVEs; the send hold timer (RFC 9687) ends such a session long before.
 */
const MAXIMUM_UNSENT_OCTETS = 65_536;

/**
 * What every connection that we dialled is read into, one after the other: whoever is given octets is done with them
 * when the call returns. Without it Node makes a new array for each read, and a full load of twenty megabytes is three
 * hundred of them for the collector. Each connection may fill it once in a turn of the event loop: with half of what
 * Node reads at once the longest turn of two peers' loads takes 4.5 ms of CPU time where it took 5.2, and a load as long.
 */
const READ_BUFFER = new Uint8Array(32_768);

/** One TCP connection of a peer: dialled by us, or made by the peer and handed over. */
export class TcpConnection {
  readonly #events: TcpConnectionEvents;
  #socket: Socket | undefined = undefined;
  #giveUp: () => void = () => {};
  #isDone = false;

  private constructor(events: TcpConnectionEvents) {
    this.#events = events;
  }

  static dial(target: DialTarget, events: TcpConnectionEvents): TcpConnection {
    const connection = new TcpConnection(events);
    if (target.password !== '' || target.ttlSecurityHops > 0) connection.#dialProtected(target);
    else connection.#dialPlain(target);
    return connection;
  }

  /** A connection that the peer made. */
  static adopt(socket: Socket, events: TcpConnectionEvents): TcpConnection {
    const connection = new TcpConnection(events);
    connection.#watch(socket);
    return connection;
  }

  send(octets: Uint8Array): void {
    const socket = this.#socket;
    if (this.#isDone || socket === undefined || socket.writableLength > MAXIMUM_UNSENT_OCTETS) return;
    socket.write(octets, (error) => {
      if ((error ?? undefined) === undefined && !this.#isDone) this.#events.flushed();
    });
  }

  /** Ends the connection at once and says nothing. */
  abort(): void {
    this.#isDone = true;
    this.#giveUp();
    this.#socket?.destroy();
  }

  /** Ends the connection after what was sent has left, or after a second. Resolves when it is gone. */
  close(): Promise<void> {
    this.#isDone = true;
    this.#giveUp();
    const socket = this.#socket;
    if (socket === undefined || socket.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => socket.destroy(), FLUSH_MILLISECONDS);
      socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      if (socket.connecting) {
        socket.destroy();
        return;
      }
      // Destroying at once would send RST over octets not yet read, and the peer would lose the NOTIFICATION.
      socket.end();
      socket.resume();
    });
  }

  #dialPlain({ address, port, localAddress }: DialTarget): void {
    const socket = connect({
      host: address,
      port,
      ...(localAddress === '' ? {} : { localAddress }),
      autoSelectFamily: false,
      onread: this.#intoReadBuffer(),
    });
    this.#watch(socket);
    socket.once('connect', () => {
      if (!this.#isDone) this.#events.connected(endpointsOf(socket));
    });
  }

  /** Fail closed: without the means nothing is dialled. The session does not ask where abilities are missing. */
  #dialProtected(target: DialTarget): void {
    const options = socketOptions();
    if (options === undefined) throw new Error('socket options were asked for where there are none');
    const answer = (result: { socket: Socket } | { errno: string }) => {
      this.#giveUp = () => {};
      if (this.#isDone) {
        if ('socket' in result) result.socket.destroy();
      } else if ('errno' in result) {
        this.#isDone = true;
        this.#events.disconnected(result.errno);
      } else {
        this.#watch(result.socket);
        this.#events.connected(endpointsOf(result.socket));
      }
    };
    this.#giveUp = dialProtected(options, target, answer, this.#intoReadBuffer());
  }

  #intoReadBuffer(): OnReadOpts {
    return {
      buffer: READ_BUFFER,
      callback: (octets) => {
        if (this.#isDone) return true;
        this.#events.received(READ_BUFFER.subarray(0, octets));
        setImmediate(() => this.#socket?.resume());
        return false;
      },
    };
  }

  /**
   * Each chunk is followed by whoever else has something to do: Node hands over up to 32 chunks of 64 KiB in one turn
   * of its loop, and in a full load nothing else ran for as long as two megabytes of UPDATEs take.
   */
  #watch(socket: Socket): void {
    this.#socket = socket;
    let errno = '';
    socket.setNoDelay(true);
    // Of connections that the peer made: the others are read into `READ_BUFFER`, and no such event comes.
    socket.on('data', (octets) => {
      if (this.#isDone) return;
      this.#events.received(octets);
      socket.pause();
      setImmediate(() => socket.resume());
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      errno = error.code ?? error.message;
    });
    socket.on('close', () => {
      if (this.#isDone) return;
      this.#isDone = true;
      this.#events.disconnected(errno);
    });
  }
}

export function endpointsOf(socket: Socket): Endpoints {
  return {
    localAddress: socket.localAddress ?? '',
    localPort: socket.localPort ?? 0,
    peerAddress: socket.remoteAddress ?? '',
    peerPort: socket.remotePort ?? 0,
  };
}

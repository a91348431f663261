import type { Server } from 'node:net';
import { MESSAGE_TYPE } from '../../protocols/bgp/header.ts';
import { encodeKeepalive } from '../../protocols/bgp/keepalive.ts';
import { type FarEnd, farEndServer, peerOpen, peerSettings } from './bgp-peer.ts';

const KEEPALIVE_MILLISECONDS = 1_000;

/** One connection that a worker made to a far end. */
export interface FarEndSession {
  readonly farEnd: FarEnd;
  readonly connectedAt: number;
  /** When each of its octets came, by `performance.now()`; only the last matters. */
  lastOctetsAt: number;
  established: boolean;
}

/** Many BGP speakers in this process, each on its own loopback address, that accept whoever comes and stay up. */
export class FarEnds {
  readonly sessions = new Map<string, FarEndSession[]>();
  readonly #servers: Server[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  #port = 0;

  /** Listens on each address; all on one port that the first one finds free. */
  static async open(addresses: readonly string[], port: number): Promise<FarEnds> {
    const farEnds = new FarEnds();
    farEnds.#port = port;
    for (const address of addresses) {
      farEnds.sessions.set(address, []);
      const { server } = await farEndServer((farEnd) => void farEnds.#serve(address, farEnd), address, port);
      farEnds.#servers.push(server);
    }
    return farEnds;
  }

  get port(): number {
    return this.#port;
  }

  /** Addresses whose newest connection is established and open. */
  established(): string[] {
    return [...this.sessions].filter(([, sessions]) => isUp(sessions.at(-1))).map(([address]) => address);
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    for (const sessions of this.sessions.values()) for (const { farEnd } of sessions) farEnd.socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  async #serve(address: string, farEnd: FarEnd): Promise<void> {
    const now = performance.now();
    const session: FarEndSession = { farEnd, connectedAt: now, lastOctetsAt: now, established: false };
    this.sessions.get(address)?.push(session);
    farEnd.socket.on('data', () => {
      session.lastOctetsAt = performance.now();
    });
    try {
      await farEnd.establish(peerOpen(peerSettings()));
      await farEnd.next(MESSAGE_TYPE.keepalive);
    } catch {
      return;
    }
    session.established = true;
    const timer = setInterval(() => farEnd.send(encodeKeepalive()), KEEPALIVE_MILLISECONDS);
    this.#timers.add(timer);
    farEnd.socket.once('close', () => {
      session.established = false;
      clearInterval(timer);
    });
  }
}

function isUp(session: FarEndSession | undefined): boolean {
  return session?.established === true && !session.farEnd.closed;
}

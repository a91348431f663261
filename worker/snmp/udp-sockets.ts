/** The UDP sockets that all devices share: one an address family, opened when first needed. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';

/** Room for what many agents answer at once; the kernel gives what it allows (net.core.rmem_max). */
const RECEIVE_BUFFER_BYTES = 8 * 1024 * 1024;

export type AddressFamily = 'udp4' | 'udp6';

export type DatagramListener = (datagram: Buffer, from: RemoteInfo) => void;

/** Hears, in a turn of its own, that a family has no socket: what was sent meanwhile is lost, and the next send tries again. */
export type NoSocketListener = (family: AddressFamily, error: Error) => void;

export class UdpSockets {
  private readonly listener: DatagramListener;
  private readonly noSocket: NoSocketListener;
  private readonly sockets = new Map<AddressFamily, Socket>();
  /** Families whose failure is about to be told. */
  private readonly told = new Set<AddressFamily>();
  private isClosed = false;

  constructor(listener: DatagramListener, noSocket: NoSocketListener) {
    this.listener = listener;
    this.noSocket = noSocket;
  }

  /** Sends to an address literal. `sent` hears of what the kernel refuses, such as a network without route; null when it went. */
  send(
    datagram: Uint8Array,
    port: number,
    address: string,
    family: AddressFamily,
    sent: (error: Error | null) => void,
  ): void {
    if (!this.isClosed) this.socketFor(family).send(datagram, port, address, sent);
  }

  close(): void {
    this.isClosed = true;
    for (const socket of this.sockets.values()) socket.close();
    this.sockets.clear();
  }

  /** Once for all sends that tried to bind it in this turn. */
  private tell(type: AddressFamily, error: Error): void {
    if (this.told.has(type)) return;
    this.told.add(type);
    setImmediate(() => {
      this.told.delete(type);
      this.noSocket(type, error);
    });
  }

  private socketFor(type: AddressFamily): Socket {
    const open = this.sockets.get(type);
    if (open !== undefined) return open;
    const socket = createSocket({
      type,
      ipv6Only: type === 'udp6',
      recvBufferSize: RECEIVE_BUFFER_BYTES,
      // Addresses are literals here; the default would take a turn of the loop for each datagram.
      lookup: (host, _options, callback) => callback(null, host, type === 'udp6' ? 6 : 4),
    });
    socket.on('message', this.listener);
    // Sends report what they cause. A socket that cannot be bound drops what waits for it, and no send hears of it.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.syscall === 'bind') this.tell(type, error);
    });
    socket.bind(0);
    this.sockets.set(type, socket);
    return socket;
  }
}

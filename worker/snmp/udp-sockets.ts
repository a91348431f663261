/** The UDP sockets that all devices share: one an address family, opened when first needed. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';

/** Room for what many agents answer at once; the kernel gives what it allows (net.core.rmem_max). */
const RECEIVE_BUFFER_BYTES = 8 * 1024 * 1024;

export type AddressFamily = 'udp4' | 'udp6';

export type DatagramListener = (datagram: Buffer, from: RemoteInfo) => void;

export class UdpSockets {
  private readonly listener: DatagramListener;
  private readonly sockets = new Map<AddressFamily, Socket>();
  private closed = false;

  constructor(listener: DatagramListener) {
    this.listener = listener;
  }

  /** Sends to an address literal. `sent` hears of what the kernel refuses, such as a network without route; null when it went. */
  send(
    datagram: Uint8Array,
    port: number,
    address: string,
    family: AddressFamily,
    sent: (error: Error | null) => void,
  ): void {
    if (!this.closed) this.socketFor(family).send(datagram, port, address, sent);
  }

  close(): void {
    this.closed = true;
    for (const socket of this.sockets.values()) socket.close();
    this.sockets.clear();
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
    // Reported by the send that caused it; without a listener it would end the process.
    socket.on('error', () => {});
    socket.bind(0);
    this.sockets.set(type, socket);
    return socket;
  }
}

/** Gives a simulated agent a UDP socket on the loopback. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AgentOptions, SimulatedAgent } from './agent.ts';

export interface UdpAgentOptions extends Omit<AgentOptions, 'startedAt'> {
  readonly address?: string;
  /** 0: any. */
  readonly port?: number;
}

export class UdpAgent {
  readonly agent: SimulatedAgent;
  readonly address: string;
  private socket: Socket | undefined;
  private replies: Socket | undefined;
  port: number;

  constructor(options: UdpAgentOptions) {
    this.address = options.address ?? '127.0.0.1';
    this.port = options.port ?? 0;
    this.agent = new SimulatedAgent({ ...options, startedAt: performance.now() });
  }

  async start(): Promise<this> {
    const type = this.address.includes(':') ? 'udp6' : 'udp4';
    const socket = createSocket({ type, recvBufferSize: 4 * 1024 * 1024 });
    socket.on('message', (datagram, from) => {
      for (const answer of this.agent.handle(datagram, performance.now())) {
        (this.replies ?? socket).send(answer, from.port, from.address);
      }
    });
    socket.bind(this.port, this.address);
    await once(socket, 'listening');
    this.port = socket.address().port;
    this.socket = socket;
    return this;
  }

  /** Answers from now on leave from another address, as those of a device with several do. */
  async answerFrom(address: string): Promise<void> {
    this.replies = createSocket('udp4').bind(0, address);
    await once(this.replies, 'listening');
  }

  stop(): void {
    this.socket?.close();
    this.replies?.close();
    this.socket = undefined;
    this.replies = undefined;
  }
}

/** The far end of a BGP session, made of the product's own codec: it says what a test has it say. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { LINK_STATE_FAMILIES } from '../../protocols/bgp/family.ts';
import type { MessageType } from '../../protocols/bgp/header.ts';
import { MESSAGE_TYPE } from '../../protocols/bgp/header.ts';
import { encodeKeepalive } from '../../protocols/bgp/keepalive.ts';
import { encodeOpen, type Open, openFor } from '../../protocols/bgp/open.ts';
import type { PeerSettings } from '../../protocols/bgp/peer-settings.ts';
import { ReceiveBuffer, viewOf } from '../../protocols/bgp/receive-buffer.ts';
import type { PeerDriverPorts } from '../../worker/bgp/peer-driver.ts';

/** Settings that a test can lean on: iBGP in AS 65000 to 127.0.0.1, 90 s hold time, 1 s connect-retry. */
export function peerSettings(changes: Partial<PeerSettings> = {}): PeerSettings {
  return {
    peerId: 1,
    peerAddress: '127.0.0.1',
    peerPort: 179,
    localAddress: '',
    passive: false,
    peerAs: 65000,
    localAs: 65000,
    localIdentifier: '10.0.0.1',
    holdTimeSeconds: 90,
    keepaliveTimeSeconds: 0,
    connectRetrySeconds: 1,
    password: '',
    ttlSecurityHops: 0,
    families: LINK_STATE_FAMILIES,
    ...changes,
  };
}

/** The OPEN that the peer of `settings` answers with. */
export function peerOpen(settings: PeerSettings, changes: Partial<Open> = {}): Open {
  const open = openFor({ ...settings, localAs: settings.peerAs, localIdentifier: '10.0.0.2' }, 'full');
  return { ...open, ...changes };
}

/** A message that was received, as a copy. */
interface ReceivedMessage {
  readonly type: MessageType;
  readonly octets: Uint8Array;
}

/** One TCP connection of the far end: collects messages, and lets a test await them. */
export class FarEnd {
  readonly socket: Socket;
  readonly received: ReceivedMessage[] = [];
  readonly #buffer = new ReceiveBuffer();
  #wake: () => void = () => {};
  #isForgetting = false;
  closed = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      this.#buffer.append(chunk);
      for (;;) {
        const message = this.#buffer.next(65_535);
        if (message === undefined || 'code' in message) break;
        if (!this.#isForgetting) this.received.push({ type: message.type, octets: viewOf(message).slice() });
      }
      this.#wake();
    });
    socket.on('close', () => {
      this.closed = true;
      this.#wake();
    });
  }

  static dial(port: number, address: string, localAddress?: string): FarEnd {
    return new FarEnd(
      connect({ port, host: address, ...(localAddress === undefined ? {} : { localAddress }) }),
    );
  }

  send(octets: Uint8Array): void {
    this.socket.write(octets);
  }

  /** The first message of this type from the `from`-th on; rejects when the connection closes without one. */
  async next(type: number, from = 0): Promise<ReceivedMessage> {
    for (;;) {
      const found = this.received.slice(from).find((message) => message.type === type);
      if (found !== undefined) return found;
      if (this.closed) throw new Error(`the connection closed without a message of type ${type}`);
      await this.#change();
    }
  }

  /** Keeps no messages from here on: for the far end of a session that lasts. */
  forget(): void {
    this.#isForgetting = true;
    this.received.length = 0;
  }

  async untilClosed(): Promise<void> {
    while (!this.closed) await this.#change();
  }

  /** Answers OPEN with `open` and KEEPALIVE, until the other side is established. */
  async establish(open: Open): Promise<void> {
    this.send(encodeOpen(open));
    await this.next(MESSAGE_TYPE.open);
    this.send(encodeKeepalive());
    await this.next(MESSAGE_TYPE.keepalive);
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** Listens on a port of `address`, 0 being any that is free; each connection is given to `accept`. */
export function farEndServer(
  accept: (farEnd: FarEnd) => void,
  address = '127.0.0.1',
  wantedPort = 0,
): Promise<{ server: Server; port: number }> {
  const server = createServer({ allowHalfOpen: false }, (socket) => accept(new FarEnd(socket)));
  return new Promise((resolve) => {
    server.listen(wantedPort, address, () => {
      const bound = server.address();
      resolve({ server, port: typeof bound === 'object' && bound !== null ? bound.port : 0 });
    });
  });
}

/** Ports that collect what they are told, and let a test await a condition on it. */
export function collectingPorts() {
  const told: string[] = [];
  const waiting: Array<{ condition: () => boolean; resolve: () => void }> = [];
  const tell = (what: string) => {
    told.push(what);
    for (const each of waiting) if (each.condition()) each.resolve();
  };
  const ports: PeerDriverPorts = {
    now: Date.now,
    monotonic: () => performance.now(),
    random: () => 0,
    mayAct: () => true,
    onStatus: () => tell('status'),
    onUpdate: () => tell('update'),
    onMalformedUpdate: (_octets, [problem]) => tell(`malformed ${problem?.text}`),
    onEndOfRib: ({ afi, safi }) => tell(`end-of-rib ${afi}/${safi}`),
    onEstablished: () => tell('established'),
    onSessionLost: ({ cause }) => tell(`lost ${cause}`),
    onRouteRefreshBegin: () => tell('refresh-begin'),
    onRouteRefreshEnd: () => tell('refresh-end'),
  };
  const until = (condition: () => boolean): Promise<void> =>
    condition() ? Promise.resolve() : new Promise((resolve) => waiting.push({ condition, resolve }));
  return { ports, told, until };
}

/**
 * A BGP speaker that reflects a simulated network to the product: an iBGP peer made of octets, without the product's
 * codec. It listens, tells everything with an End-of-RIB to whoever connects, then what changes. RFC 4271, RFC 4760.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** One object as octets: the NLRI and the value of path attribute 29. */
export interface Announcement {
  readonly nlri: Uint8Array;
  readonly attribute: Uint8Array;
}

const AS = 65_000;
const HOLD_TIME_SECONDS = 90;
const KEEPALIVE = message(4, new Uint8Array());

export class Reflector {
  readonly address: string;
  readonly port: number;
  /** What it tells, by the hex of the NLRI. */
  readonly told = new Map<string, Announcement>();
  readonly #server: Server;
  readonly #sessions = new Set<Socket>();
  readonly #keepalives: NodeJS.Timeout;
  /** UPDATEs as octets, made when told of and not when somebody connects: a router has its own ready, too. */
  readonly #messages = new WeakMap<Announcement, Uint8Array>();
  #refusing = false;

  private constructor(server: Server, address: string, port: number) {
    this.#server = server;
    this.address = address;
    this.port = port;
    this.#keepalives = setInterval(() => this.#broadcast(KEEPALIVE), (HOLD_TIME_SECONDS * 1000) / 3);
    server.on('connection', (socket) => this.#accept(socket));
  }

  static async listen(address: string, port: number): Promise<Reflector> {
    const server = createServer();
    await new Promise<void>((settle, refuse) => {
      server.once('error', refuse);
      server.listen(port, address, settle);
    });
    return new Reflector(server, address, (server.address() as { port: number }).port);
  }

  /** Tells the difference between what it told before and `objects`, in messages sent over `overMilliseconds`. */
  async tell(objects: ReadonlyMap<string, Announcement>, overMilliseconds = 0): Promise<void> {
    const messages: Uint8Array[] = [];
    for (const [key, { nlri }] of this.told) {
      if (objects.has(key)) continue;
      this.told.delete(key);
      messages.push(withdrawal(nlri));
    }
    for (const [key, object] of objects) {
      const before = this.told.get(key);
      if (before !== undefined && Buffer.compare(before.attribute, object.attribute) === 0) continue;
      this.told.set(key, object);
      messages.push(this.#messageOf(object));
    }
    if (overMilliseconds === 0) return this.#broadcast(Buffer.concat(messages));
    for (const each of messages) {
      this.#broadcast(each);
      await delay(overMilliseconds / messages.length);
    }
  }

  /** Tells one object, new or changed, whatever else it told before. */
  announce(key: string, object: Announcement): void {
    this.told.set(key, object);
    this.#broadcast(this.#messageOf(object));
  }

  /** Breaks the connection without a word, and refuses new ones until `reconnect`. */
  drop(): void {
    this.#refusing = true;
    for (const socket of this.#sessions) socket.destroy();
    this.#sessions.clear();
  }

  /** Connections on which everything has been told. */
  get sessions(): number {
    return this.#sessions.size;
  }

  /** Lets the product connect again. */
  reconnect(): void {
    this.#refusing = false;
  }

  async stop(): Promise<void> {
    clearInterval(this.#keepalives);
    for (const socket of this.#sessions) socket.destroy();
    await new Promise((settle) => this.#server.close(settle));
  }

  #allMessages(): Uint8Array[] {
    return [...this.told.values()].map((object) => this.#messageOf(object));
  }

  #messageOf(object: Announcement): Uint8Array {
    let octets = this.#messages.get(object);
    if (octets === undefined) {
      octets = announcement(object);
      this.#messages.set(object, octets);
    }
    return octets;
  }

  #broadcast(octets: Uint8Array): void {
    for (const socket of this.#sessions) socket.write(octets);
  }

  #accept(socket: Socket): void {
    socket.on('error', () => {});
    if (this.#refusing) {
      socket.destroy();
      return;
    }
    socket.setNoDelay(true);
    let buffer = Buffer.alloc(0);
    socket.on('close', () => this.#sessions.delete(socket));
    socket.on('data', (chunk) => {
      buffer = Buffer.concat([buffer, chunk]);
      while (buffer.length >= 19 && buffer.length >= buffer.readUInt16BE(16)) {
        const type = buffer[18];
        buffer = buffer.subarray(buffer.readUInt16BE(16));
        if (type === 1) socket.write(Buffer.concat([open(this.address), KEEPALIVE]));
        // The KEEPALIVE that answers our OPEN: the session stands, and everything is told.
        if (type === 4 && !this.#sessions.has(socket)) {
          this.#sessions.add(socket);
          socket.write(Buffer.concat([...this.#allMessages(), END_OF_RIB]));
        }
        if (type === 3) socket.destroy();
        if (type === 5) socket.write(Buffer.concat(this.#allMessages()));
      }
    });
  }
}

function message(type: number, body: Uint8Array): Uint8Array {
  const octets = new Uint8Array(19 + body.length).fill(255, 0, 16);
  octets[16] = octets.length >> 8;
  octets[17] = octets.length;
  octets[18] = type;
  octets.set(body, 19);
  return octets;
}

/** OPEN with multiprotocol 16388/71, route refresh (RFC 2918) and 4-octet AS. */
function open(address: string): Uint8Array {
  const as = [AS >> 24, (AS >> 16) & 255, (AS >> 8) & 255, AS & 255];
  const capabilities = [1, 4, 0x40, 0x04, 0, 71, 2, 0, 65, 4, ...as];
  const parameters = [2, capabilities.length, ...capabilities];
  const identifier = address.split('.').map(Number);
  const fixed = [4, AS >> 8, AS & 255, 0, HOLD_TIME_SECONDS, ...identifier, parameters.length];
  return message(1, Uint8Array.from([...fixed, ...parameters]));
}

/** Optional attributes with a length of two octets. */
function attribute(flags: number, type: number, value: Uint8Array | readonly number[]): Uint8Array {
  return Uint8Array.from([flags | 0x10, type, value.length >> 8, value.length & 255, ...value]);
}

function update(attributes: readonly Uint8Array[]): Uint8Array {
  const all = Buffer.concat(attributes);
  return message(2, Buffer.concat([Uint8Array.of(0, 0, all.length >> 8, all.length & 255), all]));
}

const ORIGIN_IGP = attribute(0x40, 1, [0]);
const EMPTY_AS_PATH = attribute(0x40, 2, []);
const LOCAL_PREF_100 = attribute(0x40, 5, [0, 0, 0, 100]);
const LINK_STATE = [0x40, 0x04, 71];

function announcement({ nlri, attribute: value }: Announcement): Uint8Array {
  return update([
    ORIGIN_IGP,
    EMPTY_AS_PATH,
    LOCAL_PREF_100,
    attribute(0x80, 14, [...LINK_STATE, 4, 127, 0, 0, 9, 0, ...nlri]),
    attribute(0x80, 29, value),
  ]);
}

function withdrawal(nlri: Uint8Array): Uint8Array {
  return update([attribute(0x80, 15, [...LINK_STATE, ...nlri])]);
}

const END_OF_RIB = update([attribute(0x80, 15, LINK_STATE)]);

/** A socket with HTTP/2 on it: what is read goes to the connection, and what that has to say goes out at once. */
import type { OnReadOpts, Socket } from 'node:net';
import {
  ClientConnection,
  type ConnectionEvents,
  type ConnectionOptions,
} from '../../protocols/http2/connection.ts';
import type { UnsendableHeader } from '../../protocols/http2/hpack-encoder.ts';
import type { HeaderField } from '../../protocols/http2/static-table.ts';
import type { ClientStream, StreamEvents } from '../../protocols/http2/stream.ts';

export interface TransportEvents extends ConnectionEvents {
  onSocketError(error: Error): void;
  /** Once, and last: the socket is gone. */
  onClose(): void;
}

/** All connections read into the same: what one has read is dealt with before the next is read. */
const READ_BUFFER = new Uint8Array(131_072);
/** A peer that does not read what it asks for (PINGs answered) is not listened to for ever. */
const MOST_UNSENT_BYTES = 4 * 1024 * 1024;

export class Http2Transport {
  readonly #connection: ClientConnection;
  readonly #events: TransportEvents;
  #socket: Socket | undefined;
  #isGone = false;
  /** When something last came, on the clock of `performance.now()`. */
  lastReceivedAt = performance.now();
  /** Goes up with each read, and with each time that what was held is handed on: what comes between came at once. */
  reads = 0;

  constructor(options: ConnectionOptions, events: TransportEvents) {
    this.#connection = new ClientConnection(options, events);
    this.#events = events;
  }

  /** For the socket that `attach` will be called with. */
  get onread(): OnReadOpts {
    return {
      buffer: READ_BUFFER,
      callback: (length) => {
        this.#received(READ_BUFFER, length);
        return true;
      },
    };
  }

  /** Whether requests can be made. */
  get isUsable(): boolean {
    return !this.#isGone && this.#connection.isUsable;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Begins to speak on the socket. */
  attach(socket: Socket): void {
    this.#socket = socket;
    socket.on('error', (error) => this.#events.onSocketError(error));
    socket.on('close', () => this.#closed());
    this.#flush();
  }

  request(
    fields: readonly HeaderField[],
    secret: ReadonlySet<string>,
    events: StreamEvents,
  ): ClientStream | UnsendableHeader | undefined {
    const stream = this.#connection.request(fields, secret, events);
    this.#flush();
    return stream;
  }

  send(stream: ClientStream, bytes: Uint8Array): void {
    this.#connection.send(stream, bytes);
    this.#flush();
  }

  end(stream: ClientStream): void {
    this.#connection.end(stream);
    this.#flush();
  }

  reset(stream: ClientStream, code: number): void {
    this.#connection.reset(stream, code);
    this.#flush();
  }

  pause(stream: ClientStream): void {
    this.#connection.pause(stream);
  }

  resume(stream: ClientStream): void {
    this.reads += 1;
    this.#connection.resume(stream);
    this.#flush();
  }

  /** @param payload eight octets. */
  ping(payload: Uint8Array): void {
    this.#connection.ping(payload);
    this.#flush();
  }

  /** Ends the connection and every request on it. A peer that reads nothing any more is not waited for. */
  destroy(): void {
    if (this.#isGone) return;
    this.#connection.close();
    this.#flush();
    this.#socket?.destroy();
    this.#closed();
  }

  #received(bytes: Uint8Array, length: number): void {
    if (this.#isGone) return;
    const now = performance.now();
    this.lastReceivedAt = now;
    this.reads += 1;
    this.#connection.receive(bytes, 0, length, now);
    this.#flush();
  }

  #flush(): void {
    const socket = this.#socket;
    if (socket === undefined || this.#isGone) return;
    // Behind the last request that a peer who goes away lets end; it is told, too (RFC 9113 §6.8).
    if (this.#connection.isDrained) this.#connection.close();
    const output = this.#connection.takeOutput();
    if (output !== undefined && socket.writable) socket.write(output);
    if (this.#connection.isOver || socket.writableLength > MOST_UNSENT_BYTES) socket.destroy();
  }

  #closed(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#connection.lost();
    this.#events.onClose();
  }
}

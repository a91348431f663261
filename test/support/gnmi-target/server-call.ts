import type { ServerHttp2Stream } from 'node:http2';
import { encodeFrame, FrameReader } from '../../../protocols/gnmi/grpc-frame.ts';

/** The server's end of one gRPC stream. */
export class ServerCall {
  readonly stream: ServerHttp2Stream;
  onRequest: (bytes: Uint8Array) => void = () => undefined;
  onClose: () => void = () => undefined;
  #isOpen = false;
  #isEnded = false;

  constructor(stream: ServerHttp2Stream) {
    this.stream = stream;
    const reader = new FrameReader(4 * 1024 * 1024, (bytes, _view, start, end) =>
      this.onRequest(new Uint8Array(bytes.subarray(start, end))),
    );
    stream.on('data', (chunk: Buffer) => reader.push(chunk));
    stream.on('close', () => this.onClose());
    stream.on('end', () => undefined);
  }

  get isEnded(): boolean {
    return this.#isEnded || this.stream.destroyed;
  }

  open(): void {
    if (this.#isOpen || this.isEnded) return;
    this.#isOpen = true;
    this.stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  }

  /** False when the peer has stopped reading for now. */
  send(message: Uint8Array): boolean {
    return this.sendRaw(encodeFrame(message));
  }

  sendRaw(bytes: Uint8Array): boolean {
    if (this.isEnded) return false;
    this.open();
    return this.stream.write(bytes);
  }

  end(status: number, message: string): void {
    if (this.isEnded) return;
    this.#isEnded = true;
    const trailers = { 'grpc-status': String(status), 'grpc-message': encodeURIComponent(message) };
    if (!this.#isOpen) {
      // Trailers-Only.
      this.stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', ...trailers },
        { endStream: true },
      );
      return;
    }
    this.stream.once('wantTrailers', () => this.stream.sendTrailers(trailers));
    this.stream.end();
  }
}

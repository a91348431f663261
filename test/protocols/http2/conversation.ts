/** A client's connection with all that it says and tells, as lines of text. */
import { ClientConnection, type ConnectionOptions } from '../../../protocols/http2/connection.ts';
import { CLIENT_PREFACE, errorName, FrameType, uint32At } from '../../../protocols/http2/frame.ts';
import { Http2FrameReader } from '../../../protocols/http2/frame-reader.ts';
import type { HeaderField } from '../../../protocols/http2/static-table.ts';
import type { ClientStream } from '../../../protocols/http2/stream.ts';

export const SMALL_WINDOWS: ConnectionOptions = {
  streamWindowBytes: 65_536,
  connectionWindowBytes: 65_536,
  headerListBytes: 16_384,
};

export const REQUEST: readonly HeaderField[] = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':authority', 'router.example:57400'],
  [':path', '/gnmi.gNMI/Subscribe'],
  ['te', 'trailers'],
];

export class Conversation {
  readonly events: string[] = [];
  readonly connection: ClientConnection;
  now = 0;
  /** Called with each piece of content, before it is kept. */
  onData: (stream: ClientStream) => void = () => undefined;
  readonly #sent: string[] = [];
  readonly #sentReader: Http2FrameReader;
  #isPrefaceRead = false;
  #openings = 0;

  constructor(options: ConnectionOptions = SMALL_WINDOWS) {
    this.connection = new ClientConnection(options, {
      onReady: () => this.events.push('ready'),
      onPong: () => this.events.push('pong'),
      onGoAway: ({ lastStreamId, code, debug }) =>
        this.events.push(`goaway ${lastStreamId} ${errorName(code)} ${debug}`.trimEnd()),
      onFailure: ({ code }) => this.events.push(`failure ${errorName(code)}`),
    });
    const sent = this.#sent;
    this.#sentReader = new Http2FrameReader({
      data: (streamId, _flow, bytes, start, end, endsStream) => {
        const content = Buffer.from(bytes.subarray(start, end)).toString('hex');
        sent.push(`DATA ${streamId} ${content}${endsStream ? ' end' : ''}`);
        return true;
      },
      frame: (type, flags, streamId, bytes, start, end) => {
        sent.push(describe(type, flags, streamId, bytes.subarray(start, end)));
        return true;
      },
      broken: (code, detail) => {
        throw new Error(`we sent what is no frame: ${errorName(code)} ${detail}`);
      },
    });
  }

  open(fields: readonly HeaderField[] = REQUEST): ClientStream {
    let name = '';
    const told = (line: string) => this.events.push(line);
    const stream = this.connection.request(fields, new Set(['password']), {
      onHeaders: (list) => told(`headers ${name} ${textOf(list)}`),
      onTrailers: (list) => told(`trailers ${name} ${textOf(list)}`),
      onData: (bytes, start, end) => {
        this.onData(stream as ClientStream);
        this.#keep(`data ${name} `, Buffer.from(bytes.subarray(start, end)).toString('hex'));
      },
      onEnd: () => told(`end ${name}`),
      onReset: ({ code, reason }) => told(`reset ${name} ${errorName(code)} ${reason}`),
    });
    if (stream === undefined || 'unsendable' in stream) throw new Error('no request could be made');
    this.#openings += 1;
    name = `${this.#openings * 2 - 1}`;
    return stream;
  }

  receive(bytes: Uint8Array): void {
    this.connection.receive(bytes, 0, bytes.length, this.now);
  }

  /** What was sent since the last time, a line a frame, without the preface. */
  sent(): string[] {
    let output = this.connection.takeOutput() ?? new Uint8Array(0);
    if (!this.#isPrefaceRead && output.length > 0) {
      if (Buffer.from(output.subarray(0, CLIENT_PREFACE.length)).toString() !== CLIENT_PREFACE)
        throw new Error('no preface');
      this.#isPrefaceRead = true;
      output = output.subarray(CLIENT_PREFACE.length);
    }
    this.#sentReader.read(output, 0, output.length);
    return this.#sent.splice(0);
  }

  /** Content that came in pieces is one line. */
  #keep(start: string, content: string): void {
    const last = this.events.at(-1);
    if (last?.startsWith(start)) this.events[this.events.length - 1] = last + content;
    else this.events.push(start + content);
  }
}

export function bytesOf(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
}

function textOf(fields: readonly HeaderField[]): string {
  return fields.map(([name, value]) => `${name}=${value}`).join(' ');
}

function describe(type: number, flags: number, streamId: number, payload: Uint8Array): string {
  const isAck = (flags & 1) !== 0;
  if (type === FrameType.settings && isAck) return 'SETTINGS ack';
  if (type === FrameType.settings) return 'SETTINGS';
  const hex = Buffer.from(payload).toString('hex');
  if (type === FrameType.ping) return `PING${isAck ? ' ack' : ''} ${hex}`;
  if (type === FrameType.goAway) return `GOAWAY ${uint32At(payload, 0)} ${errorName(uint32At(payload, 4))}`;
  if (type === FrameType.windowUpdate) return `WINDOW_UPDATE ${streamId} ${uint32At(payload, 0)}`;
  if (type === FrameType.rstStream) return `RST_STREAM ${streamId} ${errorName(uint32At(payload, 0))}`;
  if (type === FrameType.headers) return `HEADERS ${streamId} ${flags} ${hex}`;
  if (type === FrameType.continuation) return `CONTINUATION ${streamId} ${flags} ${hex}`;
  return `frame ${type} ${flags} ${streamId} ${hex}`;
}

import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';

/** A request as its bytes came over the wire. */
export interface ReceivedRequest {
  readonly method: string;
  readonly target: string;
  /** In their order and spelling. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** What a receiver does once a request has arrived whole; named by the first segment of its path. */
const BEHAVIOURS: Readonly<Record<string, (socket: Socket, request: ReceivedRequest) => void>> = {
  /** `/status/204`: an answer without a body. */
  status: (socket, { target }) => {
    const status = target.split(/[/?]/)[2] ?? '200';
    const length = status === '204' ? '' : 'Content-Length: 0\r\n';
    socket.write(`HTTP/1.1 ${status} Whatever\r\nLocation: /elsewhere\r\n${length}\r\n`);
  },
  /** The head dribbles in, each byte for itself, within the time. */
  'slow-head': (socket) => dribble(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 2),
  /** Half a head, and then nothing. */
  'half-head': (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Le'),
  /** The status is there at once, the body never ends. */
  'slow-body': (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc'),
  never: () => {},
  reset: (socket) => socket.resetAndDestroy(),
  'close-early': (socket) => socket.end(),
  'close-in-head': (socket) => socket.end('HTTP/1.1 200 OK\r\nConte'),
  garbage: (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'),
  'bare-lines': (socket) => socket.write('HTTP/1.1 200 OK\nContent-Length: 2\n\nok'),
  http10: (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nhello'),
  'huge-body': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk)) {}
    };
    socket.on('drain', pour);
    pour();
  },
  interim: (socket) =>
    socket.write(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
    ),
  chunked: (socket) =>
    socket.write(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nTrailer: t\r\n\r\n',
    ),
  /** CONNECT and its like: the connection is handed over. */
  tunnel: (socket) => socket.write('HTTP/1.1 200 Connection Established\r\n\r\n'),
};

export interface Receiver {
  readonly port: number;
  /** The URL of a path, by name or by address. */
  url(path: string, host?: string): string;
  readonly requests: ReceivedRequest[];
  /** Connections that were made, also those on which no request came. */
  connections(): number;
  stop(): Promise<void>;
}

export interface ReceiverOptions {
  /** The name of a certificate in test/vectors/tls; none: plain TCP. */
  readonly certificate?: string;
  /** A loopback address; 127.0.0.1 when omitted. */
  readonly host?: string;
  readonly port?: number;
  /** In place of keeping all requests. */
  readonly onRequest?: (request: ReceivedRequest) => void;
  /** Waits before it answers. */
  readonly latencyMilliseconds?: number;
}

const CERTIFICATES = join(import.meta.dirname, '../../vectors/tls');

/** A receiver over real sockets on 127.0.0.1 whose faults are named by the path: `/reset`, `/status/503`, … */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const accept = (socket: Socket) => {
    socket.on('error', () => {});
    readRequests(socket, (request) => {
      if (options.onRequest === undefined) requests.push(request);
      else options.onRequest(request);
      const target = request.method === 'CONNECT' ? '/tunnel' : request.target;
      const behave = BEHAVIOURS[target.split(/[/?]/)[1] ?? ''] ?? BEHAVIOURS['status'];
      const answer = () => behave?.(socket, request);
      if (options.latencyMilliseconds === undefined) answer();
      else setTimeout(answer, options.latencyMilliseconds);
    });
  };
  const server: Server =
    options.certificate === undefined
      ? createServer(accept)
      : createTlsServer(
          {
            cert: readFileSync(join(CERTIFICATES, `${options.certificate}.pem`)),
            key: readFileSync(join(CERTIFICATES, `${options.certificate}.key`)),
          },
          accept,
        ).on('tlsClientError', () => {});
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) =>
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve),
  );
  const { port } = server.address() as { port: number };
  return {
    port,
    url: (path, host = 'localhost') =>
      `${options.certificate === undefined ? 'http' : 'https'}://${host}:${port}${path}`,
    requests,
    connections: () => connections,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** Calls back for each request that has arrived whole; the least HTTP that our sender may write. */
function readRequests(socket: Socket, onRequest: (request: ReceivedRequest) => void): void {
  let pending: Buffer = Buffer.alloc(0);
  const parts: Buffer[] = [];
  let arrived = 0;
  let needed = 0;
  socket.on('data', (bytes: Buffer) => {
    parts.push(bytes);
    arrived += bytes.length;
    if (arrived < needed) return;
    pending = Buffer.concat(parts.splice(0));
    const keep = () => {
      parts.push(pending);
      arrived = pending.length;
    };
    // The first byte of a TLS record: someone takes us for a TLS server, and gets what a web server says to that.
    if (pending[0] === 0x16) socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    for (;;) {
      const end = pending.indexOf('\r\n\r\n');
      if (end < 0) {
        needed = 0;
        keep();
        return;
      }
      const [line, ...fields] = pending.toString('latin1', 0, end).split('\r\n');
      const headers = fields.map((field): [string, string] => {
        const colon = field.indexOf(': ');
        return [field.slice(0, colon), field.slice(colon + 2)];
      });
      const length = Number(headers.find(([name]) => name === 'Content-Length')?.[1] ?? 0);
      if (pending.length < end + 4 + length) {
        needed = end + 4 + length;
        keep();
        return;
      }
      const [method, target] = (line ?? '').split(' ');
      const body = Buffer.from(pending.subarray(end + 4, end + 4 + length));
      pending = pending.subarray(end + 4 + length);
      onRequest({ method: method ?? '', target: target ?? '', headers, body });
    }
  });
}

function dribble(socket: Socket, text: string, everyMilliseconds: number): void {
  let at = 0;
  const timer = setInterval(() => {
    if (at === text.length || socket.destroyed) clearInterval(timer);
    else socket.write(text[at++] as string);
  }, everyMilliseconds);
}

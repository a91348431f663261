import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Attempt } from '../../core/delivery-outcome.ts';
import type { Wave } from '../../functions/webhook-connection.ts';
import { WebhookPool } from '../../functions/webhook-pool.ts';
import { type Receiver, startReceiver } from '../support/receiver/receiver.ts';

const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n\r\n';

const CA = join(import.meta.dirname, '../vectors/tls/ca.pem');

const stops: (() => unknown)[] = [];

beforeAll(() => {
  // Where OpenSSL looks for what the system trusts; read when the first TLS connection is made.
  process.env['SSL_CERT_FILE'] = CA;
});

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function receiverOf(options: Parameters<typeof startReceiver>[0] = {}): Promise<Receiver> {
  const receiver = await startReceiver(options);
  stops.push(() => receiver.stop());
  return receiver;
}

/** A server whose every connection is given to `accept`; its URL. */
async function serverOf(accept: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    accept(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

/** Such a server that counts: `firstClosed` is when both directions of its first connection have ended. */
async function closingServerOf(accept: (socket: Socket, connection: number) => void) {
  let connections = 0;
  let closed = () => {};
  const firstClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const url = await serverOf((socket) => {
    connections += 1;
    socket.once('close', closed);
    accept(socket, connections);
  });
  return { url, connections: () => connections, firstClosed };
}

function poolOf(url: string, connections: number, timeoutMilliseconds = 5_000): WebhookPool {
  const pool = new WebhookPool(
    { url: new URL(url), method: 'POST', headers: [['X-Key', 'k']], timeoutMilliseconds },
    { rules: { isLocalRun: true, allow: [] }, resolve: async () => ['127.0.0.1'], connections },
  );
  stops.push(() => pool.retire());
  return pool;
}

/** Sends a wave; resolves with the outcome of each request, undefined where it was not started. */
function sendAll(
  pool: WebhookPool,
  bodies: readonly Uint8Array[],
  options: Partial<Pick<Wave, 'body' | 'mayStart'>> = {},
): Promise<(Attempt | undefined)[]> {
  const attempts: (Attempt | undefined)[] = [];
  let open = bodies.length;
  return new Promise((resolve) => {
    pool.sendAll({
      requests: bodies.length,
      body: (index) => bodies[index],
      mayStart: () => true,
      ended(index, attempt) {
        attempts[index] = attempt;
        open -= 1;
        if (open === 0) resolve(attempts);
      },
      ...options,
    });
  });
}

/** Bodies that differ in every octet and in length. */
function bodiesOf(count: number, length: number): Buffer[] {
  return Array.from({ length: count }, (_, index) => Buffer.alloc(length + (index % 7), `${index}-`));
}

describe('the connections to a receiver', () => {
  it('are as many as are allowed, and carry one request after another', async () => {
    const receiver = await receiverOf();
    const bodies = bodiesOf(100, 300);
    const pool = poolOf(receiver.url('/status/204', '127.0.0.1'), 3);
    const attempts = await sendAll(pool, bodies);
    expect(attempts.map((attempt) => attempt?.status)).toEqual(bodies.map(() => 204));
    expect(receiver.connections()).toBe(3);
    const arrived = receiver.requests.map(({ body }) => body.toString('latin1')).sort();
    expect(arrived).toEqual(bodies.map((body) => body.toString('latin1')).sort());
    await sendAll(pool, bodiesOf(2, 10));
    expect(receiver.connections()).toBe(3);
  });

  it('carry bodies of every size byte for byte, one after the other on the same connection', async () => {
    for (const certificate of [undefined, 'localhost']) {
      const receiver = await receiverOf(certificate === undefined ? {} : { certificate });
      // Around the sizes at which a request is written another way.
      const bodies = [0, 1, 8_000, 8_192, 8_193, 10, 65_536, 65_537, 300_000, 5].map((length, index) =>
        Buffer.alloc(length, `${index}-`),
      );
      const pool = poolOf(receiver.url('/status/200', certificate ?? '127.0.0.1'), 1);
      const attempts = await sendAll(pool, bodies);
      expect(attempts.map((attempt) => attempt?.status)).toEqual(bodies.map(() => 200));
      expect(receiver.connections()).toBe(1);
      expect(receiver.requests.map(({ body }) => body)).toEqual(bodies);
    }
  });

  it('keep what is not written yet, when a receiver answers without reading', async () => {
    const arrived: Buffer[] = [];
    let socket: Socket | undefined;
    const url = await serverOf((accepted) => {
      socket = accepted;
      accepted.pause();
    });
    // More than the kernel holds for one connection, in requests that are each small enough for the kept buffer.
    const bodies = bodiesOf(6_000, 4_000);
    const pool = poolOf(url, 1, 60_000);
    const attempts = await sendAll(pool, bodies, {
      body(index) {
        // The answer comes as soon as the request is on its way.
        const answer = () => (socket === undefined ? setImmediate(answer) : socket.write(NO_CONTENT));
        setImmediate(answer);
        return bodies[index];
      },
    });
    expect(attempts.every((attempt) => attempt?.status === 204)).toBe(true);
    const whole = Buffer.concat(
      bodies.map((body) =>
        Buffer.concat([
          Buffer.from(
            `POST / HTTP/1.1\r\nHost: ${new URL(url).host}\r\nX-Key: k\r\nContent-Length: ${body.length}\r\n\r\n`,
          ),
          body,
        ]),
      ),
    );
    let length = 0;
    await new Promise<void>((resolve) => {
      socket?.on('data', (bytes: Buffer) => {
        arrived.push(bytes);
        length += bytes.length;
        if (length === whole.length) resolve();
      });
      socket?.resume();
    });
    expect(Buffer.concat(arrived).equals(whole)).toBe(true);
  });

  it('are closed by an answer that nobody asked for', async () => {
    const receiver = await closingServerOf((socket) => {
      socket.once('data', () => {
        socket.write(NO_CONTENT);
        setImmediate(() => socket.write(NO_CONTENT));
      });
    });
    const pool = poolOf(receiver.url, 1);
    const first = await sendAll(pool, bodiesOf(1, 10));
    expect(first[0]).toMatchObject({ status: 204 });
    await receiver.firstClosed;
    const second = await sendAll(pool, bodiesOf(1, 10));
    expect(second[0]).toMatchObject({ status: 204 });
    expect(receiver.connections()).toBe(2);
  });

  it('are not used again once the receiver has closed them', async () => {
    const receiver = await closingServerOf((socket, connection) => {
      socket.on('data', () => {
        socket.write(NO_CONTENT);
        // A server's own idle limit, which it does not tell.
        if (connection === 1) setImmediate(() => socket.end());
      });
    });
    const pool = poolOf(receiver.url, 1);
    expect((await sendAll(pool, bodiesOf(1, 10)))[0]).toMatchObject({ status: 204 });
    await receiver.firstClosed;
    const rest = await sendAll(pool, bodiesOf(3, 10));
    expect(rest.map((attempt) => attempt?.status)).toEqual([204, 204, 204]);
    expect(receiver.connections()).toBe(2);
  });

  it('give each request its own time, also those that started while another waited', async () => {
    const url = await serverOf((socket) => socket.resume());
    const pool = poolOf(url, 2, 800);
    const first = sendAll(pool, bodiesOf(1, 10));
    await new Promise((resolve) => setTimeout(resolve, 50));
    // The second starts now, the third takes the first's place.
    const rest = sendAll(pool, bodiesOf(2, 10));
    const attempts = [...(await first), ...(await rest)];
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({ status: null, reason: 'timeout', wasSent: true });
      expect(attempt?.milliseconds).toBeGreaterThanOrEqual(800);
      // A timer that forgot the second would wake for it with the third, 750 ms too late.
      expect(attempt?.milliseconds).toBeLessThan(1_400);
    }
  });

  it('are given no request after the first that may not start, and those before it end', async () => {
    const receiver = await receiverOf({ latencyMilliseconds: 20 });
    let asked = 0;
    const pool = poolOf(receiver.url('/status/204', '127.0.0.1'), 2);
    const mayStart = () => {
      asked += 1;
      return asked <= 5;
    };
    const attempts = await sendAll(pool, bodiesOf(9, 10), { mayStart });
    expect(attempts.map((attempt) => attempt?.status)).toEqual([
      ...Array(5).fill(204),
      ...Array(4).fill(undefined),
    ]);
    expect(receiver.requests.length).toBe(5);
    // The pool is as good as new for the wave after it.
    expect((await sendAll(pool, bodiesOf(3, 10))).map((attempt) => attempt?.status)).toEqual([204, 204, 204]);
  });

  it('begin nothing more when the pool is retired, and what is under way still has its outcome', async () => {
    const receiver = await receiverOf({ latencyMilliseconds: 20 });
    const pool = poolOf(receiver.url('/status/204', '127.0.0.1'), 2);
    const sent = sendAll(pool, bodiesOf(7, 10));
    pool.retire();
    expect((await sent).map((attempt) => attempt?.status)).toEqual([204, 204, ...Array(5).fill(undefined)]);
    expect(await sendAll(pool, bodiesOf(2, 10))).toEqual([undefined, undefined]);
    expect(receiver.requests.length).toBe(2);
  });
});

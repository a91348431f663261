import { createHash } from 'node:crypto';
import {
  createServer,
  type Http2Server,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { ConnectionOptions } from '../../../protocols/http2/connection.ts';
import type { HeaderField } from '../../../protocols/http2/static-table.ts';
import { Random, testSeed } from '../../support/random.ts';
import { Conversation, REQUEST } from './conversation.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

interface Exchange {
  readonly request: readonly HeaderField[];
  readonly body: readonly Uint8Array[];
  readonly response: OutgoingHttpHeaders;
  readonly trailers: OutgoingHttpHeaders;
  readonly content: readonly Uint8Array[];
}

/** What the server saw of one request. */
interface Seen {
  headers: Record<string, unknown>;
  body: Buffer;
}

/** Sends requests over a real socket to Node's own HTTP/2; gives what both sides saw, and the octets that came. */
async function converse(
  exchanges: readonly Exchange[],
  windows: ConnectionOptions,
  serverOptions: Parameters<typeof createServer>[0],
  goesAway: boolean,
) {
  const server: Http2Server = createServer(serverOptions);
  stops.push(() => server.close());
  const seen: Seen[] = [];
  let session: ServerHttp2Session | undefined;
  server.on('session', (each) => {
    session = each;
    each.on('error', () => undefined);
    stops.push(() => each.destroy());
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const index = Number(headers['x-index']);
    const exchange = exchanges[index] as Exchange;
    const parts: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => parts.push(chunk));
    stream.on('end', () => {
      seen[index] = { headers: { ...headers }, body: Buffer.concat(parts) };
      stream.respond({ ...exchange.response }, { waitForTrailers: true, sendDate: false } as never);
      stream.once('wantTrailers', () => stream.sendTrailers(exchange.trailers));
      for (const content of exchange.content) stream.write(content);
      stream.end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const talk = new Conversation(windows);
  const received: Buffer[] = [];
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  stops.push(() => socket.destroy());
  const flush = () => {
    const output = talk.connection.takeOutput();
    if (output !== undefined) socket.write(output);
  };
  const isOver = new Promise<void>((done) => {
    socket.on('data', (chunk) => {
      received.push(Buffer.from(chunk));
      talk.receive(chunk);
      if (!hasBegun && talk.events[0] === 'ready') begin();
      flush();
      const ends = talk.events.filter((line) => /^(end|reset|failure)/.test(line)).length;
      if (ends < exchanges.length) return;
      if (goesAway && !talk.events.some((line) => line.startsWith('goaway'))) session?.goaway(0);
      else done();
    });
    socket.on('close', () => done());
  });
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    request(talk, exchanges);
  };
  flush();
  await isOver;
  return { talk, seen, received: Buffer.concat(received) };
}

function request(talk: Conversation, exchanges: readonly Exchange[]): void {
  for (const { request, body } of exchanges) {
    const stream = talk.open(request);
    for (const part of body) talk.connection.send(stream, part);
    talk.connection.end(stream);
  }
}

/** Where the server's SETTINGS end, with which it begins. */
function settingsEnd(received: Buffer): number {
  return received.readUIntBE(0, 3) + 9;
}

/** A conversation that has had the server's SETTINGS and has made the same requests. */
function replayed(
  windows: ConnectionOptions,
  exchanges: readonly Exchange[],
  received: Buffer,
): Conversation {
  const talk = new Conversation(windows);
  talk.receive(received.subarray(0, settingsEnd(received)));
  request(talk, exchanges);
  return talk;
}

function expectedEvents(exchanges: readonly Exchange[]): Map<string, string[]> {
  return new Map(
    exchanges.map(({ response, trailers, content }, index) => {
      const name = `${2 * index + 1}`;
      const all = Buffer.concat(content).toString('hex');
      return [
        name,
        [
          `headers ${fieldsOf(response)}`,
          ...(all === '' ? [] : [`data ${all}`]),
          ...(Object.keys(trailers).length === 0 ? [] : [`trailers ${fieldsOf(trailers)}`]),
          'end',
        ].map(shortened),
      ];
    }),
  );
}

function fieldsOf(headers: OutgoingHttpHeaders): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** What each stream was told; pieces of content that others came between are one. */
function eventsByStream(events: readonly string[]): Map<string, string[]> {
  const streams = new Map<string, string[]>();
  for (const line of events) {
    const [kind, name, ...rest] = line.split(' ') as [string, string, ...string[]];
    if (!/^\d+$/.test(name ?? '') || kind === 'goaway') continue;
    const own = [kind, ...rest].join(' ');
    const list = streams.get(name) ?? [];
    streams.set(name, list);
    const before = list.at(-1);
    if (kind === 'data' && before?.startsWith('data ')) list[list.length - 1] = before + rest[0];
    else list.push(own);
  }
  // Long ones by their digest, so that a failure can be read.
  for (const [name, list] of streams) streams.set(name, list.map(shortened));
  return streams;
}

function shortened(line: string): string {
  if (line.length < 200) return line;
  return `${line.slice(0, 40)}… ${line.length} ${createHash('sha256').update(line).digest('hex')}`;
}

const NAMES = ['content-type', 'server', 'x-a', 'x-b', 'x-long-name-of-a-field', 'etag', 'location'];

function randomHeaders(random: Random, most: number): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (let count = random.below(most); count > 0; count -= 1) {
    const length = random.chance(0.1) ? 2_000 : 1 + random.below(30);
    // Every octet that a field may have, but no space: fields are told apart by it here.
    const letters = Array.from({ length }, () =>
      random.chance(0.1) ? 0xa1 + random.below(94) : 0x21 + random.below(94),
    );
    headers[`${random.pick(NAMES)}${random.chance(0.3) ? random.below(9) : ''}`] = String.fromCharCode(
      ...letters,
    );
  }
  return headers;
}

function randomExchange(random: Random, index: number): Exchange {
  const parts = (most: number, bytes: number) =>
    Array.from({ length: random.below(most) }, () => Buffer.from(random.bytes(random.below(bytes))));
  return {
    request: [...REQUEST, ['x-index', `${index}`], ['password', `geheim-${random.below(1_000)}`]],
    body: parts(4, random.chance(0.1) ? 100_000 : 3_000),
    response: { ':status': random.pick([200, 404, 503]), ...randomHeaders(random, 6) },
    trailers: randomHeaders(random, 4),
    content: parts(6, random.chance(0.2) ? 120_000 : 2_000),
  };
}

describe("beside Node's own HTTP/2", () => {
  it('random exchanges say the same on both sides, in however small pieces they come', async () => {
    const seed = testSeed('exchanges with node:http2');
    const random = new Random(seed);
    for (let round = 0; round < 25; round += 1) {
      const exchanges = Array.from({ length: 1 + random.below(5) }, (_, index) =>
        randomExchange(random, index),
      );
      const windows = {
        streamWindowBytes: random.pick([65_536, 100_000, 1_048_576]),
        connectionWindowBytes: random.pick([65_536, 5_242_880]),
        headerListBytes: 65_536,
      };
      const serverOptions = {
        // No padding, to a multiple of eight, and as much as goes.
        paddingStrategy: random.below(3),
        settings: {
          headerTableSize: random.pick([0, 100, 4_096, 65_536]),
          initialWindowSize: random.pick([1, 1_000, 65_535, 1_000_000]),
          maxFrameSize: random.pick([16_384, 1_000_000]),
          maxConcurrentStreams: random.pick([1, 2, 100]),
        },
      };
      const why = `seed ${seed}, round ${round}`;
      const { talk, seen, received } = await converse(exchanges, windows, serverOptions, random.chance(0.5));
      expect(eventsByStream(talk.events), why).toEqual(expectedEvents(exchanges));
      for (const [index, { request, body }] of exchanges.entries()) {
        expect(seen[index]?.body.equals(Buffer.concat(body)), why).toBe(true);
        expect(seen[index]?.headers, why).toMatchObject(Object.fromEntries(request));
      }
      // The same octets once more, cut otherwise: the same events.
      const again = replayed(windows, exchanges, received);
      for (let at = settingsEnd(received); at < received.length; ) {
        const most = 1 + random.below(random.pick([3, 100, 30_000]));
        again.receive(received.subarray(at, at + most));
        at += most;
      }
      expect(eventsByStream(again.events), why).toEqual(eventsByStream(talk.events));
    }
  }, 60_000);

  it('one conversation says the same wherever it is cut in two', async () => {
    const random = new Random(7);
    const exchanges = [0, 1].map((index) => ({
      ...randomExchange(random, index),
      content: [Buffer.from(random.bytes(300)), Buffer.from(random.bytes(200))],
      trailers: { 'grpc-status': '0', 'grpc-message': 'ok' },
    }));
    const windows = { streamWindowBytes: 65_536, connectionWindowBytes: 65_536, headerListBytes: 65_536 };
    const { talk, received } = await converse(exchanges, windows, { paddingStrategy: 2 }, true);
    const settings = settingsEnd(received);
    for (let cut = settings; cut < received.length; cut += 1) {
      const again = replayed(windows, exchanges, received);
      again.receive(received.subarray(settings, cut));
      again.receive(received.subarray(cut));
      expect(eventsByStream(again.events), `cut at ${cut}`).toEqual(eventsByStream(talk.events));
    }
  });
});

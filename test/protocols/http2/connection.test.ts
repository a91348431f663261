import { describe, expect, it } from 'vitest';
import { ErrorCode, FrameFlag, FrameType, FrameWriter, Setting } from '../../../protocols/http2/frame.ts';
import type { ClientStream } from '../../../protocols/http2/stream.ts';
import { Random, testSeed } from '../../support/random.ts';
import { bytesOf, Conversation, REQUEST } from './conversation.ts';

/** The server's side of a conversation that has begun: frames by name, sent at once. */
class Server {
  readonly talk: Conversation;
  readonly #writer = new FrameWriter();

  constructor(talk = new Conversation(), settings: ReadonlyArray<readonly [number, number]> = []) {
    this.talk = talk;
    this.#writer.settings(settings);
    this.#flush();
    talk.sent();
  }

  send(write: (writer: FrameWriter) => void): void {
    write(this.#writer);
    this.#flush();
  }

  frame(type: number, flags: number, streamId: number, payload: Uint8Array | string = ''): void {
    const bytes = typeof payload === 'string' ? bytesOf(payload) : payload;
    this.send((writer) => writer.frame(type, flags, streamId, bytes));
  }

  respond(streamId: number, endsStream = false): void {
    this.frame(
      FrameType.headers,
      FrameFlag.endHeaders | (endsStream ? FrameFlag.endStream : 0),
      streamId,
      '88',
    );
  }

  data(streamId: number, payload: Uint8Array | string, endsStream = false): void {
    this.frame(FrameType.data, endsStream ? FrameFlag.endStream : 0, streamId, payload);
  }

  #flush(): void {
    const bytes = this.#writer.take();
    if (bytes !== undefined) this.talk.receive(bytes);
  }
}

function begun(): { talk: Conversation; server: Server; stream: ClientStream } {
  const talk = new Conversation();
  const stream = talk.open();
  const server = new Server(talk);
  server.respond(1);
  talk.events.length = 0;
  return { talk, server, stream };
}

const KIB_16 = new Uint8Array(16_384);

describe("a connection's first words", () => {
  it('are the preface, SETTINGS without push, and a window', () => {
    const talk = new Conversation({
      streamWindowBytes: 1_048_576,
      connectionWindowBytes: 5_242_880,
      headerListBytes: 65_536,
    });
    expect(talk.sent()).toEqual(['SETTINGS', 'WINDOW_UPDATE 0 5177345']);
  });
});

describe('flow control of what comes', () => {
  it('gives back a quarter of the window at a time, to the stream and to the connection', () => {
    const { talk, server } = begun();
    server.data(1, KIB_16.subarray(0, 16_383));
    expect(talk.sent()).toEqual([]);
    server.data(1, '00');
    expect(talk.sent()).toEqual(['WINDOW_UPDATE 0 16384', 'WINDOW_UPDATE 1 16384']);
  });

  it('counts padding', () => {
    const { talk, server } = begun();
    for (let frames = 0; frames < 64; frames += 1) {
      server.frame(FrameType.data, FrameFlag.padded, 1, Uint8Array.of(254, 7, ...new Uint8Array(254)));
    }
    expect(talk.events).toEqual([`data 1 ${'07'.repeat(64)}`]);
    expect(talk.sent()).toEqual(['WINDOW_UPDATE 0 16384', 'WINDOW_UPDATE 1 16384']);
  });

  it('is a stream error when the stream was sent more than its window, a connection error for all', () => {
    const big = { streamWindowBytes: 65_536, connectionWindowBytes: 131_072, headerListBytes: 16_384 };
    const talk = new Conversation(big);
    const streams = [talk.open(), talk.open()];
    const server = new Server(talk);
    for (const [index, stream] of streams.entries()) {
      server.respond(2 * index + 1);
      talk.connection.pause(stream);
      for (let frames = 0; frames < 4; frames += 1) server.data(2 * index + 1, KIB_16);
    }
    talk.events.length = 0;
    server.data(1, '00');
    // The connection's window is used up by then.
    expect(talk.events).toEqual([
      'failure FLOW_CONTROL_ERROR',
      'reset 1 CANCEL connection',
      'reset 3 CANCEL connection',
    ]);
    const other = new Conversation(big);
    const stream = other.open();
    const one = new Server(other);
    one.respond(1);
    other.connection.pause(stream);
    for (let frames = 0; frames < 4; frames += 1) one.data(1, KIB_16);
    one.data(1, '00');
    expect(other.events.at(-1)).toBe('reset 1 FLOW_CONTROL_ERROR malformed');
    // What was held counts as read now.
    expect(other.sent()).toEqual(['RST_STREAM 1 FLOW_CONTROL_ERROR', 'WINDOW_UPDATE 0 65537']);
  });

  it('holds what comes while a stream is paused, gives nothing back for it, and hands it on in order', () => {
    const { talk, server, stream } = begun();
    talk.connection.pause(stream);
    server.data(1, '01');
    for (let frames = 0; frames < 3; frames += 1) server.data(1, KIB_16);
    server.data(1, '02', true);
    expect(talk.events).toEqual([]);
    expect(talk.sent()).toEqual([]);
    talk.connection.resume(stream);
    expect(talk.events).toEqual([`data 1 01${'00'.repeat(3 * 16_384)}02`, 'end 1']);
    // The stream is over; only the connection's window matters.
    const sent = talk.sent();
    expect(sent.every((line) => line.startsWith('WINDOW_UPDATE 0'))).toBe(true);
    expect(sent.length).toBeGreaterThan(0);
  });

  it('lets who takes a piece pause again, and pause and resume within one', () => {
    const { talk, server, stream } = begun();
    talk.connection.pause(stream);
    for (let frames = 0; frames < 3; frames += 1) server.data(1, KIB_16);
    let pieces = 0;
    talk.onData = () => {
      pieces += 1;
      talk.connection.pause(stream);
      if (pieces === 1) talk.connection.resume(stream);
    };
    talk.connection.resume(stream);
    expect(pieces).toBe(2);
    talk.connection.resume(stream);
    expect(pieces).toBe(3);
  });

  it('keeps a complete response that is paused when the peer resets the rest, or the connection ends', () => {
    for (const how of ['reset', 'lost'] as const) {
      const { talk, server, stream } = begun();
      talk.connection.pause(stream);
      server.data(1, '01', true);
      if (how === 'reset') server.send((writer) => writer.resetStream(1, ErrorCode.noError));
      else talk.connection.lost();
      talk.connection.resume(stream);
      expect(talk.events, how).toEqual(['data 1 01', 'end 1']);
    }
  });

  it('takes DATA that comes after both sides have ended as DATA of a stream that was closed', () => {
    const { talk, server, stream } = begun();
    server.data(1, '01', true);
    talk.connection.end(stream);
    talk.sent();
    server.data(1, '02');
    expect(talk.events).toEqual(['data 1 01', 'end 1']);
    expect(talk.sent()).toEqual([]);
  });

  it('does not let a stream that was given up keep the window of the others', () => {
    const { talk, server, stream } = begun();
    talk.connection.pause(stream);
    for (let frames = 0; frames < 2; frames += 1) server.data(1, KIB_16);
    talk.connection.reset(stream, ErrorCode.cancel);
    expect(talk.sent()).toEqual(['RST_STREAM 1 CANCEL', 'WINDOW_UPDATE 0 32768']);
    // On its way when it was given up.
    server.data(1, KIB_16);
    expect(talk.sent()).toEqual(['WINDOW_UPDATE 0 16384']);
    expect(talk.events).toEqual([]);
  });
});

describe('flow control of what is sent', () => {
  it("keeps to the peer's windows and frame size, and sends on when they grow", () => {
    const talk = new Conversation();
    const server = new Server(talk, [[Setting.initialWindowSize, 5]]);
    const stream = talk.open();
    talk.sent();
    talk.connection.send(stream, bytesOf('00010203'));
    talk.connection.send(stream, bytesOf('04050607'));
    talk.connection.end(stream);
    expect(talk.sent()).toEqual(['DATA 1 00010203', 'DATA 1 04']);
    server.send((writer) => writer.windowUpdate(1, 1));
    expect(talk.sent()).toEqual(['DATA 1 05']);
    server.send((writer) => writer.settings([[Setting.initialWindowSize, 100]]));
    expect(talk.sent()).toEqual(['SETTINGS ack', 'DATA 1 0607 end']);
  });

  it('takes a window below nothing, which SETTINGS can make', () => {
    const talk = new Conversation();
    const server = new Server(talk, [[Setting.initialWindowSize, 4]]);
    const stream = talk.open();
    talk.connection.send(stream, bytesOf('0001020304'));
    talk.sent();
    server.send((writer) => writer.settings([[Setting.initialWindowSize, 0]]));
    server.send((writer) => writer.windowUpdate(1, 4));
    expect(talk.sent()).toEqual(['SETTINGS ack']);
    server.send((writer) => writer.windowUpdate(1, 1));
    expect(talk.sent()).toEqual(['DATA 1 04']);
  });

  it("keeps to the connection's window over all streams", () => {
    const talk = new Conversation();
    const server = new Server(talk, [[Setting.initialWindowSize, 100_000]]);
    const first = talk.open();
    const second = talk.open();
    talk.sent();
    talk.connection.send(first, new Uint8Array(65_000));
    talk.connection.send(second, new Uint8Array(1_000));
    const bytes = () => talk.sent().reduce((sum, line) => sum + (line.split(' ')[2] as string).length / 2, 0);
    expect(bytes()).toBe(65_535);
    server.send((writer) => writer.windowUpdate(0, 10_000));
    expect(bytes()).toBe(465);
  });

  it('ends an empty stream without a window', () => {
    const talk = new Conversation();
    new Server(talk, [[Setting.initialWindowSize, 0]]);
    const stream = talk.open();
    talk.sent();
    talk.connection.end(stream);
    expect(talk.sent()).toEqual(['DATA 1  end']);
  });
});

describe('requests', () => {
  it('wait while the peer has no room for more streams, and begin in their order', () => {
    const talk = new Conversation();
    const server = new Server(talk, [[Setting.maxConcurrentStreams, 1]]);
    const first = talk.open();
    const second = talk.open();
    talk.connection.send(second, bytesOf('aa'));
    const third = talk.open();
    expect([first.id, second.id, third.id]).toEqual([1, 0, 0]);
    talk.connection.reset(second, ErrorCode.cancel);
    talk.sent();
    server.respond(1, true);
    talk.connection.end(first);
    expect([third.id, talk.sent().map((line) => line.split(' ', 2).join(' '))]).toEqual([
      3,
      ['DATA 1', 'HEADERS 3'],
    ]);
  });

  it('whose fields are larger than a frame go on in CONTINUATION', () => {
    const talk = new Conversation();
    new Server(talk);
    talk.open([...REQUEST, ['x-long', 'x'.repeat(40_000)]]);
    expect(talk.sent().map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
      'HEADERS 1 0',
      'CONTINUATION 1 0',
      'CONTINUATION 1 4',
    ]);
  });

  it("empty the peer's table once, when it makes it smaller than the usual", () => {
    const talk = new Conversation();
    const server = new Server(talk, [[Setting.headerTableSize, 0]]);
    talk.open();
    talk.open();
    server.send((writer) => writer.settings([[Setting.headerTableSize, 100]]));
    talk.open();
    const blocks = talk.sent().filter((line) => line.startsWith('HEADERS'));
    expect(blocks.map((line) => line.split(' ')[3]?.startsWith('20'))).toEqual([true, false, false]);
  });

  it('are not taken after GOAWAY, and those that wait are told', () => {
    const talk = new Conversation();
    const server = new Server(talk, [[Setting.maxConcurrentStreams, 1]]);
    talk.open();
    talk.open();
    server.send((writer) => writer.goAway(1, ErrorCode.noError));
    expect(talk.events.slice(1)).toEqual(['goaway 1 NO_ERROR', 'reset 3 REFUSED_STREAM unprocessed']);
    expect(talk.connection.isUsable).toBe(false);
    expect(talk.connection.isDrained).toBe(false);
    server.respond(1, true);
    server.send((writer) => writer.resetStream(1, ErrorCode.noError));
    expect(talk.connection.isDrained).toBe(true);
  });
});

describe('content-length', () => {
  const CONTENT_LENGTH_5 = '88 0f0d0135';

  it('binds no response to HEAD, which has no content', () => {
    const talk = new Conversation();
    talk.open(REQUEST.map(([name, value]) => [name, name === ':method' ? 'HEAD' : value]));
    const server = new Server(talk);
    server.frame(FrameType.headers, FrameFlag.endHeaders | FrameFlag.endStream, 1, CONTENT_LENGTH_5);
    expect(talk.events.slice(1)).toEqual(['headers 1 :status=200 content-length=5', 'end 1']);
  });

  it('counts what is held as it comes; the rest of a stream that broke it goes back to the connection', () => {
    const talk = new Conversation();
    const stream = talk.open();
    const server = new Server(talk);
    server.frame(FrameType.headers, FrameFlag.endHeaders, 1, CONTENT_LENGTH_5);
    talk.connection.pause(stream);
    server.data(1, '01020304');
    server.data(1, KIB_16);
    expect(talk.events.slice(2)).toEqual(['reset 1 PROTOCOL_ERROR malformed']);
    expect(talk.sent()).toEqual(['WINDOW_UPDATE 0 16384', 'RST_STREAM 1 PROTOCOL_ERROR']);
    talk.connection.resume(stream);
    expect(talk.events).toHaveLength(3);
  });
});

describe('what is bounded', () => {
  const flood = (write: (writer: FrameWriter) => void, perRound = 1) => {
    const { talk, server } = begun();
    let sent = 0;
    while (talk.events.length === 0 && sent < 10_000) {
      server.send((writer) => {
        for (let count = 0; count < perRound; count += 1) write(writer);
      });
      sent += perRound;
    }
    expect(talk.events[0]).toBe('failure ENHANCE_YOUR_CALM');
    return sent;
  };

  it.each([
    ['PING', (writer: FrameWriter) => writer.ping(0, new Uint8Array(8))],
    ['SETTINGS', (writer: FrameWriter) => writer.settings([])],
    ['empty DATA', (writer: FrameWriter) => writer.frame(FrameType.data, 0, 1, new Uint8Array(0))],
    ['WINDOW_UPDATE', (writer: FrameWriter) => writer.windowUpdate(0, 1)],
    ['PRIORITY', (writer: FrameWriter) => writer.frame(FrameType.priority, 0, 1, new Uint8Array(5))],
    ['frames that nobody knows', (writer: FrameWriter) => writer.frame(99, 0, 1, new Uint8Array(0))],
  ])('a flood of %s ends the connection', (_what, write) => {
    expect(flood(write)).toBeLessThan(1_100);
  });

  it('a flood of HEADERS on a stream that was given up ends it too', () => {
    const { talk, server, stream } = begun();
    talk.connection.reset(stream, ErrorCode.cancel);
    for (let count = 0; count < 1_100 && talk.connection.isUsable; count += 1) server.respond(1);
    expect(talk.events).toEqual(['failure ENHANCE_YOUR_CALM']);
  });

  it('a PING every ten seconds for a month is no flood', () => {
    const { talk, server } = begun();
    for (let count = 0; count < 260_000; count += 1) {
      talk.now += 10_000;
      server.send((writer) => writer.ping(0, new Uint8Array(8)));
      talk.sent();
    }
    expect(talk.events).toEqual([]);
  });

  it('a header block that never ends, in large frames or in small ones', () => {
    for (const bytes of [16_384, 1, 0]) {
      const talk = new Conversation();
      talk.open();
      const server = new Server(talk);
      server.frame(FrameType.headers, 0, 1, '88');
      for (let frames = 0; frames < 200 && talk.connection.isUsable; frames += 1) {
        server.frame(FrameType.continuation, 0, 1, new Uint8Array(bytes));
      }
      expect(talk.events[1], `${bytes}`).toBe('failure ENHANCE_YOUR_CALM');
    }
  });

  it('a small block that stands for a large list', () => {
    const talk = new Conversation();
    talk.open();
    const server = new Server(talk);
    // A field of 4,000 bytes into the table, and then its index a hundred times.
    const field = Uint8Array.of(0x40, 1, 0x61, 0x7f, 0xa1, 0x1e, ...new Uint8Array(4_000).fill(0x62));
    const block = Uint8Array.of(0x88, ...field, ...new Uint8Array(100).fill(0xbe));
    server.frame(FrameType.headers, FrameFlag.endHeaders, 1, block);
    expect(talk.events.at(-1)).toBe('reset 1 ENHANCE_YOUR_CALM malformed');
  });
});

describe('whatever comes', () => {
  it('no mutated conversation makes it throw, and what it answers is always frames', () => {
    const seed = testSeed('mutated frames');
    const random = new Random(seed);
    const failures = new Set<string>();
    for (let round = 0; round < 4_000; round += 1) {
      const writer = new FrameWriter();
      writer.settings([[Setting.maxConcurrentStreams, random.below(4)]]);
      for (let frames = random.below(20); frames > 0; frames -= 1) {
        const streamId = random.pick([0, 1, 1, 1, 3, 5]);
        const flags = random.pick([0, 1, 4, 5, 8, 9, 12, 0x20, 0x24]);
        const payload = random.chance(0.3) ? bytesOf('88') : random.bytes(random.below(40));
        writer.frame(random.below(11), flags, streamId, payload);
      }
      const bytes = writer.take() as Uint8Array;
      for (let flips = random.below(6); flips > 0; flips -= 1) {
        bytes[random.below(bytes.length)] = random.below(256);
      }
      const talk = new Conversation();
      const streams = [talk.open(), talk.open()];
      for (let at = 0; at < bytes.length; ) {
        const most = 1 + random.below(60);
        const stream = random.pick(streams);
        random.pick([
          () => talk.connection.pause(stream),
          () => talk.connection.resume(stream),
          () => talk.connection.send(stream, random.bytes(5)),
          () => talk.connection.end(stream),
          () => random.chance(0.1) && talk.connection.reset(stream, ErrorCode.cancel),
        ])();
        talk.receive(bytes.subarray(at, at + most));
        at += most;
        talk.sent();
      }
      talk.connection.lost();
      for (const stream of streams) talk.connection.resume(stream);
      // Each stream ends once and has nothing behind it.
      for (const name of ['1', '3']) {
        const own = talk.events.filter((line) => line.split(' ')[1] === name);
        const ends = own.filter((line) => /^(end|reset)/.test(line));
        expect(ends.length, `seed ${seed}, round ${round}: ${own}`).toBeLessThanOrEqual(1);
        if (ends.length === 1) expect(own.at(-1), `seed ${seed}, round ${round}`).toBe(ends[0]);
      }
      const failure = talk.events.find((line) => line.startsWith('failure'));
      if (failure !== undefined) failures.add(failure);
    }
    expect(failures.size).toBeGreaterThan(2);
  });
});

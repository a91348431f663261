import { describe, expect, it } from 'vitest';
import { type ResponseProgress, ResponseReader } from '../../core/http-response.ts';
import { Random, testSeed } from '../support/random.ts';

interface Vector {
  readonly name: string;
  readonly method?: string;
  readonly bytes: string;
  readonly ends: ResponseProgress;
  readonly status?: number;
  readonly keepsAlive?: boolean;
}

const OK = 'HTTP/1.1 200 OK\r\n';

const VECTORS: readonly Vector[] = [
  {
    name: 'no body',
    bytes: `${OK}Content-Length: 0\r\n\r\n`,
    ends: 'complete',
    status: 200,
    keepsAlive: true,
  },
  {
    name: 'a body of known length',
    bytes: `${OK}content-length: 3\r\n\r\nabc`,
    ends: 'complete',
    keepsAlive: true,
  },
  {
    name: 'a body that is not whole',
    bytes: `${OK}Content-Length: 4\r\n\r\nabc`,
    ends: 'body',
    keepsAlive: true,
  },
  {
    name: 'bytes after the body',
    bytes: `${OK}Content-Length: 2\r\n\r\nabc`,
    ends: 'complete',
    keepsAlive: false,
  },
  {
    name: 'chunks',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    ends: 'complete',
    keepsAlive: true,
  },
  {
    name: 'chunks with extensions and trailers',
    bytes: `${OK}Transfer-Encoding: Chunked\r\n\r\n1;a=b\r\nx\r\n0\r\nA: b\r\n\r\n`,
    ends: 'complete',
    keepsAlive: true,
  },
  {
    name: 'a chunk size that is none',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`,
    ends: 'complete',
    keepsAlive: false,
  },
  {
    name: 'both framings, which smuggling is made of',
    bytes: `${OK}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc`,
    ends: 'complete',
    keepsAlive: false,
  },
  {
    name: 'two lengths',
    bytes: `${OK}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc`,
    ends: 'complete',
    keepsAlive: false,
  },
  { name: 'no framing', bytes: `${OK}\r\nabc`, ends: 'complete', keepsAlive: false },
  {
    name: 'Connection: close',
    bytes: `${OK}Connection: close\r\nContent-Length: 0\r\n\r\n`,
    ends: 'complete',
    keepsAlive: false,
  },
  {
    name: 'HTTP/1.0',
    bytes: 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n',
    ends: 'complete',
    keepsAlive: false,
  },
  {
    name: 'HTTP/1.0 that keeps alive',
    bytes: 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n',
    ends: 'complete',
    keepsAlive: true,
  },
  { name: '204', bytes: 'HTTP/1.1 204 No Content\r\n\r\n', ends: 'complete', status: 204, keepsAlive: true },
  {
    name: 'an answer to HEAD',
    method: 'HEAD',
    bytes: `${OK}Content-Length: 5\r\n\r\n`,
    ends: 'complete',
    keepsAlive: true,
  },
  { name: 'a tunnel', method: 'CONNECT', bytes: `${OK}\r\n`, ends: 'complete', keepsAlive: false },
  {
    name: '101, which nobody asked for',
    bytes: 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    ends: 'complete',
    status: 101,
    keepsAlive: false,
  },
  {
    name: 'interim answers',
    bytes: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n${OK}Content-Length: 0\r\n\r\n`,
    ends: 'complete',
    status: 200,
    keepsAlive: true,
  },
  {
    name: 'lines that end in LF alone',
    bytes: 'HTTP/1.1 201 Created\nContent-Length: 3\n\nabc',
    ends: 'complete',
    status: 201,
    keepsAlive: false,
  },
  {
    name: 'an interim answer of such lines',
    bytes: 'HTTP/1.1 100\n\nHTTP/1.1 404 Not Found\n\n',
    ends: 'complete',
    status: 404,
    keepsAlive: false,
  },
  {
    name: 'such lines with CRLF lines in the body, which say nothing of the framing',
    bytes: 'HTTP/1.1 200 OK\nServer: x\n\nhello\r\ncontent-length: 3\r\n\r\nabc',
    ends: 'complete',
    keepsAlive: false,
  },
  {
    name: 'an interim answer and an answer of such lines with CRLF lines in the body',
    bytes: 'HTTP/1.1 103 E\n\nHTTP/1.1 500 X\n\nfoo\r\n\r\n',
    ends: 'complete',
    status: 500,
    keepsAlive: false,
  },
  {
    name: 'HTTP/1.0 that says chunked, which it does not know',
    bytes: 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ends: 'complete',
    keepsAlive: false,
  },
  {
    name: 'a value that goes on in the next line',
    bytes: `${OK}Content-Length: 0\r\nConnection: keep-alive,\r\n close\r\n\r\n`,
    ends: 'complete',
    keepsAlive: false,
  },
  {
    name: 'a status line without reason',
    bytes: 'HTTP/1.1 599\r\nContent-Length: 0\r\n\r\n',
    ends: 'complete',
    status: 599,
    keepsAlive: true,
  },
  { name: 'half a head', bytes: `${OK}Content-Le`, ends: 'head' },
  { name: 'another protocol', bytes: 'SSH-2.0-x\r\n', ends: 'malformed' },
  { name: 'HTTP/2', bytes: 'HTTP/2 200\r\n\r\n', ends: 'malformed' },
  { name: 'a status of two digits', bytes: 'HTTP/1.1 99 Odd\r\n\r\n', ends: 'malformed' },
  { name: 'a head without end', bytes: `${OK}A: ${'x'.repeat(70_000)}`, ends: 'malformed' },
  {
    name: 'a length beyond what is worth reading',
    bytes: `${OK}Content-Length: 1000000\r\n\r\n`,
    ends: 'complete',
    keepsAlive: false,
  },
];

function readAll(vector: Vector, pieces: readonly string[]) {
  const reader = new ResponseReader(vector.method ?? 'POST');
  let progress: ResponseProgress = 'head';
  for (const piece of pieces) {
    progress = reader.push(piece);
    if (progress === 'malformed') break;
    if (progress === 'complete' && reader.head?.keepsAlive === false) break;
  }
  return { progress, head: reader.head };
}

describe('a response', () => {
  for (const vector of VECTORS) {
    it(`${vector.name} ends as ${vector.ends}, read whole`, () => {
      const { progress, head } = readAll(vector, [vector.bytes]);
      expect(progress).toBe(vector.ends);
      if (vector.status !== undefined) expect(head?.status).toBe(vector.status);
      if (vector.keepsAlive !== undefined) expect(head?.keepsAlive).toBe(vector.keepsAlive);
    });

    it(`${vector.name} reads the same one byte at a time`, () => {
      const { progress, head } = readAll(vector, [...vector.bytes]);
      // Bytes after the body are told from a next answer only when they come with it.
      if (vector.name === 'bytes after the body') return;
      expect(progress).toBe(vector.ends);
      if (vector.keepsAlive !== undefined) expect(head?.keepsAlive).toBe(vector.keepsAlive);
    });
  }

  it('means the same after any other on the same connection as it does alone', () => {
    const random = new Random(testSeed('http-response in turn'));
    const whole = VECTORS.filter(({ method }) => method === undefined);
    const reader = new ResponseReader('POST');
    for (let round = 0; round < 20_000; round += 1) {
      const vector = random.pick(whole);
      const isWhole = random.chance(0.7);
      const cut = random.below(vector.bytes.length);
      const pieces = isWhole ? [vector.bytes] : [vector.bytes.slice(0, cut), vector.bytes.slice(cut)];
      reader.begin();
      const inTurn = pieces.map((piece) => reader.push(piece));
      const alone = new ResponseReader('POST');
      expect(inTurn, vector.name).toEqual(pieces.map((piece) => alone.push(piece)));
      expect(reader.head, vector.name).toEqual(alone.head);
    }
  });

  it('never throws and never grows beyond its limits, whatever comes', () => {
    const random = new Random(testSeed('http-response'));
    const words = [
      'HTTP/1.1 200 OK',
      '\r\n',
      '\r\n\r\n',
      'Content-Length: ',
      '7',
      'chunked',
      'Transfer-Encoding: ',
      '0',
      'ffffffff',
      ':',
      '\0',
      'é',
    ];
    for (let round = 0; round < 5_000; round += 1) {
      const reader = new ResponseReader(random.pick(['POST', 'HEAD', 'CONNECT']));
      for (let piece = 0; piece < 8; piece += 1) {
        let text = random.chance(0.5) ? 'HTTP/1.1 200 OK\r\n' : '';
        for (let word = 0; word < 6; word += 1) text += random.pick(words);
        expect(['head', 'body', 'complete', 'malformed']).toContain(reader.push(text));
      }
    }
  });
});

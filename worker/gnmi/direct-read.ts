/** Reading an HTTP/2 stream past the queue, ticks and events of Node's Readable. */
import type { ClientHttp2Stream } from 'node:http2';

export interface DirectRead {
  /** What has come is kept, and no window is given back: the peer can send one window more and then waits. */
  pause(): void;
  resume(): void;
}

/**
 * Gives each chunk of a stream's data to `take` as node:http2 reads it; the stream's end goes the usual way, behind the
 * last chunk. Where each message is a DATA frame of its own, `stream.on('data')` cost a sixth of all that a message costs.
 */
export function readDirectly(stream: ClientHttp2Stream, take: (chunk: Buffer) => void): DirectRead {
  const held: Array<Buffer | null> = [];
  let isPaused = false;
  const pushed = stream.push;
  const hand = (chunk: Buffer | null): void => {
    if (chunk === null) pushed.call(stream, null);
    else take(chunk);
  };
  stream.push = (chunk: Buffer | null): boolean => {
    if (isPaused || held.length > 0) held.push(chunk);
    else hand(chunk);
    // False has node:http2 stop reading, as a Readable whose queue is full would.
    return !isPaused;
  };
  stream.resume();
  return {
    pause() {
      isPaused = true;
    },
    resume() {
      if (!isPaused) return;
      isPaused = false;
      // Whoever takes a chunk may pause again.
      while (held.length > 0 && !isPaused) hand(held.shift() as Buffer | null);
      if (!isPaused && !stream.destroyed) stream._read(0);
    },
  };
}

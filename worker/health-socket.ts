/**
 * How a worker's container learns whether it is well. The socket has an abstract name (Linux), so that it needs no
 * writable file system, and no address that anything outside the container could reach.
 */
import { connect, createServer, type Server } from 'node:net';

export type Health = 'ok' | 'fenced' | 'silent';

const ANSWER_WITHIN_MILLISECONDS = 3_000;

/** Answers whoever connects with `ok`, or `fenced` while the worker may not act. Resolves once it listens. */
export async function answerHealth(name: string, mayAct: () => boolean): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(mayAct() ? 'ok' : 'fenced');
  });
  await new Promise<void>((settle, refuse) => {
    server.once('error', refuse).listen({ path: `\0${name}` }, settle);
  });
  return server.unref();
}

/** Asks the worker of this container; `silent` when nobody answers in time, as when its event loop hangs. */
export function askHealth(
  name: string,
  withinMilliseconds: number = ANSWER_WITHIN_MILLISECONDS,
): Promise<Health> {
  return new Promise((settle) => {
    const socket = connect({ path: `\0${name}`, timeout: withinMilliseconds });
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    socket.on('timeout', () => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => settle(answer === 'ok' || answer === 'fenced' ? answer : 'silent'));
  });
}

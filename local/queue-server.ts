/**
 * The process of the SQS and S3 emulator: `node local/queue-server.ts <data directory> <port>`. It writes each change to
 * SQLite before it answers, and ends at SIGTERM.
 */
import { Server } from 'node:net';
import { startFauxqs } from 'fauxqs';

/** fauxqs listens on every interface and has no option for it: other machines must not reach a user's messages. */
function listenOnLoopbackOnly(): void {
  const listen = Server.prototype.listen;
  Server.prototype.listen = function (this: Server, ...parameters: unknown[]): Server {
    const [options, ...rest] = parameters;
    return Reflect.apply(listen, this, [{ ...(options as object), host: '127.0.0.1' }, ...rest]) as Server;
  } as typeof listen;
}

if (import.meta.main) {
  const [, , dataDirectory, port] = process.argv;
  if (dataDirectory === undefined || port === undefined) throw new Error('give a data directory and a port');
  listenOnLoopbackOnly();
  const server = await startFauxqs({
    port: Number(port),
    dataDir: dataDirectory,
    defaultRegion: 'local',
    logger: false,
  });
  process.once('SIGTERM', () => {
    // Long polls would hold a polite close for up to twenty seconds; nothing is lost by ending now.
    void server.stop();
    setTimeout(() => process.exit(0), 100);
  });
}

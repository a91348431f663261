import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** A port that accepts and does this to each connection: no TLS, no HTTP/2, or nothing at all. */
export async function startTcpStub(
  onConnection: (socket: Socket) => void,
): Promise<{ port: number; stop(): void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/**
 * Many peers in a process of their own: `node far-end-process.ts SETTINGS` listens on 0.0.0.0, is any peer that is
 * dialled there, and writes a line of JSON with its counts each quarter of a second. What it counts is what a router
 * would see.
 */
import { spawn } from 'node:child_process';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { encodeMessage, MESSAGE_TYPE } from '../../protocols/bgp/header.ts';
import { encodeKeepalive } from '../../protocols/bgp/keepalive.ts';
import { octetsOf } from '../../protocols/bgp/octet-writer.ts';
import { encodeOpen } from '../../protocols/bgp/open.ts';
import { encodeEndOfRib } from '../../protocols/bgp/update.ts';
import { socketOptions } from '../../worker/bgp/socket-options.ts';
import { FarEnd, peerOpen, peerSettings } from './bgp-peer.ts';

export interface FarEndSettings {
  readonly holdTimeSeconds: number;
  /** Sources whose segments must carry this key. */
  readonly keys: ReadonlyArray<{ readonly source: string; readonly password: string }>;
  /** The peer that is dialled at this address sends so many node NLRIs, one an UPDATE, once it is established. */
  readonly loader: { readonly address: string; readonly nlris: number } | null;
}

export interface FarEndCounts {
  readonly established: number;
  readonly lost: number;
  /** Sources that came without being let in, which must stay 0. */
  readonly intruders: number;
}

/** Starts the process; resolves when it listens. */
export async function startFarEnd(settings: FarEndSettings) {
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let counts: FarEndCounts = { established: 0, lost: 0, intruders: 0 };
  const lines = createInterface({ input: child.stdout });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the far end ended with ${code}`)));
    lines.on('line', (line) => {
      const said: { port: number } & FarEndCounts = JSON.parse(line);
      counts = said;
      resolve(said.port);
    });
  });
  return {
    port,
    counts: () => counts,
    stop: () =>
      new Promise<void>((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}

/** UPDATEs of one node NLRI each, all different. */
function* nodeUpdates(count: number): Generator<Uint8Array> {
  for (let index = 0; index < count; index += 1) {
    const systemId = octetsOf([0, 2], [index, 4]);
    const descriptor = [2, 0, 0, 4, 0, 0, 0xfd, 0xe8, 2, 3, 0, 6, ...systemId];
    const body = [2, 0, 0, 0, 0, 0, 0, 0, 7, 1, 0, 0, descriptor.length, ...descriptor];
    const nlri = [0, 1, 0, body.length, ...body];
    const name = [...new TextEncoder().encode(`router-${index}`)];
    const attributes = [
      ...[0x80, 14, 9 + nlri.length, 0x40, 4, 71, 4, 10, 0, 0, 1, 0, ...nlri],
      ...[0x40, 1, 1, 0, 0x40, 2, 0, 0x40, 5, 4, 0, 0, 0, 100],
      ...[0x80, 29, 4 + name.length, 4, 2, 0, name.length, ...name],
    ];
    yield encodeMessage(
      MESSAGE_TYPE.update,
      Uint8Array.from([0, 0, attributes.length >> 8, attributes.length & 0xff, ...attributes]),
    );
  }
}

async function load(farEnd: FarEnd, nlris: number): Promise<void> {
  let batch: Uint8Array[] = [];
  for (const update of nodeUpdates(nlris)) {
    batch.push(update);
    if (batch.length < 500) continue;
    const isTaken = farEnd.socket.write(Buffer.concat(batch));
    batch = [];
    // The other peers of this process keep their KEEPALIVEs meanwhile.
    await new Promise((resolve) => (isTaken ? setImmediate(resolve) : farEnd.socket.once('drain', resolve)));
  }
  farEnd.send(Buffer.concat(batch));
  farEnd.send(encodeEndOfRib({ afi: 16388, safi: 71 }));
}

function main(settings: FarEndSettings): void {
  const open = encodeOpen({
    ...peerOpen(peerSettings()),
    holdTimeSeconds: settings.holdTimeSeconds,
  });
  const counts = { established: 0, lost: 0, intruders: 0 };
  const keepalive = encodeKeepalive();
  const serve = (socket: Socket) => {
    const address = socket.localAddress ?? '';
    if (settings.keys.some(({ source }) => source === socket.remoteAddress)) counts.intruders += 1;
    const farEnd = new FarEnd(socket);
    socket.setNoDelay(true);
    farEnd.send(open);
    const timer = setInterval(() => farEnd.send(keepalive), (settings.holdTimeSeconds * 1000) / 3);
    farEnd
      .next(MESSAGE_TYPE.open)
      .then(() => {
        farEnd.send(keepalive);
        return farEnd.next(MESSAGE_TYPE.keepalive);
      })
      .then(async () => {
        counts.established += 1;
        farEnd.forget();
        if (settings.loader?.address === address) await load(farEnd, settings.loader.nlris);
        await farEnd.untilClosed();
        counts.lost += 1;
        counts.established -= 1;
      })
      .catch(() => {})
      .finally(() => clearInterval(timer));
  };
  const options = socketOptions();
  const descriptor = options?.openSocket('0.0.0.0');
  if (options === undefined || typeof descriptor !== 'number') throw new Error('no socket options');
  options.bind(descriptor, '0.0.0.0', 0);
  for (const { source, password } of settings.keys) options.setMd5Key(descriptor, source, password);
  const server = createServer(serve);
  server.listen({ fd: descriptor, backlog: 4096 }, () => {
    const bound = server.address();
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
    setInterval(() => console.log(JSON.stringify({ port, ...counts })), 250);
  });
}

if (process.argv[1] === import.meta.filename) main(JSON.parse(process.argv[2] as string));

/**
 * One measured program of ours, run as its own process so that its memory and CPU time are its own. Prints one line
 * of JSON, with the members that the GoBGP program prints.
 *
 *     program.ts decode FILE ROUNDS        every message to full objects, the last 1,024 kept
 *     program.ts keep FILE CHURN ROUNDS    what a session does: check framing and NLRIs, key them and keep the bytes of
 *                                          NLRI and attribute, nothing decoded; then the changes
 *     program.ts receive PORT COUNT PEERS [watch]
 *                                          the product's own session to a complete table, over TCP; `watch` looks at
 *                                          how long a turn of the event loop takes, which costs time itself
 *     program.ts speak FILE PORT           listens as a BGP peer and sends the file to whoever opens a session
 *     program.ts dial FILE ADDRESS PORT    the same, but dials
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { type DecodedAttribute, decodeAttribute } from '../../../protocols/bgp/ls/attribute.ts';
import { type DecodedNlri, decodeNlri } from '../../../protocols/bgp/ls/nlri.ts';
import { nlriEnd } from '../../../protocols/bgp/ls/nlri-scan.ts';
import { LinkStateTable, type LinkStateUpdate } from '../../../protocols/bgp/ls/table.ts';
import { ReceiveBuffer } from '../../../protocols/bgp/receive-buffer.ts';
import { decodeUpdate } from '../../../protocols/bgp/update.ts';
import { PeerDriver } from '../../../worker/bgp/peer-driver.ts';
import { warmUp } from '../../../worker/bgp/warm-up.ts';
import { objectLine } from './object-line.ts';

const LINK_STATE = { afi: 16388, safi: 71 } as const;
const CONTEXT = {
  families: [LINK_STATE],
  internal: true,
  fourOctetAs: true,
  localAs: 65000,
  localIdentifier: 1,
};
const CHUNK = 65_536;
const LONGEST_MESSAGE = 4096;

const [command, ...parameters] = process.argv.slice(2) as [string, ...string[]];
switch (command) {
  case 'decode':
    decode(parameters[0] as string, Number(parameters[1]));
    break;
  case 'keep':
    await keep(parameters[0] as string, parameters[1] as string, Number(parameters[2]));
    break;
  case 'receive':
    await receive(
      Number(parameters[0]),
      Number(parameters[1]),
      Number(parameters[2]),
      parameters[3] === 'watch',
    );
    break;
  case 'speak':
    speak(parameters[0] as string, Number(parameters[1]));
    break;
  case 'dial':
    dial(parameters[0] as string, parameters[1] as string, Number(parameters[2]));
    break;
  default:
    throw new Error(`no command ${command}`);
}

interface Measured {
  milliseconds: number[];
  /** CPU time of the whole process, the collector's threads included. */
  cpuMilliseconds: number[];
  counts: Record<string, number>;
  digest: string;
  extra?: Record<string, unknown>;
}

function print(measured: Measured, peakBytes = process.resourceUsage().maxRSS * 1024): void {
  console.log(JSON.stringify({ ...measured, peakBytes }));
}

/** The link-state updates of a file, through the product's framing and UPDATE decoding, in chunks as a socket gives them. */
function eachUpdate(bytes: Uint8Array, visit: (update: LinkStateUpdate) => void): void {
  const buffer = new ReceiveBuffer();
  for (let at = 0; at < bytes.length; at += CHUNK) {
    buffer.append(bytes.subarray(at, at + CHUNK));
    for (;;) {
      const message = buffer.next(LONGEST_MESSAGE);
      if (message === undefined) break;
      if ('code' in message) throw new Error(message.text);
      const decoded = decodeUpdate(message.octets, CONTEXT, message.start, message.end);
      if (decoded.kind !== 'routes') throw new Error(decoded.kind);
      for (const update of decoded.updates) visit(update as LinkStateUpdate);
    }
  }
}

function decode(file: string, rounds: number): void {
  const bytes = new Uint8Array(readFileSync(file));
  const nlris: DecodedNlri[] = new Array(1024);
  const attributes: DecodedAttribute[] = new Array(1024);
  let count = 0;
  const objects = ({ octets, reach, linkStateAttribute }: LinkStateUpdate) => {
    if (reach === undefined) return;
    for (let start = reach.start, end = start; start < reach.end; start = end) {
      end = nlriEnd(octets, start, reach.end);
      if (end < 0) throw new Error('an NLRI overruns its field');
      const nlri = decodeNlri(octets, reach.safi, start, end);
      nlris[count & 1023] = nlri;
      if (linkStateAttribute !== undefined) {
        const { start: from, end: to } = linkStateAttribute;
        attributes[count & 1023] = decodeAttribute(octets, nlri, from, to);
      }
      count += 1;
    }
  };
  const milliseconds: number[] = [];
  const cpuMilliseconds: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const started = performance.now();
    const cpu = process.cpuUsage();
    eachUpdate(bytes, objects);
    milliseconds.push(performance.now() - started);
    cpuMilliseconds.push(cpuSince(cpu));
  }
  const counts: Record<string, number> = {};
  const hash = createHash('sha256');
  count = 0;
  eachUpdate(bytes, (update) => {
    const first = count;
    objects(update);
    for (let index = first; index < count; index += 1) {
      const nlri = nlris[index & 1023] as DecodedNlri;
      counts[nlri.nlriType] = (counts[nlri.nlriType] ?? 0) + 1;
      hash.update(objectLine(nlri, update.linkStateAttribute && attributes[index & 1023]));
    }
  });
  print({ milliseconds, cpuMilliseconds, counts, digest: hash.digest('hex') });
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e3;
}

async function keep(file: string, churnFile: string, rounds: number): Promise<void> {
  const bytes = new Uint8Array(readFileSync(file));
  const churn = new Uint8Array(readFileSync(churnFile));
  // Memory first: no table before it can then still be held by something that remembers the array it last read.
  const memory = await measureMemory(bytes, churn);
  const { table, ...times } = timeKeeping(bytes, churn, rounds);
  const peak = process.resourceUsage().maxRSS * 1024;

  const kept = [...table.entries()].map(({ nlri, attribute }) => ({ key: Buffer.from(nlri), attribute }));
  const hash = createHash('sha256');
  for (const { key, attribute } of kept.sort((a, b) => Buffer.compare(a.key, b.key))) {
    const nlri = decodeNlri(key, LINK_STATE.safi, 0, key.length);
    hash.update(key);
    hash.update(objectLine(nlri, attribute && decodeAttribute(attribute, nlri, 0, attribute.length)));
  }
  print(
    {
      milliseconds: times.milliseconds,
      cpuMilliseconds: times.cpuMilliseconds,
      counts: { kept: table.size },
      digest: hash.digest('hex'),
      extra: {
        churnMilliseconds: times.churnMilliseconds,
        churnCpuMilliseconds: times.churnCpuMilliseconds,
        ...memory,
      },
    },
    peak,
  );
}

/** Octets an NLRI of a table after the changes, and what the changes did by action. The code's own growth counts, too. */
async function measureMemory(bytes: Uint8Array, churn: Uint8Array) {
  fill(new LinkStateTable(), bytes.subarray(0, CHUNK), new Uint8Array(0));
  const before = await liveBytes();
  const table = new LinkStateTable();
  const actions = fill(table, bytes, churn);
  const measured = ((await liveBytes()) - before) / table.size;
  const arrayBytesPerNlri = table.retainedBytes / table.size;
  // What was there before may have shrunk meanwhile, by code that V8 threw away; but not by much, and the more is told.
  if (measured < 0.95 * arrayBytesPerNlri)
    throw new Error(`measured ${measured} of ${arrayBytesPerNlri} octets`);
  return { bytesPerNlri: Math.max(measured, arrayBytesPerNlri), arrayBytesPerNlri, actions };
}

function timeKeeping(bytes: Uint8Array, churn: Uint8Array, rounds: number) {
  const milliseconds: number[] = [];
  const cpuMilliseconds: number[] = [];
  const churnMilliseconds: number[] = [];
  const churnCpuMilliseconds: number[] = [];
  let table = new LinkStateTable();
  for (let round = 0; round < rounds; round += 1) {
    const kept = new LinkStateTable({ hashSeed: round });
    table = kept;
    let started = performance.now();
    let cpu = process.cpuUsage();
    eachUpdate(bytes, (update) => kept.applyUpdate(update, 1));
    milliseconds.push(performance.now() - started);
    cpuMilliseconds.push(cpuSince(cpu));
    started = performance.now();
    cpu = process.cpuUsage();
    eachUpdate(churn, (update) => kept.applyUpdate(update, 2, () => {}));
    churnMilliseconds.push(performance.now() - started);
    churnCpuMilliseconds.push(cpuSince(cpu));
  }
  return { table, milliseconds, cpuMilliseconds, churnMilliseconds, churnCpuMilliseconds };
}

/** What the changes did, by action. */
function fill(table: LinkStateTable, bytes: Uint8Array, churn: Uint8Array): Record<string, number> {
  const actions: Record<string, number> = {};
  eachUpdate(bytes, (update) => table.applyUpdate(update, 1));
  eachUpdate(churn, (update) => {
    table.applyUpdate(update, 2, ({ action }) => {
      actions[action] = (actions[action] ?? 0) + 1;
    });
  });
  return actions;
}

/** Octets that are in use once the collector has run: objects and the arrays outside of their heap. */
async function liveBytes(): Promise<number> {
  if (global.gc === undefined) throw new Error('start this with --expose-gc');
  // Arrays are given back by a thread of the collector's, some time after it found that nobody has them.
  for (let pass = 0; pass < 5; pass += 1) {
    global.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Time in milliseconds since 1970, with a fraction. */
function wall(): number {
  return performance.timeOrigin + performance.now();
}

async function receive(port: number, expected: number, peers: number, watches: boolean): Promise<void> {
  const base = process.memoryUsage().rss;
  // As the worker does at its start: what memory it takes counts, its time does not.
  await warmUp();
  const cpu = process.cpuUsage();
  const tables = Array.from({ length: peers }, () => new LinkStateTable());
  let longestTurn = 0;
  let longestWork = 0;
  tables.forEach((table, peer) => {
    const driver = new PeerDriver(
      {
        peerId: peer,
        peerAddress: '127.0.0.1',
        peerPort: port + peer,
        localAddress: '',
        passive: false,
        peerAs: 65000,
        localAs: 65000,
        localIdentifier: `10.0.0.${peer + 1}`,
        holdTimeSeconds: 90,
        keepaliveTimeSeconds: 0,
        connectRetrySeconds: 1,
        password: '',
        ttlSecurityHops: 0,
        families: [{ ...LINK_STATE, required: true }],
      },
      {
        mayAct: () => true,
        now: Date.now,
        monotonic: () => performance.now(),
        random: () => 0.5,
        onStatus: () => {},
        onUpdate: (update) => {
          table.applyUpdate(update as LinkStateUpdate, 1);
          if (table.size === expected && tables.every(({ size }) => size === expected)) done();
        },
        onMalformedUpdate: (_octets, [problem]) => {
          throw new Error(`malformed UPDATE: ${problem?.text}`);
        },
        onEndOfRib: () => {},
        onEstablished: () => {
          if (watches) watchTurns();
        },
        onSessionLost: (info) => {
          throw new Error(`session lost: ${info.cause}`);
        },
        onRouteRefreshBegin: () => {},
        onRouteRefreshEnd: () => {},
      },
    );
    driver.start();
  });

  /**
   * The longest time between two turns of the event loop: what another peer or a timer would have waited. On a machine
   * that others use too much of it is time in which this thread did not run, so its own CPU time is kept beside it.
   */
  let watching = false;
  function watchTurns() {
    if (watching) return;
    watching = true;
    let last = performance.now();
    let used = threadCpuMilliseconds();
    const turn = () => {
      const now = performance.now();
      const nowUsed = threadCpuMilliseconds();
      longestTurn = Math.max(longestTurn, now - last);
      longestWork = Math.max(longestWork, nowUsed - used);
      last = now;
      used = nowUsed;
      setImmediate(turn);
    };
    setImmediate(turn);
  }

  function done() {
    const at = wall();
    setImmediate(() => {
      console.log(
        JSON.stringify({
          at,
          nlris: tables.reduce((sum, { size }) => sum + size, 0),
          cpuSeconds: cpuSince(cpu) / 1e3,
          baseBytes: base,
          peakBytes: process.resourceUsage().maxRSS * 1024,
          longestBlockMilliseconds: longestTurn,
          longestWorkMilliseconds: longestWork,
          bytesPerNlri: tables.reduce((sum, table) => sum + table.retainedBytes / table.size, 0) / peers,
        }),
      );
      process.exit(0);
    });
  }
}

function threadCpuMilliseconds(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1e3;
}

/** OPEN of AS 65000 with 16388/71 and four-octet AS; hold time 180. */
function openMessage(identifier: readonly number[]): Uint8Array {
  const capabilities = [2, 14, 1, 4, 0x40, 0x04, 0, 71, 65, 4, 0, 0, 0xfd, 0xe8, 2, 0];
  const body = [4, 0xfd, 0xe8, 0, 180, ...identifier, capabilities.length, ...capabilities];
  const length = 19 + body.length;
  return Uint8Array.of(...new Array(16).fill(255), length >> 8, length, 1, ...body);
}

const KEEPALIVE = Uint8Array.of(...new Array(16).fill(255), 0, 19, 4);

/** Answers OPEN with OPEN and KEEPALIVE, and on the peer's KEEPALIVE sends the file. Prints when it began. */
function converse(socket: Socket, file: Uint8Array, identifier: readonly number[], dials: boolean): void {
  let received = Buffer.alloc(0);
  let sent = false;
  socket.setNoDelay(true);
  if (dials) socket.write(openMessage(identifier));
  socket.on('error', () => {});
  socket.on('data', (data) => {
    received = Buffer.concat([received, data]);
    while (received.length >= 19 && received.length >= received.readUInt16BE(16)) {
      const type = received[18];
      received = received.subarray(received.readUInt16BE(16));
      if (type === 1) {
        if (!dials) socket.write(openMessage(identifier));
        socket.write(KEEPALIVE);
      }
      if (type === 4 && !sent) {
        sent = true;
        console.log(JSON.stringify({ at: wall() }));
        socket.write(file);
        setInterval(() => socket.write(KEEPALIVE), 20_000).unref();
      }
    }
  });
}

function speak(file: string, port: number): void {
  const bytes = new Uint8Array(readFileSync(file));
  const server = createServer((socket) => converse(socket, bytes, [10, 9, 0, port & 255], false));
  server.listen(port, '127.0.0.1', () => console.log(JSON.stringify({ listening: port })));
}

function dial(file: string, address: string, port: number): void {
  const bytes = new Uint8Array(readFileSync(file));
  const [, , , last] = address.split('.').map(Number) as [number, number, number, number];
  const socket = connect({ host: '127.0.0.1', port, localAddress: address }, () => {
    converse(socket, bytes, [10, 9, 1, last], true);
  });
  socket.on('error', (error) => {
    console.error(error.message);
    process.exit(1);
  });
}

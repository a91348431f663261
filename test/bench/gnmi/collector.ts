/**
 * Our collector, as a process of its own so that its CPU time and memory can be told: streams, decoder, mapping to
 * rows, and records with envelope and hash; the bytes go nowhere. Prints one line of JSON like gnmicclient's.
 */
import { parseArgs } from 'node:util';
import { compileGnmiMapping } from '../../../core/mapping/compile.ts';
import { GnmiRows } from '../../../core/mapping/gnmi-rows.ts';
import { PathIndex } from '../../../core/mapping/path-index.ts';
import { PathNumbers } from '../../../core/mapping/path-numbers.ts';
import { parsePath } from '../../../protocols/gnmi/path.ts';
import { PathArena } from '../../../protocols/gnmi/path-arena.ts';
import { groupSubscriptions } from '../../../protocols/gnmi/subscribe.ts';
import { DeviceStreams } from '../../../worker/gnmi/device-streams.ts';
import { ArenaPaths, RowsSink } from '../../../worker/gnmi/rows-sink.ts';
import { digestOf, LEAVES } from './digest.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    streams: { type: 'string', default: '1' },
    digest: { type: 'boolean', default: false },
  },
});
const streamCount = Number(values.streams);
const at = '/interfaces/interface[name=*]/state/counters';
const mapping = compileGnmiMapping(
  LEAVES.map((name) => ({ name, type: 'counter64' })),
  new Map(LEAVES.map((name) => [name, `${at}/${name}`])),
);
const arena = new PathArena();
const numbers = new PathNumbers(new PathIndex(mapping), new ArenaPaths(arena));
const path = parsePath(at).path;
if (path === undefined) throw new Error(at);
const groups = groupSubscriptions(
  [{ path, mode: 'sample', intervalMilliseconds: 10_000, heartbeatMilliseconds: 0 }],
  'stream',
  'reference',
);

let records = 0;
let bytes = 0;
let digest = 0n;
let updates = 0;
let open = streamCount;
const devices: DeviceStreams[] = [];
const cpuBefore = process.cpuUsage();

for (let device = 0; device < streamCount; device += 1) {
  const rows = new GnmiRows({
    source: { device: `device-${device}`, deviceId: device, modelName: 'interfaces' },
    numbers,
    rule: { kind: 'sample', intervalMilliseconds: 10_000 },
    keepsRows: false,
    maxRows: 100_000,
    deliver: (batch) => {
      records += batch.ends.length;
      bytes += batch.ends.at(-1) as number;
      if (!values.digest) return;
      let start = 0;
      for (const end of batch.ends) {
        digest += digestOf(Buffer.from(batch.bytes.subarray(start, end)).toString());
        start = end;
      }
    },
  });
  const sink = new RowsSink({
    rows,
    arena,
    // The generator's time: what it sends is a recording.
    wallClock: () => 1_790_000_000_000,
    now: () => performance.now(),
  });
  const finish = sink.sync.bind(sink);
  sink.sync = () => {
    finish();
    rows.close();
    updates += rows.status().updates;
    open -= 1;
    if (open === 0) end();
  };
  const streams = new DeviceStreams({
    endpoint: async () => ({
      address: '127.0.0.1',
      port: Number(values.port),
      tls: 'off',
      ca: '',
      clientCertificate: '',
      clientKey: '',
      serverName: '',
      username: '',
      password: '',
      target: '',
    }),
    netos: 'junos',
    arena,
    guard: () => undefined,
    random: Math.random,
    now: Date.now,
  });
  devices.push(streams);
  streams.reconcile(
    groups.map((group) => ({ group, sink, pollMilliseconds: 0, onRead: () => sink.lookAtClocks() })),
  );
}

function end(): void {
  const { user, system } = process.cpuUsage();
  for (const streams of devices) streams.close();
  console.log(
    JSON.stringify({
      updates,
      records,
      bytes,
      cpuSeconds: (user + system) / 1e6,
      cpuSecondsAfterStart: (user + system - cpuBefore.user - cpuBefore.system) / 1e6,
      peakKilobytes: process.resourceUsage().maxRSS,
      digest: BigInt.asUintN(64, digest).toString(16).padStart(16, '0'),
    }),
  );
}

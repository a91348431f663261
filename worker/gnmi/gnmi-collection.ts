/** gNMI as the collection frame runs it: streams by plan, one connection a device, and live tests. */
import { createHash } from 'node:crypto';
import type { StreamPlan } from '../../core/collection-plan.ts';
import { compileGnmiMapping } from '../../core/mapping/compile.ts';
import { PathIndex } from '../../core/mapping/path-index.ts';
import { PathNumbers } from '../../core/mapping/path-numbers.ts';
import { PathArena } from '../../protocols/gnmi/path-arena.ts';
import type { LiveTester } from '../collection/jobs.ts';
import { PollSchedule } from '../collection/poll-schedule.ts';
import type { OpenStream } from '../collection/stream.ts';
import { deviceGuard, type ReadDeviceSecret, readEndpoint } from './device-endpoint.ts';
import { DeviceStreams, type DeviceStreamsOptions } from './device-streams.ts';
import type { DialGuard } from './endpoint.ts';
import { MappedStream } from './mapped-stream.ts';
import { testMapping } from './mapping-test.ts';
import { ArenaPaths } from './rows-sink.ts';

export interface GnmiCollectionOptions {
  readonly readSecret: ReadDeviceSecret;
  /** The product runs on its user's own machine: loopback may be dialled. */
  readonly allowLoopback: boolean;
  readonly random: () => number;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic: () => number;
  /** When POLL streams ask; its own clock's when omitted. */
  readonly schedule?: PollSchedule;
  readonly timing?: Pick<
    DeviceStreamsOptions,
    'connectMilliseconds' | 'firstBackoffMilliseconds' | 'longestBackoffMilliseconds'
  >;
}

/** A hundred thousand updates a second of one subscription: ten times what the busiest routers are known to send. */
const BYTES_PER_SECOND = 8 * 1024 * 1024;

/** A device's connection with the streams that use it. */
interface Connection {
  readonly streams: DeviceStreams;
  readonly users: Set<MappedStream>;
}

export class GnmiCollection {
  readonly #options: GnmiCollectionOptions;
  readonly #guard: DialGuard;
  readonly #arena = new PathArena();
  readonly #paths = new ArenaPaths(this.#arena);
  readonly #connections = new Map<string, Connection>();
  readonly #numbers = new Map<string, { readonly numbers: PathNumbers; users: number }>();
  readonly #schedule: PollSchedule;
  #streamCount = 0;
  #isPaused = false;

  constructor(options: GnmiCollectionOptions) {
    this.#options = options;
    this.#guard = deviceGuard(options);
    this.#schedule = options.schedule ?? new PollSchedule();
  }

  readonly open: OpenStream = (plan, ports) => {
    this.#streamCount += 1;
    const { wallClock, monotonic } = this.#options;
    const { numbers, release: releaseNumbers } = this.#useNumbers(plan);
    const stream = new MappedStream({
      plan,
      ports,
      numbers,
      arena: this.#arena,
      schedule: this.#schedule,
      name: `${this.#streamCount}`,
      wallClock,
      monotonic,
    });
    const { connection, release: releaseConnection } = this.#useConnection(plan, stream);
    stream.start({
      status: (key) => connection.streams.status(key),
      poll: (key) => connection.streams.poll(key),
      release: () => {
        releaseConnection();
        releaseNumbers();
      },
    });
    return stream;
  };

  readonly test: LiveTester = (subject, budgetMilliseconds) =>
    testMapping(subject, budgetMilliseconds, {
      guard: this.#guard,
      readSecret: this.#options.readSecret,
      wallClock: this.#options.wallClock,
    });

  /** Stops reading from all devices: each can send what its window takes, and then waits. */
  pause(): void {
    this.#isPaused = true;
    for (const { streams } of this.#connections.values()) streams.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const { streams } of this.#connections.values()) streams.resume();
  }

  /** Streams of one mapping share what is known of its paths. */
  #useNumbers({ model, mapping }: StreamPlan): { readonly numbers: PathNumbers; release(): void } {
    const content = JSON.stringify([
      model.fields.map(({ name, type }) => [name, type]),
      mapping.fieldMappings.toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ]);
    const key = createHash('sha256').update(content).digest('base64url');
    let shared = this.#numbers.get(key);
    if (shared === undefined) {
      const index = new PathIndex(compileGnmiMapping(model.fields, new Map(mapping.fieldMappings)));
      shared = { numbers: new PathNumbers(index, this.#paths), users: 0 };
      this.#numbers.set(key, shared);
    }
    const used = shared;
    used.users += 1;
    const release = () => {
      used.users -= 1;
      if (used.users === 0) this.#numbers.delete(key);
    };
    return { numbers: used.numbers, release };
  }

  /** The streams of one device share a connection, since some take no more than eight; other settings are another. */
  #useConnection(
    { device }: StreamPlan,
    stream: MappedStream,
  ): { readonly connection: Connection; release(): void } {
    const { address, netos, gnmi } = device.configuration;
    const key = JSON.stringify([
      device.id,
      address,
      netos,
      Object.entries(gnmi ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)),
      Object.entries(device.encryptedSecrets).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ]);
    let shared = this.#connections.get(key);
    if (shared === undefined) {
      shared = { streams: this.#connect(device, () => used), users: new Set() };
      if (this.#isPaused) shared.streams.pause();
      this.#connections.set(key, shared);
    }
    const used: Connection = shared;
    used.users.add(stream);
    const reconcile = () => used.streams.reconcile([...used.users].flatMap(({ wanted }) => wanted));
    reconcile();
    const release = () => {
      used.users.delete(stream);
      reconcile();
      if (used.users.size > 0) return;
      used.streams.close();
      this.#connections.delete(key);
    };
    return { connection: used, release };
  }

  #connect(device: StreamPlan['device'], connection: () => Connection): DeviceStreams {
    const { random, wallClock, readSecret, timing } = this.#options;
    return new DeviceStreams({
      ...timing,
      bytesPerSecond: BYTES_PER_SECOND,
      endpoint: () => readEndpoint(device, readSecret),
      netos: device.configuration.netos,
      arena: this.#arena,
      guard: this.#guard,
      random,
      now: wallClock,
      onStatus: (key, status) => {
        for (const user of connection().users) {
          if (user.wanted.some(({ group }) => group.key === key)) user.statusChanged(status);
        }
      },
    });
  }
}

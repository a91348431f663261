import { planDevice } from '../../core/collection-plan.ts';
import type { Device } from '../../core/device.ts';
import { errorFields } from '../../core/log-line.ts';
import type { Model } from '../../core/model.ts';
import { type OwnerRecord, resourcesToTake, type WorkerRecord } from '../../core/ownership.ts';
import type { DeviceRows } from '../../core/snapshot.ts';
import type { DeviceStatus, ProtocolStatus } from '../../core/stream-status.ts';
import type { Subscription } from '../../core/subscription.ts';
import { deviceStatusChunk, putDeviceStatuses } from '../../store/device-status-store.ts';
import { listDevices } from '../../store/device-store.ts';
import { listModels } from '../../store/model-store.ts';
import { forgetDevice, listDeviceOwners, releaseDevice, takeDevice } from '../../store/owner-store.ts';
import { listSubscriptions } from '../../store/subscription-store.ts';
import { readVersions } from '../../store/version-store.ts';
import { inBatches, RELEASE_WITHIN_MILLISECONDS } from '../batches.ts';
import { log } from '../log.ts';
import { Collector, type CollectorPorts } from './collector.ts';

/** Versions are read this often: an edit is in force within a second and a bit. */
const POLL_INTERVAL_MILLISECONDS = 1_000;
/** Everything is read again this often, whatever the versions say. */
const REREAD_INTERVAL_MILLISECONDS = 60_000;
/** A change of state is readable within this time … */
const PROMPT_MILLISECONDS = 200;
/** … and counters alone are written this often. */
const COUNTERS_MILLISECONDS = 10_000;

/** What the supervisor asks of the worker's heartbeat. */
export interface Fence {
  readonly workerId: string;
  mayAct(): boolean;
  isAlive(workerId: string): boolean;
  candidates(): readonly Pick<WorkerRecord, 'id'>[];
  /** Reads who lives now. */
  observe(): Promise<void>;
}

export interface DeviceSupervisorPorts extends Pick<CollectorPorts, 'open' | 'collect' | 'monotonic'> {
  /** How often each kind of configuration has changed; else read at each round. */
  readVersions?(): Promise<ReadonlyMap<string, number>>;
}

/**
 * Brings what this worker collects in line with what is configured: reads changes, takes devices that nobody owns,
 * hands the collector a plan for each of its own, and publishes their statuses.
 */
export class DeviceSupervisor {
  private readonly fence: Fence;
  private readonly ports: DeviceSupervisorPorts;
  private readonly collector: Collector;
  private readonly owned = new Map<number, OwnerRecord>();
  private owners = new Map<number, OwnerRecord>();
  private ownersAreStale = true;
  private versions: ReadonlyMap<string, number> = new Map();
  private rereadAt = Number.NEGATIVE_INFINITY;
  private devices: readonly Device[] = [];
  private deviceById: ReadonlyMap<number, Device> = new Map();
  private models: readonly Model[] = [];
  private subscriptions: readonly Subscription[] = [];
  private isPlanStale = true;
  private readonly published = new Map<number, string>();
  private readonly urgent = new Set<number>();
  private prompt: NodeJS.Timeout | undefined;
  private countersAt = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private work: Promise<void> = Promise.resolve();
  private isRunning = false;
  private isEnding = false;

  constructor(fence: Fence, ports: DeviceSupervisorPorts) {
    this.fence = fence;
    this.ports = ports;
    this.collector = new Collector({
      ...ports,
      // A process that was stopped and goes on finds in its sockets what belongs to the next owner by now.
      collect: (deviceId, records) => {
        if (fence.mayAct()) ports.collect(deviceId, records);
      },
      statusChanged: (deviceId) => this.touch(deviceId),
    });
  }

  start(): void {
    this.isRunning = true;
    this.schedule(0);
  }

  /** A worker came, went or died: the next round reads all ownerships again. */
  ownersMayHaveMoved(): void {
    this.ownersAreStale = true;
  }

  /** For a while this worker could not renew, and others may have taken what it owned: it begins from nothing. */
  lapsed(): void {
    this.owned.clear();
    this.collector.apply([]);
    this.ownersAreStale = true;
    this.isPlanStale = true;
  }

  /** The newest rows of a model that the owned devices have. */
  latestRows(modelId: number): Iterable<DeviceRows> {
    return this.collector.latestRows(modelId);
  }

  /** Ends all streams, says so, and gives the devices up. */
  async stop(): Promise<void> {
    this.isRunning = false;
    this.isEnding = true;
    clearTimeout(this.timer);
    clearTimeout(this.prompt);
    await this.work;
    await this.collector.stop();
    const given = [...this.owned.values()];
    this.owned.clear();
    await this.publish([...this.published.keys()]);
    const until = this.ports.monotonic() + RELEASE_WITHIN_MILLISECONDS;
    await inBatches(
      given,
      (owner) => releaseDevice(owner),
      () => this.ports.monotonic() < until,
    );
  }

  /** One round; the tests call it themselves. */
  async round(): Promise<void> {
    if (!this.fence.mayAct()) {
      this.lapsed();
      return;
    }
    await this.read();
    this.dropLost();
    await this.dropRemoved();
    await this.takeUnowned();
    if (this.isPlanStale) this.plan();
    const now = this.ports.monotonic();
    if (now - this.countersAt >= COUNTERS_MILLISECONDS) {
      this.countersAt = now;
      await this.publish([...this.published.keys(), ...[...this.owned.keys()].map(deviceStatusChunk)]);
    }
  }

  private schedule(delayMilliseconds: number): void {
    if (!this.isRunning) return;
    this.timer = setTimeout(() => {
      this.enqueue(async () => {
        try {
          await this.round();
        } catch (error) {
          // Nothing is lost by a round that fails: the next one, in a second, starts from what is stored.
          log('error', 'device round failed', errorFields(error));
          this.rereadAt = Number.NEGATIVE_INFINITY;
          this.ownersAreStale = true;
        }
        this.schedule(POLL_INTERVAL_MILLISECONDS);
      });
    }, delayMilliseconds);
  }

  private enqueue(task: () => Promise<void>): void {
    this.work = this.work.then(task);
  }

  private async read(): Promise<void> {
    const before = this.versions;
    const versions = await (this.ports.readVersions ?? readVersions)();
    const now = this.ports.monotonic();
    const isDue = now - this.rereadAt >= REREAD_INTERVAL_MILLISECONDS;
    const moved = (kind: string) => isDue || versions.get(kind) !== before.get(kind);
    const [devices, models, subscriptions] = await Promise.all([
      moved('device') ? listDevices() : undefined,
      moved('model') ? listModels() : undefined,
      moved('subscription') ? listSubscriptions() : undefined,
    ]);
    if (devices !== undefined) {
      this.devices = devices;
      this.deviceById = new Map(devices.map((device) => [device.id, device]));
    }
    if (models !== undefined) this.models = models;
    if (subscriptions !== undefined) this.subscriptions = subscriptions;
    if (devices ?? models ?? subscriptions) this.isPlanStale = true;
    if (isDue) this.rereadAt = now;
    if (isDue || this.ownersAreStale) {
      this.owners = await listDeviceOwners();
      this.ownersAreStale = false;
    }
    this.versions = versions;
  }

  private dropLost(): void {
    for (const [id, { epoch }] of this.owned) {
      const owner = this.owners.get(id);
      if (owner?.worker === this.fence.workerId && owner.epoch === epoch) continue;
      log('warn', 'ownership lost', { 'device-id': id });
      this.owned.delete(id);
      this.isPlanStale = true;
      this.touch(id);
    }
  }

  private async dropRemoved(): Promise<void> {
    const known = new Set(this.devices.map(({ id }) => id));
    const orphans = [...this.owners.values()].filter(
      ({ id, worker }) =>
        !known.has(id) && (worker === this.fence.workerId || worker === '' || !this.fence.isAlive(worker)),
    );
    await this.eachOf(orphans, async (owner) => {
      await forgetDevice(owner);
      this.owners.delete(owner.id);
      this.owned.delete(owner.id);
      this.touch(owner.id);
    });
  }

  private async takeUnowned(): Promise<void> {
    const self = this.fence.workerId;
    const isRespected = (worker: string) => worker !== self && this.fence.isAlive(worker);
    const missing = this.devices
      .map(({ id }) => id)
      .filter((id) => !this.owned.has(id) && !isRespected(this.owners.get(id)?.worker ?? ''));
    if (missing.length === 0) return;
    // Who lives may be three seconds old: a worker that has just joined is to have its share.
    await this.fence.observe();
    const candidates = this.fence.candidates().map(({ id }) => id);
    const wanted = resourcesToTake(self, 'device', missing, this.owners, () => candidates, isRespected);
    await this.eachOf(wanted, async (id) => {
      const taken = await takeDevice(id, self, this.owners.get(id));
      if (taken === undefined) {
        this.ownersAreStale = true;
        return;
      }
      this.owners.set(id, taken);
      this.owned.set(id, taken);
      this.isPlanStale = true;
      this.touch(id);
    });
  }

  private plan(): void {
    const own = this.devices.filter(({ id }) => this.owned.has(id));
    this.collector.apply(own.map((device) => planDevice(device, this.subscriptions, this.models)));
    for (const { id } of own) this.touch(id);
    this.isPlanStale = false;
  }

  private touch(deviceId: number): void {
    this.urgent.add(deviceStatusChunk(deviceId));
    if (!this.isRunning) return;
    this.prompt ??= setTimeout(() => {
      this.prompt = undefined;
      this.enqueue(() => this.publishUrgent());
    }, PROMPT_MILLISECONDS);
  }

  /** Publishes what has changed in more than its counters. */
  async publishUrgent(): Promise<void> {
    const chunks = [...this.urgent];
    this.urgent.clear();
    await this.publish(chunks);
  }

  private async publish(chunks: readonly number[]): Promise<void> {
    const byChunk = Map.groupBy(this.owned.values(), ({ id }) => deviceStatusChunk(id));
    for (const chunk of new Set(chunks)) {
      const statuses = (byChunk.get(chunk) ?? []).map((owner) => this.statusOf(owner));
      const text = JSON.stringify(statuses);
      if (this.published.get(chunk) === text || !this.fence.mayAct()) continue;
      try {
        await putDeviceStatuses(this.fence.workerId, chunk, statuses);
        if (statuses.length === 0) this.published.delete(chunk);
        else this.published.set(chunk, text);
      } catch (error) {
        this.published.delete(chunk);
        log('warn', 'device status not written', { chunk, ...errorFields(error) });
      }
    }
  }

  private statusOf({ id, epoch }: OwnerRecord): DeviceStatus {
    const streams = this.collector.statuses(id);
    const device = this.deviceById.get(id);
    const protocolStatus = (protocol: 'gnmi' | 'snmp'): ProtocolStatus | null => {
      if (device === undefined || device.configuration[protocol] === null) return null;
      const own = streams.filter((stream) => stream.protocol === protocol);
      const states = new Set(own.map(({ state }) => state));
      const isUp = states.has('streaming') || states.has('polling');
      const state = isUp
        ? 'connected'
        : (['backoff', 'connecting'] as const).find((candidate) => states.has(candidate));
      const successes = own.flatMap(({ lastSuccess }) => lastSuccess ?? []).sort();
      const errors = own.flatMap(({ lastError }) => lastError ?? []);
      return {
        state: state ?? 'idle',
        lastSuccess: successes.at(-1) ?? null,
        lastError: errors.toSorted((a, b) => (a.at < b.at ? -1 : 1)).at(-1) ?? null,
      };
    };
    return {
      deviceId: id,
      worker: this.fence.workerId,
      epoch,
      reason: '',
      gnmi: protocolStatus('gnmi'),
      snmp: protocolStatus('snmp'),
      streams,
    };
  }

  /** A round that is under way when the worker is told to end begins nothing more. */
  private eachOf<Thing>(things: readonly Thing[], action: (thing: Thing) => Promise<void>): Promise<void> {
    return inBatches(things, action, () => !this.isEnding);
  }
}

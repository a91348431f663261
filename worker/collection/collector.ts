import type { DevicePlan, IdleStream, StreamPlan } from '../../core/collection-plan.ts';
import type { Protocol } from '../../core/model.ts';
import { type RecordBatch, rowTexts } from '../../core/record.ts';
import { type DeviceRows, MISSING_REASONS } from '../../core/snapshot.ts';
import { type StreamStatus, UNSEEN_STREAM } from '../../core/stream-status.ts';
import type { OpenStream, Stream } from './stream.ts';

export interface CollectorPorts {
  /** Protocols that this worker speaks. */
  readonly open: Readonly<Partial<Record<Protocol, OpenStream>>>;
  monotonic(): number;
  /** Takes the records of one cycle of one device; they are valid during the call. */
  collect(deviceId: number, records: RecordBatch): void;
  /** A device's status has changed in more than its counters. */
  statusChanged(deviceId: number): void;
}

interface Running {
  readonly plan: StreamPlan;
  readonly stream: Stream;
  records: number;
  /** When its last cycle was delivered, on the monotonic clock. */
  deliveredAt: number;
  /** The stream that it takes over from, until its own first cycle is there, or is known not to come. */
  predecessor: Running | undefined;
  /** Cycles after which it has its own rhythm: until then one may tell of the same interval as the last. */
  settling: number;
  /** When a stream that it took over from was last successful: an edit does not make that untrue. */
  readonly successBefore: string | null;
}

/** The first, and for a device that samples by its own clock the second too, which follows the first at any distance. */
const SETTLING_CYCLES = 2;

/**
 * Runs the streams of the devices that this worker owns. A new plan touches only the streams whose signature changed:
 * a changed one is opened beside the old one, which goes on until the new one has a complete cycle of its own.
 */
export class Collector {
  private readonly ports: CollectorPorts;
  private readonly running = new Map<string, Running>();
  private readonly idle = new Map<number, readonly IdleStream[]>();
  private readonly stopping = new Set<Promise<void>>();

  constructor(ports: CollectorPorts) {
    this.ports = ports;
  }

  /** Brings the streams of the planned devices in line with their plans and ends those of all other devices. */
  apply(plans: readonly DevicePlan[]): void {
    const wanted = new Map<string, StreamPlan>();
    this.idle.clear();
    for (const { deviceId, streams, idle } of plans) {
      const unspoken = streams.filter(({ protocol }) => this.ports.open[protocol] === undefined);
      this.idle.set(deviceId, [...idle, ...unspoken.map(unimplemented)]);
      for (const plan of streams) {
        if (this.ports.open[plan.protocol] !== undefined) wanted.set(nameOf(plan), plan);
      }
    }
    for (const [name, running] of this.running) {
      if (!wanted.has(name)) this.end(name, running);
    }
    for (const [name, plan] of wanted) {
      const current = this.running.get(name);
      if (current?.plan.signature === plan.signature) continue;
      this.running.set(name, this.begin(name, plan, current));
      this.ports.statusChanged(plan.device.id);
    }
  }

  /** The streams of one device, those that collect nothing included. */
  statuses(deviceId: number): StreamStatus[] {
    const active = [...this.running.values()]
      .filter(({ plan }) => plan.device.id === deviceId)
      .map((running) => ({
        ...running.stream.figures(),
        lastSuccess: lastSuccessOf(running),
        subscriptionId: running.plan.subscriptionId,
        reason: '',
        protocol: running.plan.protocol,
        mappingId: running.plan.mapping.id,
        modelVersion: running.plan.model.version,
        records: running.records,
      }));
    const idle = (this.idle.get(deviceId) ?? []).map((stream) => ({ ...UNSEEN_STREAM, ...stream }));
    return [...active, ...idle];
  }

  /** The newest rows of a model by device: those of its freshest stream. */
  *latestRows(modelId: number): Iterable<DeviceRows> {
    const byDevice = Map.groupBy(
      [...this.running.values()].filter(({ plan }) => plan.model.id === modelId),
      ({ plan }) => plan.device.id,
    );
    for (const [deviceId, candidates] of byDevice) {
      const streams = candidates.flatMap(({ stream, predecessor }) =>
        predecessor?.plan.model.id === modelId ? [stream, predecessor.stream] : [stream],
      );
      const freshest = streams.toSorted((a, b) => freshnessOf(b) - freshnessOf(a))[0] as Stream;
      const rows = rowTexts(freshest.latest());
      const reason = rows.length > 0 ? '' : (freshest.figures().lastError?.code ?? MISSING_REASONS.noRows);
      const [first] = candidates as [Running];
      yield { deviceId, device: first.plan.device.configuration.name, rows, reason };
    }
  }

  /** Ends all streams. */
  async stop(): Promise<void> {
    for (const [name, running] of this.running) this.end(name, running);
    await Promise.all(this.stopping);
  }

  private begin(name: string, plan: StreamPlan, predecessor: Running | undefined): Running {
    // Of two changes in quick succession the first never got its cycle: the one that still delivers stays until one does.
    const delivering = predecessor?.predecessor ?? predecessor;
    if (predecessor !== undefined && predecessor !== delivering) this.halt(predecessor);
    const open = this.ports.open[plan.protocol] as OpenStream;
    const stream = open(plan, {
      deliver: (records) => this.deliver(name, running, records),
      changed: () => this.ports.statusChanged(plan.device.id),
      settled: () => this.takeOver(running),
    });
    const running: Running = {
      plan,
      stream,
      records: predecessor?.records ?? 0,
      deliveredAt: Number.NEGATIVE_INFINITY,
      predecessor: delivering,
      settling: 0,
      successBefore: predecessor === undefined ? null : lastSuccessOf(predecessor),
    };
    return running;
  }

  private deliver(name: string, running: Running, records: RecordBatch): void {
    const current = this.running.get(name);
    const isPredecessor = current?.predecessor === running;
    if (current !== running && !isPredecessor) return;
    this.takeOver(running);
    const now = this.ports.monotonic();
    const { plan } = running;
    if (running.settling > 0) {
      running.settling -= 1;
      // Both would tell of the same interval: the one before was faster, and the next cycle is on time.
      const isDoubled = now - running.deliveredAt < plan.intervalMilliseconds / 2;
      if (isDoubled && plan.mode !== 'on-change') return;
    }
    running.deliveredAt = now;
    (current as Running).records += records.ends.length;
    this.ports.collect(plan.device.id, records);
  }

  /** The stream that goes on from here is this one. */
  private takeOver(running: Running): void {
    const { predecessor } = running;
    if (predecessor === undefined) return;
    running.predecessor = undefined;
    running.deliveredAt = predecessor.deliveredAt;
    running.settling = SETTLING_CYCLES;
    this.halt(predecessor);
  }

  private end(name: string, running: Running): void {
    this.running.delete(name);
    this.halt(running);
    if (running.predecessor !== undefined) this.halt(running.predecessor);
    this.ports.statusChanged(running.plan.device.id);
  }

  private halt({ stream }: Running): void {
    const stopped = stream.stop().finally(() => this.stopping.delete(stopped));
    this.stopping.add(stopped);
  }
}

function lastSuccessOf({ stream, successBefore }: Running): string | null {
  return stream.figures().lastSuccess ?? successBefore;
}

function freshnessOf(stream: Stream): number {
  return Date.parse(stream.figures().lastSuccess ?? '') || 0;
}

function nameOf({ subscriptionId, device }: StreamPlan): string {
  return `${subscriptionId}/${device.id}`;
}

function unimplemented({ subscriptionId, protocol }: StreamPlan): IdleStream {
  return { subscriptionId, reason: `this worker does not speak ${protocol}` };
}

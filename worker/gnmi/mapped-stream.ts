/** One subscription on one device: its RPCs feed one table of rows, whose cycles go out as records. */
import type { StreamPlan } from '../../core/collection-plan.ts';
import { GnmiRows } from '../../core/mapping/gnmi-rows.ts';
import type { PathNumbers } from '../../core/mapping/path-numbers.ts';
import type { RecordBatch } from '../../core/record.ts';
import type { PathArena } from '../../protocols/gnmi/path-arena.ts';
import { groupSubscriptions } from '../../protocols/gnmi/subscribe.ts';
import type { PollSchedule } from '../collection/poll-schedule.ts';
import type { Stream, StreamFigures, StreamPorts } from '../collection/stream.ts';
import type { StreamState, StreamStatus, WantedStream } from './device-streams.ts';
import { RowsSink } from './rows-sink.ts';
import { requestPath, slotsOfGroup, unmatchedPaths } from './wanted-paths.ts';

/** The device's connection, as far as one subscription uses it. */
export interface StreamCarrier {
  status(key: string): StreamStatus | undefined;
  /** Asks a POLL stream for one round; false when it cannot be asked now. */
  poll(key: string): boolean;
  /** The stream is wanted no more. */
  release(): void;
}

export interface MappedStreamOptions {
  readonly plan: StreamPlan;
  readonly ports: StreamPorts;
  readonly numbers: PathNumbers;
  readonly arena: PathArena;
  /** When POLL streams ask. */
  readonly schedule: PollSchedule;
  /** Unlike that of any other stream: RPCs are never shared between subscriptions. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic: () => number;
}

/** Rows of one device and subscription; what is beyond is counted as dropped. */
const MAX_ROWS = 50_000;

/** One of the stream's RPCs. */
interface Group {
  readonly key: string;
  readonly slots: readonly number[];
  /** An RPC is open. */
  isOpen: boolean;
  /** It has said something since it began. */
  isHeard: boolean;
  isSynced: boolean;
  /** POLL: it was asked and has not yet answered. */
  isAsked: boolean;
  /** Of the cycle that was open when it began. */
  mark: number;
  /** SAMPLE: the last cycle that it spoke in. */
  lastCycle: number;
}

export class MappedStream implements Stream {
  readonly wanted: readonly WantedStream[];
  readonly #options: MappedStreamOptions;
  readonly #rows: GnmiRows;
  readonly #groups: readonly Group[];
  #carrier: StreamCarrier | undefined;
  #isStopped = false;
  #deadline: NodeJS.Timeout | undefined;
  #unschedule: (() => void) | undefined;
  /** POLL: the first time to ask came before there was an RPC to ask by. */
  #isAskOwed = false;
  #hasAsked = false;
  #duplicates = 0;
  #missedPolls = 0;
  #updatesSeen = 0;
  #lastUpdateAt: number | undefined;
  #hasSynced = false;

  constructor(options: MappedStreamOptions) {
    this.#options = options;
    const { plan, ports, numbers } = options;
    const { index } = numbers;
    const { mode, intervalMilliseconds, heartbeatMilliseconds, device } = plan;
    const { netos } = device.configuration;
    this.#rows = new GnmiRows({
      source: { device: device.configuration.name, deviceId: device.id, modelName: plan.model.name },
      numbers,
      rule:
        mode === 'poll'
          ? { kind: 'asked' }
          : mode === 'sample'
            ? { kind: 'sample', intervalMilliseconds, shortestMilliseconds: intervalMilliseconds / 10 }
            : { kind: 'on-change' },
      keepsRows: mode === 'on-change',
      maxRows: MAX_ROWS,
      deliver: (records) => ports.deliver(records),
    });
    const streamMode = mode === 'on-change' ? 'on-change' : 'sample';
    const groups = groupSubscriptions(
      index.mapping.slots.map((slot) => ({
        path: requestPath(slot),
        mode: streamMode,
        intervalMilliseconds,
        heartbeatMilliseconds: mode === 'on-change' ? heartbeatMilliseconds : 0,
      })),
      mode === 'poll' ? 'poll' : 'stream',
      netos,
    ).map((group) => ({ ...group, key: `${options.name} ${group.key}` }));
    this.#groups = groups.map((group) => ({
      key: group.key,
      slots: slotsOfGroup(index.mapping, group, netos),
      isOpen: false,
      isHeard: false,
      isSynced: false,
      isAsked: false,
      mark: 0,
      lastCycle: -1,
    }));
    this.wanted = groups.map((group, position) =>
      this.#wantedOf(group, this.#groups[position] as Group, intervalMilliseconds),
    );
  }

  /** The connection is there; call it once. */
  start(carrier: StreamCarrier): void {
    this.#carrier = carrier;
    const { plan, schedule } = this.#options;
    if (plan.mode === 'poll') {
      const name = `${plan.subscriptionId}/${plan.device.id}`;
      this.#unschedule = schedule.every(name, plan.intervalMilliseconds, () => this.#askAll());
    }
    // A mapping without a path that can be read collects nothing, and nobody need wait for it.
    if (this.#groups.length === 0) queueMicrotask(() => this.#settle());
  }

  /** The status of one of its RPCs has changed. */
  statusChanged({ state }: StreamStatus): void {
    if (this.#isStopped) return;
    // What it takes over from would go on as it was configured before, behind a stream that fails.
    if (state === 'backoff') this.#settle();
    this.#options.ports.changed();
  }

  figures(): StreamFigures {
    const { index } = this.#options.numbers;
    const { updates, rows, drops, clockSkew, cycleIncomplete } = this.#rows.status();
    const statuses = this.#groups.flatMap(({ key }) => this.#carrier?.status(key) ?? []);
    const fault = statuses
      .flatMap(({ lastFault }) => lastFault ?? [])
      .toSorted((a, b) => a.at - b.at)
      .at(-1);
    const coercionErrors = [...this.#rows.coercionErrors().values()].reduce((sum, count) => sum + count, 0);
    return {
      state: this.#groups.length === 0 ? 'idle' : worstOf(statuses.map(({ state }) => state)),
      encoding: statuses[0]?.encoding ?? '',
      lastSuccess: this.#lastUpdateAt === undefined ? null : isoTime(this.#lastUpdateAt),
      lastError:
        this.#groups.length === 0
          ? {
              code: 'invalid-path',
              detail: 'the mapping has no path that can be read',
              at: isoTime(this.#options.wallClock()),
            }
          : fault === undefined
            ? null
            : { ...fault.fault, at: isoTime(fault.at) },
      updates,
      rows,
      drops: drops + this.#duplicates,
      coercionErrors,
      cycleIncomplete: cycleIncomplete + this.#missedPolls,
      clockSkew,
      unmatchedPaths: this.#hasSynced
        ? unmatchedPaths(index.mapping, this.#rows)
        : index.mapping.skipped.map(({ path }) => path),
    };
  }

  latest(): RecordBatch {
    return this.#rows.latest();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#deadline);
    this.#unschedule?.();
    this.#carrier?.release();
  }

  #wantedOf(group: WantedStream['group'], state: Group, pollMilliseconds: number): WantedStream {
    const { arena, wallClock, monotonic } = this.#options;
    const sink = new RowsSink({
      rows: this.#rows,
      arena,
      wallClock,
      now: monotonic,
      onNotification: (duplicates) => this.#heard(state, duplicates, sink.receivedAt),
      onSync: () => this.#synced(state),
    });
    return {
      group,
      sink,
      pollMilliseconds,
      onRead: () => sink.lookAtClocks(),
      onBegin: () => this.#begun(state),
      onEnd: (inOrder) => this.#ended(state, inOrder),
    };
  }

  #begun(group: Group): void {
    Object.assign(group, { isOpen: true, isHeard: false, isSynced: false, isAsked: false });
    group.mark = this.#rows.restart();
    group.lastCycle = group.mark - 1;
    if (this.#isAskOwed && this.#groups.every(({ isOpen }) => isOpen)) {
      this.#isAskOwed = false;
      // Behind the request that begins the RPC.
      queueMicrotask(() => this.#askAll());
    }
  }

  #heard(group: Group, duplicates: number, at: number): void {
    group.isHeard = true;
    this.#duplicates += duplicates;
    const { updates } = this.#rows;
    if (updates !== this.#updatesSeen) {
      this.#updatesSeen = updates;
      this.#lastUpdateAt = at;
      if (this.#groups.length > 1) this.#awaitOthers(group);
    }
    this.#watchDeadline();
  }

  /**
   * Each RPC samples in its own time: a row that several fill is whole when all have spoken, and they need not speak within
   * a quarter of a second. One that said nothing in the cycle before is not waited for.
   */
  #awaitOthers(group: Group): void {
    const { cycleNumber } = this.#rows;
    group.lastCycle = cycleNumber;
    const isAwaited = this.#groups.some(({ isOpen, lastCycle }) => isOpen && lastCycle === cycleNumber - 1);
    this.#rows.isMoreAwaited = isAwaited;
    if (isAwaited || this.#deadline === undefined) return;
    // It may stand at the end of the interval, which is no longer waited for.
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
  }

  #synced(group: Group): void {
    const { mode } = this.#options.plan;
    const isFirst = !group.isSynced;
    group.isSynced = true;
    if (!this.#hasSynced) {
      this.#hasSynced = true;
      this.#options.ports.changed();
    }
    if (mode === 'poll') {
      // What comes before anything was asked belongs to no cycle.
      if (!group.isAsked) return;
      group.isAsked = false;
      if (this.#groups.every(({ isAsked }) => !isAsked)) {
        this.#rows.close();
        this.#settle();
      }
      return;
    }
    if (mode === 'on-change' && isFirst) {
      this.#rows.retold(group.slots, group.mark);
      if (!this.#isAnyTelling()) this.#rows.sync();
    }
    this.#watchDeadline();
    if (this.#rows.deadline() === undefined && !this.#isAnyTelling()) this.#settle();
  }

  #ended(group: Group, inOrder: boolean): void {
    const { mode } = this.#options.plan;
    const wasTelling = group.isOpen && !group.isSynced;
    const wasAsked = group.isAsked;
    Object.assign(group, { isOpen: false, isAsked: false });
    if (mode === 'on-change') {
      // What has changed is true also when the connection is lost behind it; a half-told beginning is not all.
      const othersWait = this.#groups.some(({ isOpen }) => isOpen) && !this.#isAnyTelling();
      if (wasTelling ? othersWait : true) this.#rows.close();
      if (wasTelling && othersWait) this.#rows.sync();
    } else if (mode === 'sample') {
      if (inOrder) this.#rows.close();
      // An RPC that is refused again and again does not take the cycles of the others with it.
      else if (group.isHeard && !this.#groups.some(({ isOpen }) => isOpen)) this.#rows.abandon();
    } else if (wasAsked) {
      this.#rows.abandon();
      for (const other of this.#groups) other.isAsked = false;
    }
  }

  /** An RPC is in the middle of telling how things are. */
  #isAnyTelling(): boolean {
    return this.#groups.some(({ isOpen, isSynced }) => isOpen && !isSynced);
  }

  /** The timer moves on by itself: an update only starts it. */
  #watchDeadline(): void {
    if (this.#deadline !== undefined || this.#isStopped) return;
    const deadline = this.#rows.deadline();
    if (deadline === undefined) return;
    const wait = Math.max(1, deadline - this.#options.monotonic());
    this.#deadline = setTimeout(() => {
      this.#deadline = undefined;
      this.#rows.tick(this.#options.monotonic());
      if (this.#rows.deadline() === undefined) this.#settle();
      else this.#watchDeadline();
    }, wait);
  }

  #askAll(): void {
    if (this.#groups.some(({ isAsked }) => isAsked)) {
      // Slower than its interval: this round is left out, and said to be.
      this.#missedPolls += 1;
      return;
    }
    this.#rows.discard();
    for (const group of this.#groups) {
      // Some targets answer a POLL subscription at once, before anything is asked; then that answer comes first.
      const isAnswering = group.isHeard && !group.isSynced;
      if (group.isOpen && !isAnswering) group.isAsked = this.#carrier?.poll(group.key) ?? false;
    }
    if (this.#groups.some(({ isAsked }) => isAsked)) this.#hasAsked = true;
    else if (this.#hasAsked) this.#missedPolls += 1;
    else this.#isAskOwed = true;
  }

  /** What there is to know at first has been told, or cannot be. */
  #settle(): void {
    if (!this.#isStopped) this.#options.ports.settled();
  }
}

const GRAVITY: readonly StreamState[] = ['polling', 'streaming', 'connecting', 'backoff'];

/** Of several RPCs the one that is worst off: a part that fails is not hidden behind one that works. */
function worstOf(states: readonly StreamState[]): StreamState {
  return GRAVITY.findLast((state) => states.includes(state)) ?? 'connecting';
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

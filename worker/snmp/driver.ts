/**
 * Runs the walks of all devices: the only place where SNMP meets sockets, the clock and chance.
 * See docs/decisions/0091 on how an answer finds its walk.
 */
import { randomFillSync } from 'node:crypto';
import type { RemoteInfo } from 'node:dgram';
import { isIPv6, SocketAddress } from 'node:net';
import { performance } from 'node:perf_hooks';
import { BerWriter } from '../../protocols/snmp/ber.ts';
import { requestIdOf } from '../../protocols/snmp/message.ts';
import type { WalkRow } from '../../protocols/snmp/row-join.ts';
import type { SnmpSession } from '../../protocols/snmp/session.ts';
import { VarbindTable } from '../../protocols/snmp/varbind-table.ts';
import { Walk, type WalkOutcome, type WalkStep } from '../../protocols/snmp/walk.ts';
import type { WalkLimits, WalkPlan } from '../../protocols/snmp/walk-plan.ts';
import { type Sleeper, TimerWheel } from '../collection/timer-wheel.ts';
import { type AddressFamily, UdpSockets } from './udp-sockets.ts';

/** Where a device is and how it is spoken to. Its name was resolved and its address checked by the caller. */
export interface SnmpTarget {
  /** An IPv4 or IPv6 literal. */
  readonly address: string;
  readonly port: number;
  /** Answers are taken from any address: for agents that answer from another one than they were asked at. */
  readonly unconnected: boolean;
  readonly session: SnmpSession;
}

export interface WalkRequest {
  readonly target: SnmpTarget;
  readonly plan: WalkPlan;
  readonly limits: WalkLimits;
  /** Time for the whole cycle, waiting included. */
  readonly budgetMilliseconds: number;
  /** Hears each row as it becomes whole; the row is a view, gone after the call. `arrivedAt` is the epoch in ms. */
  row(group: number, row: WalkRow, arrivedAt: number): void;
  /** Called once. An outcome with a fault means that the rows of this cycle are to be thrown away. */
  done(outcome: WalkOutcome): void;
}

export interface DriverCounters {
  datagramsSent: number;
  datagramsReceived: number;
  /** Datagrams with the id of no open request: late, duplicate, or not for us. */
  strays: number;
  walks: number;
}

/** Walks whose answers may be on their way at once: more could overflow the socket's buffer. */
const WINDOW = 128;

const SLOT_BITS = 16;
const RANDOM_BITS = 15;
const MAX_SLOTS = 2 ** SLOT_BITS - 1;
const TICK_MILLISECONDS = 10;
/** Datagrams without a readable id that are looked into each tick: whom they came from costs a search. */
const BLAMES_PER_TICK = 16;

interface ActiveWalk extends Sleeper {
  readonly request: WalkRequest;
  readonly walk: Walk;
  readonly address: string;
  readonly family: AddressFamily;
  readonly place: number;
  requestId: number;
  /** When silence is over; the wheel may wake the walk earlier, for a time that an answer has moved since. */
  expiresAt: number;
  /** Counted in the window: it has not yet been met with silence. */
  inWindow: boolean;
  readonly sent: (error: Error | null) => void;
}

export class SnmpDriver {
  readonly counters: DriverCounters = { datagramsSent: 0, datagramsReceived: 0, strays: 0, walks: 0 };
  private readonly sockets = new UdpSockets(
    (datagram, from) => this.receive(datagram, from),
    (family, error) => this.endAllOf(family, error),
  );
  private readonly wheel = new TimerWheel(performance.now(), TICK_MILLISECONDS);
  private readonly table = new VarbindTable();
  private readonly writer = new BerWriter(2_048);
  private readonly active: (ActiveWalk | undefined)[] = [];
  private readonly freePlaces: number[] = [];
  private readonly waiting: { request: WalkRequest; deadline: number }[] = [];
  private readonly busy = new Set<SnmpSession>();
  private readonly chance = new Uint16Array(1_024);
  private chanceUsed = this.chance.length;
  private window = 0;
  private blamesLeft = BLAMES_PER_TICK;
  private arrivedAt = 0;
  private ticking: NodeJS.Timeout | undefined;
  private isClosed = false;

  /**
   * Starts a walk, as soon as its device has no other under way and the window has room. The function that it returns
   * ends the walk without an outcome.
   */
  walk(request: WalkRequest): () => void {
    this.counters.walks += 1;
    this.waiting.push({ request, deadline: performance.now() + request.budgetMilliseconds });
    this.startWaiting();
    this.keepTicking();
    return () => this.cancel(request);
  }

  /** Ends all walks without an outcome and closes the sockets. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.ticking);
    this.sockets.close();
    this.waiting.length = 0;
    this.active.length = 0;
  }

  private cancel(request: WalkRequest): void {
    const at = this.waiting.findIndex((entry) => entry.request === request);
    if (at >= 0) this.waiting.splice(at, 1);
    const active = this.active.find((one) => one?.request === request);
    if (active === undefined) return;
    this.leave(active);
    this.startWaiting();
  }

  private startWaiting(): void {
    const now = performance.now();
    for (let at = 0; at < this.waiting.length && this.window < WINDOW; ) {
      const { request, deadline } = this.waiting[at] as { request: WalkRequest; deadline: number };
      const hasPlace = this.freePlaces.length > 0 || this.active.length < MAX_SLOTS;
      if (!hasPlace || this.busy.has(request.target.session)) {
        at += 1;
        continue;
      }
      this.waiting.splice(at, 1);
      this.start(request, deadline, now);
    }
  }

  private start(request: WalkRequest, deadline: number, now: number): void {
    const { target, plan, limits } = request;
    const place = this.freePlaces.pop() ?? this.active.push(undefined) - 1;
    this.busy.add(target.session);
    const walk = new Walk(
      target.session,
      plan,
      limits,
      deadline,
      {
        requestId: () => this.newRequestId(active),
        row: (group, row) => request.row(group, row, this.arrivedAt),
      },
      this.table,
      this.writer,
    );
    const active: ActiveWalk = {
      request,
      walk,
      address: canonicalAddress(target.address),
      family: isIPv6(target.address) ? 'udp6' : 'udp4',
      place,
      requestId: 0,
      expiresAt: 0,
      inWindow: true,
      wakeAt: 0,
      previous: undefined,
      next: undefined,
      slot: -1,
      sent: (error) => {
        if (error !== null && this.active[place] === active) {
          this.follow(active, walk.abandon({ code: 'unreachable', detail: error.message }));
        }
      },
    };
    this.active[place] = active;
    this.window += 1;
    this.follow(active, walk.start(now));
  }

  private receive(datagram: Buffer, from: RemoteInfo): void {
    this.counters.datagramsReceived += 1;
    const id = requestIdOf(datagram);
    const active = id === undefined ? undefined : this.active[(id >>> RANDOM_BITS) - 1];
    if (active === undefined) {
      this.counters.strays += 1;
      if (id === undefined) this.blame(from);
      return;
    }
    const { target } = active.request;
    if (!target.unconnected && (from.address !== active.address || from.port !== target.port)) {
      active.walk.ignore('wrong-source');
      return;
    }
    if (active.requestId !== id) {
      this.counters.strays += 1;
      active.walk.ignore('late-or-duplicate');
      return;
    }
    this.arrivedAt = Date.now();
    this.follow(active, active.walk.receive(datagram, performance.now()));
  }

  /** What is no SNMP at all comes from a device that is being asked: its walk is told, to name it should nothing else come. */
  private blame({ address, port }: RemoteInfo): void {
    if (this.blamesLeft === 0) return;
    this.blamesLeft -= 1;
    this.active
      .find((one) => one?.address === address && one.request.target.port === port)
      ?.walk.ignore('malformed');
  }

  private follow(active: ActiveWalk, step: WalkStep): void {
    if (step.kind === 'done') {
      this.finish(active, step.outcome);
      return;
    }
    if (step.kind === 'send') {
      const { target } = active.request;
      this.counters.datagramsSent += 1;
      this.sockets.send(step.datagram, target.port, target.address, active.family, active.sent);
      active.expiresAt = step.wakeAt;
      if (active.slot < 0) this.wheel.set(active, step.wakeAt);
    }
  }

  private finish(active: ActiveWalk, outcome: WalkOutcome): void {
    this.leave(active);
    active.request.done(outcome);
    this.startWaiting();
  }

  /** The host gives no socket, for want of descriptors or of the family: that is no device's silence. */
  private endAllOf(family: AddressFamily, error: Error): void {
    const detail = `this worker has no socket to ask from: ${error.message}`;
    for (const active of this.active.filter((one) => one !== undefined)) {
      // Whoever hears of the end of one may cancel another.
      const isUnderWay = this.active[active.place] === active;
      if (isUnderWay && active.family === family) {
        this.follow(active, active.walk.abandon({ code: 'unreachable', detail }));
      }
    }
  }

  private leave(active: ActiveWalk): void {
    this.wheel.cancel(active);
    this.leaveWindow(active);
    this.active[active.place] = undefined;
    this.freePlaces.push(active.place);
    this.busy.delete(active.request.target.session);
  }

  private leaveWindow(active: ActiveWalk): void {
    if (!active.inWindow) return;
    active.inWindow = false;
    this.window -= 1;
  }

  private wake(sleeper: Sleeper): void {
    const active = sleeper as ActiveWalk;
    const now = performance.now();
    if (active.expiresAt > now) {
      this.wheel.set(active, active.expiresAt);
      return;
    }
    this.leaveWindow(active);
    this.follow(active, active.walk.expire(now));
  }

  private keepTicking(): void {
    if (this.ticking !== undefined || this.isClosed) return;
    this.ticking = setTimeout(() => {
      this.ticking = undefined;
      this.blamesLeft = BLAMES_PER_TICK;
      this.wheel.advance(performance.now(), (sleeper) => this.wake(sleeper));
      this.startWaiting();
      if (this.wheel.size > 0 || this.waiting.length > 0) this.keepTicking();
    }, TICK_MILLISECONDS);
  }

  private newRequestId(active: ActiveWalk): number {
    if (this.chanceUsed === this.chance.length) {
      randomFillSync(this.chance);
      this.chanceUsed = 0;
    }
    const random = (this.chance[this.chanceUsed++] as number) & (2 ** RANDOM_BITS - 1);
    const id = (active.place + 1) * 2 ** RANDOM_BITS + random;
    // Never the same twice running: a duplicate of the last answer must not pass for the next.
    active.requestId = id === active.requestId ? id ^ 1 : id;
    return active.requestId;
  }
}

/** The text that the kernel gives this address, so that sources can be compared. */
function canonicalAddress(address: string): string {
  return isIPv6(address) ? new SocketAddress({ address, family: 'ipv6' }).address : address;
}

/** A walk as a promise, with its rows collected by `row` meanwhile. */
export function walkOnce(driver: SnmpDriver, request: Omit<WalkRequest, 'done'>): Promise<WalkOutcome> {
  return new Promise((resolve) => driver.walk({ ...request, done: resolve }));
}

/**
 * One configured peer, without I/O: bytes, events and `now` go in, effects come out. Every method returns what is to
 * be done, in order; the driver does it and reports back. `nextDeadline` says when `expire` wants to be called.
 *
 * A session has one machine of RFC 4271's table, and a second one while a connection that the peer made stands
 * beside the first (§6.8, §8.2.1).
 */
import { BackOff } from './back-off.ts';
import { COLLISION, resolveCollision } from './collision.ts';
import { ConnectionMachine, type EventDetail, type MachineHost } from './connection-machine.ts';
import { type BgpError, bgpError, CEASE_SUBCODE, ERROR_CODE, OPEN_MESSAGE_SUBCODE } from './error.ts';
import type { Family } from './family.ts';
import { EVENT, type State } from './fsm.ts';
import { type ConnectionFailure, connectionFailed } from './last-error.ts';
import { encodeShutdownText } from './notification.ts';
import type { Announcement, Negotiated } from './open.ts';
import { compareSettings, type PeerSettings } from './peer-settings.ts';
import type { Endpoints, Instant, LostInfo, SessionEffect } from './session-effect.ts';
import { SessionMemory } from './session-memory.ts';
import type { SessionReason, SessionStatus } from './session-status.ts';

/** A Cease that somebody asked for. */
export interface Cease {
  /** CEASE_SUBCODE. */
  readonly subcode: number;
  /** For the peer's operator (RFC 9003); only with Administrative Shutdown and Administrative Reset. */
  readonly text?: string;
}

/** What this machine can do with a socket; what it cannot do it does not do without. */
export interface SocketAbilities {
  readonly tcpMd5: boolean;
  readonly ttlSecurity: boolean;
}

/** Why a session that is wanted is not started at all. */
type Hold = 'max-nlri' | 'engine-max-nlri' | 'md5-unsupported' | 'ttl-unsupported';

export class Session implements MachineHost {
  settings: PeerSettings;
  announcement: Announcement = 'full';
  readonly #random: () => number;
  readonly #abilities: SocketAbilities;
  #primary: ConnectionMachine;
  #secondary: ConnectionMachine | undefined = undefined;
  #effects: SessionEffect[] = [];
  #connections = 0;
  /** Whether the session is to run. */
  #wanted = false;
  /** Set while the session stays down until somebody changes something. */
  #held: Hold | undefined = undefined;
  /** Monotonic time of the next start out of Idle. */
  #idleUntil = Infinity;
  readonly #backOff = new BackOff();
  readonly #memory = new SessionMemory();
  /** Wall minus monotonic, to show a deadline as a time of day. */
  #wallOffset = 0;

  /** @param random in [0, 1), for the jitter of RFC 4271 §10. */
  constructor(settings: PeerSettings, random: () => number, abilities: SocketAbilities) {
    this.settings = settings;
    this.#random = random;
    this.#abilities = abilities;
    this.#primary = new ConnectionMachine(this, 'local');
  }

  /** ManualStart. */
  start(now: Instant): SessionEffect[] {
    this.#wallOffset = now.wall - now.monotonic;
    this.#wanted = true;
    this.#held = undefined;
    if (this.#primary.state === 'Idle') this.#begin(now, 'manual');
    this.emit({ kind: 'status' });
    return this.#drain();
  }

  /** ManualStop, with the Cease that says why. */
  stop(cease: Cease, now: Instant): SessionEffect[] {
    this.#wanted = false;
    this.#held = undefined;
    this.#idleUntil = Infinity;
    this.#stopMachines(cease, now);
    this.#memory.beginAnew();
    this.emit({ kind: 'status' });
    return this.#drain();
  }

  /** Administrative reset: Cease 6/4, then a new start as after a first failure. */
  reset(now: Instant): SessionEffect[] {
    if (!this.#wanted) return this.#drain();
    this.#held = undefined;
    this.#backOff.reset();
    this.announcement = 'full';
    this.#stopMachines({ subcode: CEASE_SUBCODE.administrativeReset }, now);
    this.#memory.beginAnew();
    this.#startLater(now);
    return this.#drain();
  }

  /** New settings; a session is only restarted (Cease 6/6) for a member that its OPEN or its connection is made of. */
  update(
    settings: PeerSettings,
    now: Instant,
  ): { effects: SessionEffect[]; outcome: 'unchanged' | 'applied' | 'restarted' } {
    const outcome = compareSettings(this.settings, settings);
    const before = this.settings;
    if (outcome === 'unchanged') return { effects: this.#drain(), outcome };
    if (outcome === 'applied') {
      this.settings = settings;
      if (settings.connectRetrySeconds < before.connectRetrySeconds) this.#shortenRetry(now);
      this.emit({ kind: 'status' });
      return { effects: this.#drain(), outcome };
    }
    // The Cease goes out on the connection of the old settings, the rest happens on the new.
    this.#stopMachines({ subcode: CEASE_SUBCODE.otherConfigurationChange }, now);
    this.settings = settings;
    this.#memory.beginAnew();
    this.#held = undefined;
    this.announcement = 'full';
    this.#backOff.reset();
    if (this.#wanted) this.#startLater(now);
    this.emit({ kind: 'status' });
    return { effects: this.#drain(), outcome };
  }

  /**
   * Something above the session cannot go on: an UPDATE whose NLRIs could not be told apart (an UPDATE Message Error),
   * or a limit (a Cease). With `hold` the session stays down until it is reset, changed or started again.
   */
  fail(error: BgpError, now: Instant, hold?: 'max-nlri' | 'engine-max-nlri'): SessionEffect[] {
    if (this.#primary.state !== 'Established') return this.#drain();
    this.#held = hold;
    const event = error.code === ERROR_CODE.cease ? EVENT.AutomaticStop : EVENT.UpdateMsgErr;
    this.#primary.event(event, now, { error });
    return this.#drain();
  }

  /** RFC 2918: asks the peer for all its routes again. */
  refresh(): { effects: SessionEffect[]; outcome: 'sent' | 'not-established' | 'capability-not-negotiated' } {
    if (this.#primary.state !== 'Established') return { effects: [], outcome: 'not-established' };
    if (!this.#primary.negotiated?.routeRefresh) return { effects: [], outcome: 'capability-not-negotiated' };
    this.#primary.requestRefresh();
    return { effects: this.#drain(), outcome: 'sent' };
  }

  /** A `connect` effect came to a connection. */
  connected(connection: number, endpoints: Endpoints, now: Instant): SessionEffect[] {
    const machine = this.#machineOf(connection);
    if (machine !== undefined) {
      machine.endpoints = endpoints;
      machine.event(EVENT.TcpCrAcked, now);
    }
    return this.#drain();
  }

  /** A connection could not be made, or ended without our doing; `errno` is `''` when the peer closed it. */
  disconnected(connection: number, failure: ConnectionFailure, now: Instant): SessionEffect[] {
    const machine = this.#machineOf(connection);
    if (machine !== undefined) {
      machine.connection = undefined;
      machine.event(EVENT.TcpConnectionFails, now, { failure });
    }
    return this.#drain();
  }

  /**
   * The peer made a connection. It gets a machine of its own where one is already at work, and is closed where the
   * session is Idle (RFC 4271 §8.2.2) or has two connections already.
   * @param connection from `nextConnection`.
   */
  accept(connection: number, endpoints: Endpoints, now: Instant): SessionEffect[] {
    const primary = this.#primary;
    if (!this.#wanted || primary.state === 'Idle' || this.#secondary !== undefined) {
      this.emit({ kind: 'close', connection });
      return this.#drain();
    }
    const machine = new ConnectionMachine(this, 'peer');
    const restarts = primary.negotiated?.gracefulRestart?.families.length ?? 0;
    this.#memory.attempts += 1;
    if (primary.state === 'Active') {
      this.#primary = machine;
    } else if (primary.state === 'Established' && restarts > 0) {
      // RFC 4724 §5: a peer that restarts gracefully comes back without having closed; the old connection is dead.
      this.#primary = machine;
      this.#release(primary);
      this.#lost(primary, {}, 'replaced');
    } else {
      this.#secondary = machine;
    }
    machine.adopt(connection, endpoints, now);
    this.emit({ kind: 'status' });
    return this.#drain();
  }

  /** Octets that arrived on a connection. Views in the effects are of this chunk. */
  receive(connection: number, chunk: Uint8Array, now: Instant): SessionEffect[] {
    this.#machineOf(connection)?.receive(chunk, now);
    return this.#drain();
  }

  /** All that was sent on the connection has been taken by the other side's TCP window (RFC 9687). */
  flushed(connection: number, now: Instant): void {
    this.#machineOf(connection)?.flushed(now);
  }

  /** Monotonic milliseconds at which `expire` has something to do; Infinity when it has not. */
  nextDeadline(): number {
    return Math.min(this.#idleUntil, this.#primary.timers.next(), this.#secondary?.timers.next() ?? Infinity);
  }

  /** Lets the timers expire that are due. */
  expire(now: Instant): SessionEffect[] {
    this.#wallOffset = now.wall - now.monotonic;
    this.#secondary?.expire(now);
    this.#primary.expire(now);
    if (this.#idleUntil <= now.monotonic && this.#primary.state === 'Idle') this.#begin(now, 'automatic');
    return this.#drain();
  }

  /** Octets of unfinished messages that are held. */
  get heldOctets(): number {
    return this.machines.reduce((octets, machine) => octets + machine.heldOctets, 0);
  }

  /** The furthest of its machines' states, as RFC 4271 names it. */
  get state(): State {
    return this.#shown().state;
  }

  status(): SessionStatus {
    const shown = this.#shown();
    const waiting = { reason: this.#reason(shown), nextRetryAt: this.#nextRetryAt(shown) };
    return this.#memory.status(shown, this.settings, waiting);
  }

  /** The machines at work, for tests of what must hold between them. */
  get machines(): readonly ConnectionMachine[] {
    return this.#secondary === undefined ? [this.#primary] : [this.#primary, this.#secondary];
  }

  // What the machines ask of their session.

  random(): number {
    return this.#random();
  }

  nextConnection(): number {
    this.#connections += 1;
    return this.#connections;
  }

  emit(effect: SessionEffect): void {
    if (effect.kind === 'connect') this.#memory.attempts += 1;
    this.#effects.push(effect);
  }

  messageSent(): void {
    this.#memory.messagesSent += 1;
  }

  messageReceived(): void {
    this.#memory.messagesReceived += 1;
  }

  endOfRib(family: Family, now: Instant): void {
    if (this.#memory.endOfRib(family, now)) this.emit({ kind: 'status' });
    this.emit({ kind: 'end-of-rib', family });
  }

  notificationSent(error: BgpError, now: Instant): void {
    this.#memory.notificationSent(error, now);
  }

  unanswered(now: Instant): void {
    this.#memory.noteConnectionFailure(
      connectionFailed({ errno: 'ETIMEDOUT' }, 'Connect', this.settings),
      now,
    );
    this.emit({ kind: 'status' });
  }

  loses(machine: ConnectionMachine, negotiated: Negotiated, now: Instant): boolean {
    const other = this.machines.find((each) => each !== machine);
    if (other === undefined) return false;
    const verdict = resolveCollision(machine, other, negotiated, this.settings);
    if (verdict === 'drop-other') {
      other.event(EVENT.OpenCollisionDump, now, { error: COLLISION });
    }
    return verdict === 'drop-this';
  }

  transitioned(machine: ConnectionMachine, from: State, detail: EventDetail, now: Instant): void {
    this.#noteCause(machine, from, detail, now);
    if (machine.state === 'Established') this.#established(machine, now);
    if (from === 'Established') {
      const since = this.#memory.establishedAt?.monotonic ?? now.monotonic;
      this.#backOff.wasEstablished((now.monotonic - since) / 1000);
      this.#lost(machine, detail);
    }
    if (machine === this.#secondary) {
      if (machine.state === 'Idle' || machine.state === 'Active') this.#secondary = undefined;
    } else if (machine === this.#primary) {
      this.#primaryMoved(machine, from, detail, now);
    }
    this.#memory.lastStateChangeAt = now.wall;
    this.emit({ kind: 'status' });
  }

  // Starting and waiting.

  #begin(now: Instant, how: 'manual' | 'automatic'): void {
    this.#idleUntil = Infinity;
    this.#held = this.#missingAbility();
    if (this.#held !== undefined) return;
    const primary = new ConnectionMachine(this, 'local');
    // What the peer last said stays to be seen while it is dialled again.
    primary.peerOpen = this.#primary.peerOpen;
    primary.sentCapabilities = this.#primary.sentCapabilities;
    this.#primary = primary;
    const active = how === 'manual' ? EVENT.ManualStart : EVENT.AutomaticStart;
    const passive =
      how === 'manual'
        ? EVENT.ManualStartWithPassiveTcpEstablishment
        : EVENT.AutomaticStartWithPassiveTcpEstablishment;
    primary.event(this.settings.passive ? passive : active, now);
  }

  /** Fail closed: a session without the protection that was asked for would look like one with it. */
  #missingAbility(): Hold | undefined {
    if (this.settings.password !== '' && !this.#abilities.tcpMd5) return 'md5-unsupported';
    if (this.settings.ttlSecurityHops > 0 && !this.#abilities.ttlSecurity) return 'ttl-unsupported';
    return undefined;
  }

  #startLater(now: Instant): void {
    this.#held = this.#missingAbility();
    if (this.#held !== undefined) return;
    this.#idleUntil = now.monotonic + this.#backOff.waitMilliseconds(this.#random());
    this.emit({ kind: 'status' });
  }

  #stopMachines(cease: Cease, now: Instant): void {
    const error = bgpError(
      ERROR_CODE.cease,
      cease.subcode,
      cease.text ?? '',
      encodeShutdownText(cease.text ?? ''),
    );
    // Stopping is not failing: no back-off may come of it.
    const wanted = this.#wanted;
    this.#wanted = false;
    this.#secondary?.event(EVENT.ManualStop, now, { error });
    this.#primary.event(EVENT.ManualStop, now, { error });
    this.#wanted = wanted;
  }

  /** After the primary moved: takes the other connection in its place, or waits before the next start. */
  #primaryMoved(machine: ConnectionMachine, from: State, detail: EventDetail, now: Instant): void {
    const fell = machine.state === 'Idle' || (machine.state === 'Active' && from !== 'Idle');
    if (!fell) return;
    if (this.#secondary !== undefined && this.#secondary.state !== 'Idle') {
      this.#release(machine);
      this.#primary = this.#secondary;
      this.#secondary = undefined;
      return;
    }
    if (machine.state === 'Idle' && this.#wanted && this.#held === undefined) {
      const refusedCapability =
        detail.notification?.code === ERROR_CODE.openMessageError &&
        detail.notification.subcode === OPEN_MESSAGE_SUBCODE.unsupportedCapability;
      if (refusedCapability) this.announcement = this.announcement === 'full' ? 'reduced' : 'full';
      this.#startLater(now);
      this.#backOff.failed(this.settings.connectRetrySeconds);
    }
  }

  #shortenRetry(now: Instant): void {
    const longest = now.monotonic + this.settings.connectRetrySeconds * 1000;
    const { deadlines } = this.#primary.timers;
    if (deadlines.ConnectRetryTimer !== Infinity) {
      deadlines.ConnectRetryTimer = Math.min(deadlines.ConnectRetryTimer, longest);
    }
    if (this.#idleUntil !== Infinity) this.#idleUntil = Math.min(this.#idleUntil, longest);
  }

  // Established and lost.

  #established(machine: ConnectionMachine, now: Instant): void {
    const negotiated = machine.negotiated as Negotiated;
    this.#memory.established(negotiated.families, now);
    const other = this.machines.find((each) => each !== machine);
    if (other !== undefined) {
      this.#primary = machine;
      this.#secondary = undefined;
      // A dial that is still under way is given up; a connection that has sent OPEN is told why.
      other.event(EVENT.OpenCollisionDump, now, { error: COLLISION });
    }
    this.emit({
      kind: 'established',
      info: { negotiated, capabilitiesReceived: machine.peerOpen?.capabilities ?? [] },
    });
    machine.sendEndOfRibs();
  }

  #lost(machine: ConnectionMachine, detail: EventDetail, cause?: LostInfo['cause']): void {
    this.#memory.lost();
    const notification = detail.notification;
    const restart = machine.negotiated?.gracefulRestart;
    this.emit({
      kind: 'lost',
      info: {
        cause: cause ?? causeOf(detail),
        notification: notification ?? detail.error,
        hardReset:
          notification?.code === ERROR_CODE.cease && notification.subcode === CEASE_SUBCODE.hardReset,
        peerGracefulRestart:
          restart === undefined ? undefined : { restartTimeSeconds: restart.restartTimeSeconds },
      },
    });
  }

  #release(machine: ConnectionMachine): void {
    if (machine.connection !== undefined) this.emit({ kind: 'close', connection: machine.connection });
    machine.connection = undefined;
  }

  // Errors and what is shown.

  #noteCause(machine: ConnectionMachine, from: State, detail: EventDetail, now: Instant): void {
    const { notification, failure } = detail;
    if (notification !== undefined) this.#memory.notificationReceived(notification, this.settings, now);
    if (failure !== undefined && machine === this.#primary) {
      const sentence = connectionFailed(failure, from, this.settings);
      if (from === 'Established') this.#memory.noteError(sentence, now);
      else this.#memory.noteConnectionFailure(sentence, now);
    }
  }

  #reason(shown: ConnectionMachine): SessionReason {
    if (this.#held !== undefined) return this.#held;
    if (!this.#wanted) return 'disabled';
    if (shown.state === 'Active' && this.settings.passive) return 'passive-waiting';
    if (shown.state === 'Idle' || shown.state === 'Active') return 'waiting-retry';
    return '';
  }

  #nextRetryAt(shown: ConnectionMachine): number | null {
    const deadline =
      shown.state === 'Idle'
        ? this.#idleUntil
        : shown.state === 'Active'
          ? shown.timers.deadlines.ConnectRetryTimer
          : Infinity;
    return deadline === Infinity ? null : Math.round(deadline + this.#wallOffset);
  }

  #shown(): ConnectionMachine {
    const [primary, secondary] = this.machines as [ConnectionMachine, ConnectionMachine | undefined];
    return secondary !== undefined && RANK[secondary.state] > RANK[primary.state] ? secondary : primary;
  }

  #machineOf(connection: number): ConnectionMachine | undefined {
    return this.machines.find((machine) => machine.connection === connection);
  }

  #drain(): SessionEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}

const RANK: Record<State, number> = {
  Idle: 0,
  Active: 1,
  Connect: 2,
  OpenSent: 3,
  OpenConfirm: 4,
  Established: 5,
};

function causeOf(detail: EventDetail): LostInfo['cause'] {
  if (detail.notification !== undefined) return 'notification-received';
  return detail.failure === undefined ? 'notification-sent' : 'connection-lost';
}

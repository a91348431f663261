import type { Socket } from 'node:net';
import type { BgpError } from '../../protocols/bgp/error.ts';
import type { Family } from '../../protocols/bgp/family.ts';
import type { PeerSettings } from '../../protocols/bgp/peer-settings.ts';
import { type Cease, Session } from '../../protocols/bgp/session.ts';
import type {
  EstablishedInfo,
  Instant,
  LostInfo,
  SessionEffect,
} from '../../protocols/bgp/session-effect.ts';
import { applyInput, type InputResult, type SessionInput } from '../../protocols/bgp/session-input.ts';
import type { SessionStatus } from '../../protocols/bgp/session-status.ts';
import type { LinkStateUpdate } from '../../protocols/bgp/update.ts';
import { abilities } from './abilities.ts';
import type { SessionRecorder } from './session-recorder.ts';
import { socketOptions } from './socket-options.ts';
import { endpointsOf, TcpConnection, type TcpConnectionEvents } from './tcp-connection.ts';

/** What a driver needs, and whom it tells. */
export interface PeerDriverPorts {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that never jumps. */
  monotonic(): number;
  /** In [0, 1). */
  random(): number;
  /** Whether this worker may still act for the peer; when not, the driver falls silent for good. */
  mayAct(): boolean;
  /** Where the session's inputs are written to, when somebody asked for it. */
  readonly recorder?: SessionRecorder | undefined;
  /** Something in `status()` changed that should be published soon. */
  onStatus(): void;
  /** All octets are views that are overwritten after the call. */
  onUpdate(update: LinkStateUpdate): void;
  /** RFC 7606 §6: an UPDATE with something wrong in it, and what; `onUpdate` has what is left of it. */
  onMalformedUpdate(octets: Uint8Array, problems: readonly BgpError[]): void;
  onEndOfRib(family: Family): void;
  onEstablished(info: EstablishedInfo): void;
  onSessionLost(info: LostInfo): void;
  /** RFC 7313: the peer begins to send all its routes of the family again. */
  onRouteRefreshBegin(family: Family): void;
  /** RFC 7313: what was not sent since the beginning is gone. */
  onRouteRefreshEnd(family: Family): void;
}

/** The sockets and the timer of one peer's session. It decides nothing: `Session` does. */
export class PeerDriver {
  readonly #session: Session;
  readonly #ports: PeerDriverPorts;
  readonly #connections = new Map<number, TcpConnection>();
  readonly #closing = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined = undefined;
  #timerDueAt = Infinity;
  /** Effects still to be carried out; one may raise others. */
  #queue: SessionEffect[] = [];
  #next = 0;
  #isRunning = false;
  #isAbandoned = false;
  /** Random numbers that the input at hand has used up, for the recording. */
  #drawn: number[] = [];

  constructor(settings: PeerSettings, ports: PeerDriverPorts) {
    this.#ports = ports;
    this.#session = new Session(settings, () => this.#random(), abilities());
  }

  start(): void {
    this.#run(this.#apply({ kind: 'start' }).effects);
  }

  /** Resolves once the Cease has left, or after a second. A recording ends with it. */
  async stop(cease: Cease): Promise<void> {
    this.#interrupt(this.#apply({ kind: 'stop', cease }).effects);
    await Promise.all([...this.#closing, this.#ports.recorder?.close()]);
  }

  /**
   * Closes every socket without a word and does nothing any more: another worker speaks with the peer by now, and
   * what this one would say, or tell of the session, would be false.
   */
  abandon(): void {
    this.#isAbandoned = true;
    this.#queue = [];
    clearTimeout(this.#timer);
    for (const tcp of this.#connections.values()) tcp.abort();
    this.#connections.clear();
  }

  /** Restarts the session only for a member that its OPEN or its connection is made of. */
  update(settings: PeerSettings): 'unchanged' | 'applied' | 'restarted' {
    const { effects, outcome } = this.#apply({ kind: 'update', settings });
    if (outcome === 'restarted') this.#interrupt(effects);
    else this.#run(effects);
    return outcome;
  }

  /** Cease 6/4, then a new start. */
  reset(): void {
    this.#interrupt(this.#apply({ kind: 'reset' }).effects);
  }

  /** A connection that the peer made, from the listener. Its TCP-MD5 key, if any, is the listener's. */
  accept(socket: Socket): void {
    if (!this.#secure(socket)) {
      socket.destroy();
      return;
    }
    const connection = this.#session.nextConnection();
    this.#connections.set(connection, TcpConnection.adopt(socket, this.#eventsOf(connection)));
    this.#run(this.#apply({ kind: 'accept', connection, endpoints: endpointsOf(socket) }).effects);
  }

  refresh(): 'sent' | 'not-established' | 'capability-not-negotiated' {
    const { effects, outcome } = this.#apply({ kind: 'refresh' });
    this.#run(effects);
    return outcome;
  }

  /** What is above the session cannot go on; with `hold` it stays down until reset, changed or started again. */
  fail(error: BgpError, hold?: 'max-nlri' | 'engine-max-nlri'): void {
    this.#interrupt(this.#apply({ kind: 'fail', error, hold }).effects);
  }

  status(): SessionStatus {
    return this.#session.status();
  }

  /** The one way into the session, so that a recording misses nothing. */
  #apply<const Input extends SessionInput>(input: Input): InputResult<Input> {
    const now = this.#now();
    const { recorder } = this.#ports;
    this.#drawn = [];
    const result = applyInput(this.#session, input, now);
    recorder?.record({ input, now, random: this.#drawn });
    return result;
  }

  #random(): number {
    const number = this.#ports.random();
    this.#drawn.push(number);
    return number;
  }

  /** As `run`, for what was asked from above: routes of the session that it may end are no longer wanted. */
  #interrupt(effects: readonly SessionEffect[]): void {
    this.#queue = this.#queue.slice(this.#next).filter((effect) => !ROUTE_EFFECTS.has(effect.kind));
    this.#next = 0;
    this.#run(effects);
  }

  #run(effects: readonly SessionEffect[]): void {
    // Asked before any effect: the process may have been stopped for longer than its ownership lasts.
    if (this.#isAbandoned || !this.#ports.mayAct()) {
      this.abandon();
      return;
    }
    for (const effect of effects) this.#queue.push(effect);
    if (this.#isRunning) return;
    this.#isRunning = true;
    let statusChanged = false;
    for (this.#next = 0; this.#next < this.#queue.length; ) {
      const effect = this.#queue[this.#next++] as SessionEffect;
      if (effect.kind === 'status') statusChanged = true;
      else this.#carryOut(effect);
    }
    this.#queue = [];
    this.#isRunning = false;
    this.#arm();
    if (statusChanged) this.#ports.onStatus();
  }

  #carryOut(effect: Exclude<SessionEffect, { kind: 'status' }>): void {
    switch (effect.kind) {
      case 'connect':
        this.#dial(effect.connection);
        return;
      case 'send':
        this.#connections.get(effect.connection)?.send(effect.octets);
        return;
      case 'close':
        this.#close(effect.connection);
        return;
      case 'established':
        this.#ports.onEstablished(effect.info);
        return;
      case 'update':
        this.#ports.onUpdate(effect.update);
        return;
      case 'malformed-update':
        this.#ports.onMalformedUpdate(effect.octets, effect.problems);
        return;
      case 'end-of-rib':
        this.#ports.onEndOfRib(effect.family);
        return;
      case 'route-refresh-begin':
        this.#ports.onRouteRefreshBegin(effect.family);
        return;
      case 'route-refresh-end':
        this.#ports.onRouteRefreshEnd(effect.family);
        return;
      case 'lost':
        this.#ports.onSessionLost(effect.info);
        return;
    }
  }

  /**
   * The TTLs of a connection that is there already; false where security was asked for and cannot be had. What came
   * before is heard, an OPEN at most: the KEEPALIVE that makes a session of it has to come from near enough.
   */
  #secure(socket: Socket): boolean {
    const { peerAddress, ttlSecurityHops } = this.#session.settings;
    const descriptor = descriptorOf(socket);
    const options = socketOptions();
    if (descriptor === undefined || options === undefined) return ttlSecurityHops === 0;
    return options.setTtlSecurity(descriptor, peerAddress, ttlSecurityHops) === '';
  }

  #dial(connection: number): void {
    const { peerAddress, peerPort, localAddress, password, ttlSecurityHops } = this.#session.settings;
    const target = { address: peerAddress, port: peerPort, localAddress, password, ttlSecurityHops };
    this.#connections.set(connection, TcpConnection.dial(target, this.#eventsOf(connection)));
  }

  #eventsOf(connection: number): TcpConnectionEvents {
    return {
      connected: (endpoints) => this.#run(this.#apply({ kind: 'connected', connection, endpoints }).effects),
      received: (octets) => this.#run(this.#apply({ kind: 'receive', connection, octets }).effects),
      flushed: () => this.#apply({ kind: 'flushed', connection }),
      disconnected: (errno) => {
        this.#connections.delete(connection);
        this.#run(this.#apply({ kind: 'disconnected', connection, failure: { errno } }).effects);
      },
    };
  }

  #close(connection: number): void {
    const tcp = this.#connections.get(connection);
    if (tcp === undefined) return;
    this.#connections.delete(connection);
    const closing = tcp.close();
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }

  /** One timer for all of the session's deadlines; one that fires early only arms itself again. */
  #arm(): void {
    const dueAt = this.#session.nextDeadline();
    if (dueAt === Infinity) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#timerDueAt = Infinity;
      return;
    }
    if (this.#timer !== undefined && this.#timerDueAt <= dueAt) return;
    clearTimeout(this.#timer);
    this.#timerDueAt = dueAt;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        // After a stall the sockets' octets are read before the hold timer is asked: they may have come in time.
        setImmediate(() => this.#run(this.#apply({ kind: 'expire' }).effects));
      },
      Math.max(0, Math.ceil(dueAt - this.#ports.monotonic())),
    );
  }

  #now(): Instant {
    return { wall: this.#ports.now(), monotonic: this.#ports.monotonic() };
  }
}

const ROUTE_EFFECTS: ReadonlySet<SessionEffect['kind']> = new Set([
  'update',
  'malformed-update',
  'end-of-rib',
  'route-refresh-begin',
  'route-refresh-end',
]);

/** Node has no public way to a socket's descriptor. Undefined, and so refused, should the private one go away. */
function descriptorOf(socket: Socket): number | undefined {
  const { _handle: handle } = socket as unknown as { _handle?: { fd?: number } };
  return handle?.fd !== undefined && handle.fd >= 0 ? handle.fd : undefined;
}

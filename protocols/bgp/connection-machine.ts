import { announces, CAPABILITY, type Capability } from './capability.ts';
import { COLLISION } from './collision.ts';
import { type BgpError, bgpError, ERROR_CODE, FSM_SUBCODE, OPEN_MESSAGE_SUBCODE } from './error.ts';
import { type Family, includesFamily } from './family.ts';
import { EVENT, type EventNumber, type FsmEffect, nameEvent, type State, step } from './fsm.ts';
import {
  EXTENDED_MAXIMUM_MESSAGE_LENGTH,
  MAXIMUM_MESSAGE_LENGTH,
  MESSAGE_TYPE,
  nameMessage,
} from './header.ts';
import { parseIdentifier } from './identifier.ts';
import { encodeKeepalive } from './keepalive.ts';
import { type ConnectionFailure, holdTimerExpired } from './last-error.ts';
import { decodeNotification, encodeNotification, type Notification } from './notification.ts';
import {
  type Announcement,
  decodeOpen,
  encodeOpen,
  type Negotiated,
  type Open,
  openFor,
  validateOpen,
} from './open.ts';
import type { PeerSettings } from './peer-settings.ts';
import { ReceiveBuffer, type ReceivedMessage, viewOf } from './receive-buffer.ts';
import { decodeRouteRefresh, encodeRouteRefresh, ROUTE_REFRESH_SUBTYPE } from './route-refresh.ts';
import type { Endpoints, Instant, SessionEffect } from './session-effect.ts';
import { type DecodedUpdate, decodeUpdate, encodeEndOfRib, type UpdateContext } from './update.ts';

/** RFC 4271 §8.2.2: "a HoldTimer value of 4 minutes is suggested" while the peer's OPEN is awaited. */
export const LARGE_HOLD_TIME_SECONDS = 240;
/** RFC 9687 §6: the greater of 8 minutes and twice the hold time. */
const LEAST_SEND_HOLD_TIME_SECONDS = 480;
/** RFC 4271 §10: each timer that is jittered runs for 0.75 to 1.0 of its time. */
const LEAST_JITTER = 0.75;
/** RFC 4271 §4.4: "KEEPALIVE messages MUST NOT be sent more frequently than one per second", jitter included. */
const LEAST_KEEPALIVE_INTERVAL_MILLISECONDS = 1_000;

export const TIMERS = ['ConnectRetryTimer', 'HoldTimer', 'KeepaliveTimer', 'SendHoldTimer'] as const;
export type Timer = (typeof TIMERS)[number];

const EXPIRY: Record<Timer, EventNumber> = {
  ConnectRetryTimer: EVENT.ConnectRetryTimerExpires,
  HoldTimer: EVENT.HoldTimerExpires,
  KeepaliveTimer: EVENT.KeepaliveTimerExpires,
  SendHoldTimer: EVENT.SendHoldTimerExpires,
};

/** What comes with an event: the error to send, the OPEN or UPDATE that was received. */
export interface EventDetail {
  readonly error?: BgpError;
  readonly notification?: Notification;
  readonly negotiated?: Negotiated;
  readonly open?: Open;
  readonly update?: DecodedUpdate;
  /** Where it is not the one that the event is named for: ROUTE-REFRESH, which RFC 4271 has no event for. */
  readonly messageType?: number;
  /** Why TCP failed. */
  readonly failure?: ConnectionFailure;
}

/** What a machine needs of its session. */
export interface MachineHost {
  readonly settings: PeerSettings;
  readonly announcement: Announcement;
  /** In [0, 1). */
  random(): number;
  nextConnection(): number;
  emit(effect: SessionEffect): void;
  /** A message left or came; NOTIFICATIONs are kept for the status. */
  messageSent(): void;
  messageReceived(): void;
  notificationSent(error: BgpError, now: Instant): void;
  endOfRib(family: Family, now: Instant): void;
  /** A connection that was dialled is given up because nothing answered. */
  unanswered(now: Instant): void;
  /** Whether this OPEN's connection must yield to another one of the same peer (RFC 4271 §6.8). */
  loses(machine: ConnectionMachine, negotiated: Negotiated, now: Instant): boolean;
  transitioned(machine: ConnectionMachine, from: State, detail: EventDetail, now: Instant): void;
}

/** The machine of one TCP connection: RFC 4271's table, its timers, and the messages that raise its events. */
export class ConnectionMachine {
  readonly #host: MachineHost;
  state: State = 'Idle';
  /** The TCP connection, or the attempt to make one; undefined when there is neither. */
  connection: number | undefined = undefined;
  endpoints: Endpoints | undefined = undefined;
  /** Who made the TCP connection, which decides collisions. */
  readonly origin: 'local' | 'peer';
  negotiated: Negotiated | undefined = undefined;
  peerOpen: Open | undefined = undefined;
  sentCapabilities: readonly Capability[] = [];
  connectRetryCounter = 0;
  /** Monotonic milliseconds at which each timer expires; Infinity while it does not run. */
  readonly deadlines: Record<Timer, number> = {
    ConnectRetryTimer: Infinity,
    HoldTimer: Infinity,
    KeepaliveTimer: Infinity,
    SendHoldTimer: Infinity,
  };
  readonly #buffer = new ReceiveBuffer();
  /** Families that the peer has told all of, and those that it is telling once more (RFC 4724 §2, RFC 7313 §4). */
  readonly #ended: Family[] = [];
  #refreshing: readonly Family[] = [];
  #updateContext: UpdateContext | undefined = undefined;

  constructor(host: MachineHost, origin: 'local' | 'peer') {
    this.#host = host;
    this.origin = origin;
  }

  /** Octets of an unfinished message that are held. */
  get heldOctets(): number {
    return this.#buffer.heldOctets;
  }

  nextDeadline(): number {
    const { ConnectRetryTimer, HoldTimer, KeepaliveTimer, SendHoldTimer } = this.deadlines;
    return Math.min(ConnectRetryTimer, HoldTimer, KeepaliveTimer, SendHoldTimer);
  }

  /** Raises the event of each timer that is due, the most overdue first. */
  expire(now: Instant): void {
    for (;;) {
      const due = TIMERS.filter((timer) => this.deadlines[timer] <= now.monotonic).sort(
        (one, other) => this.deadlines[one] - this.deadlines[other],
      )[0];
      if (due === undefined) return;
      this.deadlines[due] = Infinity;
      if (due === 'ConnectRetryTimer' && this.state === 'Connect') this.#host.unanswered(now);
      this.event(EXPIRY[due], now);
    }
  }

  /** A TCP connection that the peer made. */
  adopt(connection: number, endpoints: Endpoints, now: Instant): void {
    this.state = 'Active';
    this.connection = connection;
    this.endpoints = endpoints;
    this.event(EVENT.TcpConnectionConfirmed, now);
  }

  /** What was sent so far has left this host. */
  flushed(now: Instant): void {
    if (this.deadlines.SendHoldTimer !== Infinity) this.#start('SendHoldTimer', now);
  }

  /** Octets from the peer, in any pieces. */
  receive(chunk: Uint8Array, now: Instant): void {
    const { connection } = this;
    this.#buffer.append(chunk);
    // A message may end the connection; what follows it in the chunk is then nobody's.
    while (this.connection === connection && connection !== undefined) {
      const message = this.#buffer.next(this.#receiveLimit());
      if (message === undefined) return;
      if ('code' in message) {
        this.event(EVENT.BgpHeaderErr, now, { error: message });
        return;
      }
      this.#host.messageReceived();
      this.#message(message, now);
    }
  }

  /** Sends one ROUTE-REFRESH for each agreed family (RFC 2918 §4). */
  requestRefresh(): void {
    for (const family of this.negotiated?.families ?? []) {
      this.#send(encodeRouteRefresh({ ...family, subtype: ROUTE_REFRESH_SUBTYPE.request }));
    }
  }

  /** One step of the table with its effects. */
  event(event: EventNumber, now: Instant, detail: EventDetail = {}): void {
    const from = this.state;
    const { next, effects } = step(from, event);
    for (const effect of effects) this.#run(effect, event, from, detail, now);
    this.state = next;
    if (next !== from) this.#host.transitioned(this, from, detail, now);
  }

  #message(message: ReceivedMessage, now: Instant): void {
    switch (message.type) {
      case MESSAGE_TYPE.open:
        this.#open(viewOf(message), now);
        return;
      case MESSAGE_TYPE.update:
        this.#update(message, now);
        return;
      case MESSAGE_TYPE.notification:
        this.#notification(viewOf(message), now);
        return;
      case MESSAGE_TYPE.keepalive:
        this.event(EVENT.KeepAliveMsg, now);
        return;
      case MESSAGE_TYPE.routeRefresh:
        this.#routeRefresh(viewOf(message), now);
        return;
    }
  }

  #open(octets: Uint8Array, now: Instant): void {
    // Outside OpenSent no OPEN is expected, and what it says makes no difference.
    if (this.state !== 'OpenSent') {
      this.event(EVENT.BgpOpen, now);
      return;
    }
    const open = decodeOpen(octets);
    if ('code' in open) {
      this.event(EVENT.BgpOpenMsgErr, now, { error: open });
      return;
    }
    this.peerOpen = open;
    const negotiated = validateOpen(open, this.#host.settings, this.sentCapabilities);
    if ('code' in negotiated) {
      this.event(EVENT.BgpOpenMsgErr, now, { error: negotiated });
      return;
    }
    if (this.#host.loses(this, negotiated, now)) {
      this.event(EVENT.OpenCollisionDump, now, { error: COLLISION });
      return;
    }
    this.negotiated = negotiated;
    const { settings } = this.#host;
    this.#updateContext = {
      families: negotiated.families,
      internal: negotiated.internal,
      fourOctetAs: negotiated.fourOctetAs,
      localAs: settings.localAs,
      localIdentifier: parseIdentifier(settings.localIdentifier) ?? 0,
    };
    this.event(EVENT.BgpOpen, now, { open, negotiated });
  }

  #update(message: ReceivedMessage, now: Instant): void {
    if (this.state !== 'Established' || this.#updateContext === undefined) {
      this.event(EVENT.UpdateMsg, now);
      return;
    }
    const { octets, start, end } = message;
    const update = decodeUpdate(octets, this.#updateContext, start, end);
    if (isMalformed(update)) {
      this.#host.emit({ kind: 'malformed-update', octets: viewOf(message), problems: problemsOf(update) });
    }
    if (update.kind === 'error') {
      this.event(EVENT.UpdateMsgErr, now, { error: update.error });
      return;
    }
    this.event(EVENT.UpdateMsg, now, { update });
  }

  #notification(octets: Uint8Array, now: Instant): void {
    const notification = decodeNotification(octets);
    const isVersionError =
      notification.code === ERROR_CODE.openMessageError &&
      notification.subcode === OPEN_MESSAGE_SUBCODE.unsupportedVersionNumber;
    this.event(isVersionError ? EVENT.NotifMsgVerErr : EVENT.NotifMsg, now, { notification });
  }

  /** RFC 4271 has no event for ROUTE-REFRESH. Before Established it is as unexpected as an UPDATE (RFC 6608 §4). */
  #routeRefresh(octets: Uint8Array, now: Instant): void {
    const { negotiated } = this;
    if (this.state !== 'Established' || negotiated === undefined) {
      this.event(EVENT.UpdateMsg, now, { messageType: MESSAGE_TYPE.routeRefresh });
      return;
    }
    const refresh = decodeRouteRefresh(octets);
    if ('code' in refresh) {
      // RFC 7313 §5 sends it an error only where enhanced route refresh was agreed on.
      if (negotiated.enhancedRouteRefresh) this.event(EVENT.UpdateMsgErr, now, { error: refresh });
      return;
    }
    if (!includesFamily(negotiated.families, refresh)) return;
    const family = { afi: refresh.afi, safi: refresh.safi };
    switch (refresh.subtype) {
      case ROUTE_REFRESH_SUBTYPE.request:
        this.#answerRefresh(family);
        return;
      case ROUTE_REFRESH_SUBTYPE.beginningOfRouteRefresh:
        if (negotiated.enhancedRouteRefresh) this.#refreshBegins(family, negotiated);
        return;
      case ROUTE_REFRESH_SUBTYPE.endOfRouteRefresh:
        this.#refreshEnds(family);
        return;
    }
  }

  /** RFC 7313 §4: before the End-of-RIB of a peer with graceful restart a beginning is ignored. */
  #refreshBegins(family: Family, { gracefulRestart }: Negotiated): void {
    if (gracefulRestart !== undefined && !includesFamily(this.#ended, family)) return;
    if (!includesFamily(this.#refreshing, family)) this.#refreshing = [...this.#refreshing, family];
    this.#host.emit({ kind: 'route-refresh-begin', family });
  }

  /** An end without a beginning says nothing of the routes that were not told (RFC 7313 §4: it may be ignored). */
  #refreshEnds(family: Family): void {
    if (!includesFamily(this.#refreshing, family)) return;
    this.#refreshing = this.#refreshing.filter(({ afi, safi }) => afi !== family.afi || safi !== family.safi);
    this.#host.emit({ kind: 'route-refresh-end', family });
  }

  /** We have nothing to tell again, and say so when the peer has learned to hear it (RFC 7313 §4). */
  #answerRefresh(family: Family): void {
    if (!this.negotiated?.enhancedRouteRefresh) return;
    this.#send(encodeRouteRefresh({ ...family, subtype: ROUTE_REFRESH_SUBTYPE.beginningOfRouteRefresh }));
    this.#send(encodeRouteRefresh({ ...family, subtype: ROUTE_REFRESH_SUBTYPE.endOfRouteRefresh }));
  }

  #run(effect: FsmEffect, event: EventNumber, from: State, detail: EventDetail, now: Instant): void {
    switch (effect) {
      case 'connect':
        this.connection = this.#host.nextConnection();
        this.#host.emit({ kind: 'connect', connection: this.connection });
        return;
      case 'send OPEN':
        this.#sendOpen();
        return;
      case 'send KEEPALIVE':
        this.#send(encodeKeepalive());
        return;
      case 'send NOTIFICATION Cease':
        this.#sendNotification(detail.error ?? bgpError(ERROR_CODE.cease, 0, 'stopped'), now);
        return;
      case 'send NOTIFICATION error':
        this.#sendNotification(
          detail.error ?? bgpError(ERROR_CODE.openMessageError, 0, nameEvent(event)),
          now,
        );
        return;
      case 'send NOTIFICATION Hold Timer Expired': {
        const text = holdTimerExpired(from, this.negotiated?.holdTimeSeconds ?? 0);
        this.#sendNotification(bgpError(ERROR_CODE.holdTimerExpired, 0, text), now);
        return;
      }
      case 'send NOTIFICATION FSM Error':
        this.#sendNotification(unexpected(event, from, detail.messageType), now);
        return;
      case 'send NOTIFICATION Send Hold Timer Expired':
        this.#sendNotification(
          bgpError(ERROR_CODE.sendHoldTimerExpired, 0, 'the peer has stopped reading what we send'),
          now,
        );
        return;
      case 'start ConnectRetryTimer':
        this.#start('ConnectRetryTimer', now);
        return;
      case 'stop ConnectRetryTimer':
        this.deadlines.ConnectRetryTimer = Infinity;
        return;
      case 'start HoldTimer large':
        this.deadlines.HoldTimer = now.monotonic + LARGE_HOLD_TIME_SECONDS * 1000;
        return;
      case 'start HoldTimer':
        this.#start('HoldTimer', now);
        return;
      case 'start KeepaliveTimer':
        this.#start('KeepaliveTimer', now);
        return;
      case 'start SendHoldTimer':
        this.#start('SendHoldTimer', now);
        return;
      case 'zero ConnectRetryCounter':
        this.connectRetryCounter = 0;
        return;
      case 'increment ConnectRetryCounter':
        this.connectRetryCounter += 1;
        return;
      case 'process UPDATE':
        this.#process(detail.update, now);
        return;
      case 'delete routes':
        // The session tells its driver in `transitioned`, where the cause is known.
        return;
      case 'release resources':
        this.deadlines.HoldTimer = Infinity;
        this.deadlines.KeepaliveTimer = Infinity;
        this.deadlines.SendHoldTimer = Infinity;
        this.#buffer.clear();
        return;
      case 'drop connection':
        if (this.connection !== undefined) this.#host.emit({ kind: 'close', connection: this.connection });
        this.connection = undefined;
        return;
    }
  }

  /** Each timer's time, RFC 4271 §10; hold and send hold timers are not jittered. */
  #start(timer: Timer, now: Instant): void {
    const { settings } = this.#host;
    const holdTime = this.negotiated?.holdTimeSeconds ?? 0;
    switch (timer) {
      case 'ConnectRetryTimer':
        // A passive peer is never dialled, so there is nothing for this timer to start.
        if (settings.passive) return;
        this.deadlines[timer] = now.monotonic + this.#jittered(settings.connectRetrySeconds);
        return;
      case 'HoldTimer':
        this.deadlines[timer] = holdTime === 0 ? Infinity : now.monotonic + holdTime * 1000;
        return;
      case 'KeepaliveTimer': {
        const seconds = keepaliveTimeSeconds(settings, holdTime);
        const interval = Math.max(this.#jittered(seconds), LEAST_KEEPALIVE_INTERVAL_MILLISECONDS);
        this.deadlines[timer] = seconds === 0 ? Infinity : now.monotonic + interval;
        return;
      }
      case 'SendHoldTimer':
        this.deadlines[timer] =
          holdTime === 0
            ? Infinity
            : now.monotonic + Math.max(LEAST_SEND_HOLD_TIME_SECONDS, 2 * holdTime) * 1000;
        return;
    }
  }

  #jittered(seconds: number): number {
    return seconds * 1000 * (LEAST_JITTER + (1 - LEAST_JITTER) * this.#host.random());
  }

  #process(update: DecodedUpdate | undefined, now: Instant): void {
    if (update?.kind === 'end-of-rib') {
      if (!includesFamily(this.#ended, update.family)) this.#ended.push(update.family);
      this.#host.endOfRib(update.family, now);
    }
    if (update?.kind !== 'routes') return;
    for (const each of update.updates) this.#host.emit({ kind: 'update', update: each });
  }

  /** Establishing is the session's news; the markers that we have nothing to tell (RFC 4724 §2) go out with it. */
  sendEndOfRibs(): void {
    if (this.negotiated?.gracefulRestart === undefined) return;
    for (const family of this.negotiated.families) this.#send(encodeEndOfRib(family));
  }

  #sendOpen(): void {
    const open = openFor(this.#host.settings, this.#host.announcement);
    this.sentCapabilities = open.capabilities;
    this.#send(encodeOpen(open));
  }

  #sendNotification(error: BgpError, now: Instant): void {
    const limit = this.negotiated?.extendedMessage ? EXTENDED_MAXIMUM_MESSAGE_LENGTH : MAXIMUM_MESSAGE_LENGTH;
    this.#send(encodeNotification(error, limit));
    this.#host.notificationSent(error, now);
  }

  #send(octets: Uint8Array): void {
    if (this.connection === undefined) return;
    this.#host.messageSent();
    this.#host.emit({ kind: 'send', connection: this.connection, octets });
  }

  /** RFC 8654 §4: what we announced to accept, we accept, once the OPENs are over. */
  #receiveLimit(): number {
    const extended =
      this.negotiated !== undefined && announces(this.sentCapabilities, CAPABILITY.extendedMessage);
    return extended ? EXTENDED_MAXIMUM_MESSAGE_LENGTH : MAXIMUM_MESSAGE_LENGTH;
  }
}

/** RFC 4271 §4.4 and §10: no more than a third of the hold time; 0 is no KEEPALIVEs at all. */
export function keepaliveTimeSeconds(settings: PeerSettings, holdTimeSeconds: number): number {
  const third = holdTimeSeconds / 3;
  return settings.keepaliveTimeSeconds === 0 ? third : Math.min(settings.keepaliveTimeSeconds, third);
}

function isMalformed(update: DecodedUpdate): boolean {
  if (update.kind !== 'routes') return update.kind === 'error';
  for (const { problems } of update.updates) if (problems.length > 0) return true;
  return false;
}

/** Everything that is wrong with an UPDATE, whatever follows from it. */
function problemsOf(update: DecodedUpdate): readonly BgpError[] {
  if (update.kind === 'error') return [update.error];
  if (update.kind === 'end-of-rib') return [];
  return update.updates.flatMap(({ problems }) => problems.map(({ error }) => error));
}

/** RFC 6608 §4: the subcode names the state, the data is the type of the message. */
function unexpected(event: EventNumber, state: State, messageType: number | undefined): BgpError {
  const type = messageType ?? MESSAGE_OF_EVENT[event];
  const subcode =
    state === 'OpenSent'
      ? FSM_SUBCODE.openSent
      : state === 'OpenConfirm'
        ? FSM_SUBCODE.openConfirm
        : FSM_SUBCODE.established;
  return type === undefined
    ? bgpError(ERROR_CODE.finiteStateMachineError, FSM_SUBCODE.unspecified, `${nameEvent(event)} in ${state}`)
    : bgpError(
        ERROR_CODE.finiteStateMachineError,
        subcode,
        `the peer sent ${nameMessage(type)} in ${state}`,
        Uint8Array.of(type),
      );
}

const MESSAGE_OF_EVENT: Partial<Record<EventNumber, number>> = {
  [EVENT.BgpOpen]: MESSAGE_TYPE.open,
  [EVENT.BgpOpenMsgErr]: MESSAGE_TYPE.open,
  [EVENT.KeepAliveMsg]: MESSAGE_TYPE.keepalive,
  [EVENT.UpdateMsg]: MESSAGE_TYPE.update,
  [EVENT.UpdateMsgErr]: MESSAGE_TYPE.update,
};

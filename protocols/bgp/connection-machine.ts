import { announces, CAPABILITY, type Capability } from './capability.ts';
import { COLLISION } from './collision.ts';
import { ConnectionTimers, EXPIRY, type Timer } from './connection-timers.ts';
import { type BgpError, bgpError, ERROR_CODE, OPEN_MESSAGE_SUBCODE } from './error.ts';
import { type Family, includesFamily } from './family.ts';
import { EVENT, type EventNumber, type FsmEffect, nameEvent, type State, step } from './fsm.ts';
import { unexpectedMessage } from './fsm-error.ts';
import { EXTENDED_MAXIMUM_MESSAGE_LENGTH, MAXIMUM_MESSAGE_LENGTH, MESSAGE_TYPE } from './header.ts';
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
  readonly timers: ConnectionTimers;
  readonly #buffer = new ReceiveBuffer();
  /** Families that the peer has told all of, and those that it is telling once more (RFC 4724 §2, RFC 7313 §4). */
  readonly #ended: Family[] = [];
  #refreshing: readonly Family[] = [];
  #updateContext: UpdateContext | undefined = undefined;

  constructor(host: MachineHost, origin: 'local' | 'peer') {
    this.#host = host;
    this.origin = origin;
    this.timers = new ConnectionTimers(() => host.random());
  }

  /** Octets of an unfinished message that are held. */
  get heldOctets(): number {
    return this.#buffer.heldOctets;
  }

  /** Raises the event of each timer that is due, the most overdue first. */
  expire(now: Instant): void {
    for (;;) {
      const due = this.timers.takeDue(now.monotonic);
      if (due === undefined) return;
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
    if (this.timers.isRunning('SendHoldTimer')) this.#start('SendHoldTimer', now);
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
        this.#sendNotification(unexpectedMessage(event, from, detail.messageType), now);
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
        this.timers.stop('ConnectRetryTimer');
        return;
      case 'start HoldTimer large':
        this.timers.startLargeHoldTimer(now.monotonic);
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
        this.timers.stop('HoldTimer');
        this.timers.stop('KeepaliveTimer');
        this.timers.stop('SendHoldTimer');
        this.#buffer.clear();
        return;
      case 'drop connection':
        if (this.connection !== undefined) this.#host.emit({ kind: 'close', connection: this.connection });
        this.connection = undefined;
        return;
    }
  }

  #start(timer: Timer, now: Instant): void {
    const holdTime = this.negotiated?.holdTimeSeconds ?? 0;
    this.timers.start(timer, this.#host.settings, holdTime, now.monotonic);
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

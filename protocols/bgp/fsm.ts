/**
 * The finite state machine of RFC 4271 §8 as one table: states and events in the RFC's order, every cell decided.
 * Nothing else in Graticule moves a connection from state to state. A cell is the next state and the effects, as
 * data, in the order in which the RFC lists them; `session.ts` carries them out.
 *
 * There is one machine per TCP connection (§8.2.1). `session.ts` decides what a machine cannot see: which of two
 * connections stays (§6.8) and how long Idle lasts before the next start.
 *
 * Where a cell is not what the RFC says, a comment that begins with "Deviation" is beside it.
 */

export const STATES = ['Idle', 'Connect', 'Active', 'OpenSent', 'OpenConfirm', 'Established'] as const;
export type State = (typeof STATES)[number];

/** RFC 4271 §8.1, and Event 29 of RFC 9687 §4.2. */
export const EVENT = {
  ManualStart: 1,
  ManualStop: 2,
  AutomaticStart: 3,
  ManualStartWithPassiveTcpEstablishment: 4,
  AutomaticStartWithPassiveTcpEstablishment: 5,
  AutomaticStartWithDampPeerOscillations: 6,
  AutomaticStartWithDampPeerOscillationsAndPassiveTcpEstablishment: 7,
  AutomaticStop: 8,
  ConnectRetryTimerExpires: 9,
  HoldTimerExpires: 10,
  KeepaliveTimerExpires: 11,
  DelayOpenTimerExpires: 12,
  IdleHoldTimerExpires: 13,
  TcpConnectionValid: 14,
  TcpCrInvalid: 15,
  TcpCrAcked: 16,
  TcpConnectionConfirmed: 17,
  TcpConnectionFails: 18,
  BgpOpen: 19,
  BgpOpenWithDelayOpenTimerRunning: 20,
  BgpHeaderErr: 21,
  BgpOpenMsgErr: 22,
  OpenCollisionDump: 23,
  NotifMsgVerErr: 24,
  NotifMsg: 25,
  KeepAliveMsg: 26,
  UpdateMsg: 27,
  UpdateMsgErr: 28,
  SendHoldTimerExpires: 29,
} as const;
export type EventName = keyof typeof EVENT;
export type EventNumber = (typeof EVENT)[EventName];

/**
 * Optional events that nothing here raises, because the session attribute that they belong to is not offered:
 * DampPeerOscillations (6, 7, 13; the back-off of session.ts takes its place), DelayOpen (12, 20), TrackTcpState
 * (14, 15; the listener closes strangers before there is a machine). Their cells are decided all the same.
 */
export const EVENTS_NOT_OFFERED: ReadonlySet<EventNumber> = new Set([6, 7, 12, 13, 14, 15, 20]);

/** What a transition asks of whoever runs the machine. */
export type FsmEffect =
  /** Dial. */
  | 'connect'
  | 'send OPEN'
  | 'send KEEPALIVE'
  /** The Cease that the event names, or Cease without subcode. */
  | 'send NOTIFICATION Cease'
  /** The error that the event names. */
  | 'send NOTIFICATION error'
  | 'send NOTIFICATION Hold Timer Expired'
  /** With RFC 6608's subcode of the state. */
  | 'send NOTIFICATION FSM Error'
  /** RFC 9687 §4.3: only if it delays nothing, which it would not be able to here, so it is only tried. */
  | 'send NOTIFICATION Send Hold Timer Expired'
  | 'start ConnectRetryTimer'
  | 'stop ConnectRetryTimer'
  /** Four minutes, while the peer's OPEN is awaited (§8.2.2). */
  | 'start HoldTimer large'
  /** At the negotiated time; not at all when that is 0. Starting a running timer restarts it. */
  | 'start HoldTimer'
  | 'start KeepaliveTimer'
  | 'start SendHoldTimer'
  | 'zero ConnectRetryCounter'
  | 'increment ConnectRetryCounter'
  | 'process UPDATE'
  /** All routes of the connection are no longer told by it; what becomes of them is graceful restart's matter. */
  | 'delete routes'
  /** Stop Hold, Keepalive and SendHold timers and forget what was negotiated. */
  | 'release resources'
  /** Close the connection, or give up dialling. */
  | 'drop connection';

/** One cell of the table. */
export interface Transition {
  readonly next: State;
  readonly effects: readonly FsmEffect[];
}

type Row = Readonly<Record<EventNumber, Transition>>;

function to(next: State, ...effects: readonly FsmEffect[]): Transition {
  return { next, effects };
}

/** The cells of the RFC's sentence "in response to any other event (Events …)". */
function otherwise<const Events extends readonly EventNumber[]>(
  events: Events,
  transition: Transition,
): Record<Events[number], Transition> {
  return Object.fromEntries(events.map((event) => [event, transition])) as Record<Events[number], Transition>;
}

const TO_IDLE = ['stop ConnectRetryTimer', 'release resources', 'drop connection'] as const;
const ROUTES_TO_IDLE = [
  'stop ConnectRetryTimer',
  'delete routes',
  'release resources',
  'drop connection',
] as const;
const COUNTED = 'increment ConnectRetryCounter';

const idle: Row = {
  1: to('Connect', 'zero ConnectRetryCounter', 'start ConnectRetryTimer', 'connect'),
  3: to('Connect', 'zero ConnectRetryCounter', 'start ConnectRetryTimer', 'connect'),
  // Deviation (4, 5): §8.2.2 starts the ConnectRetryTimer, whose expiry would have a passive peer dialled.
  4: to('Active', 'zero ConnectRetryCounter'),
  5: to('Active', 'zero ConnectRetryCounter'),
  // "refuses all incoming BGP connections": there is nothing here for a connection to belong to.
  ...otherwise([14, 16, 17], to('Idle', 'drop connection')),
  // §8.2.2: 2 and 8 are ignored; 6, 7, 13 are of no effect without DampPeerOscillations; 9-12, 15, 18-28 change nothing.
  ...otherwise(
    [2, 6, 7, 8, 9, 10, 11, 12, 13, 15, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29],
    to('Idle'),
  ),
};

const connect: Row = {
  ...otherwise([1, 3, 4, 5, 6, 7], to('Connect')),
  2: to('Idle', 'drop connection', 'release resources', 'zero ConnectRetryCounter', 'stop ConnectRetryTimer'),
  9: to('Connect', 'drop connection', 'start ConnectRetryTimer', 'connect'),
  14: to('Connect'),
  15: to('Connect'),
  16: to('OpenSent', 'stop ConnectRetryTimer', 'send OPEN', 'start HoldTimer large'),
  17: to('OpenSent', 'stop ConnectRetryTimer', 'send OPEN', 'start HoldTimer large'),
  // Deviation: without DelayOpen §8.2.2 says Idle, which refuses the peer's own connection until the next start.
  // Active waits the same ConnectRetryTimer and listens meanwhile, as RFC 1771 had it and speakers in the field do.
  18: to('Active', 'drop connection', 'release resources', 'start ConnectRetryTimer'),
  // Without OPEN sent no NOTIFICATION is (SendNOTIFICATIONwithoutOPEN is not offered).
  21: to('Idle', ...TO_IDLE, COUNTED),
  22: to('Idle', ...TO_IDLE, COUNTED),
  24: to('Idle', ...TO_IDLE, COUNTED),
  // §8.2.2: any other event (8, 10-11, 13, 19, 23, 25-28), and 12, 20, 29, which cannot be here.
  ...otherwise([8, 10, 11, 12, 13, 19, 20, 23, 25, 26, 27, 28, 29], to('Idle', ...TO_IDLE, COUNTED)),
};

const active: Row = {
  ...otherwise([1, 3, 4, 5, 6, 7], to('Active')),
  2: to('Idle', 'release resources', 'drop connection', 'zero ConnectRetryCounter', 'stop ConnectRetryTimer'),
  9: to('Connect', 'start ConnectRetryTimer', 'connect'),
  14: to('Active'),
  15: to('Active'),
  16: to('OpenSent', 'stop ConnectRetryTimer', 'send OPEN', 'start HoldTimer large'),
  17: to('OpenSent', 'stop ConnectRetryTimer', 'send OPEN', 'start HoldTimer large'),
  18: to('Idle', 'start ConnectRetryTimer', 'release resources', COUNTED),
  21: to('Idle', ...TO_IDLE, COUNTED),
  22: to('Idle', ...TO_IDLE, COUNTED),
  24: to('Idle', ...TO_IDLE, COUNTED),
  // §8.2.2: any other event (8, 10-11, 13, 19, 23, 25-28), and 12, 20, 29, which cannot be here.
  ...otherwise([8, 10, 11, 12, 13, 19, 20, 23, 25, 26, 27, 28, 29], to('Idle', ...TO_IDLE, COUNTED)),
};

const openSent: Row = {
  ...otherwise([1, 3, 4, 5, 6, 7], to('OpenSent')),
  2: to('Idle', 'send NOTIFICATION Cease', ...TO_IDLE, 'zero ConnectRetryCounter'),
  8: to('Idle', 'send NOTIFICATION Cease', ...TO_IDLE, COUNTED),
  10: to('Idle', 'send NOTIFICATION Hold Timer Expired', ...TO_IDLE, COUNTED),
  // A second connection has its own machine; which of them stays is decided when its OPEN comes (§6.8).
  ...otherwise([14, 15, 16, 17], to('OpenSent')),
  18: to('Active', 'drop connection', 'release resources', 'start ConnectRetryTimer'),
  19: to(
    'OpenConfirm',
    'stop ConnectRetryTimer',
    'send KEEPALIVE',
    'start KeepaliveTimer',
    'start HoldTimer',
  ),
  21: to('Idle', 'send NOTIFICATION error', ...TO_IDLE, COUNTED),
  22: to('Idle', 'send NOTIFICATION error', ...TO_IDLE, COUNTED),
  23: to('Idle', 'send NOTIFICATION Cease', ...TO_IDLE, COUNTED),
  24: to('Idle', ...TO_IDLE),
  // Deviation: §8.2.2 has 25 among "any other event" and answers a NOTIFICATION with one. RFC 4271 §4.5 closes the
  // connection right after it was sent, so nobody reads the answer; what it said is kept as `last-error`.
  25: to('Idle', ...TO_IDLE, COUNTED),
  // §8.2.2: any other event (9, 11-13, 20, 25-28), less 25, and 29, whose timer is not running yet.
  ...otherwise(
    [9, 11, 12, 13, 20, 26, 27, 28, 29],
    to('Idle', 'send NOTIFICATION FSM Error', ...TO_IDLE, COUNTED),
  ),
};

const openConfirm: Row = {
  ...otherwise([1, 3, 4, 5, 6, 7], to('OpenConfirm')),
  2: to(
    'Idle',
    'send NOTIFICATION Cease',
    'release resources',
    'drop connection',
    'zero ConnectRetryCounter',
    'stop ConnectRetryTimer',
  ),
  8: to('Idle', 'send NOTIFICATION Cease', ...TO_IDLE, COUNTED),
  10: to('Idle', 'send NOTIFICATION Hold Timer Expired', ...TO_IDLE, COUNTED),
  11: to('OpenConfirm', 'send KEEPALIVE', 'start KeepaliveTimer'),
  ...otherwise([14, 15, 16, 17], to('OpenConfirm')),
  18: to('Idle', ...TO_IDLE, COUNTED),
  // §8.2.2 runs collision detection for 19, which with one machine per connection was done for that connection's first
  // OPEN. A second OPEN on the same one is RFC 6608 §4's unexpected message.
  19: to('Idle', 'send NOTIFICATION FSM Error', ...TO_IDLE, COUNTED),
  21: to('Idle', 'send NOTIFICATION error', ...TO_IDLE, COUNTED),
  // As 19: whether the second OPEN is well-formed makes no difference.
  22: to('Idle', 'send NOTIFICATION error', ...TO_IDLE, COUNTED),
  23: to('Idle', 'send NOTIFICATION Cease', ...TO_IDLE, COUNTED),
  24: to('Idle', ...TO_IDLE),
  25: to('Idle', ...TO_IDLE, COUNTED),
  26: to('Established', 'start HoldTimer', 'start SendHoldTimer'),
  // §8.2.2: any other event (9, 12-13, 20, 27-28), and 29, whose timer is not running yet.
  ...otherwise([9, 12, 13, 20, 27, 28, 29], to('Idle', 'send NOTIFICATION FSM Error', ...TO_IDLE, COUNTED)),
};

const established: Row = {
  ...otherwise([1, 3, 4, 5, 6, 7], to('Established')),
  2: to('Idle', 'send NOTIFICATION Cease', ...ROUTES_TO_IDLE, 'zero ConnectRetryCounter'),
  8: to('Idle', 'send NOTIFICATION Cease', ...ROUTES_TO_IDLE, COUNTED),
  10: to('Idle', 'send NOTIFICATION Hold Timer Expired', ...ROUTES_TO_IDLE, COUNTED),
  11: to('Established', 'send KEEPALIVE', 'start KeepaliveTimer'),
  // RFC 4724 §5 lets 17 replace the connection when the peer restarts gracefully; session.ts does that with a new machine.
  ...otherwise([14, 15, 16, 17], to('Established')),
  18: to('Idle', ...ROUTES_TO_IDLE, COUNTED),
  // CollisionDetectEstablishedState is not offered, so an OPEN here is RFC 6608 §4's unexpected message.
  19: to('Idle', 'send NOTIFICATION FSM Error', ...ROUTES_TO_IDLE, COUNTED),
  // Deviation: §8.2.2 has 21 among "any other event" with an FSM Error, §6.1 says that header errors MUST be told as such.
  21: to('Idle', 'send NOTIFICATION error', ...ROUTES_TO_IDLE, COUNTED),
  23: to('Idle', 'send NOTIFICATION Cease', ...ROUTES_TO_IDLE, COUNTED),
  24: to('Idle', ...ROUTES_TO_IDLE, COUNTED),
  25: to('Idle', ...ROUTES_TO_IDLE, COUNTED),
  26: to('Established', 'start HoldTimer'),
  27: to('Established', 'process UPDATE', 'start HoldTimer'),
  28: to('Idle', 'send NOTIFICATION error', ...ROUTES_TO_IDLE, COUNTED),
  // RFC 9687 §4.3.
  29: to('Idle', 'send NOTIFICATION Send Hold Timer Expired', ...ROUTES_TO_IDLE, COUNTED),
  // §8.2.2: any other event (9, 12-13, 20-22), less 21.
  ...otherwise([9, 12, 13, 20, 22], to('Idle', 'send NOTIFICATION FSM Error', ...ROUTES_TO_IDLE, COUNTED)),
};

export const FSM: Readonly<Record<State, Row>> = {
  Idle: idle,
  Connect: connect,
  Active: active,
  OpenSent: openSent,
  OpenConfirm: openConfirm,
  Established: established,
};

/** The only way from one state to the next. Total: every state has a cell for every event. */
export function step(state: State, event: EventNumber): Transition {
  return FSM[state][event];
}

/** The name that RFC 4271 §8.1 gives the event. */
export function nameEvent(event: EventNumber): EventName {
  return EVENT_NAMES[event] as EventName;
}

const EVENT_NAMES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(EVENT).map(([name, number]) => [number, name]),
);

import { describe, expect, it } from 'vitest';
import { gracefulRestartWithoutFamilies } from '../../../protocols/bgp/capability.ts';
import { CEASE_SUBCODE } from '../../../protocols/bgp/error.ts';
import { AFI, SAFI } from '../../../protocols/bgp/family.ts';
import { encodeKeepalive } from '../../../protocols/bgp/keepalive.ts';
import { encodeNotification } from '../../../protocols/bgp/notification.ts';
import { encodeOpen } from '../../../protocols/bgp/open.ts';
import { encodeRouteRefresh } from '../../../protocols/bgp/route-refresh.ts';
import { Session } from '../../../protocols/bgp/session.ts';
import type { Instant, SessionEffect } from '../../../protocols/bgp/session-effect.ts';
import { encodeEndOfRib } from '../../../protocols/bgp/update.ts';
import { peerOpen, peerSettings } from '../../support/bgp-peer.ts';
import { Random, testSeed } from '../../support/random.ts';
import { SessionModel } from '../../support/session-model.ts';

const EVENTS = 100_000;
const ENDPOINTS = { localAddress: '127.0.0.1', localPort: 1, peerAddress: '127.0.0.2', peerPort: 179 };
const FAMILY = { afi: AFI.linkState, safi: SAFI.linkState };
const NO_DATA = new Uint8Array(0);

/** Whatever may happen to a session, at random, in an order that no peer and no operator would keep to. */
class Chaos {
  readonly #source: Random;
  readonly session: Session;
  readonly model = new SessionModel();
  milliseconds = 0;
  readonly states = new Set<string>();

  constructor(seed: number, passive: boolean) {
    this.#source = new Random(seed);
    this.session = new Session(peerSettings({ passive, holdTimeSeconds: 9 }), () => this.random(), {
      tcpMd5: true,
      ttlSecurity: true,
    });
  }

  random(): number {
    return this.#source.bits() / 2 ** 32;
  }

  now(): Instant {
    return { wall: this.milliseconds, monotonic: this.milliseconds };
  }

  observe(effects: readonly SessionEffect[]): void {
    this.model.observe(effects, this.session);
    for (const { state } of this.session.machines) this.states.add(state);
  }

  someConnection(isUp: boolean): number | undefined {
    const fitting = [...this.model.wires].filter(([, wire]) => wire.isUp === isUp);
    return fitting.length === 0 ? undefined : this.#source.pick(fitting)[0];
  }

  /** What the connection's state waits for mostly, so that all states are visited; the rest is what a broken peer might send. */
  someOctets(connection: number): Uint8Array {
    const { settings } = this.session;
    const open = peerOpen(settings);
    const state = this.session.machines.find((machine) => machine.connection === connection)?.state;
    if (this.random() < 0.8) return state === 'OpenSent' ? encodeOpen(open) : encodeKeepalive();
    const message = this.#source.pick<() => Uint8Array>([
      () => encodeOpen(open),
      () => encodeOpen(open),
      () => encodeOpen(open),
      () => encodeKeepalive(),
      () => encodeKeepalive(),
      () => encodeKeepalive(),
      () => encodeKeepalive(),
      () => encodeEndOfRib(FAMILY),
      () => encodeEndOfRib(FAMILY),
      () => encodeOpen({ ...open, holdTimeSeconds: this.#source.pick([0, 1, 3, 180]) }),
      () => encodeOpen({ ...open, myAutonomousSystem: 65_009, capabilities: [] }),
      () =>
        encodeOpen({
          ...open,
          bgpIdentifier: 1,
          capabilities: [...open.capabilities, gracefulRestartWithoutFamilies({ notification: true })],
        }),
      () => encodeNotification({ code: 6, subcode: 2, data: NO_DATA }, 4096),
      () => encodeNotification({ code: 2, subcode: this.#source.pick([1, 2, 7]), data: NO_DATA }, 4096),
      () => encodeRouteRefresh({ ...FAMILY, subtype: this.#source.pick([0, 1, 2, 9]) }),
      () => Uint8Array.from({ length: 19 }, () => Math.floor(this.random() * 256)),
    ])();
    if (this.random() < 0.97) return message;
    const broken = message.slice();
    broken[Math.floor(this.random() * broken.length)] = Math.floor(this.random() * 256);
    return broken;
  }

  event(): void {
    const { session, model } = this;
    const choice = this.random();
    if (choice < 0.42) {
      const connection = this.someConnection(true);
      if (connection === undefined) {
        this.time();
        return;
      }
      const octets = this.someOctets(connection);
      const cut = this.random() < 0.1 ? Math.floor(this.random() * octets.length) : octets.length;
      this.observe(session.receive(connection, octets.subarray(0, cut), this.now()));
      const mayGoOn = cut < octets.length && model.wires.has(connection);
      if (mayGoOn) this.observe(session.receive(connection, octets.subarray(cut), this.now()));
    } else if (choice < 0.62) {
      const connection = this.someConnection(false);
      if (connection === undefined) {
        this.time();
        return;
      }
      model.connected(connection);
      this.observe(session.connected(connection, ENDPOINTS, this.now()));
    } else if (choice < 0.68) {
      const connection = this.someConnection(this.random() < 0.5);
      if (connection === undefined) {
        this.time();
        return;
      }
      model.disconnected(connection);
      this.observe(
        session.disconnected(connection, { errno: this.#source.pick(['', 'ECONNRESET']) }, this.now()),
      );
    } else if (choice < 0.78) {
      const connection = session.nextConnection();
      model.accepted(connection);
      this.observe(session.accept(connection, ENDPOINTS, this.now()));
    } else if (choice < 0.95) {
      this.time();
    } else {
      this.operator();
    }
  }

  time(): void {
    this.milliseconds += Math.floor(this.random() ** 3 * 12_000);
    this.observe(this.session.expire(this.now()));
  }

  operator(): void {
    const { session } = this;
    const deed = this.random();
    if (deed < 0.4) this.observe(session.start(this.now()));
    else if (deed < 0.5) {
      this.observe(session.stop({ subcode: CEASE_SUBCODE.administrativeShutdown, text: 'tea' }, this.now()));
    } else if (deed < 0.6) this.observe(session.reset(this.now()));
    else if (deed < 0.7) {
      const holdTimeSeconds = this.#source.pick([9, 30]);
      this.observe(session.update({ ...session.settings, holdTimeSeconds }, this.now()).effects);
    } else if (deed < 0.8) this.observe(session.refresh().effects);
    else if (deed < 0.9) {
      for (const [connection] of this.model.wires) session.flushed(connection, this.now());
      this.observe([]);
    } else {
      const error = { code: this.#source.pick([3, 6]), subcode: 1, data: NO_DATA, text: 'too much' };
      this.observe(session.fail(error, this.now(), this.random() < 0.5 ? 'max-nlri' : undefined));
    }
  }
}

describe('a session under random events and a virtual clock', () => {
  for (const passive of [false, true]) {
    it(`keeps RFC 4271's timers, sockets and messages over ${EVENTS / 2} events, ${passive ? 'passive' : 'active'}`, () => {
      const seed = testSeed('session events');
      const chaos = new Chaos(seed, passive);
      chaos.observe(chaos.session.start(chaos.now()));
      for (let event = 0; event < EVENTS / 2; event += 1) {
        try {
          chaos.event();
        } catch (error) {
          throw new Error(`seed ${seed}, event ${event}: ${(error as Error).message}`, { cause: error });
        }
      }
      // The walk is worth nothing if it never gets anywhere.
      expect(chaos.model.establishedTimes).toBeGreaterThan(500);
      expect([...chaos.states].sort()).toEqual(
        ['Active', 'Connect', 'Established', 'Idle', 'OpenConfirm', 'OpenSent'].filter(
          (state) => !(passive && state === 'Connect'),
        ),
      );
      console.log(`${chaos.model.establishedTimes} sessions, ${chaos.model.messagesSent} messages`);
    });
  }
});

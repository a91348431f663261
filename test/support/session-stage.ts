/** A session on a stage of its own: a virtual clock, and effects kept for the test to look at. */
import { encodeKeepalive } from '../../protocols/bgp/keepalive.ts';
import { decodeNotification } from '../../protocols/bgp/notification.ts';
import { encodeOpen, type Open } from '../../protocols/bgp/open.ts';
import type { PeerSettings } from '../../protocols/bgp/peer-settings.ts';
import { Session } from '../../protocols/bgp/session.ts';
import type { Endpoints, Instant, SessionEffect } from '../../protocols/bgp/session-effect.ts';
import { peerOpen, peerSettings } from './bgp-peer.ts';

export const ENDPOINTS: Endpoints = {
  localAddress: '127.0.0.1',
  localPort: 40_000,
  peerAddress: '127.0.0.2',
  peerPort: 179,
};

/** A session under a virtual clock: `advance` lets time pass and the timers expire as a driver would. */
export class Stage {
  readonly session: Session;
  readonly settings: PeerSettings;
  milliseconds = 0;
  effects: SessionEffect[] = [];

  /** @param random what every draw gives, in [0, 1). */
  constructor(changes: Partial<PeerSettings> = {}, random = 0.5) {
    this.settings = peerSettings(changes);
    this.session = new Session(this.settings, () => random, { tcpMd5: true, ttlSecurity: true });
  }

  now(): Instant {
    return { wall: 1_700_000_000_000 + this.milliseconds, monotonic: this.milliseconds };
  }

  advance(seconds: number): void {
    const end = this.milliseconds + seconds * 1000;
    while (this.session.nextDeadline() <= end) {
      this.milliseconds = Math.max(this.milliseconds, this.session.nextDeadline());
      this.effects.push(...this.session.expire(this.now()));
    }
    this.milliseconds = end;
  }

  take(effects: SessionEffect[]): SessionEffect[] {
    this.effects.push(...effects);
    return effects;
  }

  kinds(): string[] {
    return this.effects.map((effect) => effect.kind).filter((kind) => kind !== 'status');
  }

  lastConnection(): number {
    const connect = this.effects.findLast((effect) => effect.kind === 'connect');
    if (connect?.kind !== 'connect') throw new Error('nothing was dialled');
    return connect.connection;
  }

  establish(open: Partial<Open> = {}): number {
    this.take(this.session.start(this.now()));
    return this.answer(open);
  }

  /** A dialled connection that has come up, in OpenSent. */
  open(): number {
    this.take(this.session.start(this.now()));
    const connection = this.lastConnection();
    this.take(this.session.connected(connection, ENDPOINTS, this.now()));
    return connection;
  }

  receive(connection: number, ...messages: Uint8Array[]): void {
    for (const octets of messages) this.take(this.session.receive(connection, octets, this.now()));
  }

  /** Message types sent on a connection, in order. */
  sentOn(connection: number): number[] {
    return this.effects.flatMap((effect) =>
      effect.kind === 'send' && effect.connection === connection ? [effect.octets[18] as number] : [],
    );
  }

  /** The last dialled connection comes up and the peer answers to Established. */
  answer(open: Partial<Open> = {}): number {
    const connection = this.lastConnection();
    this.take(this.session.connected(connection, ENDPOINTS, this.now()));
    this.take(this.session.receive(connection, encodeOpen(peerOpen(this.settings, open)), this.now()));
    this.take(this.session.receive(connection, encodeKeepalive(), this.now()));
    return connection;
  }

  lastNotification() {
    const sent = this.effects.findLast((effect) => effect.kind === 'send' && effect.octets[18] === 3);
    return sent?.kind === 'send' ? decodeNotification(sent.octets) : undefined;
  }
}

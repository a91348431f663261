/**
 * Watches a session from outside, as a peer and an operating system would, and throws at the first thing that RFC 4271
 * does not allow: a message that its state forbids, a state without its socket, a timer that should not run or is
 * missing, a connection that nobody closes.
 */
import assert from 'node:assert/strict';
import { MESSAGE_TYPE, nameMessage } from '../../protocols/bgp/header.ts';
import type { Session } from '../../protocols/bgp/session.ts';
import type { SessionEffect } from '../../protocols/bgp/session-effect.ts';

interface Wire {
  /** Messages sent so far, by type. */
  readonly sent: number[];
  isUp: boolean;
}

export class SessionModel {
  /** Connections that exist: dialled or accepted, not yet closed by either side. */
  readonly wires = new Map<number, Wire>();
  isEstablished = false;
  establishedTimes = 0;
  messagesSent = 0;

  accepted(connection: number): void {
    this.wires.set(connection, { sent: [], isUp: true });
  }

  connected(connection: number): void {
    const wire = this.wires.get(connection);
    if (wire !== undefined) wire.isUp = true;
  }

  disconnected(connection: number): void {
    this.wires.delete(connection);
  }

  observe(effects: readonly SessionEffect[], session: Session): void {
    for (const effect of effects) this.#effect(effect);
    this.#state(session);
  }

  #effect(effect: SessionEffect): void {
    switch (effect.kind) {
      case 'connect':
        assert(!this.wires.has(effect.connection), 'a connection is dialled once');
        this.wires.set(effect.connection, { sent: [], isUp: false });
        return;
      case 'close':
        assert(this.wires.delete(effect.connection), 'only what exists is closed');
        return;
      case 'send':
        this.#send(effect.connection, effect.octets);
        return;
      case 'established':
        assert(!this.isEstablished, 'Established is told once');
        this.isEstablished = true;
        this.establishedTimes += 1;
        return;
      case 'lost':
        assert(this.isEstablished, 'only an Established session is lost');
        this.isEstablished = false;
        return;
      case 'update':
      case 'end-of-rib':
      case 'route-refresh-begin':
      case 'route-refresh-end':
        assert(this.isEstablished, `${effect.kind} only while Established`);
        return;
      case 'status':
        return;
    }
  }

  #send(connection: number, octets: Uint8Array): void {
    const wire = this.wires.get(connection);
    const type = octets[18] as number;
    const name = nameMessage(type);
    assert(wire?.isUp, `${name} is sent on a connection that is up`);
    const first = wire.sent[0];
    assert(
      type === MESSAGE_TYPE.open ? first === undefined : first === MESSAGE_TYPE.open,
      `${name} after OPEN`,
    );
    assert(!wire.sent.includes(MESSAGE_TYPE.notification), `${name}: nothing follows a NOTIFICATION`);
    if (type === MESSAGE_TYPE.update || type === MESSAGE_TYPE.routeRefresh) {
      assert(this.isEstablished, `${name} only while Established`);
    }
    wire.sent.push(type);
    this.messagesSent += 1;
  }

  #state(session: Session): void {
    const { machines } = session;
    assert(machines.length <= 2, 'a peer has two connections at most');
    assert(machines.filter(({ state }) => state === 'Established').length <= 1, 'one session');
    assert.equal(
      machines.some(({ state }) => state === 'Established'),
      this.isEstablished,
    );
    const owned = machines.flatMap(({ connection }) => (connection === undefined ? [] : [connection]));
    assert.deepEqual(
      [...this.wires.keys()].sort(byNumber),
      owned.sort(byNumber),
      'every connection has its machine',
    );

    for (const machine of machines) {
      const { state, connection, negotiated } = machine;
      const { deadlines } = machine.timers;
      const wire = connection === undefined ? undefined : this.wires.get(connection);
      const running = Object.entries(deadlines).flatMap(([timer, at]) => (at === Infinity ? [] : [timer]));
      const retry = session.settings.passive ? [] : ['ConnectRetryTimer'];
      const kept = (negotiated?.holdTimeSeconds ?? 0) > 0;
      switch (state) {
        case 'Idle':
          assert.equal(wire, undefined, 'Idle has no connection');
          assert.deepEqual(running, [], 'no timer runs in Idle');
          break;
        case 'Connect':
          assert(wire !== undefined && !wire.isUp, 'Connect has a connection that is being made');
          assert.deepEqual(running, retry);
          break;
        case 'Active':
          assert.equal(wire, undefined, 'Active has no connection');
          assert.deepEqual(running, retry);
          break;
        case 'OpenSent':
          assert(wire?.isUp, 'OpenSent has a connection');
          assert.deepEqual(running, ['HoldTimer'], 'the HoldTimer at its large value');
          break;
        case 'OpenConfirm':
          assert(wire?.isUp, 'OpenConfirm has a connection');
          assert.deepEqual(running, kept ? ['HoldTimer', 'KeepaliveTimer'] : []);
          break;
        case 'Established':
          assert(wire?.isUp, 'Established has a connection');
          assert.deepEqual(running, kept ? ['HoldTimer', 'KeepaliveTimer', 'SendHoldTimer'] : []);
          break;
      }
    }
    const { reason, state } = session.status();
    if (state === 'idle' && reason === 'waiting-retry') {
      assert.notEqual(session.nextDeadline(), Infinity, 'a session that waits will start again');
    }
  }
}

function byNumber(one: number, other: number): number {
  return one - other;
}

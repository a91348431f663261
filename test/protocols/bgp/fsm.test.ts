import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  EVENT,
  EVENTS_NOT_OFFERED,
  type EventNumber,
  FSM,
  type FsmEffect,
  STATES,
  type State,
  step,
} from '../../../protocols/bgp/fsm.ts';
import { stateDiagram } from '../../support/fsm-diagram.ts';

const ABBREVIATIONS: Record<string, FsmEffect> = {
  'CR+': 'start ConnectRetryTimer',
  CR0: 'stop ConnectRetryTimer',
  'H+': 'start HoldTimer',
  H4m: 'start HoldTimer large',
  'K+': 'start KeepaliveTimer',
  'S+': 'start SendHoldTimer',
  dial: 'connect',
  drop: 'drop connection',
  'n=0': 'zero ConnectRetryCounter',
  'n+1': 'increment ConnectRetryCounter',
  rel: 'release resources',
  routes: 'delete routes',
  OPEN: 'send OPEN',
  KEEPALIVE: 'send KEEPALIVE',
  cease: 'send NOTIFICATION Cease',
  error: 'send NOTIFICATION error',
  hold: 'send NOTIFICATION Hold Timer Expired',
  fsm: 'send NOTIFICATION FSM Error',
  'send-hold': 'send NOTIFICATION Send Hold Timer Expired',
  update: 'process UPDATE',
};

interface Expectation {
  state: State;
  event: EventNumber;
  next: string;
  effects: FsmEffect[];
  clause: string;
}

const file = new URL('../../vectors/bgp/fsm-expectations.txt', import.meta.url);
const expectations: Expectation[] = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [state, event, next, actions, clause] = line.split('|').map((part) => part.trim()) as string[];
    const effects = actions === '-' ? [] : (actions as string).split(' ').map((each) => ABBREVIATIONS[each]);
    return {
      state: state as State,
      event: Number(event) as EventNumber,
      next: next as string,
      effects: effects as FsmEffect[],
      clause: clause as string,
    };
  });

const isSend = (effect: FsmEffect) => effect.startsWith('send ');

describe('the finite state machine of RFC 4271 §8', () => {
  it('is expected, cell by cell, by a file written by hand: 6 states, 29 events, a clause each', () => {
    const cells = expectations.map(({ state, event }) => `${state} ${event}`);
    expect(new Set(cells).size).toBe(6 * 29);
    expect(cells.length).toBe(6 * 29);
    expect(expectations.filter(({ clause }) => clause === '')).toEqual([]);
  });

  for (const state of STATES) {
    it(`does in ${state} what the file says`, () => {
      for (const expected of expectations.filter((each) => each.state === state)) {
        const { next, effects } = step(state, expected.event);
        const cell = `${state}, event ${expected.event} (${expected.clause})`;
        expect(next, cell).toBe(expected.next);
        expect([...effects].sort(), cell).toEqual([...expected.effects].sort());
        // A NOTIFICATION goes out before its connection is dropped; the order of the rest cannot be observed.
        const firstSend = effects.findIndex(isSend);
        const drop = effects.indexOf('drop connection');
        if (firstSend >= 0 && drop >= 0) expect(firstSend, cell).toBeLessThan(drop);
      }
    });
  }

  it('has a cell for each event in each state, so that no event finds the machine without an answer', () => {
    for (const state of STATES) {
      expect(
        Object.keys(FSM[state])
          .map(Number)
          .sort((one, other) => one - other),
      ).toEqual(Object.values(EVENT).sort((one, other) => one - other));
    }
  });

  it('answers the events that the RFC lists as "any other" the same way within a state', () => {
    const others: Partial<Record<State, number[]>> = {
      Connect: [8, 10, 11, 13, 19, 23, 25, 26, 27, 28],
      Active: [8, 10, 11, 13, 19, 23, 25, 26, 27, 28],
      // Less the deviations: 25 in OpenSent, 21 in Established.
      OpenSent: [9, 11, 12, 13, 20, 26, 27, 28],
      OpenConfirm: [9, 12, 13, 20, 27, 28],
      Established: [9, 12, 13, 20, 22],
    };
    for (const [state, events] of Object.entries(others)) {
      const [first, ...rest] = events.map((event) => step(state as State, event as EventNumber));
      for (const each of rest) expect(each).toEqual(first);
    }
  });

  it('never opens a connection or sends anything for an event that is not offered, unless to refuse it', () => {
    for (const state of STATES) {
      for (const event of EVENTS_NOT_OFFERED) {
        const { effects } = step(state, event);
        expect(effects).not.toContain('connect');
        expect(effects.filter(isSend).every((effect) => effect === 'send NOTIFICATION FSM Error')).toBe(true);
      }
    }
  });

  it('is drawn in docs/bgp-fsm.md as the table has it', () => {
    const drawn = readFileSync(new URL('../../../docs/bgp-fsm.md', import.meta.url), 'utf8');
    expect(drawn).toContain(stateDiagram());
  });
});

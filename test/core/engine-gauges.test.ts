import { describe, expect, it } from 'vitest';
import { type EngineObservation, engineGauges } from '../../core/engine-gauges.ts';
import type { Peer } from '../../core/peer.ts';
import { type PeerStatus, type SessionReason, unseenSession } from '../../core/peer-status.ts';
import { FLAP_WITHIN_MILLISECONDS, SessionFlaps } from '../../core/session-flaps.ts';
import { type DeviceStatus, type StreamStatus, UNSEEN_STREAM } from '../../core/stream-status.ts';
import type { Subscription } from '../../core/subscription.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');

const peer = (id: number, enabled = true) =>
  ({ id, revision: 1, configuration: { enabled } }) as unknown as Peer;

const status = (id: number, state: PeerStatus['state'], reason: SessionReason = ''): PeerStatus => ({
  id,
  state,
  'messages-sent': 0,
  'messages-received': 0,
  'last-state-change': null,
  'last-error': '',
  session: { ...unseenSession(reason), worker: 'w-1', epoch: 1 },
});

const subscription = (mode: 'sample' | 'on-change', enabled = true) =>
  ({
    id: 1,
    revision: 1,
    configuration: { enabled, mode, 'interval-ms': mode === 'sample' ? 60_000 : 0 },
  }) as unknown as Subscription;

function observed(changes: Partial<EngineObservation>): EngineObservation {
  return {
    liveWorkers: new Set(['w-1']),
    peers: [],
    peerOwners: new Map([1, 2, 3].map((id) => [id, { id, worker: 'w-1', epoch: 1 }])),
    peerStatuses: [],
    deviceStatuses: [],
    subscriptions: [],
    ...changes,
  };
}

describe('the gauges of the engine', () => {
  it('count enabled peers without an Established session, those whose worker died too', () => {
    const peers = [peer(1), peer(2), peer(3, false)];
    const peerStatuses = [status(1, 'established'), status(2, 'active'), status(3, 'idle', 'disabled')];
    const gauges = (changes: Partial<EngineObservation>) =>
      engineGauges(observed({ peers, peerStatuses, ...changes }), NOW);
    expect(gauges({})).toMatchObject({ LiveWorkers: 1, SessionsDown: 1, SessionsOverLimit: 0 });
    expect(gauges({ liveWorkers: new Set(['w-2']) })).toMatchObject({ LiveWorkers: 1, SessionsDown: 2 });
  });

  it('count peers that were stopped at a limit, their own or the engine’s', () => {
    const peers = [peer(1), peer(2)];
    const peerStatuses = [status(1, 'idle', 'max-nlri'), status(2, 'idle', 'engine-max-nlri')];
    expect(engineGauges(observed({ peers, peerStatuses }), NOW)).toMatchObject({
      SessionsDown: 2,
      SessionsOverLimit: 2,
    });
  });

  const stream = (changes: Partial<StreamStatus>): StreamStatus => ({
    ...UNSEEN_STREAM,
    subscriptionId: 1,
    state: 'polling',
    ...changes,
  });
  const ago = (milliseconds: number) => new Date(NOW - milliseconds).toISOString();
  const late = (changes: Partial<StreamStatus>, of = subscription('sample')) => {
    const device = { deviceId: 1, streams: [stream(changes)] } as unknown as DeviceStatus;
    return engineGauges(observed({ deviceStatuses: [device], subscriptions: [of] }), NOW).StreamsLate;
  };

  it('count a stream as late after three intervals and a minute, or when it backs off', () => {
    expect(late({ lastSuccess: ago(240_000) })).toBe(0);
    expect(late({ lastSuccess: ago(240_001) })).toBe(1);
    expect(late({ state: 'backoff' })).toBe(1);
    expect(late({ lastSuccess: null, state: 'connecting' })).toBe(0);
  });

  it('count no stream as late that waits for changes, idles for a named reason or is switched off', () => {
    expect(late({ lastSuccess: ago(9_000_000) }, subscription('on-change'))).toBe(0);
    expect(late({ lastSuccess: ago(9_000_000), reason: 'no-active-version' })).toBe(0);
    expect(late({ state: 'backoff' }, subscription('sample', false))).toBe(0);
  });
});

describe('flaps', () => {
  it('are losses shortly after a loss of the same peer', () => {
    const flaps = new SessionFlaps();
    expect(flaps.lost(1, 0)).toBe(false);
    expect(flaps.lost(2, 1)).toBe(false);
    expect(flaps.lost(1, FLAP_WITHIN_MILLISECONDS - 1)).toBe(true);
    expect(flaps.lost(1, 2 * FLAP_WITHIN_MILLISECONDS)).toBe(false);
    flaps.forget(1);
    expect(flaps.lost(1, 2 * FLAP_WITHIN_MILLISECONDS + 1)).toBe(false);
  });
});

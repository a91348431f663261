import type { MetricValues } from './embedded-metrics.ts';
import type { OwnerRecord } from './ownership.ts';
import type { Peer } from './peer.ts';
import { newestStatus, observePeer, type PeerStatus } from './peer-status.ts';
import type { DeviceStatus, StreamStatus } from './stream-status.ts';
import type { Subscription } from './subscription.ts';

/** Everything that is stored of the engine, as one worker reads it for all. */
export interface EngineObservation {
  readonly liveWorkers: ReadonlySet<string>;
  readonly peers: readonly Peer[];
  readonly peerOwners: ReadonlyMap<number, OwnerRecord>;
  readonly peerStatuses: readonly PeerStatus[];
  readonly deviceStatuses: Iterable<DeviceStatus>;
  readonly subscriptions: readonly Subscription[];
}

/** A stream may miss so many intervals, and a minute for restarts and handovers, before it is late. */
const INTERVALS_BEFORE_LATE = 3;
const GRACE_MILLISECONDS = 60_000;

/** The gauges of the whole engine, whichever workers run its parts. */
export function engineGauges(observed: EngineObservation, nowMilliseconds: number): MetricValues {
  const { liveWorkers } = observed;
  const byPeer = Map.groupBy(observed.peerStatuses, ({ id }) => id);
  const sessions = observed.peers
    .filter(({ configuration }) => configuration.enabled)
    .map((peer) => {
      const owner = observed.peerOwners.get(peer.id);
      return observePeer(peer, newestStatus(byPeer.get(peer.id) ?? []), { owner, liveWorkers });
    });
  const isOverLimit = ({ session }: PeerStatus) =>
    session.reason === 'max-nlri' || session.reason === 'engine-max-nlri';
  const subscriptions = new Map(observed.subscriptions.map((each) => [each.id, each]));
  let late = 0;
  for (const { streams } of observed.deviceStatuses) {
    late += streams.filter((stream) =>
      isLate(stream, subscriptions.get(stream.subscriptionId), nowMilliseconds),
    ).length;
  }
  return {
    LiveWorkers: liveWorkers.size,
    SessionsDown: sessions.filter(({ state }) => state !== 'established').length,
    SessionsOverLimit: sessions.filter(isOverLimit).length,
    StreamsLate: late,
  };
}

/**
 * Whether a stream delivers too late. One that idles for a reason that its status names is not late; one that never
 * delivered is, once it backs off.
 */
function isLate(stream: StreamStatus, subscription: Subscription | undefined, now: number): boolean {
  if (subscription?.configuration.enabled !== true || stream.reason !== '') return false;
  if (stream.state === 'backoff') return true;
  const { mode, 'interval-ms': interval } = subscription.configuration;
  if (mode === 'on-change' || stream.lastSuccess === null) return false;
  return now - Date.parse(stream.lastSuccess) > INTERVALS_BEFORE_LATE * interval + GRACE_MILLISECONDS;
}

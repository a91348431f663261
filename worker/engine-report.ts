import type { MetricValues } from '../core/embedded-metrics.ts';
import { engineGauges } from '../core/engine-gauges.ts';
import { listDeviceStatuses } from '../store/device-status-store.ts';
import { listPeerOwners } from '../store/owner-store.ts';
import { listPeerStatuses } from '../store/peer-status-store.ts';
import { listPeers } from '../store/peer-store.ts';
import { listSubscriptions } from '../store/subscription-store.ts';

/**
 * The engine's gauges, told by one worker for all: the first of those alive, so that a session whose worker died is
 * still told of, and by nobody twice.
 */
export async function reportEngine(
  self: string,
  living: readonly string[],
  nowMilliseconds: number,
): Promise<MetricValues> {
  if (living.toSorted()[0] !== self) return {};
  const [peers, peerOwners, peerStatuses, deviceStatuses, subscriptions] = await Promise.all([
    listPeers(),
    listPeerOwners(),
    listPeerStatuses(),
    listDeviceStatuses(),
    listSubscriptions(),
  ]);
  return engineGauges(
    {
      liveWorkers: new Set(living),
      peers,
      peerOwners,
      peerStatuses,
      deviceStatuses: deviceStatuses.values(),
      subscriptions,
    },
    nowMilliseconds,
  );
}

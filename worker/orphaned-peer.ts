/** A peer that was deleted while no worker ran it: its owner had died, or died before it could clean up. */
import { errorFields } from '../core/log-line.ts';
import type { OwnerRecord } from '../core/ownership.ts';
import { forgetPeer, takePeer } from '../store/owner-store.ts';
import { getPeer } from '../store/peer-store.ts';
import { getTopologyHead } from '../store/topology-head.ts';
import type { TopologyLogWriter } from '../store/topology-log.ts';
import { log } from './log.ts';

/**
 * Ends its log as its owner would have, so that the end of its objects is in `/events`, and forgets its ownership. Of
 * workers that come at the same time one does it; and a log that is ended again has nothing left to tell of.
 * @param now milliseconds since 1970.
 */
export async function endOrphanedPeer(
  owner: OwnerRecord,
  workerId: string,
  openLog: (owner: OwnerRecord) => Promise<TopologyLogWriter>,
  now: number,
): Promise<void> {
  // It may have been made since the peers were read: then it has an owner that we have not heard of.
  if ((await getPeer(owner.id)) !== undefined) return;
  const taken = await takePeer(owner.id, workerId, owner);
  if (taken === undefined) return;
  try {
    if ((await getTopologyHead(owner.id)) !== undefined) await (await openLog(taken)).end(now);
  } catch (error) {
    // The log goes in its time all the same, and the other peers are not to wait for it.
    log('warn', 'log of a deleted peer not ended', { 'peer-id': owner.id, ...errorFields(error) });
  }
  await forgetPeer(taken);
}

/**
 * What is kept of a topology log besides what its state needs: for `since`, and for the list of events. Says what that is,
 * and removes what it no longer is.
 */
import { listPeers } from './peer-store.ts';
import {
  listTopologyHeads,
  removeTopologyHead,
  type Segment,
  type SnapshotPointer,
  type TopologyHead,
} from './topology-head.ts';
import { removeSegment, removeSnapshot } from './topology-record.ts';

/** How long the log is kept behind the snapshot that replaces it. */
export const HISTORY_MILLISECONDS = 60 * 60 * 1000;
/** More stretches of log than this are not kept, however young. */
const MOST_SEGMENTS = 64;

/** The head with one more snapshot, and with a stretch of its own for what comes after, so that the others can go whole. */
export function withSnapshot(head: TopologyHead, epoch: number, snapshot: SnapshotPointer): TopologyHead {
  const older = head.snapshots.filter(({ sequence }) => sequence < snapshot.sequence);
  const next = snapshot.sequence + 1;
  // What was written while the snapshot was is in the stretch before.
  const hasOwn = head.sequence > snapshot.sequence || head.segments.at(-1)?.first === next;
  return {
    ...head,
    snapshots: [...older, snapshot],
    segments: hasOwn ? head.segments : [...head.segments, { epoch, first: next, octets: 0 }],
  };
}

/**
 * The head without the snapshots, and the log, that were replaced before `keptSince` (milliseconds since 1970); the very
 * same head when nothing of it goes. The empty state from which a log begins counts as a snapshot: what the first real
 * one replaces is history as well.
 */
export function withoutOldHistory(head: TopologyHead, keptSince: number): TopologyHead {
  const oldest = head.snapshots[0];
  if (oldest === undefined) return head;
  const isKept = (sequence: number, replacedAt: number) =>
    replacedAt > keptSince && head.segments.filter(({ first }) => first > sequence).length <= MOST_SEGMENTS;
  const snapshots = head.snapshots.filter(({ sequence }, index) => {
    const next = head.snapshots[index + 1];
    return next === undefined || isKept(sequence, next.at);
  });
  const fromStart = head.segments[0]?.first === 1 && isKept(0, oldest.at);
  const from = fromStart ? 0 : (snapshots[0] as SnapshotPointer).sequence;
  const segments = head.segments.filter((_, index) => endOf(head.segments, index) > from);
  const isSame = snapshots.length === head.snapshots.length && segments.length === head.segments.length;
  return isSame ? head : { ...head, snapshots, segments };
}

/** The last sequence number of a stretch; of the newest it is not known. */
function endOf(segments: readonly Segment[], index: number): number {
  return (segments[index + 1]?.first ?? Number.POSITIVE_INFINITY) - 1;
}

/**
 * Removes the logs of peers that were deleted, an hour after their last entry, which tells of that. `now` in milliseconds
 * since 1970. Returns whose; any worker may do it, and several at a time.
 */
export async function removeLogsOfDeletedPeers(now: number): Promise<number[]> {
  // In this order: a peer is configured before it has a log.
  const heads = await listTopologyHeads();
  const configured = new Set((await listPeers()).map(({ id }) => id));
  const over = heads.filter(({ peerId, at }) => !configured.has(peerId) && at + HISTORY_MILLISECONDS <= now);
  const removed: number[] = [];
  for (const head of over) {
    // A worker may just be ending it: then it is needed for an hour from now.
    if (!(await removeTopologyHead(head))) continue;
    await removeReplaced(head);
    removed.push(head.peerId);
  }
  return removed;
}

/** Removes what one head points to and the one that replaced it does not; all of it when nothing replaced it. */
export async function removeReplaced(before: TopologyHead, after?: TopologyHead): Promise<void> {
  const { peerId } = before;
  const segments = new Set(after?.segments.map(({ first }) => first));
  const snapshots = new Set(after?.snapshots.map(({ epoch, sequence }) => `${epoch} ${sequence}`));
  for (const segment of before.segments) {
    if (!segments.has(segment.first)) await removeSegment(peerId, segment);
  }
  for (const snapshot of before.snapshots) {
    if (!snapshots.has(`${snapshot.epoch} ${snapshot.sequence}`)) await removeSnapshot(peerId, snapshot);
  }
}

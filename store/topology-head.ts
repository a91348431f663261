/**
 * The head pointer of a peer's topology log. What it points to is visible, and nothing else is: moving it is the one
 * conditional write by which the owner of a peer, in its epoch, makes known what the peer said.
 */
import { RUNTIME_KEYS } from '../contract/tables.ts';
import {
  ConditionFailed,
  deleteItem,
  getItem,
  type Item,
  putItem,
  queryItems,
  SCHEMA_VERSION,
} from './table.ts';

/** A stretch of the log in its own partition. It ends where the next begins, the last one at the head's sequence. */
export interface Segment {
  readonly epoch: number;
  readonly first: number;
  /** What its items hold, compressed. */
  readonly octets: number;
}

/** A stretch takes no more than this, so that one partition is not written faster than AWS allows. */
export const SEGMENT_OCTETS = 512 * 1024;

/** The state after `sequence`, in so many parts. */
export interface SnapshotPointer {
  readonly epoch: number;
  readonly sequence: number;
  readonly parts: number;
  /** When it was made, milliseconds since 1970. */
  readonly at: number;
}

export interface TopologyHead {
  readonly peerId: number;
  readonly epoch: number;
  /** The worker that writes in this epoch. */
  readonly worker: string;
  /**
   * Which process of it does, by when that started: another one under the same id knows nothing of the session. Its
   * epoch would not tell, since that begins anew when the record of a dead worker is removed. Absent in older heads.
   */
  readonly workerStartedAt?: string;
  /** The last visible item; sequence numbers go on over sessions, epochs and workers. 0: nothing yet. */
  readonly sequence: number;
  /** When it was last moved, milliseconds since 1970. */
  readonly at: number;
  /** How long this writer would keep the objects of a lost session. */
  readonly staleMilliseconds: number;
  /** Ascending. The first begins at most one after the oldest snapshot, or with 1. */
  readonly segments: readonly Segment[];
  /** Ascending. */
  readonly snapshots: readonly SnapshotPointer[];
}

/** Somebody else owns the peer by now. Nothing of what was being written is visible, or ever will be. */
export class FencedWriter extends Error {
  readonly peerId: number;
  readonly epoch: number;

  constructor(peerId: number, epoch: number) {
    super(`epoch ${epoch} may no longer write the topology log of peer ${peerId}`);
    this.name = 'FencedWriter';
    this.peerId = peerId;
    this.epoch = epoch;
  }
}

export async function getTopologyHead(peerId: number): Promise<TopologyHead | undefined> {
  const item = await getItem('runtime', RUNTIME_KEYS.topologyHead(peerId));
  return item === undefined ? undefined : fromItem(item);
}

/** The heads of all peers, by peer id. */
export async function listTopologyHeads(): Promise<TopologyHead[]> {
  return (await queryItems('runtime', RUNTIME_KEYS.topologyHeads)).map(fromItem);
}

/** Starts an epoch: `next` in place of `before`, if nobody was faster. Throws `FencedWriter`. */
export async function takeTopologyHead(next: TopologyHead, before: TopologyHead | undefined): Promise<void> {
  const condition =
    before === undefined
      ? { expression: 'attribute_not_exists(#pk)' }
      : {
          expression: '#epoch = :epoch AND #sequence = :sequence',
          values: { ':epoch': before.epoch, ':sequence': before.sequence },
        };
  if (before !== undefined && before.epoch > next.epoch) throw new FencedWriter(next.peerId, next.epoch);
  await write(next, condition);
}

/** Moves the head within its epoch. Throws `FencedWriter` when the epoch is over. */
export async function moveTopologyHead(next: TopologyHead, before: TopologyHead): Promise<void> {
  await write(next, {
    expression: '#epoch = :epoch AND #sequence = :sequence',
    values: { ':epoch': before.epoch, ':sequence': before.sequence },
  });
}

/** Removes the head of a peer that is gone; false when it is no longer this one, and stays. */
export async function removeTopologyHead(head: TopologyHead): Promise<boolean> {
  try {
    await deleteItem('runtime', RUNTIME_KEYS.topologyHead(head.peerId), {
      expression: '#epoch = :epoch',
      values: { ':epoch': head.epoch },
    });
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}

/** The segments that hold items after `sequence`, each with where it ends. */
export function segmentsAfter(
  head: TopologyHead,
  sequence: number,
): { readonly segment: Segment; readonly last: number }[] {
  return head.segments
    .map((segment, index) => ({
      segment,
      last: (head.segments[index + 1]?.first ?? head.sequence + 1) - 1,
    }))
    .filter(({ segment, last }) => last > sequence && last >= segment.first);
}

async function write(
  next: TopologyHead,
  condition: { expression: string; values?: Record<string, unknown> },
): Promise<void> {
  try {
    await putItem('runtime', toItem(next), condition as Parameters<typeof putItem>[2]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    // The write may have been made by an attempt whose answer was lost.
    const made = error.item === undefined ? undefined : fromItem(error.item);
    if (made?.epoch === next.epoch && made.worker === next.worker && made.sequence === next.sequence) {
      if (JSON.stringify(made) === JSON.stringify(fromItem(toItem(next)))) return;
    }
    throw new FencedWriter(next.peerId, next.epoch);
  }
}

function toItem(head: TopologyHead): Item {
  return {
    ...RUNTIME_KEYS.topologyHead(head.peerId),
    v: SCHEMA_VERSION,
    peerId: head.peerId,
    epoch: head.epoch,
    worker: head.worker,
    ...(head.workerStartedAt === undefined ? {} : { workerStartedAt: head.workerStartedAt }),
    sequence: head.sequence,
    at: head.at,
    staleMilliseconds: head.staleMilliseconds,
    segments: head.segments.map(({ epoch, first, octets }) => [epoch, first, octets]),
    snapshots: head.snapshots.map(({ epoch, sequence, parts, at }) => [epoch, sequence, parts, at]),
  };
}

function fromItem(item: Item): TopologyHead {
  return {
    peerId: item['peerId'],
    epoch: item['epoch'],
    worker: item['worker'],
    ...(item['workerStartedAt'] === undefined ? {} : { workerStartedAt: item['workerStartedAt'] }),
    sequence: item['sequence'],
    at: item['at'],
    staleMilliseconds: item['staleMilliseconds'],
    // Older writers did not say how much is in a stretch: no more than it may hold.
    segments: (item['segments'] as [number, number, number?][]).map(
      ([epoch, first, octets = SEGMENT_OCTETS]) => ({ epoch, first, octets }),
    ),
    snapshots: (item['snapshots'] as [number, number, number, number][]).map(
      ([epoch, sequence, parts, at]) => ({ epoch, sequence, parts, at }),
    ),
  };
}

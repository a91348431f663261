/**
 * How far back topology logs are read. Every reader needs each log from its newest snapshot on; history is more of the
 * same, and an instance has memory and time for only so much of it.
 */
import type { SnapshotPointer, TopologyHead } from './topology-head.ts';

/**
 * What is read back at most of all logs together, as stored: about 240,000 changes of a large network, which is what the
 * journal keeps, in 2 s of processor time and 300 MB.
 */
export const MOST_HISTORY_OCTETS = 6 * 1024 * 1024;
/** An item costs something whatever is in it. */
const ITEM_OCTETS = 256;

/** From where a log can be read on: after a snapshot, or, without one, from its beginning. */
export interface LogStart {
  readonly sequence: number;
  /** When that was the state, milliseconds since 1970; 0 for the beginning. */
  readonly at: number;
  readonly snapshot: SnapshotPointer | undefined;
}

/** The newest, which costs least, first. There is always one. */
export function logStarts({ snapshots, segments }: TopologyHead): readonly [LogStart, ...LogStart[]] {
  const beginning: LogStart = { sequence: 0, at: 0, snapshot: undefined };
  const [newest, ...older] = snapshots
    .map((snapshot): LogStart => ({ sequence: snapshot.sequence, at: snapshot.at, snapshot }))
    .reverse();
  if (newest === undefined) return [beginning];
  return [newest, ...older, ...((segments[0]?.first ?? 1) === 1 ? [beginning] : [])];
}

/**
 * The start that is nearest to a sequence number and not after it, if what follows that number fits into so many octets. What
 * lies between the two is less than what a snapshot is made after.
 */
export function startFor(head: TopologyHead, sequence: number, octets: number): LogStart | undefined {
  if (logCost(head, sequence) > octets) return undefined;
  return logStarts(head).find((each) => each.sequence <= sequence);
}

/**
 * By peer, from where to read so that the histories of all reach back equally far, as far as they fit. One that is kept
 * for less time than the others ends where it ends.
 */
export function farthestStarts(heads: readonly TopologyHead[], octets: number): Map<number, LogStart> {
  const logs = heads.map((head) => ({ head, starts: logStarts(head), chosen: 0 }));
  let total = logs.reduce((sum, { head, starts }) => sum + logCost(head, starts[0].sequence), 0);
  for (;;) {
    const [shortest] = logs
      .filter(({ starts, chosen }) => chosen + 1 < starts.length)
      .sort((a, b) => (b.starts[b.chosen] as LogStart).at - (a.starts[a.chosen] as LogStart).at);
    if (shortest === undefined) break;
    const { head, starts, chosen } = shortest;
    const costFrom = (index: number) => logCost(head, (starts[index] as LogStart).sequence);
    const more = costFrom(chosen + 1) - costFrom(chosen);
    if (total + more > octets) break;
    total += more;
    shortest.chosen += 1;
  }
  return new Map(logs.map(({ head, starts, chosen }) => [head.peerId, starts[chosen] as LogStart]));
}

/** What is read of a log after a sequence number; the stretch that this lies in is counted whole. */
export function logCost({ segments, sequence: last }: TopologyHead, sequence: number): number {
  let octets = Math.max(0, last - sequence) * ITEM_OCTETS;
  for (const [index, segment] of segments.entries()) {
    const end = (segments[index + 1]?.first ?? Number.POSITIVE_INFINITY) - 1;
    if (end > sequence) octets += segment.octets;
  }
  return octets;
}

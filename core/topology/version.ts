/**
 * The public version of a topology: an opaque cursor. Inside stand the position in each peer's log and what readers
 * believe besides, so that any instance can say what has changed since, from the logs alone.
 */
import { CorruptRecord, RecordReader, RecordWriter } from './octets.ts';

/** How far one peer's log was applied, and what was believed of the peer then. */
export interface PeerPosition {
  readonly peerId: number;
  readonly sequence: number;
  /** Preference, a loss that nobody wrote, and absence, folded into a number: another number, other flags. */
  readonly beliefs: number;
}

export interface TopologyVersion {
  /** By peer id, ascending. */
  readonly peers: readonly PeerPosition[];
  /** When time alone last changed something, milliseconds: a conflict that became old enough. 0: never. */
  readonly timedAt: number;
}

const VERSION_FORMAT = 1;

export function formatVersion(version: TopologyVersion): string {
  const writer = new RecordWriter(64);
  writer.octet(VERSION_FORMAT);
  writer.integer(version.timedAt);
  let lastPeer = 0;
  for (const { peerId, sequence, beliefs } of version.peers) {
    writer.integer(peerId - lastPeer);
    writer.integer(sequence);
    writer.integer(beliefs);
    lastPeer = peerId;
  }
  return Buffer.from(writer.finish()).toString('base64url');
}

/** Undefined for text that no version of ours can be. */
export function parseVersion(text: string): TopologyVersion | undefined {
  if (!/^[A-Za-z0-9_-]{2,8192}$/.test(text)) return undefined;
  try {
    const reader = new RecordReader(Buffer.from(text, 'base64url'));
    if (reader.octet() !== VERSION_FORMAT) return undefined;
    const timedAt = reader.integer();
    const peers: PeerPosition[] = [];
    let peerId = 0;
    while (!reader.atEnd) {
      peerId += reader.integer();
      peers.push({ peerId, sequence: reader.integer(), beliefs: reader.integer() });
    }
    return { peers, timedAt };
  } catch (error) {
    if (error instanceof CorruptRecord) return undefined;
    throw error;
  }
}

/** The binary form of an Adj-RIB-In as it stood after one entry of its log, in parts small enough to be stored. */
import type { AppliedLog } from './applied-log.ts';
import { CorruptRecord, RecordReader, RecordWriter } from './octets.ts';

/** The version of the binary form that this code writes; a newer one is refused. */
export const SNAPSHOT_FORMAT = 1;

const VPN = 1;
const WITH_ATTRIBUTE = 2;

/**
 * The parts of a snapshot, each of about `partOctets` before compression. The first begins with the session's state;
 * a copy never spans two parts.
 */
export function* encodeSnapshot(rib: AppliedLog, partOctets: number): Generator<Uint8Array> {
  const writer = new RecordWriter(partOctets + 64 * 1024);
  writer.octet(SNAPSHOT_FORMAT);
  writer.integer(rib.session);
  writer.octet(rib.established ? 1 : 0);
  for (const time of [rib.establishedAt, rib.endOfRibAt, rib.lostAt, rib.purgeAt]) optional(writer, time);
  writer.integer(rib.lastAt);
  writer.integer(rib.losses.size);
  for (const [session, at] of rib.losses) {
    writer.integer(session);
    writer.integer(at);
  }
  for (const copy of rib.contents()) {
    if (writer.length >= partOctets) {
      yield writer.finish().slice();
      writer.clear();
    }
    writer.octet((copy.safi === 72 ? VPN : 0) | (copy.attribute === null ? 0 : WITH_ATTRIBUTE));
    writer.bytes(copy.nlri);
    if (copy.attribute !== null) writer.bytes(copy.attribute);
    writer.integer(copy.firstSeen);
    // Both lie after the first sight, and mostly on it.
    writer.integer(Math.max(0, copy.receivedAt - copy.firstSeen));
    writer.integer(Math.max(0, copy.changedAt - copy.firstSeen));
    writer.integer(copy.session);
  }
  yield writer.finish().slice();
}

/** Puts into an empty `rib` what `encodeSnapshot` wrote; byte strings are views of the parts. Throws `CorruptRecord`. */
export function decodeSnapshot<Rib extends AppliedLog>(parts: Iterable<Uint8Array>, rib: Rib): Rib {
  let first = true;
  for (const part of parts) {
    const reader = new RecordReader(part);
    if (first) readState(reader, rib);
    first = false;
    while (!reader.atEnd) {
      const flags = reader.octet();
      const nlri = reader.bytes();
      const attribute = flags & WITH_ATTRIBUTE ? reader.bytes() : null;
      const firstSeen = reader.integer();
      const receivedAt = firstSeen + reader.integer();
      const changedAt = firstSeen + reader.integer();
      const session = reader.integer();
      rib.restore({
        safi: flags & VPN ? 72 : 71,
        nlri,
        attribute,
        firstSeen,
        receivedAt,
        changedAt,
        session,
      });
    }
  }
  return rib;
}

function readState(reader: RecordReader, rib: AppliedLog): void {
  const format = reader.octet();
  if (format !== SNAPSHOT_FORMAT) {
    throw new CorruptRecord(`snapshot format ${format}, this code knows ${SNAPSHOT_FORMAT}`);
  }
  rib.session = reader.integer();
  rib.established = reader.octet() === 1;
  rib.establishedAt = readOptional(reader);
  rib.endOfRibAt = readOptional(reader);
  rib.lostAt = readOptional(reader);
  rib.purgeAt = readOptional(reader);
  rib.lastAt = reader.integer();
  const losses = reader.integer();
  for (let index = 0; index < losses; index += 1) rib.losses.set(reader.integer(), reader.integer());
}

function optional(writer: RecordWriter, value: number | null): void {
  writer.integer(value === null ? 0 : value + 1);
}

function readOptional(reader: RecordReader): number | null {
  const value = reader.integer();
  return value === 0 ? null : value - 1;
}

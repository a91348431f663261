/**
 * The entries of a peer's topology log and their binary form. A log is all that is ever stored of what a peer said;
 * everything that the API shows is made from it. Entries carry raw NLRIs and attributes, so that decoders can
 * improve without a migration, and unknown code points survive.
 */
import type { LinkStateSafi } from '../../protocols/bgp/ls/code-point.ts';
import { CorruptRecord, RecordReader, RecordWriter } from './octets.ts';

/** Why all copies of a peer, or all that are stale, were dropped. */
export type PurgeReason = 'deleted' | 'disabled' | 'max-nlri' | 'expired' | 'sweep-timeout';

/** `at` is the worker's wall clock in milliseconds since 1970. */
export type LogEntry =
  | {
      readonly kind: 'put';
      readonly at: number;
      readonly safi: LinkStateSafi;
      /** From the NLRI type to its end; the route distinguisher of SAFI 72 stands within. */
      readonly nlri: Uint8Array;
      /** The value of path attribute 29; null: it was absent or had to be discarded (RFC 9552 §8.2.2). */
      readonly attribute: Uint8Array | null;
    }
  /** The peer announced, in this session, exactly what it had announced in the one before. */
  | {
      readonly kind: 'confirm';
      readonly at: number;
      readonly safi: LinkStateSafi;
      readonly nlri: Uint8Array;
    }
  | { readonly kind: 'remove'; readonly at: number; readonly safi: LinkStateSafi; readonly nlri: Uint8Array }
  /** Copies of earlier sessions are stale until they come again; those that do not are gone by `sweepBy`. */
  | { readonly kind: 'session-established'; readonly at: number; readonly sweepBy: number }
  /** RFC 4724 §2. Everything that is still stale is dropped. */
  | { readonly kind: 'end-of-rib'; readonly at: number }
  /** Every copy is stale until `purgeAt`, when it is dropped. */
  | { readonly kind: 'session-lost'; readonly at: number; readonly purgeAt: number }
  /** `expired` and `sweep-timeout` drop what is stale, the other reasons everything. */
  | { readonly kind: 'purge'; readonly at: number; readonly reason: PurgeReason };

/** The version of the binary form that this code writes; a newer one is refused. */
export const LOG_FORMAT = 1;

const KINDS = [
  'put',
  'confirm',
  'remove',
  'session-established',
  'end-of-rib',
  'session-lost',
  'purge',
] as const satisfies readonly LogEntry['kind'][];
const PURGE_REASONS = [
  'deleted',
  'disabled',
  'max-nlri',
  'expired',
  'sweep-timeout',
] as const satisfies readonly PurgeReason[];

/** Set in a put's kind octet when the object has no attribute. */
const WITHOUT_ATTRIBUTE = 0x40;
/** Set in the kind octet when the SAFI is 72. */
const VPN = 0x80;

/** Writes entries into one batch; `finish` gives its octets and starts the next. */
export class BatchEncoder {
  readonly #writer = new RecordWriter(64 * 1024);
  #lastAt = 0;
  #entries = 0;

  get octets(): number {
    return this.#writer.length;
  }

  get entries(): number {
    return this.#entries;
  }

  add(entry: LogEntry): void {
    const writer = this.#writer;
    if (this.#entries === 0) {
      writer.octet(LOG_FORMAT);
      this.#lastAt = 0;
    }
    this.#entries += 1;
    // A wall clock can be set back; the log's own time stands still then.
    const at = Math.max(entry.at, this.#lastAt);
    const kind = KINDS.indexOf(entry.kind);
    const vpn = 'safi' in entry && entry.safi === 72 ? VPN : 0;
    const withoutAttribute = entry.kind === 'put' && entry.attribute === null ? WITHOUT_ATTRIBUTE : 0;
    writer.octet(kind | vpn | withoutAttribute);
    writer.integer(at - this.#lastAt);
    this.#lastAt = at;
    switch (entry.kind) {
      case 'put':
        writer.bytes(entry.nlri);
        if (entry.attribute !== null) writer.bytes(entry.attribute);
        break;
      case 'confirm':
      case 'remove':
        writer.bytes(entry.nlri);
        break;
      case 'session-established':
        writer.integer(entry.sweepBy);
        break;
      case 'session-lost':
        writer.integer(entry.purgeAt);
        break;
      case 'purge':
        writer.octet(PURGE_REASONS.indexOf(entry.reason));
        break;
      case 'end-of-rib':
        break;
    }
  }

  /** A copy of the batch's octets; the encoder is empty afterwards. */
  finish(): Uint8Array {
    const batch = this.#writer.finish().slice();
    this.#writer.clear();
    this.#entries = 0;
    return batch;
  }
}

/** The octets of one batch. */
export function encodeBatch(entries: readonly LogEntry[]): Uint8Array {
  const encoder = new BatchEncoder();
  for (const entry of entries) encoder.add(entry);
  return encoder.finish();
}

/** The entries of one batch; their byte strings are views of it. Throws `CorruptRecord`. */
export function decodeBatch(batch: Uint8Array): LogEntry[] {
  return readBatch(batch, (start, end) => batch.subarray(start, end));
}

/** Octets of one batch that share memory: a copy that outlives its neighbours holds no more than this. */
const SHARED_OCTETS = 16 * 1024;

/**
 * The same with memory of their own: a kept view would keep the whole batch. Those of a large batch share buffers of a
 * moderate size, since a buffer for each of 200,000 byte strings takes longer to make than all else that is done with
 * them.
 */
export function decodeBatchToKeep(batch: Uint8Array): LogEntry[] {
  let shared = new Uint8Array(0);
  let used = 0;
  return readBatch(batch, (start, end) => {
    const octets = end - start;
    if (used + octets > shared.length) {
      shared = new Uint8Array(Math.max(octets, Math.min(batch.length - start, SHARED_OCTETS)));
      used = 0;
    }
    const copy = shared.subarray(used, used + octets);
    for (let at = 0; at < octets; at += 1) copy[at] = batch[start + at] as number;
    used += octets;
    return copy;
  });
}

/** `take` makes a byte string of the batch's octets from `start` up to `end`. */
function readBatch(batch: Uint8Array, take: (start: number, end: number) => Uint8Array): LogEntry[] {
  const entries: LogEntry[] = [];
  const reader = new RecordReader(batch);
  const bytes = () => {
    const length = reader.skipBytes();
    return take(reader.position - length, reader.position);
  };
  if (reader.atEnd) return entries;
  const format = reader.octet();
  if (format !== LOG_FORMAT) throw new CorruptRecord(`log format ${format}, this code knows ${LOG_FORMAT}`);
  let at = 0;
  while (!reader.atEnd) {
    const octet = reader.octet();
    const kind = KINDS[octet & 0x3f];
    const safi: LinkStateSafi = octet & VPN ? 72 : 71;
    at += reader.integer();
    switch (kind) {
      case 'put': {
        const nlri = bytes();
        entries.push({ kind, at, safi, nlri, attribute: octet & WITHOUT_ATTRIBUTE ? null : bytes() });
        break;
      }
      case 'confirm':
      case 'remove':
        entries.push({ kind, at, safi, nlri: bytes() });
        break;
      case 'session-established':
        entries.push({ kind, at, sweepBy: reader.integer() });
        break;
      case 'session-lost':
        entries.push({ kind, at, purgeAt: reader.integer() });
        break;
      case 'purge': {
        const reason = PURGE_REASONS[reader.octet()];
        if (reason === undefined) throw new CorruptRecord('an unknown purge reason');
        entries.push({ kind, at, reason });
        break;
      }
      case 'end-of-rib':
        entries.push({ kind, at });
        break;
      case undefined:
        throw new CorruptRecord(`an unknown entry ${octet}`);
    }
  }
  return entries;
}

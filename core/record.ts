import { hash } from 'node:crypto';
import { canonicalJson, type ExactJson, parseExactJson } from './exact-json.ts';
import { MAX_INTEGER_BYTES, writeInt64, writeUint64 } from './mapping/digits.ts';
import type { RowLayout } from './mapping/layout.ts';
import { CELL } from './mapping/value.ts';
import { type Fragment, fragmentOf, RecordBuffer } from './record-buffer.ts';

/** What every record of one device and model version says alike. */
export interface RecordSource {
  readonly device: string;
  readonly deviceId: number;
  readonly modelName: string;
}

/**
 * The records of one cycle, back to back, each the bytes that a receiver gets. Valid until any record is written: all
 * writers share one buffer.
 */
export interface RecordBatch {
  readonly bytes: Uint8Array;
  /** Record i is `bytes[ends[i − 1] or 0, ends[i])`. */
  readonly ends: readonly number[];
}

const HASH = fragmentOf('","data-hash":"sha256:');
const DATA = fragmentOf('","data":');
const TRUE = fragmentOf('true');
const FALSE = fragmentOf('false');
const OPEN = 0x7b;
const CLOSE = 0x7d;
const HASH_DIGITS = 64;
/** `2026-11-21T03:00:00.000Z`; rows are from this century, since the collector's clock stands in for one that is far off. */
const TIMESTAMP_BYTES = 24;
/** The braces that a record still needs behind its last member. */
const CLOSING_BYTES = 3;
/** Everything of an envelope but the source, the row's name and the data. */
const FIXED_BYTES = 256;
/** Longest text of a double, an integer or a truth value. */
const SCALAR_BYTES = 32 + MAX_INTEGER_BYTES;

/** Shared by all writers, since a batch is delivered before another is written: a worker has thousands of them. */
const out = new RecordBuffer();
const view = new DataView(new ArrayBuffer(8));

/** How a record names its row: its `path` and `key` members, ready to be copied. */
export function rowName(path: string, key: string): Uint8Array {
  return Buffer.from(`${JSON.stringify(path)},"key":${JSON.stringify(key)},"timestamp":"`);
}

/**
 * Writes record envelopes (eight members, always in the same order), back to back. Call `begin`; for each
 * record `start`, `value` for each field that there is, in the model's order, and `end`; then `take`. Between `begin` and
 * `take` no other writer may be used.
 */
export class RecordWriter {
  private ends: number[] = [];
  private hashAt = 0;
  private dataStart = 0;
  private readonly head: Fragment;
  private readonly layout: RowLayout;
  /** Where `,"name":value` of each field stands in the record that is being written; −1 for none. */
  private readonly memberStart: Int32Array;
  private readonly memberEnd: Int32Array;
  private lastMilliseconds = Number.NaN;
  /** The last timestamp's text, in ISO 8601. */
  private readonly timestamp = Buffer.alloc(TIMESTAMP_BYTES);

  constructor(source: RecordSource, layout: RowLayout) {
    this.layout = layout;
    this.head = fragmentOf(
      `{"device":${JSON.stringify(source.device)},"device-id":${source.deviceId},` +
        `"model-name":${JSON.stringify(source.modelName)},"path":`,
    );
    this.memberStart = new Int32Array(layout.fields.length);
    this.memberEnd = new Int32Array(layout.fields.length);
  }

  /** Begins a batch. */
  begin(): void {
    out.rewind();
    this.ends = [];
  }

  /** The records since `begin`. */
  take(): RecordBatch {
    const { buffer, byteOffset } = out.bytes;
    const batch = { bytes: new Uint8Array(buffer, byteOffset, out.at), ends: this.ends };
    this.begin();
    return batch;
  }

  /** Begins a record of the row that `rowName` named; the time is in ms since the epoch. */
  start(name: Uint8Array, timestampMilliseconds: number): void {
    out.reserve(FIXED_BYTES + this.head.length + name.length);
    out.fragment(this.head);
    out.copy(name);
    if (timestampMilliseconds !== this.lastMilliseconds) {
      this.lastMilliseconds = timestampMilliseconds;
      this.timestamp.write(new Date(timestampMilliseconds).toISOString(), 'latin1');
    }
    out.copy(this.timestamp);
    out.fragment(HASH);
    this.hashAt = out.at;
    out.at += HASH_DIGITS;
    out.fragment(DATA);
    this.dataStart = out.at;
    if (!this.layout.isCanonical) this.memberStart.fill(-1);
  }

  /** A field's value as its cell holds it; `text` for CELL.text. */
  value(field: number, cell: number, hi: number, lo: number, text: Uint8Array | undefined): void {
    const member = this.layout.members[field] as Fragment;
    out.reserve(member.length + SCALAR_BYTES + (text === undefined ? 0 : text.length));
    this.memberStart[field] = out.at;
    out.fragment(member);
    switch (cell) {
      case CELL.uint:
        out.at = writeUint64(out.view, out.at, hi, lo);
        break;
      case CELL.int:
        out.at = writeInt64(out.view, out.at, hi, lo);
        break;
      case CELL.double:
        view.setInt32(0, hi);
        view.setInt32(4, lo);
        out.at += out.bytes.write(String(view.getFloat64(0)), out.at, 'latin1');
        break;
      case CELL.text:
        out.copy(text as Uint8Array);
        break;
      default:
        out.fragment(cell === CELL.true ? TRUE : FALSE);
    }
    this.memberEnd[field] = out.at;
  }

  /** Ends the record and fills in its hash. */
  end(): void {
    if (!this.layout.isCanonical) this.hashCanonicalData();
    closeObject(this.dataStart);
    if (this.layout.isCanonical) this.hashData(this.dataStart, out.at);
    out.bytes[out.at++] = CLOSE;
    this.ends.push(out.at);
  }

  /** Puts the members in their canonical order behind the record, where the next one will be, for the hash alone. */
  private hashCanonicalData(): void {
    const membersEnd = out.at;
    out.reserve(membersEnd - this.dataStart + FIXED_BYTES);
    out.at += CLOSING_BYTES;
    const start = out.at;
    this.putCanonicalMembers();
    closeObject(start);
    this.hashData(start, out.at);
    out.at = membersEnd;
  }

  private hashData(start: number, end: number): void {
    const { bytes } = out;
    const data = new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start);
    bytes.write(hash('sha256', data, 'hex'), this.hashAt, 'latin1');
  }

  private putCanonicalMembers(): void {
    const { canonical: order, fields, members } = this.layout;
    for (let at = 0; at < order.length; at += 1) {
      const field = order[at] as number;
      const start = this.memberStart[field] as number;
      if (start < 0) continue;
      const end = this.memberEnd[field] as number;
      if (fields[field]?.type !== 'json') {
        out.repeat(start, end);
        continue;
      }
      // JSON may grow a little when it is rewritten: 1e20 has 21 digits.
      const member = members[field] as Fragment;
      const text = canonicalText(out.bytes.subarray(start + member.length, end));
      out.reserve(out.at - this.dataStart + text.length + member.length + FIXED_BYTES);
      out.fragment(member);
      out.copy(text);
    }
  }
}

/** The members from `start` on, each begun with a comma, become an object. */
function closeObject(start: number): void {
  if (out.at === start) out.at += 1;
  out.bytes[start] = OPEN;
  out.bytes[out.at++] = CLOSE;
}

/** Where a row begins and where its hash stands: within a string these octets could not be, for want of escapes. */
const ROW_MEMBER = ',"path":';
const HASH_MEMBER = ',"data-hash":"sha256:';

/** The rows of a batch as JSON texts `{"path","key","timestamp","data"}`, cut out of its records as they were written. */
export function rowTexts({ bytes, ends }: RecordBatch): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return ends.map((end, index) => {
    const record = text.toString('utf8', index === 0 ? 0 : ends[index - 1], end);
    const row = record.indexOf(ROW_MEMBER) + 1;
    const hashAt = record.indexOf(HASH_MEMBER, row);
    return `{${record.slice(row, hashAt)}${record.slice(hashAt + HASH_MEMBER.length + HASH_DIGITS + 1)}`;
  });
}

/** `sha256:` and the hex digest of an object's canonical text (see `canonicalJson`); undefined when it has none. */
export function dataHash(data: ExactJson): string | undefined {
  const text = canonicalJson(data);
  return text === undefined ? undefined : `sha256:${hash('sha256', text, 'hex')}`;
}

function canonicalText(json: Uint8Array): Uint8Array {
  const value = parseExactJson(Buffer.from(json.buffer, json.byteOffset, json.length).toString('utf8'));
  // The value passed the same two functions when it was coerced.
  return Buffer.from(canonicalJson(value as ExactJson) as string);
}

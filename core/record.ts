import { hash } from 'node:crypto';
import { canonicalJson, type ExactJson, parseExactJson } from './exact-json.ts';
import { MAX_INTEGER_BYTES, writeInt64, writeUint64 } from './mapping/digits.ts';
import type { RowLayout } from './mapping/layout.ts';
import { CELL } from './mapping/value.ts';

/** What every record of one device and model version says alike. */
export interface RecordSource {
  readonly device: string;
  readonly deviceId: number;
  readonly modelName: string;
}

/** The records of one cycle, back to back, each the bytes that a receiver gets. Valid until the writer is used again. */
export interface RecordBatch {
  readonly bytes: Uint8Array;
  /** Record i is `bytes[ends[i − 1] or 0, ends[i])`. */
  readonly ends: readonly number[];
}

const TIMESTAMP = Buffer.from(',"timestamp":"');
const KEY = Buffer.from(',"key":');
const HASH = Buffer.from('","data-hash":"sha256:');
const DATA = Buffer.from('","data":{');
const COMMA = 0x2c;
const CLOSE = 0x7d;
const HASH_DIGITS = 64;
/** Everything of an envelope but the source, the path, the key and the data. */
const FIXED_BYTES = 256;

const view = new DataView(new ArrayBuffer(8));

/**
 * Writes record envelopes (the seed's eight members, in its order) into one buffer that is used again for each batch.
 * Call `start`, then one of the value methods per field in the model's order, then `end`.
 */
export class RecordWriter {
  /** Grows to what the cycles of its stream need: a worker has thousands of these, most of small cycles. */
  private buffer = Buffer.allocUnsafe(2_048);
  private at = 0;
  private ends: number[] = [];
  private hashAt = 0;
  private dataStart = 0;
  private isFirst = true;
  private readonly head: Uint8Array;
  private readonly layout: RowLayout;
  private readonly valueStart: Int32Array;
  private readonly valueEnd: Int32Array;
  private canonical = Buffer.allocUnsafe(0);
  private lastMilliseconds = Number.NaN;
  private lastTimestamp = '';

  constructor(source: RecordSource, layout: RowLayout) {
    this.layout = layout;
    this.head = Buffer.from(
      `{"device":${JSON.stringify(source.device)},"device-id":${source.deviceId},` +
        `"model-name":${JSON.stringify(source.modelName)},"path":`,
    );
    this.valueStart = new Int32Array(layout.fields.length);
    this.valueEnd = new Int32Array(layout.fields.length);
  }

  /** The records since the last call. */
  take(): RecordBatch {
    const batch = { bytes: this.buffer.subarray(0, this.at), ends: this.ends };
    this.at = 0;
    this.ends = [];
    return batch;
  }

  /** Begins a record; path and key are JSON strings with their quotes, the time is in ms since the epoch. */
  start(pathJson: Uint8Array, keyJson: Uint8Array, timestampMilliseconds: number): void {
    this.reserve(FIXED_BYTES + this.head.length + pathJson.length + keyJson.length);
    this.copy(this.head);
    this.copy(pathJson);
    this.copy(KEY);
    this.copy(keyJson);
    this.copy(TIMESTAMP);
    if (timestampMilliseconds !== this.lastMilliseconds) {
      this.lastMilliseconds = timestampMilliseconds;
      this.lastTimestamp = new Date(timestampMilliseconds).toISOString();
    }
    this.at += this.buffer.write(this.lastTimestamp, this.at, 'latin1');
    this.copy(HASH);
    this.hashAt = this.at;
    this.at += HASH_DIGITS;
    this.copy(DATA);
    this.dataStart = this.at - 1;
    this.isFirst = true;
    if (!this.layout.isCanonical) this.valueStart.fill(-1);
  }

  /** A field's value as its cell holds it; `text` for CELL.text. */
  value(field: number, cell: number, hi: number, lo: number, text: Uint8Array | undefined): void {
    const key = this.layout.keyJson[field] as Uint8Array;
    this.reserve(key.length + 32 + (text === undefined ? 0 : text.length));
    if (this.isFirst) this.isFirst = false;
    else this.buffer[this.at++] = COMMA;
    this.copy(key);
    this.valueStart[field] = this.at;
    switch (cell) {
      case CELL.uint:
        this.at = writeUint64(this.buffer, this.at, hi, lo);
        break;
      case CELL.int:
        this.at = writeInt64(this.buffer, this.at, hi, lo);
        break;
      case CELL.double:
        view.setInt32(0, hi);
        view.setInt32(4, lo);
        this.at += this.buffer.write(String(view.getFloat64(0)), this.at, 'latin1');
        break;
      case CELL.text:
        this.copy(text as Uint8Array);
        break;
      default:
        this.at += this.buffer.write(cell === CELL.true ? 'true' : 'false', this.at, 'latin1');
    }
    this.valueEnd[field] = this.at;
  }

  /** Ends the record and fills in its hash. */
  end(): void {
    this.reserve(2);
    this.buffer[this.at++] = CLOSE;
    const data = this.layout.isCanonical
      ? this.buffer.subarray(this.dataStart, this.at)
      : this.canonicalData();
    this.buffer.write(hash('sha256', data, 'hex'), this.hashAt, 'latin1');
    this.buffer[this.at++] = CLOSE;
    this.ends.push(this.at);
  }

  private canonicalData(): Uint8Array {
    const { canonical: order, keyJson, fields } = this.layout;
    // JSON values may grow a little when rewritten (1e20 has 21 digits); everything else is copied.
    const parts: Array<{ key: Uint8Array; value: Uint8Array }> = [];
    let length = 2;
    for (const field of order) {
      const start = this.valueStart[field] as number;
      if (start < 0) continue;
      const written = this.buffer.subarray(start, this.valueEnd[field]);
      const value = fields[field]?.type === 'json' ? canonicalText(written) : written;
      parts.push({ key: keyJson[field] as Uint8Array, value });
      length += (keyJson[field] as Uint8Array).length + value.length + 1;
    }
    if (this.canonical.length < length) this.canonical = Buffer.allocUnsafe(length * 2);
    const target = this.canonical;
    let at = 0;
    target[at++] = 0x7b;
    for (const [index, { key, value }] of parts.entries()) {
      if (index > 0) target[at++] = COMMA;
      at = copyBytes(target, at, key);
      at = copyBytes(target, at, value);
    }
    target[at++] = CLOSE;
    return target.subarray(0, at);
  }

  private copy(bytes: Uint8Array): void {
    this.at = copyBytes(this.buffer, this.at, bytes);
  }

  private reserve(bytes: number): void {
    if (this.at + bytes + MAX_INTEGER_BYTES <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe((this.buffer.length + bytes) * 2);
    this.buffer.copy(larger, 0, 0, this.at);
    this.buffer = larger;
  }
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

/** Small copies are faster byte by byte than through a call into the engine. */
function copyBytes(target: Uint8Array, at: number, source: Uint8Array): number {
  const { length } = source;
  if (length > 48) {
    target.set(source, at);
  } else {
    for (let index = 0; index < length; index += 1) target[at + index] = source[index] as number;
  }
  return at + length;
}

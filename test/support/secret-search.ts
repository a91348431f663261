/**
 * Looks for a secret wherever it may have been left, in every form that software puts text into on the way to a disk:
 * as it is, in UTF-16, base64 at each of its three alignments, hexadecimal, URL-encoded, JSON-escaped, and any of these
 * within what is compressed or itself in base64. Databases are read by their rows too, because a long value is spread
 * over pages that do not lie side by side.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { brotliDecompressSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';

export interface Finding {
  /** A file, a table's column, or the name of a text; what was unpacked on the way follows after `>`. */
  readonly where: string;
  readonly form: string;
}

/** How often what was unpacked is unpacked again. */
const DEPTH = 3;

/** More than the product ever compresses into one piece. */
const UNPACKED_LIMIT_BYTES = 64 * 1024 * 1024;

/** Everything below a directory, SQLite files by their rows as well as by their bytes. */
export function searchDirectory(directory: string, secret: string): Finding[] {
  const findings: Finding[] = [];
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  for (const name of names) {
    const path = join(directory, name);
    if (!statSync(path).isFile()) continue;
    const bytes = readFileSync(path);
    findings.push(...searchBytes(bytes, secret, name));
    if (bytes.subarray(0, 15).toString('latin1') === 'SQLite format 3') {
      findings.push(...searchRows(path, secret, name));
    }
  }
  return findings;
}

export function searchText(text: string, secret: string, where: string): Finding[] {
  return searchBytes(Buffer.from(text), secret, where);
}

export function searchBytes(bytes: Buffer, secret: string, where: string, depth = 0): Finding[] {
  const findings = [...formsOf(secret)]
    .filter(([, needle]) => bytes.includes(needle))
    .map(([form]) => ({ where, form }));
  if (depth === DEPTH) return findings;
  for (const [how, unpacked] of unpack(bytes)) {
    findings.push(...searchBytes(unpacked, secret, `${where} > ${how}`, depth + 1));
  }
  return findings;
}

/** The secret in each form, by the form's name. */
export function formsOf(secret: string): Map<string, Buffer> {
  const bytes = Buffer.from(secret, 'utf8');
  const utf16 = Buffer.from(secret, 'utf16le');
  const forms = new Map<string, Buffer>([
    ['plain', bytes],
    ['UTF-16LE', utf16],
    ['UTF-16BE', Buffer.from(utf16).swap16()],
    ['hex', Buffer.from(bytes.toString('hex'))],
    ['HEX', Buffer.from(bytes.toString('hex').toUpperCase())],
    ['URL-encoded', Buffer.from(encodeURIComponent(secret))],
    ['URL-encoded whole', Buffer.from([...bytes].map((byte) => `%${hexOf(byte)}`).join(''))],
    ['JSON', Buffer.from(JSON.stringify(secret).slice(1, -1))],
    ['JSON \\u', Buffer.from([...secret].map((unit) => `\\u00${hexOf(unit.charCodeAt(0))}`).join(''))],
  ]);
  for (const encoding of ['base64', 'base64url'] as const) {
    for (const alignment of [0, 1, 2]) {
      forms.set(`${encoding} at ${alignment}`, Buffer.from(alignedBase64(bytes, alignment, encoding)));
    }
  }
  return forms;
}

/** The characters of base64 that depend on the secret alone when it begins `alignment` bytes into a group of three. */
function alignedBase64(secret: Buffer, alignment: number, encoding: 'base64' | 'base64url'): string {
  const padded = Buffer.concat([Buffer.alloc(alignment), secret]);
  const whole = padded.length - (padded.length % 3);
  const text = padded.subarray(0, whole).toString(encoding);
  // The first group mixes the secret with what stands before it: two characters at 1, three at 2.
  return text.slice(alignment === 0 ? 0 : alignment + 1);
}

/** What can be unpacked from these bytes, wherever in them it begins. */
function* unpack(bytes: Buffer): Generator<[string, Buffer]> {
  const options = { maxOutputLength: UNPACKED_LIMIT_BYTES, finishFlush: 2 };
  const formats: [string, Buffer, (from: Buffer) => Buffer][] = [
    [
      'gzip',
      Buffer.from([0x1f, 0x8b, 0x08]),
      (from) => inflateRawSync(from.subarray(gzipHeaderBytes(from)), options),
    ],
    ['zlib', Buffer.from([0x78, 0x9c]), (from) => inflateSync(from, options)],
    ['zlib', Buffer.from([0x78, 0x01]), (from) => inflateSync(from, options)],
    ['zlib', Buffer.from([0x78, 0xda]), (from) => inflateSync(from, options)],
    [
      'zstd',
      Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
      (from) => zstdDecompressSync(from, { maxOutputLength: UNPACKED_LIMIT_BYTES }),
    ],
  ];
  for (const [how, magic, decompress] of formats) {
    for (let at = bytes.indexOf(magic); at !== -1; at = bytes.indexOf(magic, at + 1)) {
      const unpacked = attempt(() => decompress(bytes.subarray(at)));
      if (unpacked !== undefined && unpacked.length > 0) yield [`${how} at ${at}`, unpacked];
    }
  }
  // Brotli has no magic: only a whole piece can be tried.
  const brotli = bytes.length < 1024 * 1024 ? attempt(() => brotliDecompressSync(bytes, options)) : undefined;
  if (brotli !== undefined && brotli.length > 0) yield ['brotli', brotli];
  const text = bytes.toString('latin1');
  for (const match of text.matchAll(/[A-Za-z0-9+/_-]{24,}={0,2}/g)) {
    // Base64 that begins anywhere in the run, as when other characters of its alphabet stand before it.
    for (const alignment of [0, 1, 2, 3]) {
      const decoded = Buffer.from(match[0].slice(alignment), 'base64');
      if (looksPacked(decoded)) yield [`base64 at ${match.index + alignment}`, decoded];
    }
  }
}

/** Plain base64 of the secret is one of its forms; unpacking base64 is for what lies compressed in it. */
function looksPacked(bytes: Buffer): boolean {
  const head = bytes.subarray(0, 4).toString('hex');
  return head.startsWith('1f8b08') || /^78(01|9c|da)/.test(head) || head === '28b52ffd';
}

/** RFC 1952 §2.3. What follows the stream does not matter then; Node's gunzip takes it for a damaged second one. */
function gzipHeaderBytes(from: Buffer): number {
  const flags = from[3] ?? 0;
  let at = 10;
  if ((flags & 4) !== 0) at += 2 + from.readUInt16LE(at);
  if ((flags & 8) !== 0) at = from.indexOf(0, at) + 1;
  if ((flags & 16) !== 0) at = from.indexOf(0, at) + 1;
  if ((flags & 2) !== 0) at += 2;
  return at;
}

function attempt(decompress: () => Buffer): Buffer | undefined {
  try {
    return decompress();
  } catch {
    return undefined;
  }
}

/** Every value of every table, read from a copy, with what the write-ahead log holds. */
function searchRows(path: string, secret: string, where: string): Finding[] {
  const copy = mkdtempSync(join(tmpdir(), 'graticule-search-'));
  try {
    for (const suffix of ['', '-wal', '-shm', '-journal']) {
      if (existsSync(path + suffix)) cpSync(path + suffix, join(copy, basename(path) + suffix));
    }
    const database = new DatabaseSync(join(copy, basename(path)));
    const findings: Finding[] = [];
    try {
      const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
      for (const table of tables.map((row) => String(row['name']))) {
        const rows = database.prepare(`SELECT * FROM "${table.replaceAll('"', '""')}"`);
        rows.setReadBigInts(true);
        for (const row of rows.iterate()) {
          for (const [column, value] of Object.entries(row)) {
            if (typeof value !== 'string' && !(value instanceof Uint8Array)) continue;
            const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(value);
            findings.push(...searchBytes(bytes, secret, `${where} ${table}.${column}`));
          }
        }
      }
    } finally {
      database.close();
    }
    return findings;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function hexOf(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

/** What has arrived so far of one response (RFC 9112), as far as a webhook needs it. */
export interface ResponseHead {
  readonly status: number;
  /** Whether the connection may carry another request once the body has ended. */
  readonly keepsAlive: boolean;
  /** How long the receiver keeps an idle connection, when it says so. */
  readonly keepAliveSeconds: number | undefined;
}

export type ResponseProgress = 'head' | 'body' | 'complete' | 'malformed';

const HEAD_LIMIT_BYTES = 65_536;
/** A body is read so that the connection can be used again; beyond this it is cheaper to make a new one. */
const BODY_LIMIT_BYTES = 65_536;

/** A response that arrives at once and is no longer than this is remembered. */
const REMEMBERED_BYTES = 1_024;

/**
 * Reads responses, one after another: the status, and where the body ends. Bodies are counted, never kept.
 *
 * `push` returns how far the response has come: `complete` when its last byte was in, or when there is no use in reading
 * on, in which case `head.keepsAlive` is false. Interim responses (1xx but 101) are skipped.
 */
export class ResponseReader {
  head: ResponseHead | undefined;
  private readonly expectsBody: boolean;
  private readonly isConnect: boolean;
  private pending = '';
  private remaining = 0;
  private read = 0;
  private mode: 'length' | 'chunked' | 'until-close' = 'length';
  /** The part of a chunked body that comes next (RFC 9112 §7.1). */
  private chunkPart: 'size' | 'data' | 'data-end' | 'trailer' = 'size';
  private isUntouched = true;
  /** The last response that came in one piece. Receivers say the same again and again; what is the same means the same. */
  private remembered: string | undefined;
  private rememberedHead: ResponseHead | undefined;

  constructor(method: string) {
    this.expectsBody = method !== 'HEAD';
    this.isConnect = method === 'CONNECT';
  }

  /** The next bytes are those of another response. */
  begin(): void {
    if (this.isUntouched) return;
    this.isUntouched = true;
    this.head = undefined;
    this.pending = '';
    this.remaining = 0;
    this.read = 0;
    this.mode = 'length';
    this.chunkPart = 'size';
  }

  /** Takes bytes off the connection; latin1 text, since HTTP's framing is bytes and the body is not looked at. */
  push(bytes: string): ResponseProgress {
    const isFirst = this.isUntouched;
    this.isUntouched = false;
    if (isFirst && bytes === this.remembered) {
      this.head = this.rememberedHead;
      return 'complete';
    }
    const progress = this.readOn(bytes);
    if (isFirst && progress === 'complete' && bytes.length <= REMEMBERED_BYTES) {
      this.remembered = bytes;
      this.rememberedHead = this.head;
    }
    return progress;
  }

  private readOn(bytes: string): ResponseProgress {
    if (this.head === undefined) {
      this.pending = this.pending === '' ? bytes : this.pending + bytes;
      const rest = this.readHeads();
      if (rest === 'head' || rest === 'malformed') return rest;
      return this.readBody(rest.body);
    }
    return this.readBody(bytes);
  }

  /** Reads final and interim heads out of `pending`; the rest of it is body. */
  private readHeads(): 'head' | 'malformed' | { body: string } {
    for (;;) {
      if (this.pending.length >= 5 && !this.pending.startsWith('HTTP/')) return 'malformed';
      const crlfEnd = this.pending.indexOf('\r\n\r\n');
      // Lines may be taken that end in LF alone (RFC 9112 §2.2), as receivers written by hand send them. What comes
      // first is the head's end: the other may stand in the body.
      const lfEnd = this.pending.indexOf('\n\n');
      const isLf = lfEnd >= 0 && (crlfEnd < 0 || lfEnd < crlfEnd);
      const end = isLf ? lfEnd : crlfEnd;
      if (end < 0) return this.pending.length > HEAD_LIMIT_BYTES ? 'malformed' : 'head';
      const head = this.pending.slice(0, end);
      const rest = this.pending.slice(end + (isLf ? 2 : 4));
      this.pending = '';
      const status = /^HTTP\/1\.(\d) (\d{3})(?: |\r|\n|$)/.exec(head);
      if (status === null) return 'malformed';
      const code = Number(status[2]);
      if (code < 100) return 'malformed';
      if (code < 200 && code !== 101) {
        this.pending = rest;
        continue;
      }
      // Of such a head the status counts; its connection is not used again, so that where its body ends does not matter.
      if (isLf) this.frame(code, false, '');
      else this.frame(code, status[1] !== '0', unfolded(head.slice(head.indexOf('\r\n')).toLowerCase()));
      return { body: rest };
    }
  }

  /** Decides how the body ends (RFC 9112 §6.3) and whether the connection lives on (§9.3). `fields` is in lower case. */
  private frame(status: number, isHttp11: boolean, fields: string): void {
    const connection = fieldValue(fields, 'connection');
    const transferEncoding = fieldValue(fields, 'transfer-encoding');
    const contentLength = fieldValue(fields, 'content-length');
    let keepsAlive =
      connection === undefined
        ? isHttp11
        : isHttp11
          ? !connection.includes('close')
          : /keep-alive/.test(connection);
    const isTunnel = status === 101 || (this.isConnect && status < 300);
    if (isTunnel) keepsAlive = false;
    if (isTunnel || !this.expectsBody || status === 204 || status === 304) {
      this.remaining = 0;
    } else if (transferEncoding !== undefined) {
      // HTTP/1.0 does not know it: such framing is faulty (RFC 9112 §6.1).
      const isChunked = isHttp11 && transferEncoding.trim() === 'chunked' && contentLength === undefined;
      this.mode = isChunked ? 'chunked' : 'until-close';
    } else if (contentLength !== undefined) {
      if (/^\d{1,15}$/.test(contentLength)) this.remaining = Number(contentLength);
      else this.mode = 'until-close';
    } else {
      this.mode = 'until-close';
    }
    if (this.mode === 'until-close' || this.remaining > BODY_LIMIT_BYTES) keepsAlive = false;
    const timeout = /timeout=(\d{1,6})/.exec(fieldValue(fields, 'keep-alive') ?? '')?.[1];
    this.head = { status, keepsAlive, keepAliveSeconds: timeout === undefined ? undefined : Number(timeout) };
  }

  private readBody(bytes: string): ResponseProgress {
    if (!(this.head as ResponseHead).keepsAlive) return 'complete';
    this.read += bytes.length;
    if (this.mode === 'chunked') return this.readChunks(bytes);
    if (bytes.length > this.remaining) return this.giveUp();
    this.remaining -= bytes.length;
    return this.remaining === 0 ? 'complete' : 'body';
  }

  private readChunks(bytes: string): ResponseProgress {
    if (this.read > BODY_LIMIT_BYTES) return this.giveUp();
    let rest = this.pending + bytes;
    this.pending = '';
    for (;;) {
      if (this.chunkPart === 'data') {
        const taken = Math.min(rest.length, this.remaining);
        this.remaining -= taken;
        rest = rest.slice(taken);
        if (this.remaining > 0) return 'body';
        this.chunkPart = 'data-end';
      }
      const end = rest.indexOf('\r\n');
      if (end < 0) {
        this.pending = rest;
        return 'body';
      }
      const line = rest.slice(0, end);
      rest = rest.slice(end + 2);
      if (this.chunkPart === 'size') {
        const size = /^([0-9a-f]{1,8})[\t ]*(;|$)/i.exec(line)?.[1];
        if (size === undefined) return this.giveUp();
        this.remaining = Number.parseInt(size, 16);
        this.chunkPart = this.remaining === 0 ? 'trailer' : 'data';
      } else if (this.chunkPart === 'data-end') {
        if (line !== '') return this.giveUp();
        this.chunkPart = 'size';
      } else if (line === '') {
        return rest === '' ? 'complete' : this.giveUp();
      }
    }
  }

  /** The status stands; what follows it is too long or not HTTP, so the connection is of no further use. */
  private giveUp(): ResponseProgress {
    this.head = { ...(this.head as ResponseHead), keepsAlive: false };
    return 'complete';
  }
}

/** A value that goes on in the next line is one with spaces there (RFC 9112 §5.2). */
function unfolded(fields: string): string {
  return fields.replace(/\r\n[ \t]+/g, ' ');
}

/** The values of a field joined by commas, or undefined; `fields` begins with CR LF and is in lower case. */
function fieldValue(fields: string, name: string): string | undefined {
  let found: string | undefined;
  const marker = `\r\n${name}:`;
  for (let at = fields.indexOf(marker); at >= 0; at = fields.indexOf(marker, at + 2)) {
    const end = fields.indexOf('\r\n', at + 2);
    const value = fields.slice(at + marker.length, end < 0 ? undefined : end).trim();
    found = found === undefined ? value : `${found}, ${value}`;
  }
  return found;
}

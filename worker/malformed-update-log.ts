import type { BgpError } from '../protocols/bgp/error.ts';
import { formatHex } from '../protocols/bgp/octet-writer.ts';

/** What one peer may fill the log with; the rest is counted. */
const LINES_PER_MINUTE = 10;
const MINUTE_MILLISECONDS = 60_000;

type Write = (level: 'warn', message: string, fields: Record<string, unknown>) => void;

/**
 * RFC 7606 §6: each malformed UPDATE of a peer is logged whole, with what is wrong in it, so that whoever runs the
 * router that broke it can be shown. A peer that sends nothing else is cut short, and it is said how often.
 */
export class MalformedUpdateLog {
  readonly #peerId: number;
  readonly #write: Write;
  #minuteBegan = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #leftOut = 0;

  constructor(peerId: number, write: Write) {
    this.#peerId = peerId;
    this.#write = write;
  }

  /** @param nowMilliseconds of a clock that never jumps. */
  note(octets: Uint8Array, problems: readonly BgpError[], nowMilliseconds: number): void {
    if (nowMilliseconds - this.#minuteBegan >= MINUTE_MILLISECONDS) {
      this.#minuteBegan = nowMilliseconds;
      this.#lines = 0;
    }
    if (this.#lines === LINES_PER_MINUTE) {
      this.#leftOut += 1;
      return;
    }
    this.#lines += 1;
    this.#write('warn', 'malformed UPDATE', {
      'peer-id': this.#peerId,
      problems: problems.map(({ text }) => text),
      update: formatHex(octets),
      ...(this.#leftOut === 0 ? {} : { 'left-out-before': this.#leftOut }),
    });
    this.#leftOut = 0;
  }
}

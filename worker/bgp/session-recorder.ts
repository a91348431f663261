import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { ENV } from '../../contract/env.ts';
import { errorFields } from '../../core/log-line.ts';
import type { PeerSettings } from '../../protocols/bgp/peer-settings.ts';
import { type RecordedInput, RecordingFormatter } from '../../protocols/bgp/recording.ts';
import { log } from '../log.ts';

/** A recording ends here: replaying needs a session from its beginning, so there is no use in its tail. */
const MAXIMUM_FILE_OCTETS = 256 * 2 ** 20;
/** What may wait for a slow disk; beyond it the recording stops rather than the session. */
const MAXIMUM_WAITING_OCTETS = 16 * 2 ** 20;

/**
 * Writes one session's inputs to a file, for `GRATICULE_BGP_RECORD`. It never holds the session up: what the disk does
 * not take in time ends the recording, and the file says so by ending.
 */
export class SessionRecorder {
  readonly #formatter = new RecordingFormatter();
  readonly #path: string;
  #stream: WriteStream | undefined;
  #written = 0;

  /** @param path the file to write; one that is there already is left alone, and nothing is recorded. */
  constructor(path: string, settings: PeerSettings) {
    this.#path = path;
    // The octets of a session are the customer's topology: nobody else on the machine is to read them.
    this.#stream = createWriteStream(path, { mode: 0o600, flags: 'wx' });
    this.#stream.on('error', () => {
      this.#stream = undefined;
    });
    this.#write(this.#formatter.header(settings));
  }

  record(recorded: RecordedInput): void {
    if (this.#stream !== undefined) this.#write(this.#formatter.line(recorded));
  }

  /** Resolves when all of it is in the file. */
  close(): Promise<void> {
    const stream = this.#stream;
    this.#stream = undefined;
    return new Promise((resolve) => (stream === undefined ? resolve() : stream.end(() => resolve())));
  }

  get path(): string {
    return this.#path;
  }

  #write(line: string): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#written += line.length;
    const isTooMuch = this.#written > MAXIMUM_FILE_OCTETS || stream.writableLength > MAXIMUM_WAITING_OCTETS;
    if (isTooMuch) void this.close();
    else stream.write(line);
  }
}

/**
 * A recorder for a peer's new driver where `GRATICULE_BGP_RECORD` names a folder: `peer-7-1700000000000.jsonl` in it,
 * the number being the time at which it began. Undefined where it names none.
 */
export function openRecorder(settings: PeerSettings, now: number): SessionRecorder | undefined {
  const folder = process.env[ENV.bgpRecord] ?? '';
  if (folder === '') return undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return new SessionRecorder(`${folder}/peer-${settings.peerId}-${now}.jsonl`, settings);
  } catch (error) {
    log('error', 'cannot record BGP sessions', { folder, ...errorFields(error) });
    return undefined;
  }
}

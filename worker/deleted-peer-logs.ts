/** Removes the logs of deleted peers when their hour is over: once for all workers, by the first of them. */
import { errorFields } from '../core/log-line.ts';
import type { log } from './log.ts';

/** Looked for this often; a log is kept for an hour, and need not go on the minute. */
const INTERVAL_MILLISECONDS = 10 * 60 * 1000;

export interface DeletedPeerLogsPorts {
  readonly workerId: string;
  /** Workers whose ownership is to be respected, this one among them. */
  living(): readonly string[];
  /** Whether this worker may still touch the store. */
  mayAct(): boolean;
  /** Milliseconds since 1970. */
  now(): number;
  /** Removes those whose hour is over at `now`, and returns whose they were. */
  remove(now: number): Promise<readonly number[]>;
  readonly log: typeof log;
}

export class DeletedPeerLogs {
  readonly #ports: DeletedPeerLogsPorts;
  #timer: NodeJS.Timeout | undefined;

  constructor(ports: DeletedPeerLogsPorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#sweep(), INTERVAL_MILLISECONDS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #sweep(): Promise<void> {
    const { workerId, log } = this.#ports;
    const [first] = this.#ports.living().toSorted();
    if (first !== workerId || !this.#ports.mayAct()) return;
    try {
      const peers = await this.#ports.remove(this.#ports.now());
      for (const peerId of peers) log('info', 'log of a deleted peer removed', { 'peer-id': peerId });
    } catch (error) {
      log('warn', 'logs of deleted peers not removed', errorFields(error));
    }
  }
}

import { errorFields } from '../core/log-line.ts';
import type { PeerStatus } from '../core/peer-status.ts';
import { putPeerStatuses, statusChunk } from '../store/peer-status-store.ts';
import { log } from './log.ts';

/** A change of state is readable within this time … */
const PROMPT_MILLISECONDS = 200;
/** … and counters alone are written this often. */
const COUNTERS_MILLISECONDS = 10_000;

export interface StatusBoardPorts {
  readonly worker: string;
  /** The statuses of all peers that the worker owns now. */
  statuses(): readonly PeerStatus[];
  mayAct(): boolean;
}

/**
 * Publishes the statuses of this worker's peers, a hundred to an item: soon after a change, and all of them that are
 * different every ten seconds, so that a quiet worker writes nothing.
 */
export class StatusBoard {
  readonly #ports: StatusBoardPorts;
  readonly #published = new Map<number, string>();
  readonly #timer: NodeJS.Timeout;
  readonly #urgent = new Set<number>();
  #prompt: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(ports: StatusBoardPorts) {
    this.#ports = ports;
    this.#timer = setInterval(() => void this.publishAll(), COUNTERS_MILLISECONDS);
  }

  /** Something other than a counter has changed in this peer's status, or the peer came or went. */
  touch(peerId: number): void {
    this.#urgent.add(statusChunk(peerId));
    this.#prompt ??= setTimeout(() => {
      this.#prompt = undefined;
      const chunks = [...this.#urgent];
      this.#urgent.clear();
      void this.#publish(chunks);
    }, PROMPT_MILLISECONDS);
  }

  /** Writes every chunk that is not as it was last written; resolves when it is there. */
  async publishAll(): Promise<void> {
    const chunks = new Set([
      ...this.#published.keys(),
      ...this.#ports.statuses().map((status) => statusChunk(status.id)),
    ]);
    await this.#publish([...chunks]);
  }

  /** The last words of this worker; afterwards nothing is written any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#prompt);
    await this.publishAll();
  }

  /** Writes are made one after another, so that an older status never lands on a newer one. */
  #publish(chunks: readonly number[]): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      const byChunk = Map.groupBy(this.#ports.statuses(), (status) => statusChunk(status.id));
      for (const chunk of chunks) await this.#publishChunk(chunk, byChunk.get(chunk) ?? []);
    });
    return this.#writing;
  }

  async #publishChunk(chunk: number, statuses: readonly PeerStatus[]): Promise<void> {
    const text = JSON.stringify(statuses);
    if (this.#published.get(chunk) === text || !this.#ports.mayAct()) return;
    try {
      await putPeerStatuses(this.#ports.worker, chunk, statuses);
      if (statuses.length === 0) this.#published.delete(chunk);
      else this.#published.set(chunk, text);
    } catch (error) {
      // The next round, at the latest in ten seconds, finds the difference again.
      this.#published.delete(chunk);
      log('warn', 'status not written', { chunk, ...errorFields(error) });
    }
  }
}

import { errorFields } from '../core/log-line.ts';
import {
  BEAT_INTERVAL_MILLISECONDS,
  FENCED_AFTER_MILLISECONDS,
  HeartbeatWatch,
  type WorkerRecord,
} from '../core/ownership.ts';
import { listWorkers, registerWorker, removeWorker, renewWorker } from '../store/worker-store.ts';
import { log } from './log.ts';

/** What the heartbeat tells the worker it belongs to. */
export interface HeartbeatPorts {
  /** Milliseconds of a clock that never goes back and runs while the process is stopped. */
  monotonic(): number;
  now(): Date;
  /** The set of live workers is no longer the one of the last beat. */
  onWorkersChanged(): void;
  /** It renews again after a time in which it might not act, and in which others may have taken what it owned. */
  onLapsed(): void;
  /** Another process runs under this worker's id: this one must end. */
  onReplaced(): void;
}

/**
 * Keeps this worker's record renewed and watches those of the others.
 *
 * It is also the fence: a worker that could not renew for eight seconds must not act any more, since after twelve the
 * others take what it owned. `mayAct` is asked before every effect; that covers a process that was stopped and continued.
 */
export class Heartbeat {
  readonly #watch = new HeartbeatWatch();
  readonly #ports: HeartbeatPorts;
  #record: WorkerRecord;
  #renewedAt: number;
  #workers: readonly WorkerRecord[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isBeating = false;

  private constructor(record: WorkerRecord, renewedAt: number, ports: HeartbeatPorts) {
    this.#record = record;
    this.#renewedAt = renewedAt;
    this.#ports = ports;
  }

  /** Registers the worker in its next epoch, reads who else lives, and starts to beat. */
  static async start(
    worker: Omit<WorkerRecord, 'epoch' | 'beat' | 'beatAt' | 'previousBeatAt'>,
    ports: HeartbeatPorts,
  ): Promise<Heartbeat> {
    const renewedAt = ports.monotonic();
    const record = await registerWorker({ ...worker, beat: 0, beatAt: ports.now().getTime() });
    const heartbeat = new Heartbeat(record, renewedAt, ports);
    await heartbeat.#observe();
    heartbeat.#timer = setInterval(() => void heartbeat.#beat(), BEAT_INTERVAL_MILLISECONDS);
    return heartbeat;
  }

  get workerId(): string {
    return this.#record.id;
  }

  get startedAt(): string {
    return this.#record.startedAt;
  }

  /** Whether this worker has renewed recently enough to touch the network or the store. */
  mayAct(): boolean {
    return this.#ports.monotonic() - this.#renewedAt < FENCED_AFTER_MILLISECONDS;
  }

  /** Whether this worker's ownership is to be respected. */
  isAlive(workerId: string): boolean {
    return workerId === this.#record.id || this.#watch.isAlive(workerId, this.#ports.monotonic());
  }

  /** Live workers that take new resources. */
  candidates(): readonly WorkerRecord[] {
    return this.#workers.filter((worker) => !worker.draining && this.isAlive(worker.id));
  }

  /** Workers whose ownership is to be respected, those that drain included. */
  living(): readonly string[] {
    return this.#workers.map((worker) => worker.id).filter((id) => this.isAlive(id));
  }

  /** Beats now instead of at the next interval, as a fenced worker does before it acts again. */
  async renew(): Promise<void> {
    await this.#beat();
  }

  /** Reads who lives now, before something is taken that another worker may want as much. */
  async observe(): Promise<void> {
    await this.#observe();
  }

  /** Tells the others that this worker takes nothing new. */
  async drain(): Promise<void> {
    this.#record = { ...this.#record, draining: true };
    await this.#beat();
  }

  /** Stops beating and strikes the worker off. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await removeWorker(this.#record);
  }

  async #beat(): Promise<void> {
    if (this.#isBeating) return;
    this.#isBeating = true;
    try {
      // The time before the call: had the answer taken eight seconds, the others might be taking over already.
      const startedAt = this.#ports.monotonic();
      const next = { ...this.#record, beat: this.#record.beat + 1, beatAt: this.#ports.now().getTime() };
      if (!(await renewWorker(next))) {
        clearInterval(this.#timer);
        this.#ports.onReplaced();
        return;
      }
      // What was said meanwhile, that it drains for one, stays said.
      this.#record = { ...this.#record, beat: next.beat, beatAt: next.beatAt };
      // Told before anything may act again: what runs from before must not pass for what is owned now.
      if (!this.mayAct()) this.#ports.onLapsed();
      this.#renewedAt = startedAt;
      const before = this.#candidateProcesses();
      await this.#observe();
      if (this.#candidateProcesses() !== before) this.#ports.onWorkersChanged();
    } catch (error) {
      log('warn', 'heartbeat failed', errorFields(error));
    } finally {
      this.#isBeating = false;
    }
  }

  /** A worker that ends and starts again under its id between two beats has let go of all it owned. */
  #candidateProcesses(): string {
    return this.candidates()
      .map(({ id, startedAt }) => `${id} ${startedAt}`)
      .join();
  }

  async #observe(): Promise<void> {
    const startedAt = this.#ports.monotonic();
    this.#workers = await listWorkers();
    this.#watch.observe(this.#workers, startedAt);
  }
}

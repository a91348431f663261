import { createHash } from 'node:crypto';

/** A worker as it writes itself down, again and again while it lives. */
export interface WorkerRecord {
  readonly id: string;
  /** Goes up each time a process starts under this id. */
  readonly epoch: number;
  /** Goes up with each heartbeat. */
  readonly beat: number;
  /** Wall clock of the last heartbeat, milliseconds; for readers that cannot watch. */
  readonly beatAt: number;
  /** The last heartbeat of the process that had this id before; absent when there was none, or its record was removed. */
  readonly previousBeatAt?: number;
  readonly startedAt: string;
  readonly version: string;
  readonly draining: boolean;
  readonly sourceAddresses: readonly string[];
  readonly abilities: WorkerAbilities;
}

export interface WorkerAbilities {
  readonly 'tcp-md5': boolean;
  readonly 'ttl-security': boolean;
  readonly 'bgp-listen': boolean;
}

export type Ability = keyof WorkerAbilities;

/** Who owns one peer or device. A released one has worker `''` and keeps its epoch, which only goes up. */
export interface OwnerRecord {
  readonly id: number;
  readonly worker: string;
  readonly epoch: number;
}

/** A heartbeat is written this often. */
export const BEAT_INTERVAL_MILLISECONDS = 3_000;
/** A worker whose beat has not moved for this long is dead to the others. */
export const DEAD_AFTER_MILLISECONDS = 12_000;
/** A worker that could not renew for this long closes its sockets: before the others take what it owned. */
export const FENCED_AFTER_MILLISECONDS = 8_000;

/** Whether a reader that sees one record only may take the worker for alive. Clocks are wall clocks, in milliseconds. */
export function isBeating(worker: WorkerRecord, nowMilliseconds: number): boolean {
  return nowMilliseconds - worker.beatAt < DEAD_AFTER_MILLISECONDS;
}

/**
 * Watches the heartbeats of all workers by the watcher's own monotonic clock, so that no clock of another machine
 * is trusted: a worker is alive until its (epoch, beat) has stood still for DEAD_AFTER_MILLISECONDS.
 */
export class HeartbeatWatch {
  readonly #seen = new Map<string, { epoch: number; beat: number; movedAt: number }>();

  /** Takes note of what was read; `monotonicMilliseconds` is when the read began. */
  observe(workers: readonly WorkerRecord[], monotonicMilliseconds: number): void {
    const present = new Set(workers.map((worker) => worker.id));
    for (const id of this.#seen.keys()) if (!present.has(id)) this.#seen.delete(id);
    for (const { id, epoch, beat } of workers) {
      const last = this.#seen.get(id);
      if (last === undefined || last.epoch !== epoch || last.beat !== beat) {
        this.#seen.set(id, { epoch, beat, movedAt: monotonicMilliseconds });
      }
    }
  }

  /** Whether this worker's beat moved recently enough; a worker never seen is dead. */
  isAlive(id: string, monotonicMilliseconds: number): boolean {
    const last = this.#seen.get(id);
    return last !== undefined && monotonicMilliseconds - last.movedAt < DEAD_AFTER_MILLISECONDS;
  }
}

/**
 * The resources that `self` should take now: those without a live owner for which it wins the rendezvous among the
 * workers that take new ones, and those that it owns already. Ownership is sticky, so what another live worker owns is
 * never in the list.
 *
 * @param candidatesFor ids of live workers that may take the resource and are not draining
 */
export function resourcesToTake(
  self: string,
  kind: 'peer' | 'device',
  ids: Iterable<number>,
  owners: ReadonlyMap<number, OwnerRecord>,
  candidatesFor: (id: number) => readonly string[],
  isAlive: (worker: string) => boolean,
): number[] {
  const wanted: number[] = [];
  for (const id of ids) {
    const owner = owners.get(id)?.worker ?? '';
    // What an earlier process under this id owned is this one's to take: everybody else sees the id alive.
    if (owner === self) wanted.push(id);
    else if (owner !== '' && isAlive(owner)) continue;
    else if (rendezvousWinner(`${kind}/${id}`, candidatesFor(id)) === self) wanted.push(id);
  }
  return wanted;
}

/** Those of `workers` that have every ability in `needs`; all of them when none has, so that somebody says so. */
export function ableWorkers(workers: readonly WorkerRecord[], needs: readonly Ability[]): readonly string[] {
  const able = workers.filter(({ abilities }) => needs.every((need) => abilities[need]));
  return (able.length > 0 ? able : workers).map(({ id }) => id);
}

/** Highest random weight: each resource falls to one of the candidates, evenly, whatever order they are in. */
function rendezvousWinner(resource: string, candidates: readonly string[]): string | undefined {
  let winner: string | undefined;
  let highest = '';
  for (const candidate of candidates) {
    const weight = createHash('sha256').update(`${candidate}\0${resource}`).digest('hex');
    if (weight > highest) {
      highest = weight;
      winner = candidate;
    }
  }
  return winner;
}

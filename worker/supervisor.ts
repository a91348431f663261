import type { EngineSettings } from '../core/engine-settings.ts';
import { errorFields } from '../core/log-line.ts';
import { ableWorkers, type OwnerRecord, resourcesToTake } from '../core/ownership.ts';
import { neededAbilities, type Peer } from '../core/peer.ts';
import { newestStatus, type PeerStatus } from '../core/peer-status.ts';
import { type SnapshotCommand, takeCommands } from '../store/command-store.ts';
import { getEngineSettings } from '../store/engine-store.ts';
import { forgetPeer, getPeerOwner, listPeerOwners, releasePeer, takePeer } from '../store/owner-store.ts';
import { listPeerStatuses } from '../store/peer-status-store.ts';
import { listPeers } from '../store/peer-store.ts';
import type { TopologyLogWriter } from '../store/topology-log.ts';
import { inBatches, RELEASE_WITHIN_MILLISECONDS } from './batches.ts';
import type { Heartbeat } from './heartbeat.ts';
import { log } from './log.ts';
import { endOrphanedPeer } from './orphaned-peer.ts';
import type { PeerRunner, StartPeer } from './peer-runner.ts';
import type { StatusBoard } from './status-board.ts';

/** Versions are read this often: a change is acted on within a second and a bit. */
const POLL_INTERVAL_MILLISECONDS = 1_000;
/** Everything is read again this often, whatever the versions say. */
const REREAD_INTERVAL_MILLISECONDS = 60_000;

export interface SupervisorPorts {
  monotonic(): number;
  now(): Date;
  startPeer: StartPeer;
  openLog(owner: OwnerRecord, engine: EngineSettings): Promise<TopologyLogWriter>;
  /** How often each kind of configuration has changed. */
  readVersions(): Promise<ReadonlyMap<string, number>>;
  /** This worker no longer runs the peer. */
  peerLeft(peerId: number): void;
  /** The webhook's configuration has changed, or is read for the first time. */
  outputChanged(): Promise<void>;
  /** Somebody wants to see what the collectors hold of a model. */
  snapshotAsked(command: SnapshotCommand): void;
}

/**
 * Brings what this worker runs in line with what is configured: reads changes, takes peers that nobody owns, hands
 * each its configuration, passes commands on, and lets go of what is removed, lost or, when fenced, no longer its own.
 */
export class Supervisor {
  readonly #heartbeat: Heartbeat;
  readonly #ports: SupervisorPorts;
  readonly #runners = new Map<number, PeerRunner>();
  /** What each runner was last configured with. */
  readonly #configured = new Map<number, { peer: Peer; engine: EngineSettings }>();
  #board: StatusBoard | undefined;
  #versions: ReadonlyMap<string, number> = new Map();
  #peers: ReadonlyMap<number, Peer> = new Map();
  #engine: EngineSettings | undefined;
  #owners = new Map<number, OwnerRecord>();
  #ownersAreStale = true;
  #rereadAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #isRunning = false;

  constructor(heartbeat: Heartbeat, ports: SupervisorPorts) {
    this.#heartbeat = heartbeat;
    this.#ports = ports;
  }

  /** Starts the rounds; the board is told of every peer that comes or goes. */
  start(board: StatusBoard): void {
    this.#board = board;
    this.#isRunning = true;
    this.#schedule(0);
  }

  statuses(): PeerStatus[] {
    return [...this.#runners.values()].map((runner) => runner.status());
  }

  /** When the oldest change that readers cannot see yet was told, milliseconds since 1970; undefined: they see all. */
  pendingSince(): number | undefined {
    const times = [...this.#runners.values()].flatMap((runner) => runner.pendingSince() ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** A worker came, went or died, or took what this one still runs: the next round reads all ownerships again. */
  ownersMayHaveMoved(): void {
    this.#ownersAreStale = true;
  }

  /** Ends all sessions with Cease, then gives their peers up. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    clearTimeout(this.#timer);
    await this.#round;
    const ids = [...this.#runners.keys()];
    await inBatches(ids, (id) => this.#runners.get(id)?.stop('shutdown'));
    await this.#board?.stop();
    const until = this.#ports.monotonic() + RELEASE_WITHIN_MILLISECONDS;
    await inBatches(
      ids.flatMap((id) => this.#owners.get(id) ?? []),
      (owner) => releasePeer(owner),
      () => this.#ports.monotonic() < until,
    );
  }

  #schedule(delayMilliseconds: number): void {
    if (!this.#isRunning) return;
    this.#timer = setTimeout(() => {
      const startedAt = this.#ports.monotonic();
      this.#round = this.#runRound().finally(() => {
        this.#schedule(Math.max(50, POLL_INTERVAL_MILLISECONDS - (this.#ports.monotonic() - startedAt)));
      });
    }, delayMilliseconds);
  }

  async #runRound(): Promise<void> {
    try {
      if (!this.#heartbeat.mayAct()) {
        await this.#fence();
        return;
      }
      await this.#read();
      if (this.#engine === undefined) return;
      await this.#dropLost();
      await this.#dropRemoved(this.#engine);
      await this.#handOver();
      await this.#takeUnowned();
      await this.#configureAll(this.#engine);
      for (const runner of this.#runners.values()) runner.tick();
    } catch (error) {
      // Nothing is lost by a round that fails: the next one, in a second, starts from what is stored.
      log('error', 'round failed', errorFields(error));
      this.#rereadAt = Number.NEGATIVE_INFINITY;
      this.#ownersAreStale = true;
    }
  }

  /** Reads what changed since the last round. */
  async #read(): Promise<void> {
    const before = this.#versions;
    const versions = await this.#ports.readVersions();
    const now = this.#ports.monotonic();
    const isDue = now - this.#rereadAt >= REREAD_INTERVAL_MILLISECONDS;
    const moved = (kind: string) => isDue || versions.get(kind) !== before.get(kind);
    const isFirst = this.#rereadAt === Number.NEGATIVE_INFINITY;

    const [peers, engine] = await Promise.all([
      moved('peer') ? listPeers() : undefined,
      moved('engine') || this.#engine === undefined ? getEngineSettings() : undefined,
    ]);
    if (peers !== undefined) this.#peers = new Map(peers.map((peer) => [peer.id, peer]));
    if (engine !== undefined) this.#engine = engine;
    if (moved('output')) await this.#ports.outputChanged();
    if (moved('command') && !isFirst) await this.#obeyCommands();
    if (isDue) this.#rereadAt = now;
    if (isDue || this.#ownersAreStale || this.#expectsHandOver()) {
      this.#owners = await listPeerOwners();
      this.#ownersAreStale = false;
    }
    this.#versions = versions;
  }

  async #obeyCommands(): Promise<void> {
    for (const command of await takeCommands(this.#heartbeat.workerId, this.#ports.now())) {
      if (command.command === 'snapshot') {
        this.#ports.snapshotAsked(command);
        continue;
      }
      log('info', 'command', { command: command.command, 'peer-id': command.peerId });
      this.#runners.get(command.peerId)?.command(command.command);
    }
  }

  /** Lets go of peers that another worker owns by now, without a word: they are its own. */
  async #dropLost(): Promise<void> {
    const lost = [...this.#runners].filter(([id, runner]) => {
      const owner = this.#owners.get(id);
      return owner === undefined || owner.worker !== this.#heartbeat.workerId || owner.epoch !== runner.epoch;
    });
    await this.#eachOf(lost, async ([id, runner]) => {
      log('warn', 'ownership lost', { 'peer-id': id });
      await runner.stop('fenced');
      this.#forget(id);
    });
  }

  async #dropRemoved(engine: EngineSettings): Promise<void> {
    const removed = [...this.#runners].filter(([id]) => !this.#peers.has(id));
    await this.#eachOf(removed, async ([id, runner]) => {
      await runner.stop('deleted');
      this.#forget(id);
      const owner = this.#owners.get(id);
      if (owner === undefined) return;
      await forgetPeer(owner);
      this.#owners.delete(id);
    });
    // Their owner died before it could clean up; it may have been this worker, which starts again under its id.
    const orphans = [...this.#owners.values()].filter(
      ({ id, worker }) =>
        !this.#peers.has(id) && (worker === this.#heartbeat.workerId || !this.#heartbeat.isAlive(worker)),
    );
    await this.#eachOf(orphans, async (owner) => {
      // A peer made after this round's reading is not removed: its ownership stays.
      if (this.#runners.has(owner.id)) return;
      const openLog = (taken: OwnerRecord) => this.#ports.openLog(taken, engine);
      await endOrphanedPeer(owner, this.#heartbeat.workerId, openLog, this.#ports.now().getTime());
      this.#owners.delete(owner.id);
    });
  }

  /** Gives up peers that this worker cannot run while another can: a passive one where nothing listens, say. */
  async #handOver(): Promise<void> {
    const self = this.#heartbeat.workerId;
    const misplaced = [...this.#runners].filter(([id]) => {
      const able = this.#ableWorkers(id);
      return able.length > 0 && !able.includes(self);
    });
    await this.#eachOf(misplaced, async ([id, runner]) => {
      const owner = this.#owners.get(id);
      if (owner === undefined) return;
      log('info', 'handed over to a worker that can run it', { 'peer-id': id });
      await runner.stop('shutdown');
      await releasePeer(owner);
      this.#owners.set(id, { ...owner, worker: '' });
      this.#forget(id);
    });
  }

  /** Whether another worker owns a peer that it cannot run and this one can: it is about to be given up. */
  #expectsHandOver(): boolean {
    const self = this.#heartbeat.workerId;
    return [...this.#peers.keys()].some((id) => {
      const owner = this.#owners.get(id)?.worker ?? self;
      if (owner === self) return false;
      const able = this.#ableWorkers(id);
      return able.includes(self) && !able.includes(owner);
    });
  }

  #ableWorkers(id: number): readonly string[] {
    const peer = this.#peers.get(id);
    return ableWorkers(this.#heartbeat.candidates(), peer === undefined ? [] : neededAbilities(peer));
  }

  async #takeUnowned(): Promise<void> {
    const self = this.#heartbeat.workerId;
    const isRespected = (worker: string) => worker !== self && this.#heartbeat.isAlive(worker);
    const missing = [...this.#peers.keys()].filter((id) => {
      return !this.#runners.has(id) && !isRespected(this.#owners.get(id)?.worker ?? '');
    });
    if (missing.length === 0) return;
    await this.#heartbeat.observe();
    const candidatesFor = (id: number) => this.#ableWorkers(id);
    const wanted = resourcesToTake(self, 'peer', missing, this.#owners, candidatesFor, isRespected);
    if (wanted.length === 0) return;
    // Of peers that nobody ever ran, as after an apply of hundreds, there is nothing to read.
    const wereRun = wanted.some((id) => this.#owners.has(id));
    const before = Map.groupBy(wereRun ? await listPeerStatuses() : [], (status) => status.id);
    await this.#eachOf(wanted, async (id) => {
      const taken = await takePeer(id, self, this.#owners.get(id));
      if (taken === undefined) {
        const owner = await getPeerOwner(id);
        if (owner === undefined) this.#owners.delete(id);
        else this.#owners.set(id, owner);
        return;
      }
      this.#owners.set(id, taken);
      this.#runners.set(id, this.#ports.startPeer(id, taken, newestStatus(before.get(id) ?? [])));
      this.#board?.touch(id);
    });
  }

  async #configureAll(engine: EngineSettings): Promise<void> {
    const changed = [...this.#runners].filter(([id]) => {
      const last = this.#configured.get(id);
      return (
        last?.peer.revision !== this.#peers.get(id)?.revision || last?.engine.revision !== engine.revision
      );
    });
    await this.#eachOf(changed, async ([id, runner]) => {
      const peer = this.#peers.get(id);
      if (peer === undefined) return;
      try {
        await runner.configure(peer, engine);
        this.#configured.set(id, { peer, engine });
      } catch (error) {
        // One peer that cannot be configured (a key is gone, say) does not keep the others from running.
        log('error', 'peer not configured', { 'peer-id': id, ...errorFields(error) });
      }
    });
  }

  /** This worker could not renew: it closes everything, then comes back for whatever nobody took meanwhile. */
  async #fence(): Promise<void> {
    if (this.#runners.size > 0)
      log('error', 'fenced: could not renew in time', { peers: this.#runners.size });
    for (const [id, runner] of [...this.#runners]) {
      await runner.stop('fenced');
      this.#forget(id);
    }
    this.#ownersAreStale = true;
    await this.#heartbeat.renew();
  }

  #forget(id: number): void {
    this.#runners.delete(id);
    this.#configured.delete(id);
    this.#ports.peerLeft(id);
    this.#board?.touch(id);
  }

  /** A round that is under way when the worker is told to end begins nothing more. */
  #eachOf<Thing>(
    things: readonly Thing[],
    action: (thing: Thing) => Promise<void> | undefined,
  ): Promise<void> {
    return inBatches(things, action, () => this.#isRunning);
  }
}

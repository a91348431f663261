/**
 * Keeps a merged graph up to date with the logs of all peers: a snapshot once, then only what is new. One per Lambda
 * instance; a request costs four small queries when nothing changed.
 */
import { isBeating } from '../core/ownership.ts';
import { effectivePeer } from '../core/peer.ts';
import { AdjRibIn } from '../core/topology/adj-rib-in.ts';
import { TopologyGraph } from '../core/topology/graph.ts';
import type { GraphPeer } from '../core/topology/graph-peer.ts';
import { Journal } from '../core/topology/journal.ts';
import { derivedLoss, type PeerCircumstances } from '../core/topology/liveness.ts';
import type { TopologyVersion } from '../core/topology/version.ts';
import { listPeerOwners } from './owner-store.ts';
import { listPeers } from './peer-store.ts';
import { listTopologyHeads, type TopologyHead } from './topology-head.ts';
import {
  farthestStarts,
  type LogStart,
  logCost,
  logStarts,
  MOST_HISTORY_OCTETS,
  startFor,
} from './topology-reach.ts';
import { type LogRecord, MissingLogItems, readLog, readSnapshot } from './topology-record.ts';
import { listWorkers } from './worker-store.ts';

/** A log may be compacted between reading its head and its items; the head is then read again, this often. */
const MOST_ATTEMPTS = 4;

export class TopologyReader {
  readonly journal: Journal;
  readonly graph: TopologyGraph;
  /** The sequence number up to which each peer's log has been applied. */
  readonly #positions = new Map<number, number>();
  /** The one after which it was begun with. The journal may have forgotten some of that: reading it again is no help. */
  readonly #begun = new Map<number, number>();
  readonly #mostHistoryOctets: number;
  #refreshedAt = 0;
  #last: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;

  constructor({ mostChanges, mostHistoryOctets = MOST_HISTORY_OCTETS }: TopologyReaderLimits = {}) {
    this.journal = new Journal(mostChanges);
    this.graph = new TopologyGraph(this.journal);
    this.#mostHistoryOctets = mostHistoryOctets;
  }

  /** Brings the graph to what is visible at some moment after the call. `now` in milliseconds, wall clock. */
  refresh(now: number): Promise<void> {
    return this.#inTurn('waiting', () => this.#refresh(now, undefined));
  }

  /**
   * The same, and has the journal reach back to these sequence numbers, by peer, where that can be read; `all`: of every
   * peer as far as can be.
   */
  refreshWithHistory(now: number, wanted: ReadonlyMap<number, number> | 'all'): Promise<void> {
    return this.#inTurn(undefined, () => this.#refresh(now, wanted));
  }

  /** One refresh at a time. Those who come while one runs share the next: the running one may have read before. */
  #inTurn(share: 'waiting' | undefined, refresh: () => Promise<void>): Promise<void> {
    if (share === 'waiting' && this.#waiting !== undefined) return this.#waiting;
    const before = this.#last;
    const turn = before
      .catch(() => undefined)
      .then(() => {
        if (this.#waiting === turn) this.#waiting = undefined;
        return refresh();
      });
    this.#last = turn;
    if (share === 'waiting') this.#waiting = turn;
    return turn;
  }

  /** The graph is not older than this, in milliseconds of the clock that `refresh` is given; 0: never read. */
  get refreshedAt(): number {
    return this.#refreshedAt;
  }

  /** The cursor of what the graph shows at `now`. A peer that is gone has no part in it: nothing of it can change. */
  version(now: number): TopologyVersion {
    const peers = [...this.graph.peers.values()]
      .filter(({ deleted }) => !deleted)
      .sort((a, b) => a.id - b.id)
      .map((peer) => ({
        peerId: peer.id,
        sequence: this.#positions.get(peer.id) ?? 0,
        beliefs: peer.beliefs,
      }));
    return { peers, timedAt: this.graph.lastTimedChange(now) };
  }

  async #refresh(now: number, wanted: Wanted): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#refreshOnce(now, wanted);
        this.#refreshedAt = now;
        return;
      } catch (error) {
        if (!(error instanceof MissingLogItems) || attempt === MOST_ATTEMPTS) throw error;
      }
    }
  }

  async #refreshOnce(now: number, wanted: Wanted): Promise<void> {
    const [heads, owners, workers, peers] = await Promise.all([
      listTopologyHeads(),
      listPeerOwners(),
      listWorkers(),
      listPeers(),
    ]);
    const starts = this.#starts(heads, wanted);
    const news = await Promise.all(heads.map((head) => this.#read(head, starts.get(head.peerId))));
    const configured = new Map(peers.map((peer) => [peer.id, peer]));
    const workersById = new Map(workers.map((worker) => [worker.id, worker]));

    // From here on nothing is awaited: an answer never shows half of a refresh.
    const present = new Set(heads.map(({ peerId }) => peerId));
    for (const peerId of [...this.graph.peers.keys()]) {
      if (present.has(peerId)) continue;
      this.graph.forget(peerId);
      this.#positions.delete(peerId);
      this.#begun.delete(peerId);
      this.journal.forget(peerId);
    }
    this.#replay(heads, news);
    for (const head of heads) {
      const peer = this.graph.peer(head.peerId);
      const configuration = configured.get(head.peerId)?.configuration;
      const writer = workersById.get(head.worker);
      // A process that started under the id of one that died took the record over, but not yet the sessions.
      const isWriting = head.workerStartedAt === undefined || writer?.startedAt === head.workerStartedAt;
      const circumstances: PeerCircumstances = {
        wanted: configuration?.enabled === true,
        preference: configuration === undefined ? 0 : effectivePeer(configuration).preference,
        writerBeatAt: (isWriting ? writer?.beatAt : writer?.previousBeatAt) ?? null,
        writerAlive: writer !== undefined && isWriting && isBeating(writer, now),
        ownerEpoch: owners.get(head.peerId)?.epoch ?? null,
      };
      peer.deleted = configuration === undefined;
      believe(this.graph, peer, head, circumstances, now);
    }
  }

  /** Which logs are to be begun anew, and from where; the others go on. */
  #starts(heads: readonly TopologyHead[], wanted: Wanted): Map<number, LogStart> {
    const cannotGoOn = heads.filter((head) => {
      const position = this.#positions.get(head.peerId);
      const first = head.segments[0]?.first ?? 1;
      return position === undefined || position > head.sequence || first > position + 1;
    });
    if (wanted === 'all') {
      const farthest = farthestStarts(heads, this.#mostHistoryOctets);
      const goesBack = heads.some(
        ({ peerId }) => (farthest.get(peerId)?.sequence ?? 0) < (this.#begun.get(peerId) ?? 0),
      );
      // History is told by what one peer said while the others said something: all of them go back, or none.
      const known = cannotGoOn.some(({ peerId }) => this.#positions.has(peerId));
      if (goesBack || known) return farthest;
      return new Map(cannotGoOn.map(({ peerId }) => [peerId, farthest.get(peerId) as LogStart]));
    }
    const starts = new Map(cannotGoOn.map((head) => [head.peerId, logStarts(head)[0]]));
    let octets = this.#mostHistoryOctets;
    for (const head of heads) {
      const { peerId } = head;
      const sequence = wanted?.get(peerId);
      const begun = starts.get(peerId)?.sequence ?? (this.#begun.get(peerId) as number);
      if (sequence === undefined || sequence >= begun) continue;
      const start = startFor(head, sequence, octets);
      if (start === undefined) continue;
      octets -= logCost(head, sequence);
      starts.set(peerId, start);
    }
    return starts;
  }

  /** What is new of a log; all of it after `start`, if it is to be begun anew. */
  async #read(head: TopologyHead, start: LogStart | undefined): Promise<News> {
    const from = start?.sequence ?? (this.#positions.get(head.peerId) as number);
    const empty = new AdjRibIn(head.peerId, this.graph);
    const [rib, records] = await Promise.all([
      start?.snapshot === undefined ? empty : readSnapshot(head.peerId, start.snapshot, empty),
      from === head.sequence ? [] : readLog(head, from),
    ]);
    return { rib: start === undefined ? undefined : rib, at: start?.at ?? 0, from, records };
  }

  /**
   * Applies what is new of all peers in the order in which it happened. One log after the other would compare what a
   * peer said an hour ago with what another says now, and find conflicts that never were.
   */
  #replay(heads: readonly TopologyHead[], news: readonly News[]): void {
    const steps = heads.flatMap(({ peerId }, index) => this.#steps(peerId, news[index] as News));
    for (const { take } of steps.sort((a, b) => a.at - b.at)) take();
    for (const { peerId, sequence } of heads) this.#positions.set(peerId, sequence);
  }

  /** What is to be taken of one peer, in order, with when it was so. A clock that was set back does not reorder a log. */
  #steps(peerId: number, { rib, at, from, records }: News): { at: number; take: () => void }[] {
    const steps: { at: number; take: () => void }[] = [];
    if (rib !== undefined) {
      this.#begun.set(peerId, from);
      this.graph.replace(new AdjRibIn(peerId, this.graph));
      this.journal.restart(peerId, from);
      const take = () => {
        this.graph.replace(rib);
        this.journal.restart(peerId, from);
      };
      steps.push({ at, take });
    }
    let latest = at;
    for (const { sequence, entries } of records) {
      latest = Math.max(latest, entries[0]?.at ?? latest);
      const take = () => {
        const current = this.graph.peer(peerId).rib;
        for (const entry of entries) current.apply(entry);
        this.journal.record(peerId, sequence);
      };
      steps.push({ at: latest, take });
    }
    return steps;
  }
}

interface News {
  /** The whole state, in place of what there was. */
  readonly rib: AdjRibIn | undefined;
  /** When that was the state, in milliseconds: before all of `records`. */
  readonly at: number;
  /** The sequence number after which `records` come. */
  readonly from: number;
  readonly records: readonly LogRecord[];
}

type Wanted = ReadonlyMap<number, number> | 'all' | undefined;

export interface TopologyReaderLimits {
  /** What the journal remembers. */
  readonly mostChanges?: number;
  /** What is read for history, as stored. */
  readonly mostHistoryOctets?: number;
}

/** Sets what is believed of a peer besides what its log says. */
function believe(
  graph: TopologyGraph,
  peer: GraphPeer,
  head: TopologyHead,
  circumstances: PeerCircumstances,
  now: number,
): void {
  const loss = peer.rib.established ? derivedLoss(head, circumstances) : null;
  const purgeAt = loss?.purgeAt ?? (peer.rib.established ? null : peer.rib.purgeAt);
  const gone = !circumstances.wanted || (purgeAt !== null && purgeAt <= now);
  graph.setCircumstances(peer, { preference: circumstances.preference, derivedLoss: loss, gone }, now);
}

/**
 * The truth test: random changes of two simulated networks reach the product through two sources, which are late by
 * different times and lose their sessions; the worker is killed. Whenever all is quiet, the API must say what the
 * simulator knows, object by object and attribute by attribute, with provenance and stale flags.
 */
import { equal } from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { CaseContext } from '../../harness.ts';
import { commandOf, processTree } from '../processes.ts';
import { Random } from '../random.ts';
import { type Stack, startStack } from '../stack.ts';
import { differences, type ToldByPeer, type TopologyLists } from './expected-topology.ts';
import { type LinkStateObject, linkStateObjects } from './link-state-objects.ts';
import { SimulatedNetwork } from './simulated-network.ts';

export const TRUTH_CHANGES = 1_000;
const CHANGES_BETWEEN_QUIET_POINTS = 10;
/** Two networks: what is stale of a lost session goes after this, so that a run sees it go. */
const STALE_TIME_SECONDS = 6;
/** A session that fails again and again is tried again ever later, up to two minutes. */
const AGREEMENT_WITHIN_MILLISECONDS = 150_000;
/** Each kill delays the next start of the worker. */
const MOST_KILLS = 5;

type Objects = ReadonlyMap<string, LinkStateObject>;

/** A BGP speaker in AS 65000 that tells the product what it is told, and can lose its session. */
export interface TruthSource {
  readonly address: string;
  readonly port: number;
  tell(objects: Objects, overMilliseconds?: number): Promise<void>;
  /** Ends the session with the product, and refuses new ones until `reconnect`. */
  drop(): void;
  reconnect(): void;
  stop(): Promise<void>;
  /** What gets through to the product, where that is not everything. */
  passedOn?(objects: Objects): Objects;
}

/** One source, and what the product has heard from it. */
interface Told {
  readonly peerId: number;
  readonly source: TruthSource;
  live: boolean;
  /** When its session was lost; undefined while it stands. */
  lostAt: number | undefined;
  heard: Objects;
}

/** Runs `changes` changes through the sources and stops them; fails a check where the API differs from the truth. */
export async function runTruth(
  { check, log, seed }: CaseContext,
  changes: number,
  sources: readonly TruthSource[],
): Promise<void> {
  const random = new Random(seed);
  const networks = (['isis', 'ospf'] as const).map(
    (igp, number) =>
      new SimulatedNetwork(
        {
          routers: 20,
          igp,
          identifier: BigInt(10 + number),
          number: number + 1,
          chords: 3,
          parallel: 0.2,
          unnumbered: 0.3,
          lansPerHundred: 8,
        },
        random,
      ),
  );
  const truth = () => new Map(networks.flatMap((network) => [...linkStateObjects(network)]));
  const heardBy = (source: TruthSource): Objects => source.passedOn?.(truth()) ?? truth();
  const stack = await startStack();
  const call = apiOf(stack);
  try {
    await call('PUT', '/api/engine', { 'stale-time': STALE_TIME_SECONDS });
    const told: Told[] = [];
    for (const [index, source] of sources.entries()) {
      await source.tell(truth());
      const peer = await call('POST', '/api/bgp/peers', {
        name: `source ${index}`,
        'peer-address': source.address,
        'peer-port': source.port,
        'user-peer-as': '65000',
        'connect-retry': 1,
        enabled: true,
      });
      told.push({ peerId: peer.id, source, live: true, lostAt: undefined, heard: heardBy(source) });
    }
    const counts = { quiet: 0, changes: 0, objects: 0, purged: 0, killed: 0, lost: 0, slowest: 0 };
    const faults: string[] = [];
    const agree = async (what: string) => {
      const begun = performance.now();
      const expected = told.filter(({ heard }) => heard.size > 0).map(toldBy);
      let wrong: string[] = [];
      for (;;) {
        const lists = await readLists(call);
        wrong = differences(lists, expected);
        counts.objects = Object.values(lists).reduce((sum, list) => sum + list.length, 0);
        if (wrong.length === 0 || performance.now() - begun > AGREEMENT_WITHIN_MILLISECONDS) break;
        await delay(50);
      }
      counts.quiet += 1;
      counts.slowest = Math.max(counts.slowest, performance.now() - begun);
      if (wrong.length > 0) faults.push(`after ${what}:`, ...wrong.slice(0, 5));
    };
    await agree('the first load');
    const points = Math.max(5, Math.round(changes / CHANGES_BETWEEN_QUIET_POINTS));
    for (let point = 0; point < points && faults.length === 0; point += 1) {
      const said: string[] = [];
      for (let change = 0; change < CHANGES_BETWEEN_QUIET_POINTS; change += 1) {
        said.push(random.pick(networks).change());
        counts.changes += 1;
        const objects = truth();
        await Promise.all(
          told.map(({ source }) => source.tell(objects, random.chance(0.3) ? random.below(60) : 0)),
        );
      }
      for (const each of told) if (each.live) each.heard = heardBy(each.source);
      const fate = random.below(10);
      const one = random.pick(told);
      if (fate < 2 && told.every(({ live }) => live)) {
        one.source.drop();
        one.live = false;
        one.lostAt = Date.now();
        counts.lost += 1;
        await agree(`a lost session; ${said.at(-1)}`);
      } else if (fate === 2 && counts.killed < MOST_KILLS && told.every(({ live }) => live)) {
        killWorker(stack);
        counts.killed += 1;
        // What it left looks live for some seconds. A source that fell silent within them would never be heard to the end.
        await untilHeardAgain(call, told, Date.now());
        await agree(`a killed worker; ${said.at(-1)}`);
      } else {
        await agree(said.at(-1) as string);
      }
      const down = told.find(({ live }) => !live);
      if (down === undefined) continue;
      if (random.chance(0.3)) {
        await delay(Math.max(0, (down.lostAt ?? 0) + STALE_TIME_SECONDS * 1000 - Date.now()));
        down.heard = new Map();
        await agree('the end of the stale time');
        counts.purged += 1;
      } else if (random.chance(0.5) && Date.now() - (down.lostAt ?? 0) < 1_000) {
        continue;
      }
      down.source.reconnect();
      down.live = true;
      down.lostAt = undefined;
      down.heard = heardBy(down.source);
      await agree('the session coming back');
    }
    log(
      `${counts.changes} changes, ${counts.quiet} quiet points, ${counts.objects} objects at the last; ${counts.lost} sessions ` +
        `lost, ${counts.purged} purged, ${counts.killed} workers killed; slowest agreement ${Math.round(counts.slowest)} ms`,
    );
    await check('at every quiet point the API equals the simulator, object by object', () => {
      equal(faults.join('\n'), '');
    });
  } finally {
    await stack.stop();
    await Promise.all(sources.map((source) => source.stop()));
  }
}

function toldBy({ peerId, live, heard }: Told): ToldByPeer {
  return { peerId, live, objects: heard };
}

type Call = (method: string, path: string, body?: object) => Promise<ReturnType<typeof JSON.parse>>;

function apiOf(stack: Stack): Call {
  return async (method, path, body) => {
    const answer = await stack.send({
      method,
      path,
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text);
  };
}

async function readLists(call: Call): Promise<TopologyLists> {
  const [nodes, links, prefixes, sids] = await Promise.all([
    call('GET', '/api/topology/nodes'),
    call('GET', '/api/topology/links'),
    call('GET', '/api/topology/prefixes'),
    call('GET', '/api/topology/srv6-sids'),
  ]);
  return { nodes, links, prefixes, 'srv6-sids': sids };
}

/** Until each source's session is one that was established after `since`, in milliseconds. */
async function untilHeardAgain(call: Call, told: readonly Told[], since: number): Promise<void> {
  const begun = performance.now();
  for (const { peerId } of told) {
    for (;;) {
      const { session } = await call('GET', `/api/bgp/peers/${peerId}`);
      if (Date.parse(session['established-since'] ?? '') > since) break;
      if (performance.now() - begun > AGREEMENT_WITHIN_MILLISECONDS) {
        throw new Error(`peer ${peerId} has no session again: ${JSON.stringify(session)}`);
      }
      await delay(50);
    }
  }
}

/** SIGKILL to the worker's process; the product starts another. */
function killWorker(stack: Stack): void {
  const worker = processTree(stack.processId).find((id) => /worker\/main\.ts/.test(commandOf(id)));
  if (worker === undefined) throw new Error('no worker process to kill');
  process.kill(worker, 'SIGKILL');
}

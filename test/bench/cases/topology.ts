import { strict as assert } from 'node:assert';
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { get as httpGet } from 'node:http';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { SIZES } from '../../../contract/sizes.ts';
import { TopologyGraph } from '../../../core/topology/graph.ts';
import { PathNetwork } from '../../../core/topology/path-network.ts';
import { encodeAttribute } from '../../../protocols/bgp/ls/attribute.ts';
import type { CaseContext, TestCase } from '../../harness.ts';
import { pythonEnvironment } from '../../support/install.ts';
import { type LinkStateObject, linkStateObjects } from '../../support/network/link-state-objects.ts';
import { Reflector } from '../../support/network/reflector.ts';
import { SimulatedNetwork } from '../../support/network/simulated-network.ts';
import { commandOf, processTree } from '../../support/processes.ts';
import { Random } from '../../support/random.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { until } from '../../support/until.ts';
import type { NewInstanceAnswer } from '../topology/new-instance.ts';
import { compareLists, idOf } from '../topology/told.ts';

const SOURCES = 200;
/** Of all sources, one after another; the median counts. */
const ROUNDS = 5;
const METRIC_CHANGES = 100;

/** A network of half as many links again as the ring has, two chords a router; three prefixes and SIDs a router. */
function networkOf(routers: number, seed: number): SimulatedNetwork {
  return new SimulatedNetwork(
    {
      routers,
      igp: 'isis',
      identifier: 1n,
      number: 1,
      chords: 4,
      parallel: 0,
      unnumbered: 0,
      lansPerHundred: 0,
    },
    new Random(seed),
  );
}

export const testCase: TestCase = {
  title: 'from a BGP session to HTTP: first load, one change, the whole graph, one SPF beside igraph',
  inCi: false,
  async run(context) {
    const sizes = context.scale < 1 ? [1_000] : [1_000, 10_000];
    for (const routers of sizes) await loadAndChange(context, routers);
    await shortestPath(context, context.scale < 1 ? 1_000 : 10_000);
  },
};

async function loadAndChange({ log, seed, check }: CaseContext, routers: number): Promise<void> {
  const network = networkOf(routers, seed);
  const objects = linkStateObjects(network);
  log(`${routers} routers, ${objects.size} objects, digest of the NLRIs and attributes ${digestOf(objects)}`);
  const reflector = await Reflector.listen('127.0.0.31', 0);
  const stack = await startStack();
  try {
    await reflector.tell(objects);
    const call = apiOf(stack);
    const before = cpuByProcess(stack);
    const peer = await call('POST', '/api/bgp/peers', {
      name: 'bench',
      'peer-address': reflector.address,
      'peer-port': reflector.port,
      'user-peer-as': '65000',
      'connect-retry': 1,
      enabled: true,
    });
    for (;;) {
      const { counts } = await call('GET', '/api/topology');
      const seen =
        counts.nodes.advertised + counts.links.total + counts.prefixes.total + counts['srv6-sids'].total;
      if (seen === objects.size) break;
    }
    const readable = Date.now();
    const spent = spentSince(before, cpuByProcess(stack));
    const { session } = await until(
      'the status of the peer',
      () => call('GET', `/api/bgp/peers/${peer.id}`),
      (answer) => answer.session['established-since'] !== null,
      5_000,
    );
    log(
      `${routers} routers: established to the last object readable by HTTP: ` +
        `${readable - Date.parse(session['established-since'])} ms, CPU since the peer was made: ${spent}`,
    );

    const times: number[] = [];
    const [key, link] = [...objects].find(([, { type }]) => type === 'link') as [string, LinkStateObject];
    const { nlri } = link;
    const id = idOf(link);
    let last: LinkStateObject = link;
    for (let change = 0; change < METRIC_CHANGES; change += 1) {
      const metric = 1_000 + change;
      const attributes = { ...link.attributes, 'igp-metric': metric };
      const attribute = encodeAttribute(attributes, { protocolId: 2, nlriType: 2 });
      last = { ...link, attributes, attribute };
      const begun = performance.now();
      reflector.announce(key, { nlri, attribute });
      while ((await call('GET', `/api/topology/links/${id}`)).attributes['igp-metric'] !== metric);
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    const percentile = (part: number) => Math.round(times[Math.ceil(times.length * part) - 1] as number);
    log(
      `${routers} routers: one metric change readable: p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms`,
    );

    objects.set(key, last);
    const truth = { nodes: idsOf(objects, 'node'), links: idsOf(objects, 'link') };
    for (const attempt of ['cold', 'warm', 'warm again']) {
      const cpu = cpuByProcess(stack);
      const body = await download(stack, '/api/topology/graph');
      const spent = spentSince(cpu, cpuByProcess(stack));
      log(
        `${routers} routers: /graph, ${attempt}: the address after ${body.addressAfter} ms, the last octet after ` +
          `${body.allAfter} ms; ${body.octets.length} bytes of gzip; CPU: ${spent}`,
      );
      const reading = process.cpuUsage();
      const { nodes, links } = JSON.parse(gunzipSync(body.octets).toString());
      const { user, system } = process.cpuUsage(reading);
      log(`what a client spends then to unpack and parse it: ${((user + system) / 1e6).toFixed(2)} s CPU`);
      await check(`${routers} routers: /graph, ${attempt}, has the ids of all nodes and links`, () => {
        assert.deepEqual(sortedIds(nodes), truth.nodes);
        assert.deepEqual(sortedIds(links), truth.links);
      });
    }
    const [fresh] = await newInstance(stack, ['/api/topology/graph']);
    if (fresh === undefined) throw new Error('the new instance said nothing');
    log(
      `${routers} routers: /graph of an instance that has just started: the address ${fresh.milliseconds} ms after its ` +
        `start, CPU ${fresh.cpuSeconds.toFixed(2)} s, largest memory ${fresh.largestMegabytes} MB`,
    );
    // The first reads all; the second goes back for its history; the third has it.
    const events = '/api/topology/events';
    for (const each of await newInstance(stack, ['/api/topology/nodes?limit=1', events, events])) {
      log(
        `${routers} routers: ${each.target} of an instance that was new before the first: ${each.milliseconds} ms, CPU ` +
          `${each.cpuSeconds.toFixed(2)} s, ${each.calls} calls to AWS, ${each.readUnits} read units, ${each.octets} ` +
          `bytes, largest memory so far ${each.largestMegabytes} MB`,
      );
      await check(`${routers} routers: ${each.target} is answered within the function's memory`, () => {
        if (each.status !== 200) throw new Error(`${each.status}`);
        if (each.largestMegabytes > SIZES.apiFunctionMegabytes.topology)
          throw new Error(`${each.largestMegabytes} MB`);
      });
    }
    const main =
      processTree(stack.processId).find((each) => /local\/main\.ts/.test(commandOf(each))) ?? stack.processId;
    log(
      `${routers} routers: largest memory of the process with gateway and functions: ${highWaterMegabytes(main)} MB`,
    );
    // Behind all that is measured: pages of every object warm the function and take its memory.
    await check(`${routers} routers: every object is in its list as it was told`, async () => {
      const compared = await compareLists((path) => call('GET', path), objects.values());
      log(
        `${routers} routers: ${compared} objects of four lists: ids, NLRIs, attribute octets, names and metrics equal`,
      );
    });
  } finally {
    await stack.stop();
    await reflector.stop();
  }
}

/** One SPF from each of some sources, and the same graph in igraph in the same run; distances must agree. */
async function shortestPath(
  { log, seed, check, scratchDirectory }: CaseContext,
  routers: number,
): Promise<void> {
  const graph = new TopologyGraph();
  const { rib } = graph.peer(1);
  rib.apply({ kind: 'session-established', at: 1, sweepBy: 2 });
  for (const { nlri, attribute, type } of linkStateObjects(networkOf(routers, seed)).values()) {
    if (type === 'node' || type === 'link') rib.apply({ kind: 'put', at: 1, safi: 71, nlri, attribute });
  }
  const built = performance.now();
  const network = new PathNetwork(graph, { multiTopologyId: 0, stale: 'include' });
  log(
    `${network.nodes.length} nodes, ${network.links.length} edges, rows made in ${Math.round(performance.now() - built)} ms`,
  );
  const finder = network.igpPaths();
  const sources = Array.from({ length: SOURCES }, (_, each) => (each * 7919) % network.nodes.length);
  for (const source of sources.slice(0, 20)) finder.run(source, network.closed);
  // igraph's answer to all sources at once is a matrix of distances; ours is timed to the same, and without it.
  const matrix = sources.map(() => new Float64Array(network.nodes.length));
  const [alone, ours] = [false, true].map((isKept) => {
    const rounds = Array.from({ length: ROUNDS }, () => {
      const begun = performance.now();
      for (const [row, source] of sources.entries()) {
        finder.run(source, network.closed);
        if (!isKept) continue;
        const distances = matrix[row] as Float64Array;
        for (let node = 0; node < distances.length; node += 1) distances[node] = finder.distanceTo(node);
      }
      return (performance.now() - begun) / sources.length;
    });
    return rounds.sort((a, b) => a - b)[ROUNDS >> 1] as number;
  }) as [number, number];
  const sum = matrix.reduce(
    (total, row) => total + row.filter(Number.isFinite).reduce((a, b) => a + b, 0),
    0,
  );

  const file = join(scratchDirectory, 'edges.json');
  const edges = [...network.from].map((from, edge) => [from, network.to[edge], network.costs.igp[edge]]);
  writeFileSync(file, JSON.stringify({ nodes: network.nodes.length, edges, sources, rounds: ROUNDS }));
  const python = join(pythonEnvironment(['igraph==1.0.0']), 'python3');
  const output = execFileSync(python, ['-c', IGRAPH, file], { encoding: 'utf8' });
  const igraph = JSON.parse(output) as { together: number; singly: number; sum: number };
  await check('the distances add up to those of igraph', () => assert.equal(igraph.sum, sum));
  const milliseconds = (value: number) => `${value.toFixed(3)} ms`;
  log(
    `one SPF, of ${SOURCES} sources, median of ${ROUNDS} rounds: ours ${milliseconds(ours)} with all distances read out, ` +
      `${milliseconds(alone)} without; igraph ${milliseconds(igraph.together)} with all sources in one call, ` +
      `${milliseconds(igraph.singly)} with a call a source; sum ${sum}`,
  );
  log(
    `ratio ${(igraph.together / ours).toFixed(2)} × igraph in one call, distances read out by both; ` +
      `${(igraph.singly / ours).toFixed(2)} × with a call a source`,
  );
}

/** A call turns the list of weights into igraph's own vector, which is no SPF: all sources in one call pay for it once. */
const IGRAPH = `
import json, sys, time, statistics, igraph
data = json.load(open(sys.argv[1]))
graph = igraph.Graph(n=data['nodes'], edges=[(a, b) for a, b, _ in data['edges']], directed=True)
graph.es['weight'] = [w for _, _, w in data['edges']]
sources, rounds = data['sources'], data['rounds']
def timed(run):
    begun = time.perf_counter()
    result = run()
    return (time.perf_counter() - begun) * 1000 / len(sources), result
graph.distances(source=sources[:20], weights='weight')
together = []
for _ in range(rounds):
    took, rows = timed(lambda: graph.distances(source=sources, weights='weight'))
    together.append(took)
total = sum(d for row in rows for d in row if d != float('inf'))
del rows
singly = [timed(lambda: [graph.distances(source=s, weights='weight') and None for s in sources])[0] for _ in range(rounds)]
print(json.dumps({'together': statistics.median(together), 'singly': statistics.median(singly), 'sum': total}))
`;

function digestOf(objects: ReadonlyMap<string, LinkStateObject>): string {
  const digest = createHash('sha256');
  for (const { nlri, attribute } of objects.values()) digest.update(nlri).update(attribute);
  return digest.digest('hex').slice(0, 16);
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

/** The function on the same data in a process of its own, which has to read all of it first. */
async function newInstance(stack: Stack, targets: readonly string[]): Promise<NewInstanceAnswer[]> {
  const program = resolve(import.meta.dirname, '../topology/new-instance.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, stack.dataDirectory, ...targets], {
    env: {
      ...process.env,
      GRATICULE_API_TOKEN: stack.token,
      NODE_COMPILE_CACHE: resolve('node_modules/.cache/graticule'),
    },
  });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

interface Download {
  readonly octets: Buffer;
  /** Milliseconds until the redirect was read, and until all was there. */
  readonly addressAfter: number;
  readonly allAfter: number;
}

/** What a client waits that keeps the body as it comes, following the redirect of a large one. */
async function download(stack: Stack, path: string): Promise<Download> {
  const begun = performance.now();
  const since = () => Math.round(performance.now() - begun);
  const authorization = `Bearer ${stack.token}`;
  const first = await get(`${stack.url}${path}`, { authorization, 'accept-encoding': 'gzip' });
  const addressAfter = since();
  if (first.status === 200) return { octets: first.body, addressAfter, allAfter: addressAfter };
  const second = await get(first.location, {});
  if (second.status !== 200)
    throw new Error(`${path}: ${first.status}, then ${second.status} ${second.body}`);
  return { octets: second.body, addressAfter, allAfter: since() };
}

/** Without `fetch`, which would unpack the body while it is timed: seconds of the client's, none of the product's. */
function get(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number; location: string; body: Buffer }> {
  return new Promise((settle, refuse) => {
    const request = httpGet(url, { headers }, (incoming) => {
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => parts.push(part));
      incoming.once('error', refuse);
      incoming.once('end', () => {
        const { statusCode = 0, headers } = incoming;
        settle({ status: statusCode, location: headers.location ?? '', body: Buffer.concat(parts) });
      });
    });
    request.once('error', refuse);
  });
}

function idsOf(objects: ReadonlyMap<string, LinkStateObject>, type: LinkStateObject['type']): string[] {
  return [...objects.values()]
    .filter((object) => object.type === type)
    .map(idOf)
    .sort();
}

function sortedIds(objects: readonly { readonly id: string }[]): string[] {
  return objects.map(({ id }) => id).sort();
}

const PROCESSES: readonly (readonly [name: string, command: RegExp])[] = [
  ['gateway and functions', /local\/main\.ts/],
  ['worker', /worker\/main\.ts/],
  ['DynamoDB', /dynoxide/],
  ['S3 and SQS', /queue-server\.ts/],
];

/** User and system time of the stack's processes: what a loaded machine changes least. */
function cpuByProcess(stack: Stack): Map<string, number> {
  const seconds = new Map(PROCESSES.map(([name]) => [name, 0]));
  for (const processId of processTree(stack.processId)) {
    const command = commandOf(processId);
    const name = PROCESSES.find(([, pattern]) => pattern.test(command))?.[0] ?? 'the rest';
    const line = readFileSync(`/proc/${processId}/stat`, 'utf8');
    // The second field is a name in parentheses, which may hold anything.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    seconds.set(name, (seconds.get(name) ?? 0) + ticks / 100);
  }
  return seconds;
}

function spentSince(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): string {
  return [...after].map(([name, at]) => `${name} ${(at - (before.get(name) ?? 0)).toFixed(2)} s`).join(', ');
}

function highWaterMegabytes(processId: number): number {
  const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${processId}/status`, 'utf8'))?.[1];
  return Math.round(Number(kilobytes) / 1024);
}

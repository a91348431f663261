import { equal, match, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TopologyGraph } from '../../../core/topology/graph.ts';
import { formatDot, formatGraphml } from '../../../core/topology/graph-drawing.ts';
import { formatRfc8345 } from '../../../core/topology/graph-rfc8345.ts';
import { encodeAttribute } from '../../../protocols/bgp/ls/attribute.ts';
import type { TestCase } from '../../harness.ts';
import { debianCommand, pythonEnvironment } from '../../support/install.ts';
import { type LinkStateObject, linkStateObjects } from '../../support/network/link-state-objects.ts';
import { SimulatedNetwork } from '../../support/network/simulated-network.ts';
import { Random } from '../../support/random.ts';

/** What a router may be called, and no format may take for markup or syntax. */
const NAMES = [
  '</data><node id="x"/>',
  '"];\n} digraph evil { a -> b',
  'back\\slash\\N',
  'a&b',
  'bell\u0007null\u0000',
  'knoten-größe',
];

/** As pyang ships them. */
const MODULES = ['ietf-network', 'ietf-network-topology', 'ietf-l3-unicast-topology'];
/** No package ships RFC 8795's: abridged texts of our own, see there. */
const ABRIDGED_MODULES = join(import.meta.dirname, '..', 'yang');

/** Simulated IS-IS and OSPF networks in each format, given to the programs that define or read it. */
export const testCase: TestCase = {
  title: 'RFC 8345/8346 by the YANG modules (yanglint), GraphML by networkx, DOT by dot',
  inCi: true,
  async run({ check, log, scratchDirectory, seed }) {
    const random = new Random(seed);
    const graph = new TopologyGraph();
    const { rib } = graph.peer(1);
    rib.apply({ kind: 'session-established', at: 1, sweepBy: 2 });
    for (const [number, igp] of (['isis', 'ospf'] as const).entries()) {
      const network = new SimulatedNetwork(
        {
          routers: 60,
          igp,
          identifier: 2n ** 64n - 1n - BigInt(number),
          number: number + 1,
          chords: 3,
          parallel: 0.2,
          unnumbered: 0.3,
          lansPerHundred: 8,
        },
        random,
      );
      network.routers.forEach((router, index) => {
        router.name = NAMES[index] ?? router.name;
      });
      for (const object of linkStateObjects(network).values()) {
        const { nlri } = object;
        const isTold = object.type === 'link' && object.end !== undefined;
        const attribute = isTold ? withReservations(object, random) : object.attribute;
        rib.apply({ kind: 'put', at: 1, safi: 71, nlri, attribute });
      }
    }
    const nodes = [...graph.nodes.values()].filter(({ listed }) => listed).length;
    const links = [...graph.objects.values()].filter(({ kind }) => kind === 'link').length;
    log(`${nodes} nodes, ${links} half-links`);
    const python = pythonEnvironment(['pyang==2.7.1', 'networkx==3.6.1']);

    const modules = join(python, '..', 'share', 'yang', 'modules');
    const yanglint = debianCommand('yanglint', 'libyang2-tools');
    const validate = (body: unknown, moduleFiles: readonly string[]) => {
      const file = join(scratchDirectory, 'topology.json');
      writeFileSync(file, JSON.stringify(body));
      const folders = readdirSync(modules).map((folder) => join(modules, folder));
      const paths = [ABRIDGED_MODULES, ...folders].flatMap((folder) => ['-p', folder]);
      execFileSync(yanglint, [...paths, '-t', 'data', ...moduleFiles, file], { stdio: 'pipe' });
    };
    const real = MODULES.map((name) => join(modules, 'ietf', `${name}.yang`));
    // An identity can be named only when its module is one of those that are asked for.
    const abridged = ['ietf-te-types', 'ietf-te-topology'];
    const withTe = [...real, ...abridged.map((name) => join(ABRIDGED_MODULES, `${name}.yang`))];
    const isRefused = (body: unknown, moduleFiles: readonly string[]) => {
      try {
        validate(body, moduleFiles);
        return false;
      } catch {
        return true;
      }
    };

    await check('yanglint accepts the RFC 8345 body, with RFC 8346 layer 3 attributes', () => {
      const body = withoutTe(formatRfc8345(graph, true)) as JsonObject;
      validate(body, real);
      const networks = (body['ietf-network:networks'] as { network: { node: unknown[] }[] }).network;
      equal(networks.length, 3);
      equal(
        networks.reduce((sum, network) => sum + network.node.length, 0),
        nodes,
      );
      const wrong = JSON.stringify(body).replaceAll('"dest-node"', '"dest-nod"');
      ok(isRefused(JSON.parse(wrong), real), 'yanglint took a body with a misspelt leaf');
    });

    await check('yanglint accepts the same body with RFC 8795 attributes, by the abridged module', () => {
      const body = formatRfc8345(graph, true);
      validate(body, withTe);
      // One by one what stands below a TE member is spelt wrongly, so that no name goes unread.
      const text = JSON.stringify(oneNetwork(body));
      const names = [...new Set(teMembers(JSON.parse(text)))].sort();
      log(`${names.length} TE members: ${names.join(' ')}`);
      for (const name of names) {
        ok(isRefused(misspelt(JSON.parse(text), name), withTe), `yanglint took ${name} misspelt`);
      }
      for (const [right, wrong] of WRONG_VALUES) {
        const spoilt = text.replace(right, wrong);
        ok(spoilt !== text, `nothing in the body is like ${right}`);
        ok(isRefused(JSON.parse(spoilt), withTe), `yanglint took ${wrong}`);
      }
    });

    await check('networkx reads the GraphML with every node, link and name', () => {
      const file = join(scratchDirectory, 'topology.graphml');
      writeFileSync(file, formatGraphml(graph, true));
      const output = execFileSync(join(python, 'python3'), ['-c', READ_GRAPHML, file], { encoding: 'utf8' });
      const read = JSON.parse(output) as { nodes: number; edges: number; labels: string[]; metrics: number };
      equal(read.nodes, nodes);
      equal(read.edges, links);
      equal(read.metrics, links);
      ok(read.labels.includes('</data><node id="x"/>'));
      ok(read.labels.includes('knoten-größe'));
    });

    await check('dot draws the DOT with every node and link, and no name becomes syntax', () => {
      const file = join(scratchDirectory, 'topology.dot');
      writeFileSync(file, formatDot(graph, true));
      const dot = debianCommand('dot', 'graphviz');
      const svg = execFileSync(dot, ['-Tsvg', '-Ksfdp', file], { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
      equal(svg.match(/class="node"/g)?.length, nodes);
      equal(svg.match(/class="edge"/g)?.length, links);
      match(svg, /^<\?xml/);
      ok(!svg.includes('evil</title>'));
    });
  },
};

/** What the abridged module must refuse: types, enumerations, identities and conditions. */
const WRONG_VALUES: readonly [RegExp, string][] = [
  [/"generic":"0x1[^"]*"/, '"generic":"0x1.2a05f2p-3"'],
  [/"administrative-group":"[^"]*"/, '"administrative-group":"0:1"'],
  [/"access-type":"[^"]*"/, '"access-type":"lan"'],
  [/"ietf-te-types:link-protection-[^"]*"/, '"ietf-te-types:link-protection"'],
  [/"ietf-te-topology:te-node-id":"[^"]*",/, ''],
  [/"ietf-te-topology:te-topology":\{\}/, '"ietf-l3-unicast-topology:l3-unicast-topology":{}'],
  [/"priority":7/, '"priority":6'],
];

/** A link with every traffic engineering attribute, of values at the edges of their types too. */
function withReservations({ attributes, nlri }: LinkStateObject, random: Random): Uint8Array {
  const bandwidth = () =>
    random.pick([0, 1, 0.25, 1.25e9, 3.4028234663852886e38, 123_456_789].map(Math.fround));
  const protection = random.pick(['shared', 'enhanced', 'unprotected', 'dedicated-1-to-1', 'extra-traffic']);
  return encodeAttribute(
    {
      ...attributes,
      'max-reservable-link-bandwidth-bytes-per-second': bandwidth(),
      'unreserved-bandwidth-bytes-per-second': Array.from({ length: 8 }, bandwidth),
      'link-protection-type': {
        ...{ enhanced: false, 'dedicated-1-plus-1': false, 'dedicated-1-to-1': false },
        ...{ shared: false, unprotected: false, 'extra-traffic': false },
        [protection]: true,
      },
      'shared-risk-link-groups': [7, 2 ** 32 - 1, 7],
      'extended-administrative-group': [attributes['administrative-group'] ?? 0, 0, 0x8000_0001],
      'link-name': random.pick(NAMES),
    },
    { protocolId: nlri[4] as number, nlriType: 2 },
  );
}

type JsonObject = Record<string, unknown>;

/** What the modules that pyang ships know of. */
function withoutTe(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTe);
  if (typeof value !== 'object' || value === null) return value;
  const own = Object.entries(value).filter(([name]) => !name.startsWith('ietf-te-topology:'));
  return Object.fromEntries(own.map(([name, member]) => [name, withoutTe(member)]));
}

/** The names of all members that are RFC 8795's. */
function teMembers(value: unknown, inside = false): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => teMembers(each, inside));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const isTe = inside || name.startsWith('ietf-te-topology:');
    return isTe ? [name, ...teMembers(member, true)] : teMembers(member);
  });
}

/** The same without the last letter of that name, wherever it is RFC 8795's. */
function misspelt(value: unknown, wrong: string, inside = false): unknown {
  if (Array.isArray(value)) return value.map((each) => misspelt(each, wrong, inside));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isTe = inside || name.startsWith('ietf-te-topology:');
      return [isTe && name === wrong ? name.slice(0, -1) : name, misspelt(member, wrong, isTe)];
    }),
  );
}

/** The body with its OSPF network alone, which has pseudonodes that TE can name. */
function oneNetwork(body: JsonObject): JsonObject {
  const { network } = body['ietf-network:networks'] as { network: JsonObject[] };
  return {
    'ietf-network:networks': {
      network: network.filter((each) => String(each['network-id']).includes('ospf')),
    },
  };
}

const READ_GRAPHML = `
import json, sys, networkx
graph = networkx.read_graphml(sys.argv[1], force_multigraph=True)
print(json.dumps({
    'nodes': graph.number_of_nodes(),
    'edges': graph.number_of_edges(),
    'labels': [label for _, label in graph.nodes(data='label')],
    'metrics': sum(1 for *_, metric in graph.edges(data='igp-metric') if isinstance(metric, int)),
}))
`;

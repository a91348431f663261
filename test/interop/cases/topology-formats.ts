import { equal, match, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TopologyGraph } from '../../../core/topology/graph.ts';
import { formatDot, formatGraphml } from '../../../core/topology/graph-drawing.ts';
import { formatRfc8345 } from '../../../core/topology/graph-rfc8345.ts';
import type { TestCase } from '../../harness.ts';
import { debianCommand, pythonEnvironment } from '../../support/install.ts';
import { linkStateObjects } from '../../support/network/link-state-objects.ts';
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

const MODULES = ['ietf-network', 'ietf-network-topology', 'ietf-l3-unicast-topology'];

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
      for (const { nlri, attribute } of linkStateObjects(network).values()) {
        rib.apply({ kind: 'put', at: 1, safi: 71, nlri, attribute });
      }
    }
    const nodes = [...graph.nodes.values()].filter(({ listed }) => listed).length;
    const links = [...graph.objects.values()].filter(({ kind }) => kind === 'link').length;
    log(`${nodes} nodes, ${links} half-links`);
    const python = pythonEnvironment(['pyang==2.7.1', 'networkx==3.6.1']);

    await check('yanglint accepts the RFC 8345 body, with RFC 8346 layer 3 attributes', () => {
      const body = formatRfc8345(graph, true);
      const file = join(scratchDirectory, 'topology.json');
      writeFileSync(file, JSON.stringify(body));
      const modules = join(python, '..', 'share', 'yang', 'modules');
      const paths = readdirSync(modules).flatMap((folder) => ['-p', join(modules, folder)]);
      const files = MODULES.map((name) => join(modules, 'ietf', `${name}.yang`));
      const yanglint = debianCommand('yanglint', 'libyang2-tools');
      execFileSync(yanglint, [...paths, '-t', 'config', ...files, file], { stdio: 'pipe' });
      const networks = (body['ietf-network:networks'] as { network: { node: unknown[] }[] }).network;
      equal(networks.length, 3);
      equal(
        networks.reduce((sum, network) => sum + network.node.length, 0),
        nodes,
      );
      writeFileSync(file, JSON.stringify(body).replaceAll('"dest-node"', '"dest-nod"'));
      let refused = false;
      try {
        execFileSync(yanglint, [...paths, '-t', 'config', ...files, file], { stdio: 'pipe' });
      } catch {
        refused = true;
      }
      ok(refused, 'yanglint took a body with a misspelt leaf');
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

/** The topology for tools that draw or analyse graphs: GraphML and Graphviz DOT, as directed graphs of half-links. */
import { decodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import type { TopologyGraph } from './graph.ts';
import type { TopologyNode, TopologyObject } from './graph-object.ts';
import { decodedAttribute } from './object-view.ts';
import { xmlText } from './yang-text.ts';

interface DrawnNode {
  readonly id: string;
  /** The node's name, else how its protocol identifies it. */
  readonly label: string;
  readonly protocol: string;
  readonly identifier: string;
  readonly pseudonode: boolean;
  readonly stale: boolean;
}

interface DrawnLink {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly igpMetric: number | undefined;
  readonly teMetric: number | undefined;
  readonly paired: boolean;
  readonly stale: boolean;
}

/** http://graphml.graphdrawing.org: keys are declared first, absent values are left out. */
export function formatGraphml(graph: TopologyGraph, includeStale: boolean): string {
  const { nodes, links } = draw(graph, includeStale);
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    ...Object.entries({
      label: 'string',
      protocol: 'string',
      identifier: 'string',
      pseudonode: 'boolean',
    }).map(([name, type]) => `<key id="${name}" for="node" attr.name="${name}" attr.type="${type}"/>`),
    ...Object.entries({ 'igp-metric': 'long', 'te-default-metric': 'long', paired: 'boolean' }).map(
      ([name, type]) => `<key id="${name}" for="edge" attr.name="${name}" attr.type="${type}"/>`,
    ),
    '<key id="stale" for="all" attr.name="stale" attr.type="boolean"/>',
    '<graph id="topology" edgedefault="directed">',
  ];
  const data = (key: string, value: string | number | boolean | undefined) =>
    value === undefined ? '' : `<data key="${key}">${escapeXml(String(value))}</data>`;
  for (const node of nodes) {
    lines.push(
      `<node id="${node.id}">${data('label', node.label)}${data('protocol', node.protocol)}${data('identifier', node.identifier)}${data('pseudonode', node.pseudonode)}${data('stale', node.stale)}</node>`,
    );
  }
  for (const link of links) {
    lines.push(
      `<edge id="${link.id}" source="${link.from}" target="${link.to}">${data('igp-metric', link.igpMetric)}${data('te-default-metric', link.teMetric)}${data('paired', link.paired)}${data('stale', link.stale)}</edge>`,
    );
  }
  lines.push('</graph>', '</graphml>', '');
  return lines.join('\n');
}

/** https://graphviz.org/doc/info/lang.html. Pseudonodes are points, what is stale is dashed. */
export function formatDot(graph: TopologyGraph, includeStale: boolean): string {
  const { nodes, links } = draw(graph, includeStale);
  const lines = ['digraph topology {', '  node [shape=box];'];
  for (const node of nodes) {
    const shape = node.pseudonode ? ', shape=ellipse' : '';
    lines.push(
      `  ${quoted(node.id)} [label=${quoted(node.label)}${shape}${node.stale ? ', style=dashed' : ''}];`,
    );
  }
  for (const link of links) {
    const metric = link.igpMetric === undefined ? '' : `label=${quoted(String(link.igpMetric))}, `;
    const style = link.stale ? 'dashed' : 'solid';
    lines.push(
      `  ${quoted(link.from)} -> ${quoted(link.to)} [${metric}id=${quoted(link.id)}, style=${style}];`,
    );
  }
  lines.push('}', '');
  return lines.join('\n');
}

function draw(graph: TopologyGraph, includeStale: boolean): { nodes: DrawnNode[]; links: DrawnLink[] } {
  const links: DrawnLink[] = [];
  const ends = new Set<TopologyNode>();
  for (const object of graph.objects.values()) {
    if (object.kind !== 'link' || object.localNode === null || object.remoteNode === null) continue;
    if (!includeStale && graph.isStale(object)) continue;
    ends.add(object.localNode);
    ends.add(object.remoteNode);
    links.push(drawLink(graph, object));
  }
  const nodes: DrawnNode[] = [];
  for (const node of graph.nodes.values()) {
    const object = node.objects[0];
    const shown = ends.has(node) || (object !== undefined && (includeStale || !graph.isStale(object)));
    if (shown) nodes.push(drawNode(graph, node, object));
  }
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
  return { nodes: nodes.sort(byId), links: links.sort(byId) };
}

function drawNode(graph: TopologyGraph, node: TopologyNode, object: TopologyObject | undefined): DrawnNode {
  const nlri = decodeNlri(node.nlri, node.safi);
  const { attributes } = decodedAttribute(
    object === undefined ? null : graph.selected(object).attribute,
    nlri,
  );
  const identity = nlri.localNode?.['igp-router-id'] ?? nlri.localNode?.['bgp-router-id'] ?? node.id;
  return {
    id: node.id,
    label: attributes['node-name'] || identity,
    protocol: nlri.protocol ?? '',
    identifier: String(nlri.identifier),
    pseudonode: node.pseudonode,
    stale:
      object === undefined ? [...node.links].every((link) => graph.isStale(link)) : graph.isStale(object),
  };
}

function drawLink(graph: TopologyGraph, link: TopologyObject): DrawnLink {
  const nlri = decodeNlri(link.nlri, link.safi);
  const { attributes } = decodedAttribute(graph.selected(link).attribute, nlri);
  return {
    id: link.id,
    from: link.localNode?.id as string,
    to: link.remoteNode?.id as string,
    igpMetric: attributes['igp-metric'],
    teMetric: attributes['te-default-metric'],
    paired: graph.pairing(link).reverse !== null,
    stale: graph.isStale(link),
  };
}

const XML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Names come from peers: markup in them must stay text. */
function escapeXml(text: string): string {
  return xmlText(text).replace(/[&<>"]/g, (character) => XML_ENTITIES[character] as string);
}

/** A quoted id of DOT. A backslash would begin an escape sequence of a label, a line break would end the line. */
function quoted(text: string): string {
  const visible = xmlText(text)
    .replace(/\\/g, '\\\\')
    .replace(/"/g, '\\"')
    .replace(/\r?\n|\r/g, '\\n');
  return `"${visible}"`;
}

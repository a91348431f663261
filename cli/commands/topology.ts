import {
  type Command,
  type CommandContext,
  cell,
  objects,
  show,
  takeWords,
  text,
  usageFailure,
} from '../command.ts';
import { EXIT, type ExitCode, Failure } from '../exit-code.ts';
import { formatJsonText, isObject, type Json, type JsonObject } from '../json-text.ts';
import type { Column } from '../table.ts';

const TOPOLOGY = '/api/topology';
/** Pages keep one answer small; the client puts them together. */
const PAGE = 1_000;

const node = (object: JsonObject, end: string) =>
  cell(object, end, 'descriptor', 'igp-router-id') === '-'
    ? cell(object, end, 'id')
    : cell(object, end, 'descriptor', 'igp-router-id');

const LISTS: Readonly<
  Record<string, { readonly nothing: string; readonly columns: ReadonlyArray<Column<JsonObject>> }>
> = {
  nodes: {
    nothing: 'There are no nodes.',
    columns: [
      { title: 'ID', value: (object) => cell(object, 'id') },
      { title: 'NAME', value: (object) => cell(object, 'attributes', 'node-name') },
      { title: 'ROUTER ID', value: (object) => cell(object, 'descriptor', 'igp-router-id') },
      { title: 'PROTOCOL', value: (object) => cell(object, 'protocol') },
      { title: 'ADVERTISED', value: (object) => cell(object, 'advertised') },
      { title: 'STALE', value: (object) => cell(object, 'stale') },
    ],
  },
  links: {
    nothing: 'There are no links.',
    columns: [
      { title: 'ID', value: (object) => cell(object, 'id') },
      { title: 'FROM', value: (object) => node(object, 'local-node') },
      { title: 'TO', value: (object) => node(object, 'remote-node') },
      { title: 'PROTOCOL', value: (object) => cell(object, 'protocol') },
      { title: 'METRIC', value: (object) => cell(object, 'attributes', 'igp-metric') },
      { title: 'PAIRED BY', value: (object) => cell(object, 'reverse', 'paired-by') },
      { title: 'STALE', value: (object) => cell(object, 'stale') },
    ],
  },
  prefixes: {
    nothing: 'There are no prefixes.',
    columns: [
      { title: 'PREFIX', value: (object) => cell(object, 'descriptor', 'ip-reachability') },
      { title: 'NODE', value: (object) => node(object, 'node') },
      { title: 'METRIC', value: (object) => cell(object, 'attributes', 'prefix-metric') },
      { title: 'STALE', value: (object) => cell(object, 'stale') },
      { title: 'ID', value: (object) => cell(object, 'id') },
    ],
  },
};

const FORMATS = ['json', 'rfc8345', 'graphml', 'dot'];

export const topologyCommand: Command = {
  name: 'topology',
  summary: 'nodes, links, prefixes, paths, the graph',
  usage: [
    'topology [summary]',
    'topology nodes|links|prefixes [--filter NAME=VALUE …]',
    'topology paths FROM TO [--metric igp|te|delay|hops] [--count N]',
    'topology graph [--format json|rfc8345|graphml|dot]',
  ],
  flags: {
    filter: {
      type: 'string',
      multiple: true,
      value: 'NAME=VALUE',
      text: 'one of the list’s query parameters, such as protocol=ospfv2 or contains=10.0.0.1',
    },
    metric: { type: 'string', value: 'METRIC', text: 'igp (the default), te, delay or hops' },
    count: { type: 'string', value: 'N', text: 'paths to find, 1 to 16' },
    format: { type: 'string', value: 'FORMAT', text: 'json (the default), rfc8345, graphml or dot' },
  },
  help: 'FROM and TO are ids of nodes, or node names.',
  async run(context) {
    const [what = 'summary', ...rest] = context.words;
    if (what === 'paths') return paths(context, rest);
    takeWords(context, 1);
    if (what === 'summary') return summary(context);
    if (what === 'graph') return graph(context);
    const list = LISTS[what];
    if (list === undefined) throw usageFailure(`topology ${what} is not known; see graticule help topology`);
    const query = new URLSearchParams({ limit: String(PAGE) });
    for (const filter of filters(context)) query.append(filter.name, filter.value);
    const found = objects(await context.client.list(`${TOPOLOGY}/${what}?${query}`));
    show(context, found, found, list.columns, list.nothing);
    return EXIT.ok;
  },
};

function filters(context: CommandContext): { name: string; value: string }[] {
  return ((context.flags['filter'] ?? []) as readonly string[]).map((filter) => {
    const at = filter.indexOf('=');
    if (at < 1) throw usageFailure(`--filter ${filter}: write it as NAME=VALUE`);
    return { name: filter.slice(0, at), value: filter.slice(at + 1) };
  });
}

async function summary(context: CommandContext): Promise<ExitCode> {
  const { json } = await context.client.get(TOPOLOGY);
  const counts = isObject(json) && isObject(json['counts']) ? json['counts'] : {};
  const rows = Object.entries(counts).map(([kind, value]) => ({ kind, value }));
  show(
    context,
    json ?? null,
    rows,
    [
      { title: 'OBJECTS', value: ({ kind }) => kind },
      { title: 'TOTAL', value: ({ value }) => (isObject(value) ? cell(value, 'total') : String(value)) },
      { title: 'STALE', value: ({ value }) => cell(value, 'stale') },
    ],
    'There is no topology yet.',
  );
  return EXIT.ok;
}

async function graph(context: CommandContext): Promise<ExitCode> {
  const format = text(context, 'format') ?? 'json';
  if (!FORMATS.includes(format)) throw usageFailure(`--format ${format}: it is ${FORMATS.join(', ')}`);
  const answer = await context.client.get(`${TOPOLOGY}/graph?format=${format}`);
  // As it came: it goes into a file or another program. JSON is told anew, for its control characters.
  context.terminal.print(answer.json === undefined ? answer.text.trimEnd() : formatJsonText(answer.json));
  return EXIT.ok;
}

async function paths(context: CommandContext, ends: readonly string[]): Promise<ExitCode> {
  const [from, to, extra] = ends;
  if (from === undefined || to === undefined || extra !== undefined)
    throw usageFailure('write topology paths FROM TO');
  const query = new URLSearchParams({ from: await nodeId(context, from), to: await nodeId(context, to) });
  const metric = text(context, 'metric');
  if (metric !== undefined) query.set('metric', metric);
  const count = text(context, 'count');
  if (count !== undefined) query.set('k', count);
  const { json } = await context.client.get(`${TOPOLOGY}/paths?${query}`);
  const found = objects((isObject(json) ? (json['paths'] ?? []) : []) as readonly Json[]);
  const join = (value: Json | undefined) => (Array.isArray(value) ? value.join(' ') : '-');
  show(
    context,
    json ?? null,
    found,
    [
      { title: 'COST', value: (path) => cell(path, 'cost') },
      { title: 'HOPS', value: (path) => cell(path, 'hops') },
      { title: 'NODES', value: (path) => join(path['nodes']) },
      { title: 'LABELS', value: (path) => join(path['mpls-label-stack']) },
    ],
    `There is no path: ${cell(json, 'reason')}.`,
  );
  return found.length > 0 ? EXIT.ok : EXIT.refused;
}

/** A word that is no id is a node's name, as its IGP tells it. */
async function nodeId(context: CommandContext, word: string): Promise<string> {
  if (/^n\.[A-Za-z0-9_-]{22}$/.test(word)) return word;
  const query = new URLSearchParams({ name: word, limit: '2' });
  const { json } = await context.client.get(`${TOPOLOGY}/nodes?${query}`);
  const found = objects(Array.isArray(json) ? json : []);
  if (found.length === 1) return cell(found[0], 'id');
  throw new Failure(
    found.length === 0
      ? `there is no node called ${word}`
      : `several nodes are called ${word}; say which by its id (graticule topology nodes --filter name=${word})`,
    EXIT.refused,
  );
}

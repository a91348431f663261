/** Examples as the pages of docs/api show them: a curl command and what it prints. */
import type { Example } from './example.ts';

const BLOCK = /<!-- example ([a-z0-9-]+) -->\n[\s\S]*?<!-- \/example -->/g;

/** A page with each of its examples written anew. Throws for one that the story does not have. */
export function withExamples(page: string, examples: readonly Example[]): string {
  return page.replaceAll(BLOCK, (_block, name: string) => {
    const example = examples.find((candidate) => candidate.name === name);
    if (example === undefined) throw new Error(`the story has no step ${name}`);
    return `<!-- example ${name} -->\n\n${formatExample(example)}\n\n<!-- /example -->`;
  });
}

/** The names of the examples on a page, and how many curl commands stand outside of them. */
export function examplesOn(page: string): { readonly names: readonly string[]; readonly strays: number } {
  const names = [...page.matchAll(BLOCK)].map(([, name]) => name as string);
  const rest = page.replaceAll(BLOCK, '');
  return { names, strays: [...rest.matchAll(/^curl /gm)].length };
}

function formatExample(example: Example): string {
  const command = ['```sh', curl(example), '```'];
  const headers = Object.entries(example.answerHeaders).map(
    ([name, value]) => `\`${properCase(name)}: ${value}\``,
  );
  const answer = [`${[`**${example.status}**`, ...headers].join(' · ')}`];
  const head = [`${example.title}:`, '', ...command, '', ...answer];
  if (example.answer === undefined) return head.join('\n');
  const isText = typeof example.answer === 'string';
  const body = isText
    ? (example.answer as string).replaceAll('\r', '').trimEnd()
    : formatJson(example.answer);
  const fence = isText ? '```' : '```json';
  return [...head, '', fence, body, '```'].join('\n');
}

function curl(example: Example): string {
  const [method, template] = example.operation.split(' ') as [string, string];
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => example.path?.[name] ?? '');
  const query = new URLSearchParams(example.query).toString();
  const words = [
    `curl -s${method === 'GET' ? '' : ` -X ${method}`} "$GRATICULE${path}${query === '' ? '' : `?${query}`}"`,
  ];
  if (!example.isAnonymous) words.push('-H "Authorization: Bearer $TOKEN"');
  for (const [name, value] of Object.entries(example.headers ?? {})) words.push(`-H '${name}: ${value}'`);
  if (example.body === undefined) return words.join(' \\\n  ');
  words.push("-H 'Content-Type: application/json'");
  return `${words.join(' \\\n  ')} \\\n  -d '${formatJson(example.body).replaceAll("'", `'\\''`)}'`;
}

const WIDTH = 110;

/** JSON with what fits on a line on one line. */
export function formatJson(value: unknown, indent = '', taken = 0): string {
  const flat = inline(value);
  if (indent.length + taken + flat.length <= WIDTH || typeof value !== 'object' || value === null)
    return flat;
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => `${deeper}${formatJson(item, deeper)}`);
    return `[\n${items.join(',\n')}\n${indent}]`;
  }
  const members = Object.entries(value).map(([name, member]) => {
    const start = `${JSON.stringify(name)}: `;
    return `${deeper}${start}${formatJson(member, deeper, start.length)}`;
  });
  return `{\n${members.join(',\n')}\n${indent}}`;
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${inline(member)}`);
  return `{${members.join(', ')}}`;
}

function properCase(header: string): string {
  if (header === 'etag') return 'ETag';
  return header.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

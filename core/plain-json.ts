import { type ExactJson, ExactNumber, parseExactJson } from './exact-json.ts';

/**
 * `JSON.parse` for text that others wrote. Throws a SyntaxError as it does.
 *
 * V8 13.6 (Node 24) misreads a member name that is one escaped character once it has seen an object of the same
 * beginning with a member `\`: `{"a":1,"\"":2}` becomes `{"a":1,"\\":2}`. Names are people's here, so text with a
 * backslash goes through our own reader.
 */
export function parseJson(text: string): unknown {
  const exact = text.includes('\\') ? parseExactJson(text) : undefined;
  return exact === undefined ? JSON.parse(text) : plain(exact);
}

function plain(value: ExactJson): unknown {
  if (value instanceof ExactNumber) return Number(value.source);
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) {
    return Object.fromEntries(Array.from(value, ([name, member]) => [name, plain(member)]));
  }
  return value;
}

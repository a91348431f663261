/** gNMI paths and their text form (openconfig/reference, rpc/gnmi/gnmi-path-strings.md). */

/** One element of a path. `keys` are sorted by key name: two paths that mean the same read the same. */
export interface PathElem {
  readonly name: string;
  readonly keys: ReadonlyArray<readonly [name: string, value: string]>;
}

/** gNMI specification §2.2.2. `origin` and `target` are `''` when the message carries none. */
export interface Path {
  readonly origin: string;
  readonly target: string;
  readonly elem: readonly PathElem[];
}

export const ROOT_PATH: Path = { origin: '', target: '', elem: [] };

/**
 * What is wrong, or only odd, in the text of a path; `offset` counts UTF-16 units from its start.
 * `no-leading-slash` and `empty-key` still leave a path that can be asked for; the others do not.
 */
export interface PathProblem {
  readonly code: 'unbalanced-brackets' | 'no-leading-slash' | 'empty-key' | 'unparsable';
  readonly offset: number;
  readonly detail: string;
}

export type ParsedPath =
  | { readonly path: Path; readonly problems: readonly PathProblem[] }
  | { readonly path: undefined; readonly problems: readonly PathProblem[] };

/**
 * Reads `[origin:]/a/b[k=v]/c`. An origin is what stands before `:/`; `module:a/b` without the slash is a
 * module prefix of the first element. `/` and `:` inside brackets are part of a key's value. In a value `\`
 * escapes the next character (`\n`, `\r` and `\uXXXX` as in the specification); `[` needs no escape there.
 * `/` alone is the root.
 */
export function parsePath(text: string): ParsedPath {
  const problems: PathProblem[] = [];
  const fail = (code: PathProblem['code'], offset: number, detail: string): ParsedPath => ({
    path: undefined,
    problems: [...problems, { code, offset, detail }],
  });

  const originMatch = /^([^/[\]:\\]+):(?=\/)/.exec(text);
  const origin = originMatch?.[1] ?? '';
  let at = originMatch === null ? 0 : originMatch[0].length;
  if (text.length === 0) return fail('unparsable', 0, 'the path is empty; the root is "/"');
  if (text[at] === '/') at += 1;
  else problems.push({ code: 'no-leading-slash', offset: at, detail: 'an absolute path starts with "/"' });

  const elem: PathElem[] = [];
  while (at < text.length) {
    const nameStart = at;
    let name = '';
    while (at < text.length && text[at] !== '/' && text[at] !== '[') {
      if (text[at] === ']') return fail('unbalanced-brackets', at, '"]" without "["');
      if (text[at] === '\\' && at + 1 < text.length) at += 1;
      name += text[at];
      at += 1;
    }
    if (name === '') return fail('unparsable', nameStart, 'an element has no name');
    const keys = new Map<string, string>();
    while (text[at] === '[') {
      const bracket = at;
      const equals = text.indexOf('=', at);
      const close = text.indexOf(']', at);
      if (close === -1) return fail('unbalanced-brackets', bracket, '"[" is not closed');
      if (equals === -1 || equals > close) {
        return fail('unparsable', bracket, 'a key is written [name=value]');
      }
      const key = text.slice(at + 1, equals).trim();
      const value = readKeyValue(text, equals + 1);
      if (value === undefined) return fail('unbalanced-brackets', bracket, '"[" is not closed');
      if (key === '') return fail('unparsable', bracket, 'a key has no name');
      if (keys.has(key)) return fail('unparsable', bracket, `the key ${key} is given twice`);
      if (value.text === '') {
        problems.push({ code: 'empty-key', offset: bracket, detail: `the key ${key} has no value` });
      }
      keys.set(key, value.text);
      at = value.next;
    }
    if (text[at] === ']') return fail('unbalanced-brackets', at, '"]" without "["');
    if (at < text.length && text[at] !== '/') {
      return fail('unparsable', at, 'after a key comes "/", another key or the end');
    }
    elem.push({ name, keys: sortKeys([...keys]) });
    if (at < text.length) {
      at += 1;
      if (at === text.length) return fail('unparsable', at - 1, 'a path does not end with "/"');
    }
  }
  return { path: { origin, target: '', elem }, problems };
}

/** Reads a key's value up to its unescaped `]`; undefined when the text ends first. */
function readKeyValue(text: string, start: number): { text: string; next: number } | undefined {
  let value = '';
  for (let at = start; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === ']') return { text: value, next: at + 1 };
    if (character !== '\\') {
      value += character;
      continue;
    }
    const escaped = text[at + 1];
    if (escaped === undefined) return undefined;
    const codePoint = /^(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{4,8}))/.exec(text.slice(at + 1, at + 10));
    const number =
      codePoint === null ? Number.NaN : Number.parseInt(codePoint[1] ?? (codePoint[2] as string), 16);
    if (codePoint !== null && number <= 0x10ffff) {
      value += String.fromCodePoint(number);
      at += codePoint[0].length;
    } else {
      value += escaped === 'n' ? '\n' : escaped === 'r' ? '\r' : escaped;
      at += 1;
    }
  }
  return undefined;
}

/** `[origin:]/a/b[k=v]/c`, keys sorted by name, so that equal paths give equal texts. The target is not shown. */
export function formatPath(path: Path): string {
  return (path.origin === '' ? '' : `${path.origin}:`) + formatElems(path.elem);
}

/** The elements alone, `/a/b[k=v]`; `/` when there are none. */
export function formatElems(elems: readonly PathElem[]): string {
  if (elems.length === 0) return '/';
  let text = '';
  for (const elem of elems) {
    text += `/${elem.name.replace(/[\\/[\]]/g, '\\$&')}`;
    for (const [key, value] of elem.keys) text += `[${key}=${formatKeyValue(value)}]`;
  }
  return text;
}

/** Escapes what a key's value may not hold as it stands: `\`, `]` and line ends. */
export function formatKeyValue(value: string): string {
  return value
    .replace(/[\\\]]/g, '\\$&')
    .replace(/\n/g, '\\n')
    .replace(/\r/g, '\\r');
}

/** Keys in the order in which the text form writes them: by name, as UTF-16 units compare. */
export function sortKeys(
  keys: ReadonlyArray<readonly [name: string, value: string]>,
): ReadonlyArray<readonly [name: string, value: string]> {
  if (keys.length < 2) return keys;
  return [...keys].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

/** The name without a module prefix: `openconfig-interfaces:interface` is `interface` (RFC 7951 §4). */
export function withoutModule(name: string): string {
  const colon = name.indexOf(':');
  return colon === -1 ? name : name.slice(colon + 1);
}

/** prefix + path: the absolute path that an update is about. An origin stands in one of the two (spec §2.2.2). */
export function joinPaths(prefix: Path, path: Path): Path {
  return {
    origin: prefix.origin === '' ? path.origin : prefix.origin,
    target: prefix.target === '' ? path.target : prefix.target,
    elem: prefix.elem.length === 0 ? path.elem : [...prefix.elem, ...path.elem],
  };
}

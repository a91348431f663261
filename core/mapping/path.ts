/** One element of a gNMI path: a name without its module prefix, and its keys sorted by name. */
export interface PathElement {
  readonly name: string;
  readonly keys: ReadonlyArray<PathKey>;
}

export interface PathKey {
  readonly name: string;
  readonly value: string;
}

export interface GnmiPath {
  /** Empty when the text names none. */
  readonly origin: string;
  readonly elements: readonly PathElement[];
  /** The text's element names as written, module prefixes kept: what a subscription sends. */
  readonly writtenNames: readonly string[];
}

/** Why a path cannot be read; `code` is one of the warning codes of a mapping. */
export interface PathFault {
  readonly code: 'unbalanced-brackets' | 'no-leading-slash' | 'empty-key' | 'unparsable';
  readonly detail: string;
}

/** Longest path that is read at all, and most alternatives of one field. */
const MAX_PATH_CHARACTERS = 4096;

/**
 * Splits a field's mapping at each ` | ` outside brackets: the alternatives in their order of preference.
 * White space around each is dropped.
 */
export function splitAlternatives(text: string): string[] {
  const alternatives: string[] = [];
  let start = 0;
  let bracketed = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\\') at += 1;
    else if (character === '[') bracketed = true;
    else if (character === ']') bracketed = false;
    else if (!bracketed && text.startsWith(' | ', at)) {
      alternatives.push(text.slice(start, at).trim());
      start = at + 3;
      at += 2;
    }
  }
  alternatives.push(text.slice(start).trim());
  return alternatives;
}

/**
 * Reads `[origin:]/a/b[k=v]/c` as gNMI's path conventions write it: `\` escapes the next character inside
 * brackets, key values may hold anything else, `/` and `:` too. `*` is any one element or any key value.
 */
export function parseGnmiPath(text: string): GnmiPath | PathFault {
  if (text.length > MAX_PATH_CHARACTERS) {
    return { code: 'unparsable', detail: `the path is longer than ${MAX_PATH_CHARACTERS} characters` };
  }
  const slash = text.indexOf('/');
  const beforeSlash = slash < 0 ? text : text.slice(0, slash);
  const originMatch = /^([A-Za-z0-9_.-]+):$/.exec(beforeSlash);
  if (slash !== 0 && originMatch === null) {
    return { code: 'no-leading-slash', detail: 'a gNMI path begins with / or with origin:/' };
  }
  const origin = originMatch?.[1] ?? '';
  const elements: PathElement[] = [];
  const writtenNames: string[] = [];
  let at = slash + 1;
  while (at < text.length) {
    const name = readName(text, at);
    if (typeof name !== 'string') return name;
    at += name.length;
    const keys: PathKey[] = [];
    while (text[at] === '[') {
      const read = readKey(text, at);
      if ('code' in read) return read;
      if (keys.some((key) => key.name === read.key.name)) {
        return { code: 'unparsable', detail: `the key ${read.key.name} of ${name} is written twice` };
      }
      keys.push(read.key);
      at = read.end;
    }
    if (at < text.length && text[at] !== '/') {
      return { code: 'unparsable', detail: `after ${name}[…] a / is expected, not ${text[at]}` };
    }
    if (name === '...') {
      return {
        code: 'unparsable',
        detail: 'the multi-level wildcard ... is not offered: name each level or write *',
      };
    }
    writtenNames.push(name);
    elements.push({ name: withoutModule(name), keys: sortedKeys(keys) });
    at += 1;
  }
  if (elements.length === 0) return { code: 'unparsable', detail: 'the path names no element' };
  return { origin, elements, writtenNames };
}

/** Writes elements as a record's `path`: keys sorted by name, `\` and `]` escaped in values; no elements are `/`. */
export function formatPath(elements: readonly PathElement[]): string {
  if (elements.length === 0) return '/';
  return elements
    .map(
      ({ name, keys }) =>
        `/${name}${keys.map((key) => `[${key.name}=${key.value.replace(/[\\\]]/g, '\\$&')}]`).join('')}`,
    )
    .join('');
}

/** `openconfig-interfaces:interfaces` is `interfaces`: devices send module prefixes or leave them out as they like. */
export function withoutModule(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Path elements sort their keys by name, so that two devices' orders give one row. */
export function sortedKeys(keys: readonly PathKey[]): readonly PathKey[] {
  return keys.length < 2 ? keys : keys.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** A record's `key`: the values in path order joined by commas, `\` before each `,` and `\`. */
export function formatKey(values: readonly string[]): string {
  return values.map((value) => value.replace(/[\\,]/g, '\\$&')).join(',');
}

function readName(text: string, start: number): string | PathFault {
  let end = start;
  while (end < text.length && text[end] !== '/' && text[end] !== '[') {
    if (text[end] === ']')
      return { code: 'unbalanced-brackets', detail: `] at character ${end + 1} closes nothing` };
    end += 1;
  }
  const name = text.slice(start, end);
  if (name === '' || withoutModule(name) === '') {
    return { code: 'unparsable', detail: `an element without a name at character ${start + 1}` };
  }
  return /\s/.test(name) ? { code: 'unparsable', detail: `the element name "${name}" has a space` } : name;
}

function readKey(text: string, open: number): { key: PathKey; end: number } | PathFault {
  const equals = text.indexOf('=', open);
  const name = equals < 0 ? '' : text.slice(open + 1, equals);
  if (equals < 0 || /[[\]/]/.test(name)) {
    return closes(text, open)
      ? { code: 'empty-key', detail: `the bracket at character ${open + 1} is not [name=value]` }
      : { code: 'unbalanced-brackets', detail: `[ at character ${open + 1} is not closed` };
  }
  let value = '';
  let at = equals + 1;
  while (at < text.length && text[at] !== ']') {
    if (text[at] === '\\' && at + 1 < text.length) at += 1;
    value += text[at];
    at += 1;
  }
  if (at >= text.length) {
    return { code: 'unbalanced-brackets', detail: `[ at character ${open + 1} is not closed` };
  }
  if (name === '' || value === '') {
    return { code: 'empty-key', detail: `the bracket at character ${open + 1} has an empty name or value` };
  }
  return { key: { name: withoutModule(name), value }, end: at + 1 };
}

function closes(text: string, open: number): boolean {
  return text.indexOf(']', open) > 0;
}

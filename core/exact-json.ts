/** A JSON number as it was written, so that no digit is lost. */
export class ExactNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** A JSON value whose numbers keep their text. Objects are maps: no member name can be a prototype's. */
export type ExactJson = null | boolean | string | ExactNumber | ExactJson[] | Map<string, ExactJson>;

/** Deeper values are refused: a peer chooses the depth, and every reader of them recurses. */
const MAX_DEPTH = 64;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these in a string (RFC 8259 §7)
const PLAIN = /[^"\\\u0000-\u001f]*/y;

/**
 * Reads JSON text (RFC 8259); of two members with one name the last counts. Undefined when it is not JSON. The outermost
 * `ownLevels` are not a peer's and do not count as depth.
 */
export function parseExactJson(text: string, ownLevels = 0): ExactJson | undefined {
  const reader = new Reader(text);
  const value = reader.value(-ownLevels);
  return reader.failed || !reader.atEnd() ? undefined : value;
}

class Reader {
  failed = false;
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  atEnd(): boolean {
    this.space();
    return this.at === this.text.length;
  }

  value(depth: number): ExactJson {
    this.space();
    switch (this.text[this.at]) {
      case '{':
        return depth < MAX_DEPTH ? this.object(depth) : this.fail();
      case '[':
        return depth < MAX_DEPTH ? this.array(depth) : this.fail();
      case '"':
        return this.string();
      case 't':
        return this.word('true', true);
      case 'f':
        return this.word('false', false);
      case 'n':
        return this.word('null', null);
      default:
        return this.number();
    }
  }

  private object(depth: number): ExactJson {
    const members = new Map<string, ExactJson>();
    this.at += 1;
    if (this.takes('}')) return members;
    do {
      this.space();
      const name = this.string();
      if (this.failed || !this.takes(':')) return this.fail();
      const value = this.value(depth + 1);
      if (this.failed) return null;
      members.set(name, value);
    } while (this.takes(','));
    return this.takes('}') ? members : this.fail();
  }

  private array(depth: number): ExactJson {
    const items: ExactJson[] = [];
    this.at += 1;
    if (this.takes(']')) return items;
    do {
      items.push(this.value(depth + 1));
      if (this.failed) return null;
    } while (this.takes(','));
    return this.takes(']') ? items : this.fail();
  }

  private string(): string {
    const start = this.at;
    if (this.text[start] !== '"') {
      this.fail();
      return '';
    }
    this.at += 1;
    let escaped = false;
    for (;;) {
      PLAIN.lastIndex = this.at;
      PLAIN.test(this.text);
      this.at = PLAIN.lastIndex;
      const character = this.text[this.at];
      if (character === '"') break;
      if (character !== '\\') {
        this.fail();
        return '';
      }
      escaped = true;
      this.at += 2;
      if (this.at > this.text.length) {
        this.fail();
        return '';
      }
    }
    this.at += 1;
    if (!escaped) return this.text.slice(start + 1, this.at - 1);
    try {
      return JSON.parse(this.text.slice(start, this.at)) as string;
    } catch {
      this.fail();
      return '';
    }
  }

  private number(): ExactJson {
    NUMBER.lastIndex = this.at;
    const source = NUMBER.exec(this.text)?.[0];
    if (source === undefined) return this.fail();
    this.at += source.length;
    return new ExactNumber(source);
  }

  private word(word: string, value: true | false | null): ExactJson {
    if (!this.text.startsWith(word, this.at)) return this.fail();
    this.at += word.length;
    return value;
  }

  private takes(character: string): boolean {
    this.space();
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private space(): void {
    while (this.at < this.text.length && ' \t\n\r'.includes(this.text[this.at] as string)) this.at += 1;
  }

  private fail(): null {
    this.failed = true;
    return null;
  }
}

/**
 * The canonical text of RFC 8785, with one difference: a number written as an integer keeps its exact digits, however
 * many (within ±(2^53−1) that is RFC 8785). Undefined when a number is beyond a double or a string has a lone
 * surrogate, which RFC 8785 §3.2.2.2 forbids.
 */
export function canonicalJson(value: ExactJson): string | undefined {
  const parts: string[] = [];
  return appendCanonical(value, parts) ? parts.join('') : undefined;
}

/** Names in the order of RFC 8785 §3.2.3: by UTF-16 code units. */
export function canonicalOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function appendCanonical(value: ExactJson, parts: string[]): boolean {
  if (typeof value === 'string') {
    parts.push(JSON.stringify(value));
    return value.isWellFormed();
  }
  if (value instanceof ExactNumber) {
    const text = canonicalNumber(value.source);
    parts.push(text ?? '');
    return text !== undefined;
  }
  if (Array.isArray(value)) {
    parts.push('[');
    const legal = value.every((item, index) => {
      if (index > 0) parts.push(',');
      return appendCanonical(item, parts);
    });
    parts.push(']');
    return legal;
  }
  if (value instanceof Map) {
    parts.push('{');
    const legal = [...value]
      .toSorted(([a], [b]) => canonicalOrder(a, b))
      .every(([name, member], index) => {
        parts.push(index > 0 ? ',' : '', JSON.stringify(name), ':');
        return name.isWellFormed() && appendCanonical(member, parts);
      });
    parts.push('}');
    return legal;
  }
  parts.push(String(value));
  return true;
}

function canonicalNumber(source: string): string | undefined {
  if (/^-?\d+$/.test(source)) return source === '-0' ? '0' : source;
  const value = Number(source);
  return Number.isFinite(value) ? String(value === 0 ? 0 : value) : undefined;
}

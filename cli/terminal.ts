/** Where a command writes to, and what that can show. */
export interface Terminal {
  /** Whether a person looks at standard output. */
  readonly isInteractive: boolean;
  /** Characters of a line, when lines have an end; undefined: as long as they need. */
  readonly columns: number | undefined;
  readonly hasColor: boolean;
  /** Standard output, a newline added. */
  print(text: string): void;
  /** Standard error, a newline added. */
  say(text: string): void;
}

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const LEAST_COLUMNS = 20;

/** `COLUMNS` counts wherever output goes; without it a pipe gets whole lines. Colour: a terminal, and no NO_COLOR. */
export function terminalOf(
  output: Stream,
  errors: Stream,
  environment: Readonly<Record<string, string | undefined>>,
): Terminal {
  const isInteractive = output.isTTY === true;
  const asked = /^\d{1,5}$/.test(environment['COLUMNS'] ?? '') ? Number(environment['COLUMNS']) : 0;
  const columns = asked > 0 ? asked : isInteractive ? (output.columns ?? 80) : undefined;
  return {
    isInteractive,
    columns: columns === undefined ? undefined : Math.max(columns, LEAST_COLUMNS),
    // https://no-color.org: present and not empty, whatever its value.
    hasColor: isInteractive && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb',
    print: (text) => output.write(`${text}\n`),
    say: (text) => errors.write(`${text}\n`),
  };
}

const COLORS = { red: 31, green: 32, yellow: 33, bold: 1 } as const;

export function colored(terminal: Terminal, color: keyof typeof COLORS, text: string): string {
  return terminal.hasColor ? `\u001b[${COLORS[color]}m${text}\u001b[0m` : text;
}

/**
 * Text of others as a terminal may get it: control characters, and those that turn the writing direction, are shown by
 * their number.
 */
export function printable(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
    /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Text broken at spaces into lines of at most `columns` characters, all but the first indented. */
export function wrapped(text: string, columns: number | undefined, indent = ''): string {
  if (columns === undefined || text.length <= columns) return text;
  const lead = /^ */.exec(text)?.[0] ?? '';
  const lines = [lead];
  const room = () => columns - (lines.length === 1 ? 0 : indent.length);
  for (const word of text.slice(lead.length).split(' ')) {
    const line = lines.at(-1) as string;
    const isEmpty = line === (lines.length === 1 ? lead : '');
    if (isEmpty || line.length + 1 + word.length <= room()) {
      lines[lines.length - 1] = isEmpty ? line + word : `${line} ${word}`;
    } else {
      lines.push(word);
    }
    // A word that is longer than a line, such as an address, is cut.
    for (let last = lines.at(-1) as string; last.length > room(); last = lines.at(-1) as string) {
      const limit = room();
      lines[lines.length - 1] = last.slice(0, limit);
      lines.push(last.slice(limit));
    }
  }
  return lines.join(`\n${indent}`);
}

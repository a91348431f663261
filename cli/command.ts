import type { ApiClient } from './client.ts';
import { EXIT, type ExitCode, Failure } from './exit-code.ts';
import { formatJsonText, isObject, type Json, type JsonObject } from './json-text.ts';
import type { OutputFormat, Settings } from './settings.ts';
import { type Column, formatTable } from './table.ts';
import type { Terminal } from './terminal.ts';

export interface Flag {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  readonly short?: string;
  /** What stands for its value in the help, `FILE` for instance. */
  readonly value?: string;
  readonly text: string;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Ways to write it, without the program's name. */
  readonly usage: readonly string[];
  readonly flags: Readonly<Record<string, Flag>>;
  /** Further paragraphs of its help. */
  readonly help?: string;
  run(context: CommandContext): Promise<ExitCode>;
}

export type FlagValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export interface CommandContext {
  /** What follows the command's name, flags aside. */
  readonly words: readonly string[];
  readonly flags: FlagValues;
  readonly settings: Settings;
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Fires at the first Ctrl-C; its reason is the Failure to end with. */
  readonly interrupt: AbortSignal;
  /** Its requests end at the first Ctrl-C. */
  readonly client: ApiClient;
  /** Its requests are finished; who uses it looks at `interrupt` between them. */
  readonly steadyClient: ApiClient;
  /** Values that no output may show. */
  hide(secret: string): void;
}

export function usageFailure(message: string): Failure {
  return new Failure(message, EXIT.usage);
}

/** A flag that takes text. */
export function text(context: CommandContext, flag: string): string | undefined {
  const value = context.flags[flag];
  return typeof value === 'string' ? value : undefined;
}

/** Refuses words that the command does not take. */
export function takeWords(context: CommandContext, most: number): readonly string[] {
  const extra = context.words.slice(most);
  if (extra.length > 0) throw usageFailure(`"${extra.join(' ')}" is one word too many; see graticule help`);
  return context.words;
}

/** Prints a list or one thing, as the settings ask for. */
export function show<Row>(
  context: Pick<CommandContext, 'terminal'> & { readonly settings: { readonly output: OutputFormat } },
  json: Json,
  rows: readonly Row[],
  columns: ReadonlyArray<Column<Row>>,
  nothing: string,
): void {
  const { terminal, settings } = context;
  terminal.print(
    settings.output === 'json' ? formatJsonText(json) : formatTable(rows, columns, terminal, nothing),
  );
}

/** The objects of a list that the API answered; anything else in it would be no answer of ours. */
export function objects(list: readonly Json[]): JsonObject[] {
  return list.filter(isObject);
}

/** The one item that a word names: by its id when it is a number, else by its name. */
export function findByWord(items: readonly JsonObject[], word: string | undefined, kind: string): JsonObject {
  if (word === undefined) throw usageFailure(`say which ${kind}: its id or its name`);
  const byId = items.find((item) => String(item['id']) === word);
  if (byId !== undefined) return byId;
  const byName = items.filter((item) => item['name'] === word);
  if (byName.length > 1) {
    const ids = byName.map((item) => item['id']).join(', ');
    throw new Failure(`${byName.length} are called ${word}: say which by its id (${ids})`, EXIT.refused);
  }
  if (byName[0] === undefined) throw new Failure(`there is no ${kind} ${word}`, EXIT.refused);
  return byName[0];
}

/** A member down a path, or null. */
export function member(item: Json | undefined, ...path: readonly string[]): Json {
  let value: Json | undefined = item;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return value ?? null;
}

/** A member as one cell of a table. */
export function cell(item: Json | undefined, ...path: readonly string[]): string {
  const value = member(item, ...path);
  if (value === null) return '-';
  if (typeof value === 'object') return formatJsonText(value).replace(/\s+/g, ' ');
  return String(value);
}

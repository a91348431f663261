/** Declarative files as text with places: every value knows the line and column that it came from. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type Document, isCollection, isMap, isPair, isScalar, LineCounter, parseDocument } from 'yaml';
import { EXIT, Failure } from './exit-code.ts';

export interface Place {
  /** As the user would type it. */
  readonly file: string;
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
}

/** One thing that is wrong in a file. */
export interface Mistake {
  readonly place: Place;
  readonly sentence: string;
}

export type Path = ReadonlyArray<string | number>;

/** Aliases that stand for more than this many values in all are an attack or a slip (YAML's "billion laughs"). */
const MOST_ALIASES = 1_000;
const MOST_BYTES = 16_777_216;

/** One parsed file. JSON is YAML 1.2, so one reader does for both. */
export class SourceFile {
  readonly name: string;
  readonly content: unknown;
  /** What the parser itself found wrong. */
  readonly mistakes: readonly Mistake[];
  private readonly document: Document;
  private readonly lines: LineCounter;

  constructor(name: string, text: string) {
    this.name = name;
    this.lines = new LineCounter();
    this.document = parseDocument(text, { lineCounter: this.lines, prettyErrors: false });
    const mistakes = this.document.errors.map((error) => ({
      place: this.at(error.pos[0]),
      sentence: printableMessage(error.message),
    }));
    let content: unknown;
    if (mistakes.length === 0) {
      try {
        content = this.document.toJS({ maxAliasCount: MOST_ALIASES });
      } catch (error) {
        mistakes.push({ place: this.at(0), sentence: printableMessage((error as Error).message) });
      }
    }
    this.content = content;
    this.mistakes = mistakes;
  }

  /** Where a value begins; of one that is not there, where the innermost thing around it does. */
  placeOf(path: Path): Place {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = length === 0 ? this.document.contents : this.document.getIn(path.slice(0, length), true);
      if ((isScalar(node) || isCollection(node)) && node.range != null) return this.at(node.range[0]);
      // An alias or an empty value: its key stands nearest.
      if (length > 0 && this.keyNode(path.slice(0, length)) !== undefined) {
        return this.placeOfKey(path.slice(0, length));
      }
    }
    return this.at(0);
  }

  /** Where the name of a member stands. */
  placeOfKey(path: Path): Place {
    const key = this.keyNode(path);
    return key?.range == null ? this.placeOf(path.slice(0, -1)) : this.at(key.range[0]);
  }

  private keyNode(path: Path): { readonly range?: readonly number[] | null } | undefined {
    const parent = path.length === 1 ? this.document.contents : this.document.getIn(path.slice(0, -1), true);
    if (!isMap(parent)) return undefined;
    const pair = parent.items.find(
      (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(path.at(-1)),
    );
    return isScalar(pair?.key) ? (pair.key as { range?: readonly number[] | null }) : undefined;
  }

  private at(offset: number): Place {
    const { line, col } = this.lines.linePos(offset);
    return { file: this.name, line: Math.max(line, 1), column: Math.max(col, 1) };
  }
}

export function formatPlace({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`;
}

const EXTENSION = /\.(ya?ml|json)$/;
/** Written by us beside them. */
const STATE = /^graticule\.state\.json$|\.state\.json$/;
export const DEFAULT_FILES = ['graticule.yaml', 'graticule.yml', 'graticule.json'];

/** Reads the files that are named; of a folder those directly in it, by name. Nothing named: `graticule.yaml` here. */
export function readSourceFiles(named: readonly string[], workingDirectory: string): SourceFile[] {
  const paths = named.flatMap((name) => {
    const path = resolve(workingDirectory, name);
    if (!isFolder(path, name)) return [path];
    const found = readdirSync(path)
      .filter((entry) => EXTENSION.test(entry) && !STATE.test(entry))
      .sort();
    if (found.length === 0) throw new Failure(`there is no YAML or JSON file in ${name}`, EXIT.usage);
    return found.map((entry) => join(path, entry));
  });
  if (named.length === 0) {
    const found = DEFAULT_FILES.map((name) => resolve(workingDirectory, name)).find((path) => exists(path));
    if (found === undefined) {
      throw new Failure(`there is no ${DEFAULT_FILES[0]} here; name the files with --file`, EXIT.usage);
    }
    paths.push(found);
  }
  return [...new Set(paths)].map((path) => {
    const short = relative(workingDirectory, path);
    const name = short.length < path.length ? short : path;
    return new SourceFile(name, readText(path, name));
  });
}

function readText(path: string, name: string): string {
  try {
    if (statSync(path).size > MOST_BYTES) throw new Failure(`${name} is larger than 16 MB`, EXIT.usage);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof Failure) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    const why =
      code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8 text' : `cannot be read (${code})`;
    throw new Failure(`${name} ${why}`, EXIT.usage);
  }
}

function isFolder(path: string, name: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new Failure(
      code === 'ENOENT' ? `there is no ${name}` : `${name} cannot be read (${code})`,
      EXIT.usage,
    );
  }
}

function exists(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The parser quotes nothing but names and its own words; a sentence of ours has one line. */
function printableMessage(message: string): string {
  return (message.split('\n')[0] as string).replace(/:$/, '');
}

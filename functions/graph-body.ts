/** The bodies of the whole graph, compressed, of which what did not change is kept from one request to the next. */
import { constants } from 'node:zlib';
import {
  type GraphFragment,
  type GraphFragments,
  graphJsonStart,
  LINKS_END,
  NODES_END,
} from '../core/topology/graph-json.ts';
import { compressGzip } from '../store/compression.ts';
import { type GzipPiece, gzipPiece, joinPieces } from './gzip-pieces.ts';

interface Kept {
  readonly version: number;
  readonly piece: Promise<GzipPiece | undefined>;
}

/** The graph in our own JSON: a change writes the parts that it touches. */
export class GraphBody {
  readonly #fragments: GraphFragments;
  readonly #kept = new Map<string, Kept>();
  #comma: Promise<GzipPiece> | undefined;
  #last: { text: string; body: Promise<Buffer> } | undefined;

  constructor(fragments: GraphFragments) {
    this.#fragments = fragments;
  }

  /**
   * The graph as it is at `now`, in milliseconds, under this version: as gzip. The same octets again while nothing
   * changes. To be called right after the graph was refreshed: it reads all of it before it first waits.
   */
  gzipped(version: string, now: number): Promise<Buffer> {
    const start = graphJsonStart(version);
    const parts = this.#fragments.parts(now);
    const isNew = parts.some((part) => this.#kept.get(nameOf(part))?.version !== part.version);
    if (this.#last?.text !== start || isNew) this.#last = { text: start, body: this.#make(start, parts) };
    return this.#last.body;
  }

  async #make(start: string, parts: readonly GraphFragment[]): Promise<Buffer> {
    // Not by who imports this: zlib takes longer to begin than all of the other modules of ours together.
    this.#comma ??= gzipPiece(',');
    const pieces: Promise<GzipPiece | undefined>[] = [];
    for (const part of parts) pieces.push(this.#pieceOf(part));
    const [first, between, last, comma] = await Promise.all([
      gzipPiece(start),
      gzipPiece(NODES_END),
      gzipPiece(LINKS_END),
      this.#comma,
    ]);
    const listed = async (kind: GraphFragment['kind']) => {
      const there = (await Promise.all(pieces.filter((_, place) => parts[place]?.kind === kind))).filter(
        (piece) => piece !== undefined,
      );
      return there.flatMap((piece, place) => (place === 0 ? [piece] : [comma, piece]));
    };
    return joinPieces([first, ...(await listed('node')), between, ...(await listed('link')), last]);
  }

  #pieceOf(part: GraphFragment): Promise<GzipPiece | undefined> {
    const name = nameOf(part);
    const kept = this.#kept.get(name);
    if (kept?.version === part.version) return kept.piece;
    const text = part.text();
    const piece = text === '' ? Promise.resolve(undefined) : gzipPiece(text);
    this.#kept.set(name, { version: part.version, piece });
    return piece;
  }
}

/** The graph in other forms, which are less often asked for: written whole, and kept until the graph is another. */
export class WholeBodies {
  readonly #kept = new Map<string, { readonly version: string; readonly body: Promise<Buffer> }>();

  /** The body of this name, in the version that the graph has now. `write` is called before this first waits. */
  gzipped(name: string, version: string, write: () => string): Promise<Buffer> {
    const kept = this.#kept.get(name);
    if (kept?.version === version) return kept.body;
    const body = compressGzip(write(), { level: constants.Z_BEST_SPEED });
    this.#kept.set(name, { version, body });
    return body;
  }
}

function nameOf({ kind, number }: GraphFragment): string {
  return `${kind} ${number}`;
}

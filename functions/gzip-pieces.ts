/**
 * One gzip body out of pieces that were compressed apart and are kept: raw deflate streams that end on an octet boundary
 * may follow each other, and checksums of parts give that of the whole. RFC 1951 §3.2, RFC 1952 §2.3.
 */
import { constants, crc32 } from 'node:zlib';
import { compressDeflate } from '../store/compression.ts';

export interface GzipPiece {
  /** Deflate blocks, none of them the last. */
  readonly octets: Uint8Array;
  readonly crc32: number;
  /** Octets before compression. */
  readonly length: number;
}

/** Magic number, deflate, no flags, no time, no extra flags, unknown system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
/** An empty block with fixed codes, the last. */
const LAST_BLOCK = Uint8Array.of(3, 0);

/** Compresses a text for speed, beside this thread. */
export async function gzipPiece(text: string): Promise<GzipPiece> {
  // Once: a string would be encoded for each of the three that read it.
  const plain = Buffer.from(text);
  const octets = await compressDeflate(plain, {
    level: constants.Z_BEST_SPEED,
    finishFlush: constants.Z_SYNC_FLUSH,
  });
  return { octets, crc32: crc32(plain), length: plain.length };
}

/** The gzip body of all pieces, one after another. */
export function joinPieces(pieces: readonly GzipPiece[]): Buffer {
  let checksum = 0;
  let length = 0;
  for (const piece of pieces) {
    checksum = combineChecksums(checksum, piece.crc32, piece.length);
    length += piece.length;
  }
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(checksum, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  return Buffer.concat([HEADER, ...pieces.map(({ octets }) => octets), LAST_BLOCK, trailer]);
}

/** The CRC-32 of two parts together: the first one's, moved on by as many zero octets as the second has, plus its own. */
function combineChecksums(first: number, second: number, secondLength: number): number {
  // What one zero bit does to a checksum, as a matrix over GF(2): a column for each bit.
  let matrix = Uint32Array.from({ length: 32 }, (_, bit) => (bit === 0 ? 0xedb8_8320 : 2 ** (bit - 1)));
  // Squared three times: one octet.
  for (let square = 0; square < 3; square += 1) matrix = matrix.map((column) => times(matrix, column));
  let checksum = first;
  for (let left = secondLength; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) checksum = times(matrix, checksum);
    if (left > 1) matrix = matrix.map((column) => times(matrix, column));
  }
  return (checksum ^ second) >>> 0;
}

function times(matrix: Uint32Array, vector: number): number {
  let product = 0;
  for (let bit = 0; vector !== 0; bit += 1, vector >>>= 1) if (vector & 1) product ^= matrix[bit] as number;
  return product >>> 0;
}

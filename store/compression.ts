/**
 * zlib's calls as promises, off this thread. Not by `promisify`: to import `node:util` reads every one of its members,
 * and so loads Node's workers, its diff and its parser of arguments into each cold start (1.5 ms).
 */
import {
  deflateRaw,
  gunzip,
  gzip,
  type InputType,
  type ZlibOptions,
  type ZstdOptions,
  zstdCompress,
  zstdDecompress,
} from 'node:zlib';

type Call<Options> = (
  input: InputType,
  options: Options,
  done: (error: Error | null, output: Buffer) => void,
) => void;

/** A call that takes its options or none. Rejects with what zlib says of an input that is no such stream. */
function promised<Options extends object>(call: Call<Options>) {
  return (input: InputType, options?: Options): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      call(input, options ?? ({} as Options), (error, output) => {
        if (error === null) resolve(output);
        else reject(error);
      });
    });
}

export const compressZstd = promised<ZstdOptions>(zstdCompress);
export const decompressZstd = promised<ZstdOptions>(zstdDecompress);
export const compressGzip = promised<ZlibOptions>(gzip);
export const decompressGzip = promised<ZlibOptions>(gunzip);
export const compressDeflate = promised<ZlibOptions>(deflateRaw);

import { crc32 } from 'node:zlib';

/**
 * What the sink says of bodies in any order: the sum of their CRC-32, modulo 2^64, in hex. One that is missing, twice there
 * or another changes it, but for one case in 2^32.
 */
export function digestOfBodies(bodies: Iterable<string | Uint8Array>): string {
  let sum = 0n;
  for (const body of bodies) sum += BigInt(crc32(body));
  return BigInt.asUintN(64, sum).toString(16).padStart(16, '0');
}

/** A request a record: each record is a body. */
export function recordBodies({ bytes, ends }: { bytes: Uint8Array; ends: readonly number[] }): Uint8Array[] {
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

/** A request a cycle: `cycle` records in a JSON array. */
export function* cycleBodies(records: readonly Uint8Array[], cycle: number): Generator<string> {
  for (let from = 0; from < records.length; from += cycle) {
    const texts = records.slice(from, from + cycle).map((record) => Buffer.from(record).toString());
    yield `[${texts.join(',')}]`;
  }
}

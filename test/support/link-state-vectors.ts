/** The vectors of test/vectors/bgp-ls: bytes that others made, and what they say, written down by hand. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NlriTypeName } from '../../protocols/bgp/ls/code-point.ts';

export interface AttributeVector {
  readonly name: string;
  readonly source: string;
  readonly protocol: string;
  readonly type: NlriTypeName;
  readonly hex: string;
  readonly value: Record<string, unknown>;
  /** Codes of what is odd about it; absent when nothing is. */
  readonly problems?: readonly string[];
}

export interface NlriVector {
  readonly name: string;
  readonly source: string;
  readonly safi: 71 | 72;
  readonly hex: string;
  readonly value: Record<string, unknown> & { readonly descriptor: Record<string, unknown> };
}

const folder = join(import.meta.dirname, '../vectors/bgp-ls');

/** Integers of 64 bits are written `"7n"`. */
function read<Vector>(name: string): Vector[] {
  return JSON.parse(readFileSync(join(folder, name), 'utf8'), (_key, value) =>
    typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  );
}

export const attributeVectors = (): AttributeVector[] => read('attributes.json');
export const nlriVectors = (): NlriVector[] => read('nlris.json');

export function bytesOf({ hex }: { readonly hex: string }): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HpackDecoder } from '../../../protocols/http2/hpack-decoder.ts';
import { encodeHeaders } from '../../../protocols/http2/hpack-encoder.ts';
import { decodeHuffman } from '../../../protocols/http2/huffman.ts';
import type { HeaderField } from '../../../protocols/http2/static-table.ts';
import { Random, testSeed } from '../../support/random.ts';
import { bytesOf } from './conversation.ts';

interface Example {
  readonly section: string;
  readonly tableBytes: number;
  readonly blocks: ReadonlyArray<{
    readonly hex: string;
    readonly fields: readonly HeaderField[];
    readonly table: readonly HeaderField[];
    readonly size: number;
  }>;
}

const { examples }: { examples: Example[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../vectors/http2/hpack-rfc7541.json'), 'utf8'),
);

function decode(decoder: HpackDecoder, bytes: Uint8Array) {
  return decoder.decode(bytes, 0, bytes.length);
}

const huffman = (hex: string) => {
  const bytes = bytesOf(hex);
  return decodeHuffman(bytes, 0, bytes.length);
};

describe('HPACK', () => {
  it.each(examples)('reads the blocks of RFC 7541 $section one after the other', ({ tableBytes, blocks }) => {
    const decoder = new HpackDecoder(tableBytes, 10_000);
    for (const { hex, fields, table, size } of blocks) {
      expect(decode(decoder, bytesOf(hex))).toEqual({ fields, isTooLarge: false });
      expect(decoder.table.toReversed()).toEqual(table);
      expect(decoder.tableBytes).toBe(size);
    }
  });

  it('does not keep a list larger than allowed, and goes on with the table behind it', () => {
    const decoder = new HpackDecoder(4_096, 100);
    // Two fields of 55 bytes, the second by its index.
    const list = decode(decoder, bytesOf('400a637573746f6d2d6b65790d637573746f6d2d686561646572 be'));
    expect(list).toEqual({ fields: [['custom-key', 'custom-header']], isTooLarge: true });
    expect(decode(decoder, bytesOf('be'))).toEqual({
      fields: [['custom-key', 'custom-header']],
      isTooLarge: false,
    });
  });

  it('empties its table for a field that is larger than it, and when it is told to', () => {
    const decoder = new HpackDecoder(64, 10_000);
    decode(decoder, bytesOf('400161 0162'));
    expect(decoder.tableBytes).toBe(34);
    decode(decoder, Uint8Array.of(0x40, 1, 0x61, 40, ...new Uint8Array(40).fill(0x62)));
    expect([decoder.table, decoder.tableBytes]).toEqual([[], 0]);
    decode(decoder, bytesOf('400161 0162'));
    expect(decode(decoder, bytesOf('20 3f21 82'))?.fields).toEqual([[':method', 'GET']]);
    expect(decoder.tableBytes).toBe(0);
  });

  it.each([
    ['more than seven bits of padding', '1fff'],
    ['padding alone', 'ff'],
    ['padding with a zero in it', '1e'],
    ['the end of a string', 'fffffffc'],
  ])('refuses a Huffman code with %s', (_what, hex) => {
    expect(huffman(hex)).toBeUndefined();
  });

  it('reads Huffman codes to the last bit', () => {
    expect(huffman('')).toBe('');
    expect(huffman('1f')).toBe('a');
    expect(huffman('f1e3c2e5f23a6ba0ab90f4ff')).toBe('www.example.com');
  });

  it('reads what it writes, whatever the fields are', () => {
    const seed = testSeed('hpack');
    const random = new Random(seed);
    const text = (most: number) =>
      String.fromCharCode(...Array.from({ length: random.below(most) }, () => 0x20 + random.below(95)));
    const decoder = new HpackDecoder(4_096, 2 ** 20);
    for (let round = 0; round < 300; round += 1) {
      const fields: HeaderField[] = Array.from({ length: random.below(12) }, () =>
        random.pick<HeaderField>([
          [':method', random.pick(['POST', 'GET', 'PUT'])],
          [':authority', text(30)],
          ['te', 'trailers'],
          ['password', text(300)],
          ['x-long', text(40_000)],
          [`x-${random.below(1_000)}`, text(20)],
        ]),
      );
      const block = encodeHeaders(fields, new Set(['password']), random.chance(0.2));
      if ('unsendable' in block) throw new Error(block.unsendable);
      expect(decode(decoder, block), `seed ${seed}`).toEqual({ fields, isTooLarge: false });
    }
  });

  it('never has what is secret indexed', () => {
    const block = encodeHeaders([['password', 'secret']], new Set(['password']), false);
    // RFC 7541 Appendix C.2.3.
    expect(block).toEqual(bytesOf('100870617373776f726406736563726574'));
  });

  it.each(['a\nb', 'a\0', '日本'])('does not send %j', (value) => {
    expect(encodeHeaders([['password', value]], new Set(), false)).toEqual({ unsendable: 'password' });
  });

  it('does not fail on mutated blocks, and its table stays bounded', () => {
    const seed = testSeed('mutated blocks');
    const random = new Random(seed);
    const blocks: Uint8Array[] = examples.flatMap(({ blocks: each }) => each.map(({ hex }) => bytesOf(hex)));
    let refused = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const decoder = new HpackDecoder(256, 1_000);
      for (let part = 0; part < 3; part += 1) {
        const block = Uint8Array.from(random.pick(blocks));
        for (let flips = random.below(4); flips > 0; flips -= 1) {
          block[random.below(block.length)] = random.below(256);
        }
        const list = decode(decoder, block);
        if (list === undefined) {
          refused += 1;
          break;
        }
        expect(decoder.tableBytes, `seed ${seed}`).toBeLessThanOrEqual(256);
        const bytes = list.fields.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
        expect(bytes, `seed ${seed}`).toBeLessThanOrEqual(1_000);
      }
    }
    expect(refused).toBeGreaterThan(100);
  });
});

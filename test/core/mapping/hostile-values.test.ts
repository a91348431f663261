import { describe, expect, it } from 'vitest';
import { parseExactJson } from '../../../core/exact-json.ts';
import { coerce } from '../../../core/mapping/coerce.ts';
import { FIELD_TYPES } from '../../../core/mapping/field-type.ts';
import { CELL, type Coerced, VALUE } from '../../../core/mapping/value.ts';
import { TestStream, type WrittenValue } from '../../support/mapping/stream.ts';
import { Random, testSeed } from '../../support/random.ts';

const SCRAPS = [
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  ':',
  ',',
  '-',
  '1',
  '9e9',
  '.',
  'e',
  'null',
  'true',
  '\u0000',
  'é',
  '/',
  '2023-11-15T',
  'Z',
  'a',
];

function randomBytes(random: Random): Uint8Array {
  if (random.chance(0.5)) return Uint8Array.from({ length: random.below(20) }, () => random.below(256));
  return Buffer.from(Array.from({ length: random.below(12) }, () => random.pick(SCRAPS)).join(''));
}

describe('whatever a device sends', () => {
  it('100,000 random values of every kind become a cell or a fault for every type, never a throw', () => {
    const random = new Random(testSeed('hostile values'));
    const out: Coerced = { cell: CELL.absent, hi: 0, lo: 0, text: undefined };
    const kinds = [...Object.values(VALUE), 0, 99];
    for (let count = 0; count < 100_000; count += 1) {
      const bytes = randomBytes(random);
      const type = random.pick(FIELD_TYPES);
      const kind = random.pick(kinds);
      // A decimal's `start` is its precision, which the device chooses too.
      const start = kind === VALUE.decimal ? random.bits() : 0;
      const fault = coerce(
        type,
        random.chance(0.5),
        kind,
        random.bits(),
        random.bits(),
        bytes,
        start,
        bytes.length,
        out,
      );
      expect((fault === undefined) === (out.cell !== CELL.absent)).toBe(true);
      if (out.cell !== CELL.text || fault !== undefined) continue;
      const text = Buffer.from(out.text as Uint8Array).toString('utf8');
      if (parseExactJson(text) === undefined) expect(text).toBe('JSON');
    }
  });

  it('JSON of any shape, and paths of any names, cost no more than themselves', () => {
    const random = new Random(testSeed('hostile subtrees'));
    const stream = new TestStream(
      {
        fields: [{ name: 'in', type: 'counter64' }],
        mapping: { in: '/a/*[k=*]/in' },
        rule: { kind: 'sample', intervalMilliseconds: 1_000 },
        keepsRows: true,
        maxRows: 100,
      },
      true,
    );
    stream.rows.notification(0, 0, 1_700_000_000_000, 0);
    for (let count = 0; count < 5_000; count += 1) {
      const json: WrittenValue = { json: Buffer.from(randomBytes(random)).toString('utf8') };
      stream.update(random.chance(0.5) ? '/a' : `/x${count}[k=${count}]/y`, json);
      stream.update(`/a/b${count}[k=${count % 300}]/in`, { uint: '1' });
    }
    stream.update('/a', { json: `${'{"b":'.repeat(5_000)}1${'}'.repeat(5_000)}` });
    stream.update('/a', {
      json: `{"b":[${Array.from({ length: 1_000 }, (_, k) => `{"k":${k},"in":${k}}`).join()}]}`,
    });
    stream.rows.close();
    expect(stream.rows.status().rows).toBe(100);
    expect(stream.rows.status().drops).toBeGreaterThan(0);
  });
});

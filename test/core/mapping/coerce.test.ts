import { describe, expect, it } from 'vitest';
import { coerce, MAX_VALUE_BYTES } from '../../../core/mapping/coerce.ts';
import type { FieldType } from '../../../core/mapping/field-type.ts';
import { layOut } from '../../../core/mapping/layout.ts';
import { CELL, type Coerced, VALUE } from '../../../core/mapping/value.ts';
import { RecordWriter, rowName } from '../../../core/record.ts';
import { feedValue, readVectors, recordTexts, type WrittenValue } from '../../support/mapping/stream.ts';

interface Vector {
  readonly type: FieldType;
  readonly value: WrittenValue;
  readonly json?: string;
  readonly fault?: string;
}

function coerced(type: FieldType, value: WrittenValue, truthValue = false): string {
  const out: Coerced = { cell: CELL.absent, hi: 0, lo: 0, text: undefined };
  const { kind, hi, lo, bytes, start, end } = feedValue(value);
  const fault = coerce(type, truthValue, kind, hi, lo, bytes, start, end, out);
  if (fault !== undefined) return fault;
  const writer = new RecordWriter(
    { device: '', deviceId: 1, modelName: '' },
    layOut([{ name: 'v', type }], [1], false),
  );
  writer.begin();
  writer.start(rowName('', ''), 0);
  writer.value(0, out.cell, out.hi, out.lo, out.text);
  writer.end();
  return /"data":\{"v":(.*)\}\}$/s.exec(recordTexts(writer.take())[0] as string)?.[1] as string;
}

describe('coercion by the field type, whatever the wire calls the value', () => {
  for (const { type, value, json, fault } of readVectors<Vector>('coercions')) {
    const shown = JSON.stringify(value);
    const outcome = fault === undefined ? `is ${json}` : `does not fit: ${fault}`;
    it(`${type} from ${shown.length > 80 ? `${shown.slice(0, 80)}…` : shown} ${outcome}`, () => {
      expect(coerced(type, value)).toBe(json ?? fault);
    });
  }

  it('reads an SNMP integer for a boolean as TruthValue (RFC 2579)', () => {
    expect([1, 2, 0].map((value) => coerced('boolean', { int: String(value) }, true))).toEqual([
      'true',
      'false',
      'out-of-range',
    ]);
  });

  it('refuses values that would make a record too large', () => {
    expect(coerced('string', { string: 'x'.repeat(MAX_VALUE_BYTES + 1) })).toBe('too-long');
    expect(coerced('bytes', { bytes: '00'.repeat(MAX_VALUE_BYTES) })).toBe('too-long');
  });

  it('refuses what no type can hold', () => {
    const out: Coerced = { cell: CELL.absent, hi: 0, lo: 0, text: undefined };
    expect(coerce('string', false, VALUE.unsupported, 0, 0, new Uint8Array(0), 0, 0, out)).toBe('wrong-type');
  });
});

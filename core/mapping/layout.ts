import { canonicalOrder } from '../exact-json.ts';
import { type Fragment, fragmentOf } from '../record-buffer.ts';
import type { FieldType } from './field-type.ts';

/** A field of a model as the mapping engine needs it. */
export interface MappedField {
  readonly name: string;
  readonly type: FieldType;
}

/**
 * Where a model version's fields and their alternatives stand in a row, and the bytes that each puts into a record.
 * A slot is one alternative of one field; a field's slots follow one another in order of preference.
 */
export interface RowLayout {
  readonly fields: readonly MappedField[];
  /** Slots of field f: `slotStart[f]` to `slotStart[f + 1]`. */
  readonly slotStart: Int32Array;
  /** The field of each slot. */
  readonly fieldOfSlot: Int32Array;
  readonly slotCount: number;
  /** `,"name":` of each field. */
  readonly members: readonly Fragment[];
  /** Fields in the order that RFC 8785 puts them. */
  readonly canonical: Int32Array;
  /** The model's order is the canonical one and no field is JSON, so `data` as written is what is hashed. */
  readonly isCanonical: boolean;
  /** An integer for a boolean is SNMP's TruthValue. */
  readonly truthValue: boolean;
}

/** Lays out the fields of a model version; `alternatives[f]` is how many paths feed field f, 0 for none. */
export function layOut(
  fields: readonly MappedField[],
  alternatives: readonly number[],
  truthValue: boolean,
): RowLayout {
  const slotStart = new Int32Array(fields.length + 1);
  const fieldOfSlot: number[] = [];
  for (const [field, count] of alternatives.entries()) {
    for (let slot = 0; slot < count; slot += 1) fieldOfSlot.push(field);
    slotStart[field + 1] = fieldOfSlot.length;
  }
  const order = fields.map((_, index) => index);
  const canonical = order.toSorted((a, b) => canonicalOrder(nameOf(fields, a), nameOf(fields, b)));
  return {
    fields,
    slotStart,
    fieldOfSlot: Int32Array.from(fieldOfSlot),
    slotCount: fieldOfSlot.length,
    members: fields.map(({ name }) => fragmentOf(`,${JSON.stringify(name)}:`)),
    canonical: Int32Array.from(canonical),
    isCanonical: canonical.every((field, at) => field === at) && fields.every(({ type }) => type !== 'json'),
    truthValue,
  };
}

function nameOf(fields: readonly MappedField[], index: number): string {
  return (fields[index] as MappedField).name;
}

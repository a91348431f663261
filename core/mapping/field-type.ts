/** Every type that a model's field can have. The API, the coercions and the export document share this list. */
export const FIELD_TYPES = [
  'string',
  'boolean',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'counter32',
  'counter64',
  'gauge32',
  'float',
  'double',
  'decimal64',
  'ip-address',
  'mac-address',
  'date-time',
  'bytes',
  'json',
] as const;

export type FieldType = (typeof FIELD_TYPES)[number];

interface IntegerRange {
  readonly signed: boolean;
  readonly bits: 8 | 16 | 32 | 64;
}

/** Width and sign of the integer types; the others have no row. */
export const INTEGER_TYPES: Partial<Record<FieldType, IntegerRange>> = {
  int8: { signed: true, bits: 8 },
  int16: { signed: true, bits: 16 },
  int32: { signed: true, bits: 32 },
  int64: { signed: true, bits: 64 },
  uint8: { signed: false, bits: 8 },
  uint16: { signed: false, bits: 16 },
  uint32: { signed: false, bits: 32 },
  uint64: { signed: false, bits: 64 },
  counter32: { signed: false, bits: 32 },
  counter64: { signed: false, bits: 64 },
  gauge32: { signed: false, bits: 32 },
};

import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/**
 * Whether every field has the wire type of its kind and ends within the message that holds it. `fromBinary`
 * asks only that it ends within the buffer, and reads on behind the parent's end; protobuf's own parsers call
 * such bytes malformed, and so do we. Throws what the reader throws at bytes that are no fields at all.
 */
export function isNested(schema: DescMessage, bytes: Uint8Array): boolean {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = schema.fields.find((each) => each.number === number);
    if (field !== undefined && wireType !== wireTypeOf(field)) return false;
    if (wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number);
      continue;
    }
    const value = reader.bytes();
    if (field?.message !== undefined && !isNested(field.message, value)) return false;
    if (field?.fieldKind === 'map' && !isNestedEntry(value)) return false;
  }
  return reader.pos === reader.len;
}

/** The entries of our maps hold two strings. */
function isNestedEntry(bytes: Uint8Array): boolean {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if ((number === 1 || number === 2) && wireType !== WireType.LengthDelimited) return false;
    reader.skip(wireType, number);
  }
  return reader.pos === reader.len;
}

function wireTypeOf(field: DescField): WireType {
  switch (field.scalar) {
    case ScalarType.FLOAT:
      return WireType.Bit32;
    case ScalarType.DOUBLE:
      return WireType.Bit64;
    case ScalarType.STRING:
    case ScalarType.BYTES:
    case undefined:
      return field.enum === undefined || field.fieldKind === 'map'
        ? WireType.LengthDelimited
        : WireType.Varint;
    default:
      return field.fieldKind === 'map' ? WireType.LengthDelimited : WireType.Varint;
  }
}

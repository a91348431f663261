/**
 * How a device's value reaches the mapping: a kind, two 32-bit halves and a byte range, so that no object is made
 * for it. What each kind uses:
 *
 * | kind | hi, lo | bytes[start, end) |
 * | --- | --- | --- |
 * | string | – | UTF-8 text |
 * | int | two's complement, 64 bits | – |
 * | uint | 64 bits | – |
 * | bool | lo: 0 or 1 | – |
 * | bytes | – | the octets |
 * | float | lo: IEEE 754 binary32 | – |
 * | double | IEEE 754 binary64 | – |
 * | decimal | the digits, two's complement | start: how many of them follow the point |
 * | json | – | JSON text (a leaf-list comes as its array) |
 * | oid | – | dotted decimal text |
 * | unsupported | – | – (an encoding that no field type can hold) |
 */
export const VALUE = {
  string: 1,
  int: 2,
  uint: 3,
  bool: 4,
  bytes: 5,
  float: 6,
  double: 7,
  decimal: 8,
  json: 9,
  oid: 10,
  unsupported: 11,
} as const;

/** How a coerced value is kept in a row's cell until its record is written. */
export const CELL = {
  absent: 0,
  /** hi, lo: an unsigned integer. */
  uint: 1,
  /** hi, lo: a two's complement integer. */
  int: 2,
  /** hi, lo: the bits of a finite binary64, written by its shortest digits. */
  double: 3,
  /** JSON text, ready to be copied. */
  text: 4,
  true: 5,
  false: 6,
} as const;

/** Why a value does not fit its field's type. */
export type CoercionFault = 'wrong-type' | 'out-of-range' | 'invalid-format' | 'not-finite' | 'too-long';

/** The cell that a coercion leaves behind. One such object is used over and over. */
export interface Coerced {
  cell: number;
  hi: number;
  lo: number;
  /** For CELL.text. */
  text: Uint8Array | undefined;
}

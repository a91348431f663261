import { canonicalJson, parseExactJson } from '../exact-json.ts';
import { canonicalIpAddress, formatMacAddress, parseMacAddress } from './address-text.ts';
import { decodeDateAndTime, formatNanoseconds, parseDateTime } from './date-time.ts';
import { formatDecimal64, integerOf, parseDecimal, shortestFloat32 } from './decimal.ts';
import { type Halves, negate, readDigits } from './digits.ts';
import { type FieldType, INTEGER_TYPES } from './field-type.ts';
import { CELL, type Coerced, type CoercionFault, VALUE } from './value.ts';

/** Longest JSON text that one value of a record may have. */
export const MAX_VALUE_BYTES = 262_144;

const view = new DataView(new ArrayBuffer(8));
const halves: Halves = { hi: 0, lo: 0 };
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Coerces a device's value (as `VALUE` describes it) to a model's field type, leaving a cell in `out` or returning a fault.
 * What the wire called the value plays no part where its content fits. `truthValue`: an integer for a boolean is
 * SNMP's TruthValue, 1 or 2 (RFC 2579), else 1 or 0.
 */
export function coerce(
  type: FieldType,
  truthValue: boolean,
  kind: number,
  hi: number,
  lo: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Coerced,
): CoercionFault | undefined {
  out.text = undefined;
  if (end - start > MAX_VALUE_BYTES) return fail(out, 'too-long');
  const integer = INTEGER_TYPES[type];
  if (integer !== undefined) {
    if (kind === VALUE.uint) return putInteger(out, integer, false, hi, lo);
    if (kind === VALUE.int) return putInteger(out, integer, (hi | 0) < 0, hi, lo);
    if (readIntegerText(kind, bytes, start, end))
      return putInteger(out, integer, negative, halves.hi, halves.lo);
  } else if (kind === VALUE.string && type === 'string') {
    return putString(out, bytes, start, end);
  } else if (kind === VALUE.double && type === 'double') {
    view.setInt32(0, hi);
    view.setInt32(4, lo);
    return putNumber(out, view.getFloat64(0));
  } else if (type === 'json') {
    return putJson(out, kind, hi, lo, bytes, start, end);
  } else if (kind === VALUE.bytes) {
    const outcome = putOctets(type, bytes.subarray(start, end), out);
    if (outcome !== 'no-octet-form') return outcome;
  }
  const scalar = readScalar(kind, hi, lo, bytes, start, end);
  if (typeof scalar === 'string') return fail(out, scalar);
  return putScalar(type, truthValue, scalar, out);
}

/** A value's text and what JSON or protobuf said it is. */
interface Scalar {
  readonly is: 'text' | 'number' | 'boolean' | 'empty';
  readonly text: string;
  /** A string of JSON: RFC 7951 writes binary in base64. */
  readonly json: boolean;
}

function readScalar(
  kind: number,
  hi: number,
  lo: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): Scalar | CoercionFault {
  switch (kind) {
    case VALUE.int:
      return number(String(BigInt.asIntN(64, wide(hi, lo))));
    case VALUE.uint:
      return number(String(wide(hi, lo)));
    case VALUE.bool:
      return { is: 'boolean', text: lo === 0 ? 'false' : 'true', json: false };
    case VALUE.float:
      view.setInt32(0, lo);
      return floating(view.getFloat32(0), shortestFloat32);
    case VALUE.double:
      view.setInt32(0, hi);
      view.setInt32(4, lo);
      return floating(view.getFloat64(0), String);
    case VALUE.decimal:
      return number(`${BigInt.asIntN(64, wide(hi, lo))}e-${start}`);
    case VALUE.string:
    case VALUE.bytes:
    case VALUE.oid: {
      const text = decodeUtf8(bytes, start, end);
      return text === undefined ? 'invalid-format' : { is: 'text', text, json: false };
    }
    case VALUE.json: {
      const text = decodeUtf8(bytes, start, end);
      return text === undefined ? 'invalid-format' : scalarOfJson(text);
    }
    default:
      return 'wrong-type';
  }
}

function scalarOfJson(text: string): Scalar | CoercionFault {
  const value = parseExactJson(text);
  if (value === undefined) return 'invalid-format';
  if (typeof value === 'string') return { is: 'text', text: value, json: true };
  if (typeof value === 'boolean') return { is: 'boolean', text: String(value), json: true };
  if (Array.isArray(value)) {
    // RFC 7951 §6.9: a leaf of type empty, which is there or not, is [null].
    return value.length === 1 && value[0] === null ? { is: 'empty', text: '', json: true } : 'wrong-type';
  }
  return value === null || value instanceof Map ? 'wrong-type' : number(value.source);
}

function putScalar(
  type: FieldType,
  truthValue: boolean,
  scalar: Scalar,
  out: Coerced,
): CoercionFault | undefined {
  const { text } = scalar;
  if (scalar.is === 'empty' && type !== 'boolean') return fail(out, 'wrong-type');
  switch (type) {
    case 'string':
      return putText(out, text);
    case 'boolean':
      return putBoolean(out, scalar, truthValue);
    case 'float':
    case 'double':
      return putFloating(out, type, scalar);
    case 'decimal64': {
      const decimal = parseDecimal(text);
      if (decimal === undefined) return fail(out, numericFault(text));
      const formatted = formatDecimal64(decimal);
      return formatted === undefined ? fail(out, 'out-of-range') : putAscii(out, formatted);
    }
    case 'ip-address':
      return putOptionalString(out, scalar, canonicalIpAddress(text));
    case 'mac-address':
      return putOptionalString(out, scalar, parseMacAddress(text));
    case 'date-time':
      return putOptionalString(out, scalar, dateTimeOf(text, truthValue));
    case 'bytes':
      return putBase64Text(out, scalar);
    default:
      return putIntegerText(out, type, scalar);
  }
}

function putIntegerText(out: Coerced, type: FieldType, { text }: Scalar): CoercionFault | undefined {
  const range = INTEGER_TYPES[type];
  const decimal = parseDecimal(text);
  if (range === undefined || decimal === undefined) return fail(out, numericFault(text));
  const value = integerOf(decimal);
  if (value === undefined) return fail(out, decimal.scale > 0 ? 'invalid-format' : 'out-of-range');
  if (value > 0xffffffffffffffffn || value < -0x8000000000000000n) return fail(out, 'out-of-range');
  const bits = BigInt.asUintN(64, value);
  return putInteger(out, range, value < 0n, Number(bits >> 32n), Number(bits & 0xffffffffn));
}

/** `hi`, `lo`: two's complement when `isNegative`, else unsigned. */
function putInteger(
  out: Coerced,
  { signed, bits }: { signed: boolean; bits: number },
  isNegative: boolean,
  hi: number,
  lo: number,
): CoercionFault | undefined {
  hi >>>= 0;
  lo >>>= 0;
  let fits: boolean;
  if (isNegative) {
    fits =
      signed &&
      hi >= 0x80000000 &&
      (bits === 64 || (hi === 0xffffffff && lo >= 0x100000000 - 2 ** (bits - 1)));
  } else if (signed) {
    fits = bits === 64 ? hi < 0x80000000 : hi === 0 && lo < 2 ** (bits - 1);
  } else {
    fits = bits === 64 || (hi === 0 && lo < 2 ** bits);
  }
  if (!fits) return fail(out, 'out-of-range');
  out.cell = isNegative ? CELL.int : CELL.uint;
  out.hi = hi;
  out.lo = lo;
  return undefined;
}

let negative = false;

/** Plain digits of text or JSON, `"123"` or `-5`, straight from the bytes into `halves` and `negative`. */
function readIntegerText(kind: number, bytes: Uint8Array, start: number, end: number): boolean {
  if (kind !== VALUE.json && kind !== VALUE.string && kind !== VALUE.bytes) return false;
  if (kind === VALUE.json && end - start > 2 && bytes[start] === 0x22 && bytes[end - 1] === 0x22) {
    start += 1;
    end -= 1;
  }
  negative = bytes[start] === 0x2d;
  if (!readDigits(bytes, negative ? start + 1 : start, end, halves)) return false;
  if (negative) {
    if (halves.hi > 0x80000000 || (halves.hi === 0x80000000 && halves.lo > 0)) return false;
    negative = halves.hi !== 0 || halves.lo !== 0;
    negate(halves);
  }
  return true;
}

function putFloating(out: Coerced, type: 'float' | 'double', scalar: Scalar): CoercionFault | undefined {
  const { text } = scalar;
  if (scalar.is === 'boolean') return fail(out, 'wrong-type');
  if (parseDecimal(text) === undefined) {
    // OpenConfig's ieeefloat32 is 4 octets, which JSON carries in base64.
    const octets = scalar.json && base64Of(text) === text ? Buffer.from(text, 'base64') : undefined;
    if (octets?.length === 4) return putIeee754(type, octets, out);
    return fail(out, numericFault(text));
  }
  const value = Number(text);
  if (type === 'double') return putNumber(out, value, 'out-of-range');
  const single = Math.fround(value);
  return putNumber(out, Number.isFinite(single) ? Number(shortestFloat32(single)) : single, 'out-of-range');
}

function putNumber(
  out: Coerced,
  value: number,
  fault: CoercionFault = 'not-finite',
): CoercionFault | undefined {
  if (!Number.isFinite(value)) return fail(out, fault);
  view.setFloat64(0, value);
  out.cell = CELL.double;
  out.hi = view.getInt32(0);
  out.lo = view.getInt32(4);
  return undefined;
}

function putBoolean(out: Coerced, scalar: Scalar, truthValue: boolean): CoercionFault | undefined {
  const text = scalar.is === 'number' ? `#${scalar.text}` : scalar.text;
  if (scalar.is === 'empty' || text === 'true' || text === '#1') out.cell = CELL.true;
  else if (text === 'false' || text === (truthValue ? '#2' : '#0')) out.cell = CELL.false;
  else return fail(out, scalar.is === 'number' ? 'out-of-range' : 'invalid-format');
  return undefined;
}

function dateTimeOf(text: string, fromSnmp: boolean): string | undefined {
  return !fromSnmp && /^\d{1,20}$/.test(text) ? formatNanoseconds(BigInt(text)) : parseDateTime(text);
}

/** Types that octets have a form of their own for; other octets are read as text. */
function putOctets(
  type: FieldType,
  octets: Uint8Array,
  out: Coerced,
): CoercionFault | undefined | 'no-octet-form' {
  const { length } = octets;
  if (type === 'bytes') return putAscii(out, `"${Buffer.from(octets).toString('base64')}"`);
  if ((type === 'float' || type === 'double') && length === 4) return putIeee754(type, octets, out);
  let text: string | undefined;
  if (type === 'ip-address' && (length === 4 || length === 16)) text = canonicalIpAddress(octets);
  if (type === 'mac-address' && length === 6) text = formatMacAddress(octets);
  if (type === 'date-time') text = decodeDateAndTime(octets);
  return text === undefined ? 'no-octet-form' : putAscii(out, `"${text}"`);
}

/** Four octets in network order, OpenConfig's ieeefloat32. */
function putIeee754(type: 'float' | 'double', octets: Uint8Array, out: Coerced): CoercionFault | undefined {
  const value = new DataView(octets.buffer, octets.byteOffset, 4).getFloat32(0);
  return putNumber(out, type === 'float' && Number.isFinite(value) ? Number(shortestFloat32(value)) : value);
}

function putBase64Text(out: Coerced, scalar: Scalar): CoercionFault | undefined {
  if (scalar.is !== 'text') return fail(out, 'wrong-type');
  const base64 = scalar.json ? base64Of(scalar.text) : Buffer.from(scalar.text).toString('base64');
  return base64 === undefined ? fail(out, 'invalid-format') : putAscii(out, `"${base64}"`);
}

function base64Of(text: string): string | undefined {
  const again = Buffer.from(text, 'base64').toString('base64');
  return again.replace(/=+$/, '') === text.replace(/=+$/, '') ? again : undefined;
}

function putJson(
  out: Coerced,
  kind: number,
  hi: number,
  lo: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): CoercionFault | undefined {
  if (kind === VALUE.json) {
    const text = decodeUtf8(bytes, start, end)?.trim();
    const value = text === undefined ? undefined : parseExactJson(text);
    if (text === undefined || value === undefined || canonicalJson(value) === undefined) {
      return fail(out, 'invalid-format');
    }
    return putUtf8(out, text);
  }
  if (kind === VALUE.string || kind === VALUE.oid) return putString(out, bytes, start, end);
  if (kind === VALUE.bytes) {
    return putAscii(out, `"${Buffer.from(bytes.subarray(start, end)).toString('base64')}"`);
  }
  const scalar = readScalar(kind, hi, lo, bytes, start, end);
  if (typeof scalar === 'string') return fail(out, scalar);
  const decimal = scalar.is === 'number' ? parseDecimal(scalar.text) : undefined;
  return putAscii(out, (decimal && formatDecimal64(decimal)) ?? scalar.text);
}

/** UTF-8 text as a JSON string; plain ASCII is copied, the rest goes through a check and JSON's escapes. */
function putString(out: Coerced, bytes: Uint8Array, start: number, end: number): CoercionFault | undefined {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c) {
      const text = decodeUtf8(bytes, start, end);
      return text === undefined ? fail(out, 'invalid-format') : putText(out, text);
    }
  }
  const quoted = new Uint8Array(end - start + 2);
  quoted[0] = 0x22;
  quoted.set(bytes.subarray(start, end), 1);
  quoted[quoted.length - 1] = 0x22;
  out.cell = CELL.text;
  out.text = quoted;
  return undefined;
}

function putText(out: Coerced, text: string): CoercionFault | undefined {
  return text.isWellFormed() ? putUtf8(out, JSON.stringify(text)) : fail(out, 'invalid-format');
}

function putUtf8(out: Coerced, json: string): CoercionFault | undefined {
  const bytes = Buffer.from(json, 'utf8');
  if (bytes.length > MAX_VALUE_BYTES) return fail(out, 'too-long');
  out.cell = CELL.text;
  out.text = bytes;
  return undefined;
}

function putAscii(out: Coerced, json: string): CoercionFault | undefined {
  if (json.length > MAX_VALUE_BYTES) return fail(out, 'too-long');
  out.cell = CELL.text;
  out.text = Buffer.from(json, 'latin1');
  return undefined;
}

function putOptionalString(
  out: Coerced,
  scalar: Scalar,
  text: string | undefined,
): CoercionFault | undefined {
  if (text !== undefined) return putText(out, text);
  return fail(out, scalar.is === 'boolean' ? 'wrong-type' : 'invalid-format');
}

function floating(value: number, format: (value: number) => string): Scalar | CoercionFault {
  return Number.isFinite(value) ? number(format(value)) : 'not-finite';
}

function number(text: string): Scalar {
  return { is: 'number', text, json: false };
}

function numericFault(text: string): CoercionFault {
  if (/^[+-]?(nan|inf(inity)?)$/i.test(text)) return 'not-finite';
  return /^-?\d/.test(text) && !/[^\d.eE+-]/.test(text) ? 'out-of-range' : 'invalid-format';
}

function fail(out: Coerced, fault: CoercionFault): CoercionFault {
  out.cell = CELL.absent;
  return fault;
}

function wide(hi: number, lo: number): bigint {
  return (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);
}

function decodeUtf8(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    return utf8.decode(bytes.subarray(start, end));
  } catch {
    return undefined;
  }
}

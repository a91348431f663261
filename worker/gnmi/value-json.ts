/** gNMI values as JSON text: integers by their digits, octets in base64, as RFC 7951 and our records have them. */
import type { Value } from '../../protocols/gnmi/notification.ts';

export function jsonOfLeafList(values: readonly Value[]): string {
  return `[${values.map(jsonOfValue).join(',')}]`;
}

export function jsonOfValue(value: Value): string {
  switch (value.kind) {
    case 'int':
    case 'uint':
      return String(value.value);
    case 'decimal':
      return decimalText(value.digits, value.precision);
    case 'float':
    case 'double':
      return Number.isFinite(value.value) ? String(value.value) : 'null';
    case 'json':
    case 'json-ietf':
      return value.value;
    case 'leaf-list':
      return jsonOfLeafList(value.values);
    case 'bytes':
    case 'any':
    case 'proto-bytes':
      return JSON.stringify(Buffer.from(value.value).toString('base64'));
    default:
      return JSON.stringify(value.value);
  }
}

function decimalText(digits: bigint, precision: number): string {
  const negative = digits < 0n;
  const text = String(negative ? -digits : digits).padStart(precision + 1, '0');
  const point = text.length - precision;
  const unsigned = precision === 0 ? text : `${text.slice(0, point)}.${text.slice(point)}`;
  return negative ? `-${unsigned}` : unsigned;
}

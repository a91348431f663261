import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/**
 * The size of an item as DynamoDB counts it: attribute names and values in UTF-8, with the overhead that the Developer
 * Guide gives under "DynamoDB item sizes and formats". Numbers are approximate there; here they round up.
 */
export function itemBytes(item: Readonly<Record<string, AttributeValue>>): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) bytes += utf8Bytes(name) + valueBytes(value);
  return bytes;
}

/** The size of one attribute's value, its name not included. */
export function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return utf8Bytes(value.S);
  if (value.N !== undefined) return numberBytes(value.N);
  if (value.B !== undefined) return value.B.byteLength;
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1;
  if (value.SS !== undefined) return sum(value.SS, utf8Bytes);
  if (value.NS !== undefined) return sum(value.NS, numberBytes);
  if (value.BS !== undefined) return sum(value.BS, (bytes) => bytes.byteLength);
  // Three bytes for a list or a map itself, one for each element.
  if (value.L !== undefined) return 3 + sum(value.L, (element) => 1 + valueBytes(element));
  if (value.M !== undefined) {
    return 3 + sum(Object.entries(value.M), ([name, element]) => 1 + utf8Bytes(name) + valueBytes(element));
  }
  return 0;
}

/** One byte, one for two significant digits, one for a minus sign; zeros at either end do not count. */
function numberBytes(number: string): number {
  const digits = number.replace(/e.*$/i, '').replace(/[-+.]/g, '').replace(/^0+/, '').replace(/0+$/, '');
  return 1 + Math.ceil(digits.length / 2) + (number.startsWith('-') ? 1 : 0);
}

function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

function sum<Element>(elements: readonly Element[], bytes: (element: Element) => number): number {
  return elements.reduce((total, element) => total + bytes(element), 0);
}
